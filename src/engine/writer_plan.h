// SPDX-License-Identifier: Apache-2.0
// From a Program to the bytes of the plan and recipes sections. Tested by src/engine/writer_test.cpp.
#pragma once

#include <string>

#include <rota/status.h>

#include "engine/target.h"
#include "runtime/program.h"

namespace rota::engine {

/// Refuses plans that would not stay under 1 GiB.
Result<std::string> packPlan(const runtime::Program& program, const Target& target);
std::string packRecipes(const runtime::Program& program);

}  // namespace rota::engine
