// SPDX-License-Identifier: Apache-2.0
// FlexAttention of ai.onnx.preview. Without modifiers it has a kernel; blocks that change scores or probabilities become part of the graph around it,
// between the products that the importer writes.
// Tested by src/op/early_expansion_test.cpp and the node cases of tests/conformance.
#include <cmath>

#include "core/check.h"
#include "ir/inline_graph.h"
#include "op/control_flow_common.h"
#include "op/early_expansion.h"
#include "op/expansion.h"

namespace rota::op {
namespace {

/// The type in which scores and probabilities are modified.
Result<DType> softmaxType(const ir::Node& node) {
  const DType dtype = node.inputs[0]->type.dtype;
  const std::int64_t named = node.attributes.getInt("softmax_precision", 0);
  if (named == 0) return dtype == DType::kFloat64 ? dtype : DType::kFloat32;
  const DType asked = dtypeFromOnnx(static_cast<std::int32_t>(named));
  if (isFloat(asked) && info(asked).bits >= 16) return asked;
  return Status(ErrorCode::kBadAttribute, "'softmax_precision' names no type to compute in")
      .at(describeNode(node))
      .expected("float16, bfloat16, float32 or float64")
      .found(std::to_string(named));
}

/// A modifier takes one tensor of scores and gives one of the same type.
Status inferModifier(InferContext& ctx, const char* name, const ir::Type& scores) {
  if (ctx.node().block(name) == nullptr) return Status::ok();
  auto block = requireBlock(ctx, name, 1, 1);
  if (!block) return block.status();
  setBlockInputs(**block, 0, {scores});
  ROTA_RETURN_IF_ERROR(ctx.inferBlock(**block));
  const ir::Type& result = (*block)->outputs()[0]->type;
  const bool fits = result.kind == ir::TypeKind::kTensor && result.dtype == scores.dtype &&
                    (!result.shape.known || result.shape.rank() == 4);
  if (!fits) {
    return ctx.error(ErrorCode::kTypeMismatch,
                     "Block '" + std::string(name) + "' gives another type than it takes",
                     describeType(scores, ctx.sizes()), describeType(result, ctx.sizes()));
  }
  for (std::size_t d = 0; result.shape.known && scores.shape.known && d < 4; ++d) {
    ROTA_RETURN_IF_ERROR(
        ctx.requireEqual(result.shape.dims[d], scores.shape.dims[d], "a modifier keeps the shape"));
  }
  return Status::ok();
}

Status inferModifiers(InferContext& ctx, ir::Shape shape) {
  auto dtype = softmaxType(ctx.node());
  if (!dtype) return dtype.status();
  const ir::Type scores{.dtype = *dtype, .shape = std::move(shape)};
  ROTA_RETURN_IF_ERROR(inferModifier(ctx, "score_mod", scores));
  return inferModifier(ctx, "prob_mod", scores);
}

Status inferFlexAttention(InferContext& ctx) {
  const ir::Shape& q = ctx.inputShape(0);
  const ir::Shape& k = ctx.inputShape(1);
  const ir::Shape& v = ctx.inputShape(2);
  if (!q.known || !k.known || !v.known) {
    ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::unknown());
    return inferModifiers(ctx, ir::Shape::unknown());
  }
  if (q.rank() != 4 || k.rank() != 4 || v.rank() != 4) {
    return ctx.error(ErrorCode::kShapeMismatch, "Q, K and V must have rank 4", "[B, heads, length, size]",
                     "ranks " + std::to_string(q.rank()) + ", " + std::to_string(k.rank()) + " and " +
                         std::to_string(v.rank()));
  }
  ROTA_RETURN_IF_ERROR(ctx.requireEqual(q.dims[3], k.dims[3], "Q and K have the same head size"));
  ROTA_RETURN_IF_ERROR(ctx.requireEqual(k.dims[2], v.dims[2], "K and V have the same length"));
  ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::of({q.dims[0], q.dims[1], q.dims[2], v.dims[3]}));
  return inferModifiers(ctx, ir::Shape::of({q.dims[0], q.dims[1], q.dims[2], k.dims[2]}));
}

