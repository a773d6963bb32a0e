// SPDX-License-Identifier: Apache-2.0
// MatMul and Gemm by oneDNN, float32, with bias and post-operations. Kernel: backend/cpu/onednn/matmul.cpp.
#include <algorithm>

#include "backend/cpu/compile/epilogue.h"
#include "op/definition.h"

namespace rota::tactic {
namespace {

constexpr knob::Knob kEnabled = knob::toggle(
    "tactic:onednn.matmul", true, "Lets oneDNN run matrix products.",
    {.backend = "cpu", .numerics = knob::Numerics::kReassociating, .stage = knob::Stage::kRegion});
const knob::RegisterKnob kRegisterEnabled(kEnabled);

struct Product {
  bool isGemm = false;
  bool transposeA = false, transposeB = false;
  ir::Value* bias = nullptr;  // one value a column
  std::vector<PostOperation> post;
};

/// [n], or [1, …, 1, n].
bool isRow(const ir::Value& v, Size n) {
  const auto& dims = v.type.shape.dims;
  if (v.type.dtype != DType::kFloat32 || !v.type.shape.known || dims.empty() || dims.back() != n)
    return false;
  return std::all_of(dims.begin(), dims.end() - 1, [](Size d) { return d.is(1); });
}

Support readProduct(const Problem& problem, Product& p) {
  const Region& region = problem.region;
  if (region.root == nullptr || !region.root->domain.empty() ||
      (region.root->opType != "MatMul" && region.root->opType != "Gemm")) {
    return Support::no("the root is no product");
  }
  if (problem.target.generic || !problem.knobs.on(kEnabled, region.scope))
    return Support::no("libraries are switched off");
  const ir::Node& node = *region.root;
  p.isGemm = node.opType == "Gemm";
  const ir::Shape& a = node.inputs[0]->type.shape;
  const ir::Shape& b = node.inputs[1]->type.shape;
  const ir::Shape& c = node.outputs[0]->type.shape;
  if (node.inputs[0]->type.dtype != DType::kFloat32) return Support::no("the type is not float32");
  if (!a.known || !b.known || !c.known || a.rank() < 2 || b.rank() < 2)
    return Support::no("an operand is not a matrix");
  if (p.isGemm) {
    if (node.attributes.getFloat("alpha", 1) != 1.0F) return Support::no("alpha is not 1");
    p.transposeA = node.attributes.getInt("transA") != 0;
    p.transposeB = node.attributes.getInt("transB") != 0;
    if (node.input(2) != nullptr) {
      if (node.attributes.getFloat("beta", 1) != 1.0F) return Support::no("beta is not 1");
      if (!isRow(*node.inputs[2], c.dims.back())) return Support::no("the bias is not one value a column");
      p.bias = node.inputs[2];
    }
  }
  const Size k = a.dims[a.rank() - (p.transposeA ? 2 : 1)];
  if (problem.sizes.range(k).lo < 1) return Support::no("the product may be over nothing");
  const Epilogue epilogue = readEpilogue(region);
  if (!epilogue.supported) return Support::no(epilogue.reason);
  p.post = epilogue.operations;
  if (p.bias == nullptr && !p.post.empty() && p.post[0].name == "add" &&
      isRow(*p.post[0].operand, c.dims.back())) {
    p.bias = p.post[0].operand;
    p.post.erase(p.post.begin());
  }
  for (const PostOperation& op : p.post) {
    if (op.operand != nullptr && op.operand->type.shape != c && !isRow(*op.operand, c.dims.back()))
      return Support::no("an operand of the epilogue has another shape");
  }
  if (std::count_if(p.post.begin(), p.post.end(),
                    [](const PostOperation& o) { return o.operand != nullptr; }) > 8)
    return Support::no("the epilogue has too many operands");
  return Support::ok();
}

Support supportsMatMul(const Problem& problem) {
  Product p;
  return readProduct(problem, p);
}

double predictMatMulUs(const Problem& problem) {
  const ir::Node& node = *problem.region.root;
  const auto& a = node.inputs[0]->type.shape;
  const std::size_t axis = a.rank() - (node.attributes.getInt("transA") != 0 ? 2 : 1);
  ir::Value k;
  k.type.shape = ir::Shape::of({a.dims[axis]});
  const double macs = static_cast<double>(typicalElements(problem, *node.outputs[0])) *
                      static_cast<double>(typicalElements(problem, k));
  return 2.0 + macs * 2.0 / (6000.0 * problem.target.vectorLanes());
}

std::int32_t rowOperand(Emitter& emitter, ir::Value* row) {
  return row->type.shape.rank() == 1 ? emitter.operand(row)
                                     : emitter.view(row, {row->type.shape.dims.back()});
}

Status emitMatMul(const Problem& problem, Emitter& emitter) {
  Product p;
  readProduct(problem, p);
  ir::Node& node = *problem.region.root;
  const ir::Shape& c = node.outputs[0]->type.shape;
  runtime::Step step;
  step.kernel = "onednn.matmul";
  step.library = "onednn";
  if (p.transposeA) step.parameters.set("transpose_a", std::int64_t{1});
  if (p.transposeB) step.parameters.set("transpose_b", std::int64_t{1});
  setPostParameters(p.post, step.parameters);
  step.inputs = {emitter.operand(node.inputs[0]), emitter.operand(node.inputs[1]),
                 p.bias != nullptr ? rowOperand(emitter, p.bias) : runtime::kNone};
  for (const PostOperation& op : p.post) {
    if (op.operand == nullptr) continue;
    step.inputs.push_back(op.operand->type.shape == c ? emitter.operand(op.operand)
                                                      : rowOperand(emitter, op.operand));
  }
  step.outputs = {emitter.define(problem.region.outputs[0])};
  emitter.step(std::move(step));
  return Status::ok();
}

constexpr Tactic kMatMul{.name = "onednn.matmul",
                         .numerics = knob::Numerics::kReassociating,
                         .doc = "Matrix products by oneDNN with bias and activation in the epilogue.",
                         .supports = supportsMatMul,
                         .predictUs = predictMatMulUs,
                         .emit = emitMatMul};
const RegisterTactic kRegisterMatMul(kMatMul);

}  // namespace
}  // namespace rota::tactic
