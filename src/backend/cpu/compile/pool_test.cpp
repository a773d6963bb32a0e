// SPDX-License-Identifier: Apache-2.0
// Pools by the vector kernels against the reference: strides, dilations, pads, ceil_mode, one to three spatial axes, blocked and plain channels.
#include "backend/cpu/compile/kernel_testing.h"

namespace rota::tactic {
namespace {

using testing::expectReference;
using testing::KernelGraph;
using testing::randomTensor;
using testing::withSpecials;

struct Case {
  std::vector<std::int64_t> dims, kernel, strides, pads, dilations;
  std::int64_t ceil, includePad;
};

TEST(Pool, WindowsOfAllKinds) {
  const Case cases[] = {{{2, 16, 11, 13}, {3, 3}, {2, 2}, {1, 1, 1, 1}, {1, 1}, 0, 0},
                        {{1, 3, 11, 13}, {3, 2}, {2, 1}, {1, 0, 0, 1}, {1, 1}, 1, 1},
                        {{1, 8, 7, 7}, {2, 2}, {2, 2}, {0, 0, 0, 0}, {2, 2}, 1, 0},
                        {{2, 24, 30}, {5}, {3}, {2, 2}, {1}, 0, 1},
                        {{1, 8, 5, 6, 7}, {2, 3, 2}, {1, 2, 2}, {0, 1, 0, 1, 1, 1}, {1, 1, 1}, 0, 0},
                        {{0, 8, 4, 4}, {2, 2}, {1, 1}, {0, 0, 0, 0}, {1, 1}, 0, 0}};
  for (const char* op : {"MaxPool", "AveragePool"}) {
    for (const Case& c : cases) {
      SCOPED_TRACE(std::string(op) + ::testing::PrintToString(c.dims));
      KernelGraph g;
      ir::Node* n = g.node(op, {g.input("x", {c.dims.begin(), c.dims.end()})}, 19);
      n->attributes.set("kernel_shape", c.kernel);
      n->attributes.set("strides", c.strides);
      n->attributes.set("pads", c.pads);
      n->attributes.set("dilations", c.dilations);
      n->attributes.set("ceil_mode", c.ceil);
      if (std::string(op) == "AveragePool") n->attributes.set("count_include_pad", c.includePad);
      g.output(n->outputs[0]);
      const Tensor x = randomTensor(DType::kFloat32, c.dims, 4);
      expectReference(g, {{x}, {withSpecials(x)}},
                      {.relative = 2e-6, .absolute = 1e-6, .kernel = "cpu.pool"});
    }
  }
}

TEST(Pool, SamePadding) {
  for (const char* mode : {"SAME_UPPER", "SAME_LOWER", "VALID"}) {
    KernelGraph g;
    ir::Node* n = g.node("MaxPool", {g.input("x", {1, 8, 10, 9})}, 12);
    n->attributes.set("kernel_shape", std::vector<std::int64_t>{3, 4});
    n->attributes.set("strides", std::vector<std::int64_t>{2, 3});
    n->attributes.set("auto_pad", std::string(mode));
    g.output(n->outputs[0]);
    expectReference(g, {{randomTensor(DType::kFloat32, {1, 8, 10, 9}, 4)}}, {.kernel = "cpu.pool"});
  }
}

}  // namespace
}  // namespace rota::tactic
