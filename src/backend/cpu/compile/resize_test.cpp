// SPDX-License-Identifier: Apache-2.0
// Resizing by the vector kernel against the reference: modes, coordinates, roundings, scales and sizes, blocked channels.
#include "backend/cpu/compile/kernel_testing.h"

namespace rota::tactic {
namespace {

using testing::expectReference;
using testing::KernelGraph;
using testing::randomTensor;

TEST(ResizeTactic, ModesAndCoordinates) {
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    for (const char* coordinates :
         {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric"}) {
      for (const bool bySizes : {false, true}) {
        SCOPED_TRACE(std::string(mode) + coordinates);
        KernelGraph g;
        ir::Value* x = g.input("x", {2, 3, 7, 9});
        ir::Value* scales = g.constant(Tensor::ofFloat({1, 1, 2.5F, 0.6F}, {4}));
        ir::Node* n = bySizes ? g.node("Resize", {x, nullptr, nullptr, g.ints({2, 3, 5, 21})}, 19)
                              : g.node("Resize", {x, nullptr, scales}, 19);
        n->attributes.set("mode", std::string(mode));
        n->attributes.set("coordinate_transformation_mode", std::string(coordinates));
        g.output(n->outputs[0]);
        expectReference(g, {{randomTensor(DType::kFloat32, {2, 3, 7, 9}, 3)}},
                        {.relative = 1e-5, .absolute = 1e-5, .kernel = "cpu.resize"});
      }
    }
  }
}

TEST(ResizeTactic, NearestMovesEveryType) {
  for (const DType dtype : {DType::kInt64, DType::kUInt8, DType::kFloat16}) {
    KernelGraph g;
    ir::Node* n = g.node(
        "Resize", {g.input("x", {2, 4, 5}, dtype), nullptr, g.constant(Tensor::ofFloat({1, 2, 3}, {3}))}, 13);
    g.output(n->outputs[0]);
    expectReference(g, {{randomTensor(dtype, {2, 4, 5}, 3)}},
                    {.relative = 0, .absolute = 0, .kernel = "cpu.resize"});
  }
}

TEST(ResizeTactic, BlockedChannelsAndWideRows) {
  for (const char* mode : {"nearest", "linear"}) {
    KernelGraph g;
    ir::Value* a = g.add(
        "Conv", {g.input("x", {1, 8, 3, 1500}), g.constant(randomTensor(DType::kFloat32, {16, 8, 1, 1}, 3))});
    ir::Node* n = g.node("Resize", {a, nullptr, g.constant(Tensor::ofFloat({1, 1, 2, 2}, {4}))}, 13);
    n->attributes.set("mode", std::string(mode));
    g.output(n->outputs[0]);
    expectReference(g, {{randomTensor(DType::kFloat32, {1, 8, 3, 1500}, 5)}},
                    {.relative = 1e-4, .absolute = 1e-4, .kernel = "cpu.resize"});
  }
}

}  // namespace
}  // namespace rota::tactic
