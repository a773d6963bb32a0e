// SPDX-License-Identifier: Apache-2.0
// Programs ready to run, and the contexts that run them.
//
// A LoadedProgram is immutable and shared. A context keeps the last few prepared shapes (least recently used out), one binding for each profile
// that takes every shape inside it, one arena for all of them, and the growing buffers. A run of prepared shapes finds its binding by comparing
// dims and then only executes steps; a run of other shapes moves the binding of its profile to them, which allocates nothing (decision N18).
// Tested by src/runtime/context_test.cpp and src/runtime/profile_test.cpp.
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
