// SPDX-License-Identifier: Apache-2.0
// Engines: loaded from a file (rota::Engine::load), or made from a program in memory.
// Tested by src/engine/writer_test.cpp.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <rota/engine.h>

#include "core/tensor.h"
#include "runtime/program.h"

namespace rota::engine {

/// An engine that was never a file: for running a model directly, and for checking candidates. Constants that are not 64-byte aligned are
/// copied; one tensor per constant, with the constant's bytes in its layout.
Result<std::shared_ptr<Engine>> makeEngine(std::shared_ptr<const runtime::Program> program,
                                           std::vector<Tensor> constants, std::string_view manifest);

}  // namespace rota::engine
