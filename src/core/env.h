// SPDX-License-Identifier: Apache-2.0
// Environment variables. Apart from src/knob, this is the one place that reads them, so that a list of all variables that matter
// can be had from a search for these names. Read them at the start of the program, not where a value is used.
// Tested by src/core/env_test.cpp.
#pragma once

#include <optional>
#include <string>

namespace rota {

/// The value of `name`, or nothing when it is not set. An empty value is a value.
std::optional<std::string> environmentVariable(const char* name);

/// Whether `name` is set to something that is not empty: the rule of NO_COLOR (no-color.org).
bool environmentSwitch(const char* name);

}  // namespace rota