/// Keys or values with a head for each query head: head h of the queries uses head h / (heads / kvHeads).
Result<ir::Value*> repeatHeads(NodeWriter& w, const ir::Node& node, ir::Value* value) {
  const ir::Shape& q = node.inputs[0]->type.shape;
  const ir::Shape& k = value->type.shape;
  if (q.known && k.known && q.dims[1] == k.dims[1]) return value;
  const auto heads = q.known ? q.dims[1].constant() : std::nullopt;
  const auto kvHeads = k.known ? k.dims[1].constant() : std::nullopt;
  if (!heads || !kvHeads || *kvHeads < 1 || *heads % *kvHeads != 0) {
    return Status(ErrorCode::kShapeMismatch,
                  "FlexAttention with modifiers needs fixed numbers of heads that divide each other")
        .at(describeNode(node))
        .expected("a multiple of the key heads as query heads")
        .found(describeShape(q, node.owner->sizes()) + " and " + describeShape(k, node.owner->sizes()));
  }
  std::vector<std::int64_t> sources;
  for (std::int64_t h = 0; h < *heads; ++h) sources.push_back(h / (*heads / *kvHeads));
  return w.add("Gather", {value, w.ints(std::move(sources))}, {{"axis", std::int64_t{1}}});
}

ir::Value* modified(ir::Graph& graph, const ir::Node& node, const char* name, ir::Value* value) {
  const ir::Graph* block = node.block(name);
  if (block == nullptr) return value;
  ir::Value* const arguments[] = {value};
  return ir::inlineGraph(*block, arguments, graph, &node)[0];
}

Result<std::vector<ir::Value*>> expandFlexAttention(ir::Graph& graph, const ir::Node& node) {
  NodeWriter w(graph, node, &node);
  auto type = softmaxType(node);
  if (!type) return type.status();
  auto k = repeatHeads(w, node, node.inputs[1]);
  if (!k) return k.status();
  auto v = repeatHeads(w, node, node.inputs[2]);
  if (!v) return v.status();
  const DType dtype = node.inputs[0]->type.dtype;
  const DType sumType = Expansion::sumType(dtype);
  const ir::Shape& q = node.inputs[0]->type.shape;
  ir::Value* scale = nullptr;
  if (node.attributes.has("scale")) {
    scale = w.scalar(static_cast<double>(node.attributes.getFloat("scale")), sumType);
  } else if (q.known && q.dims[3].isConstant()) {
    scale = w.scalar(1 / std::sqrt(static_cast<double>(*q.dims[3].constant())), sumType);
  } else {
    ir::Value* size = w.add("Shape", {node.inputs[0]}, {{"start", std::int64_t{3}}});
    scale = w.add("Reciprocal", {w.add("Sqrt", {w.cast(size, sumType)})});
  }
  ir::Value* turned =
      w.add("Transpose", {w.cast(*k, sumType)}, {{"perm", std::vector<std::int64_t>{0, 1, 3, 2}}});
  ir::Value* scores = w.add("Mul", {w.add("MatMul", {w.cast(node.inputs[0], sumType), turned}), scale});
  scores = modified(graph, node, "score_mod", w.cast(scores, *type));
  ir::Value* probabilities = w.add("Softmax", {scores}, {{"axis", std::int64_t{-1}}});
  probabilities = modified(graph, node, "prob_mod", probabilities);
  ir::Value* y = w.add("MatMul", {w.cast(probabilities, sumType), w.cast(*v, sumType)});
  return std::vector<ir::Value*>{w.cast(y, dtype)};
}

const RegisterEarlyExpansion kExpandFlexAttention(
    "ai.onnx.preview", "FlexAttention", [](const ir::Node& node) { return !node.blocks.empty(); },
    expandFlexAttention);

const Register kRegisterFlexAttention(Definition{
    .domain = "ai.onnx.preview",
    .name = "FlexAttention",
    .versions = {1},
    .doc = "Scaled dot-product attention over heads of rank 4, with fewer key heads than query heads where "
           "wanted; blocks may change the scores before, and the probabilities after the softmax.",
    .kind = Kind::kContraction,
    .inputs = {{.name = "Q", .typeVariable = "T1"},
               {.name = "K", .typeVariable = "T1"},
               {.name = "V", .typeVariable = "T1"}},
    .outputs = {{.name = "Y", .typeVariable = "T1"}},
    .attributes = {{.name = "prob_mod", .type = AttributeType::kGraph},
                   {.name = "scale", .type = AttributeType::kFloat},
                   {.name = "score_mod", .type = AttributeType::kGraph},
                   {.name = "softmax_precision", .type = AttributeType::kInt}},
    .infer = inferFlexAttention,
});

}  // namespace
}  // namespace rota::op
