// SPDX-License-Identifier: Apache-2.0
// Narrow floats by float32 tactics against the reference: products with epilogues, convolutions in blocks, softmax, normalisation.
#include "backend/cpu/compile/kernel_testing.h"

namespace rota::tactic {
namespace {

using testing::expectReference;
using testing::KernelGraph;
using testing::randomTensor;

TEST(Widened, NetOfNarrowTypes) {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    KernelGraph g;
    const Size n = g.symbol("n", 1);
    ir::Value* x = g.input("x", {n, 8, 6, 6}, dtype);
    ir::Value* c = g.add("Relu", {g.add("Conv", {x, g.constant(randomTensor(dtype, {16, 8, 3, 3}, 1, 0.1)),
                                                 g.constant(randomTensor(dtype, {16}, 2, 0.1))})});
    ir::Value* pooled = g.add("GlobalAveragePool", {c});
    ir::Value* flat = g.add("Flatten", {pooled});
    ir::Value* product =
        g.add("Add", {g.add("MatMul", {flat, g.constant(randomTensor(dtype, {16, 12}, 3, 0.3))}),
                      g.constant(randomTensor(dtype, {12}, 4, 0.3))});
    ir::Value* normal = g.add("LayerNormalization", {product, g.constant(randomTensor(dtype, {12}, 5)),
                                                     g.constant(randomTensor(dtype, {12}, 6))});
    g.output(g.add("Softmax", {normal}));
    g.output(c);
    const double relative = dtype == DType::kFloat16 ? 4e-3 : 3e-2;
    expectReference(g, {{randomTensor(dtype, {3, 8, 6, 6}, 7, 1)}, {randomTensor(dtype, {1, 8, 6, 6}, 8, 1)}},
                    {.relative = relative, .absolute = relative, .kernel = "onednn.convolution"});
  }
}

}  // namespace
}  // namespace rota::tactic
