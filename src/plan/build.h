// SPDX-License-Identifier: Apache-2.0
// The build driver: passes, program, manifest, engine file.
//
// Level 0 measures nothing and is a pure function of graph, knobs, target and the versions of Rota and its libraries: equal input gives equal bytes.
// Progress is reported between phases, and a build can be interrupted there. Tested by src/plan/build_test.cpp and tests/test_cli.py.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/thread_pool.h"
#include "engine/writer.h"
#include "pass/pass.h"
#include "plan/program_builder.h"

namespace rota::plan {

struct BuildOptions {
  tactic::Target target;
  const knob::KnobSet& knobs;
  int level = 0;
  std::vector<runtime::Profile> profiles;
  ThreadPool& threads;
  engine::WeightsPlace weights = engine::WeightsPlace::kInside;
  /// Phase, done, total; false interrupts.
  std::function<bool(std::string_view, std::int64_t, std::int64_t)> progress;
};

struct Phase {
  std::string name;
  double seconds = 0;
};

struct BuildSummary {
  std::vector<Phase> phases;
  std::vector<pass::PassRecord> passes;
  std::vector<Choice> choices;
  std::uint64_t engineBytes = 0;
  std::uint64_t weightsBytes = 0;
  std::uint64_t placedBytes = 0;  ///< Of weights that stay in files of the model.
};

/// Rewrites `graph` and writes the engine to `path` (whole or not at all).
Result<BuildSummary> buildEngine(ir::Graph& graph, const BuildOptions& options, const std::string& path);

/// The instruction set levels that code can be built for, best first.
std::string nativeCpu();

}  // namespace rota::plan
