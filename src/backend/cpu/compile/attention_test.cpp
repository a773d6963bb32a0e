// SPDX-License-Identifier: Apache-2.0
// Attention as steps against the reference: masks of both types, groups of heads, causality, a cache, rows that see nothing.
#include "backend/cpu/compile/kernel_testing.h"

namespace rota::tactic {
namespace {

using testing::expectReference;
using testing::KernelGraph;
using testing::randomTensor;

const testing::RunOptions kByKernels{.relative = 1e-4, .absolute = 1e-5, .kernel = "cpu.softmax"};

TEST(AttentionTactic, MasksAndGroups) {
  for (const std::int64_t kvHeads : {6, 2}) {
    for (const DType maskType : {DType::kBool, DType::kFloat32}) {
      for (const auto& maskDims :
           std::vector<std::vector<std::int64_t>>{{5, 7}, {2, 1, 5, 7}, {6, 5, 7}, {1, 6, 1, 7}}) {
        SCOPED_TRACE(::testing::PrintToString(maskDims) + info(maskType).name);
        KernelGraph g;
        const Size b = g.symbol("b", 1);
        std::vector<Size> dims(maskDims.begin(), maskDims.end());
        if (dims[0] == Size(2)) dims[0] = b;
        g.output(g.add("Attention",
                       {g.input("q", {b, 6, 5, 8}), g.input("k", {b, kvHeads, 7, 8}),
                        g.input("v", {b, kvHeads, 7, 4}), g.input("m", dims, maskType)},
                       23));
        Tensor mask = randomTensor(maskType, maskDims, 4);
        if (maskType == DType::kBool) std::memset(mask.mutableData(), 0, 7);  // the first query sees nothing
        expectReference(g,
                        {{randomTensor(DType::kFloat32, {2, 6, 5, 8}, 1),
                          randomTensor(DType::kFloat32, {2, kvHeads, 7, 8}, 2),
                          randomTensor(DType::kFloat32, {2, kvHeads, 7, 4}, 3), mask}},
                        kByKernels);
      }
    }
  }
}

TEST(AttentionTactic, CausalWithCache) {
  KernelGraph g;
  ir::Node* n = g.node("Attention",
                       {g.input("q", {1, 4, 3, 8}), g.input("k", {1, 2, 3, 8}), g.input("v", {1, 2, 3, 8}),
                        nullptr, g.input("pk", {1, 2, 5, 8}), g.input("pv", {1, 2, 5, 8})},
                       23, 3);
  n->attributes.set("is_causal", std::int64_t{1});
  n->attributes.set("scale", 0.3F);
  for (ir::Value* out : n->outputs) g.output(out);
  std::vector<Tensor> inputs;
  for (const std::vector<std::int64_t>& dims : std::vector<std::vector<std::int64_t>>{
           {1, 4, 3, 8}, {1, 2, 3, 8}, {1, 2, 3, 8}, {1, 2, 5, 8}, {1, 2, 5, 8}})
    inputs.push_back(randomTensor(DType::kFloat32, dims, static_cast<unsigned>(inputs.size())));
  expectReference(g, {inputs}, kByKernels);
}

}  // namespace
}  // namespace rota::tactic
