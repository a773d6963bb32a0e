// SPDX-License-Identifier: Apache-2.0
// The environment of the process, copied at once, because a later setenv may free the text that getenv returned.
// Tested by src/core/env_test.cpp.
#include "core/env.h"

#include <cstdlib>

namespace rota {

std::optional<std::string> environmentVariable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

bool environmentSwitch(const char* name) {
  const std::optional<std::string> value = environmentVariable(name);
  return value && !value->empty();
}

}  // namespace rota
