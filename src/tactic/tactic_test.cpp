// SPDX-License-Identifier: Apache-2.0
#include "tactic/tactic.h"

#include <gtest/gtest.h>

namespace rota::tactic {
namespace {

std::int64_t elements(std::vector<std::int64_t> dims) {
  ir::Graph graph;
  ir::Type type;
  type.dtype = DType::kFloat32;
  type.shape.known = true;
  for (std::int64_t d : dims) type.shape.dims.emplace_back(d);
  const ir::Value* value = graph.addInput("x", type);
  const Region region;
  const Target target;
  const knob::KnobSet knobs;
  return typicalElements({region, target, knobs, graph.sizes()}, *value);
}

TEST(TypicalElements, CountsAtLeastOneAnAxis) {
  EXPECT_EQ(elements({2, 3, 4}), 24);
  EXPECT_EQ(elements({}), 1);
  EXPECT_EQ(elements({5, 0}), 5);
}

TEST(TypicalElements, AbsurdShapesStopAtABound) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  EXPECT_EQ(elements({36028797018963970, 1152}), kMost);
  EXPECT_EQ(elements({1152, 36028797018963970, 36028797018963970}), kMost);
}

}  // namespace
}  // namespace rota::tactic
