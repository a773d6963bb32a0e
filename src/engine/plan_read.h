// SPDX-License-Identifier: Apache-2.0
// From the plan section to a Program. The bytes may be hostile: they are verified as FlatBuffers, enumerations are range-checked, and what is
// built in memory is bounded by the size of the section (shared subtables cannot blow it up). The program still needs runtime::validate.
// Tested by src/engine/writer_damage_test.cpp.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include <rota/status.h>

#include "engine/target.h"
#include "runtime/program.h"

namespace rota::engine {

struct ReadPlan {
  std::shared_ptr<runtime::Program> program;
  Target target;
};

/// `recipes` may be empty. `name` is the file, for messages.
Result<ReadPlan> readPlan(std::span<const std::byte> plan, std::span<const std::byte> recipes,
                          const std::string& name);

}  // namespace rota::engine
