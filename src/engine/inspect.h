// SPDX-License-Identifier: Apache-2.0
// What is in an engine, for people and for programs: manifest, inputs and outputs, steps by source node with kernel, tactic and place in memory,
// the use of memory over time, weights. Sizes are those at the optimum of the first profile, else with 1 for every open dim. The workspace of
// kernels is only known when they are prepared and is not counted. Tested by src/engine/inspect_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/reader.h"

namespace rota::engine {

struct InspectedValue {
  std::string name;
  std::string type;   ///< "float32 [1, 64, 112, 112] blocks 1:8".
  std::string place;  ///< "arena", "input", "weights", "view of 'x'", "grows while running", …
  std::size_t bytes = 0;
  std::int64_t offset = -1;  ///< In the arena or the weights; -1 elsewhere.
};

struct InspectedStep {
  int depth = 0;  ///< Nesting in control flow.
  std::string block;
  std::string sources;
  std::string kernel;
  std::string tactic;
  std::string library;
  double predictedUs = 0;
  std::vector<InspectedValue> inputs;
  std::vector<InspectedValue> outputs;
  std::size_t liveBytes = 0;  ///< Arena bytes in use while the step runs.
};

/// A step after which sizes are read from a small tensor: the host waits for it (decision N4).
struct InspectedSync {
  std::string sources;               ///< What computes the tensor.
  std::string value;                 ///< The tensor.
  std::vector<std::string> symbols;  ///< "k = element 0, 0 to 100".
};

/// A value whose size only the data tells.
struct InspectedFound {
  std::string sources;
  std::string name;
  std::string type;  ///< With symbols.
  bool bounded = false;
  std::size_t mostBytes = 0;  ///< When bounded, under the largest input dims.
};

/// What must hold, and where.
struct InspectedGuard {
  std::string node;
  std::string text;   ///< "'seq' = 'seq_1'".
  std::string block;  ///< "" for every request, else the branch or body.
};

struct Inspection {
  std::string file;
  std::string writer;
  std::uint32_t formatVersion = 0;
  std::uint64_t fileBytes = 0;
  std::uint64_t planBytes = 0;
  std::uint64_t weightsBytes = 0;
  bool externalWeights = false;
  std::uint64_t placedBytes = 0;  ///< Weights that stay in files of the model.
  std::vector<std::string> placedFiles;
  Target target;
  std::string manifest;
  std::vector<InspectedValue> inputs;
  std::vector<InspectedValue> outputs;
  std::vector<std::string> profiles;  ///< "small: x 1x2:2x2:4x2".
  std::vector<InspectedStep> steps;
  std::vector<InspectedSync> syncPoints;
  std::vector<InspectedFound> foundSizes;
  std::vector<InspectedGuard> guards;
  std::size_t arenaBytes = 0;
  std::size_t largestLiveSet = 0;
  std::size_t growingValues = 0;
  struct Weight {
    std::string recipe;
    std::string type;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::string hash;
  };
  std::vector<Weight> weights;
};

Inspection inspect(const EngineFile& engine);
std::string inspectText(const Inspection& inspection);
/// One JSON object with schema_version 1.
std::string inspectJson(const Inspection& inspection);

}  // namespace rota::engine
