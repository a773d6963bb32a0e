// SPDX-License-Identifier: Apache-2.0
// Turns a graph into the program that the runtime executes: regions, the best candidate of each, and the steps it emits.
//
// One forward walk emits; values whose contents are expressions of sizes are not computed but written from the size program on demand; a
// backward sweep then removes steps that nobody needs, and everything is renumbered densely, so that equal graphs give equal programs.
// Control flow becomes steps with blocks of their own (decision N5). Tested by src/plan/plan_test.cpp.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/program.h"
#include "tactic/tactic.h"

namespace rota::plan {

/// Why a region runs as it does; shown by `rota inspect` and by the build summary.
struct Choice {
  std::string scope;  ///< Source names, newline-joined.
  std::string tactic;
  double predictedUs = 0;
  std::vector<std::pair<std::string, std::string>> refused;  ///< Tactic and reason.
};

struct BuiltProgram {
  runtime::Program program;
  std::vector<Tensor> constants;  ///< Bytes of program.constants, in its order.
  std::vector<Choice> choices;
};

struct ProgramOptions {
  tactic::Target target;
  const knob::KnobSet& knobs;
  std::vector<runtime::Profile> profiles;  ///< `value` of an input is its position among the graph's inputs.
};

Result<BuiltProgram> buildProgram(ir::Graph& graph, const ProgramOptions& options);

/// Removes steps whose results nobody needs, then unused values, constants, sizes and symbols; renumbers the rest in order.
void compactProgram(runtime::Program& program, std::vector<Tensor>& constants);

}  // namespace rota::plan
