// SPDX-License-Identifier: Apache-2.0
// Graph passes and the one runner that gives each of them its on/off knob, verification, timing and a change flag.
//
// A pass is a pair of files and one line in pipeline.cpp, the only place where the order stands. It keeps provenance, leaves every
// graph output (names, types, count) alone and must be right for nested graphs. Tested by golden cases (src/pass/pass_test.cpp, tests/golden).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/thread_pool.h"
#include "ir/graph.h"
#include "knob/knob.h"

namespace rota::pass {

struct PassContext {
  const knob::KnobSet& knobs;
  ThreadPool& threads;
};

struct Pass {
  std::string_view name;
  const knob::Knob* enabled;  ///< The on/off knob.
  /// Rewrites one graph (the runner visits nested graphs, innermost first); sets `changed`.
  Status (*run)(ir::Graph& graph, const PassContext& context, bool& changed);
};

struct PassRecord {
  std::string name;
  bool changed = false;
  double seconds = 0;
};

/// The passes in their order.
std::span<const Pass> pipeline();

/// Runs the pipeline (or only the named passes, for tests) to the end once, inferring types after each pass that changed something.
Result<std::vector<PassRecord>> runPipeline(ir::Graph& graph, const PassContext& context,
                                            std::span<const std::string_view> only = {});

}  // namespace rota::pass
