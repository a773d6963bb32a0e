// SPDX-License-Identifier: Apache-2.0
// Programs ready to run, and the contexts that run them.
//
// A LoadedProgram is immutable and shared. A context keeps the last few bound shapes (least recently used out), one arena for all of them, and
// the growing buffers; a run of bound shapes finds its binding by comparing dims and then only executes steps.
// Tested by src/runtime/context_test.cpp.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <rota/engine.h>

#include "core/thread_pool.h"
#include "runtime/program.h"

namespace rota::runtime {

struct LoadedProgram;

/// Bound shapes that a context keeps.
inline constexpr std::size_t kBoundShapes = 8;

/// Validates, opens the modules that steps name, and makes sure that every kernel exists. `constants`: one address per constant, 64-byte
/// aligned, kept alive by `keeper`.
Result<std::shared_ptr<const LoadedProgram>> loadProgram(std::shared_ptr<const Program> program,
                                                         std::vector<const std::byte*> constants,
                                                         std::shared_ptr<const void> keeper);

Result<std::unique_ptr<Context>> createContext(std::shared_ptr<const LoadedProgram> program,
                                               std::shared_ptr<ThreadPool> threads);

/// What the program says about its inputs and outputs.
std::vector<TensorInfo> inputInfo(const Program& program);
std::vector<TensorInfo> outputInfo(const Program& program);

}  // namespace rota::runtime
