// SPDX-License-Identifier: Apache-2.0
// BiasAdd, BiasSplitGelu, BiasSoftmax, GroupNorm and SkipGroupNorm of com.microsoft: what optimisers fuse in diffusion networks and transformers.
// The importer writes them in the operators that were fused, for Rota's own fusion to find.
// Tested by src/op/early_expansion_test.cpp (ONNX Runtime has no CPU kernels for them).
#include "core/check.h"
#include "op/common.h"
#include "op/describe.h"
#include "op/early_expansion.h"

namespace rota::op {
namespace {

Status inferBiasSplitGelu(InferContext& ctx) {
  ir::Shape shape = ctx.inputShape(0);
  if (shape.known) {
    if (shape.rank() < 1)
      return ctx.error(ErrorCode::kShapeMismatch, "The input has no axis to split", "rank 1 or more",
                       "a scalar");
    shape.dims.back() = floorDiv(shape.dims.back(), 2);
  }
  ctx.setOutput(0, ctx.inputDtype(0), std::move(shape));
  return Status::ok();
}

Result<std::vector<ir::Value*>> expandBiasAdd(ir::Graph& graph, const ir::Node& node) {
  NodeWriter w(graph, node, &node);
  return std::vector<ir::Value*>{
      w.add("Add", {w.add("Add", {node.inputs[0], node.inputs[1]}), node.inputs[2]})};
}

Result<std::vector<ir::Value*>> expandBiasSplitGelu(ir::Graph& graph, const ir::Node& node) {
  NodeWriter w(graph, node, &node);
  ir::Value* sum = w.add("Add", {node.inputs[0], node.inputs[1]});
  ir::Node* split = w.node("Split", {sum}, 2, {{"axis", std::int64_t{-1}}, {"num_outputs", std::int64_t{2}}});
  return std::vector<ir::Value*>{w.add("Mul", {split->outputs[0], w.add("Gelu", {split->outputs[1]})})};
}

/// The bias lacks the leading axes of the data (inner broadcast), or has 1 in place of those before the softmax axis's group.
Result<std::vector<ir::Value*>> expandBiasSoftmax(ir::Graph& graph, const ir::Node& node) {
  const ir::Shape& data = node.inputs[0]->type.shape;
  const ir::Shape& bias = node.inputs[1]->type.shape;
  if (!data.known || !bias.known || data.rank() != bias.rank()) {
    return Status(ErrorCode::kShapeMismatch, "BiasSoftmax needs data and bias of the same known rank")
        .at(describeNode(node))
        .expected("equal ranks")
        .found(describeShape(data, graph.sizes()) + " and " + describeShape(bias, graph.sizes()));
  }
  NodeWriter w(graph, node, &node);
  const std::int64_t axis = node.attributes.getInt("axis", 1);
  const auto rank = static_cast<std::int64_t>(data.rank());
  ir::Value* sum = w.add("Add", {node.inputs[0], node.inputs[1]});
  if ((axis < 0 ? axis + rank : axis) == rank - 1)
    return std::vector<ir::Value*>{w.add("Softmax", {sum}, {{"axis", std::int64_t{-1}}})};
  // All axes from the given one on are one.
  ir::Value* flat =
      w.add("Softmax", {w.add("Flatten", {sum}, {{"axis", axis}})}, {{"axis", std::int64_t{-1}}});
  return std::vector<ir::Value*>{w.add("Reshape", {flat, w.add("Shape", {node.inputs[0]})})};
}

ir::Value* writeGroupNorm(NodeWriter& w, const ir::Node& node, ir::Value* x) {
  const bool last = node.attributes.getInt("channels_last", 1) != 0;
  const DType dtype = node.inputs[0]->type.dtype;
  const std::vector<std::int64_t> first{0, 3, 1, 2};
  const std::vector<std::int64_t> back{0, 2, 3, 1};
  ir::Value* y = w.cast(last ? w.add("Transpose", {x}, {{"perm", first}}) : x, DType::kFloat32);
  y = w.add("GroupNormalization",
            {y, w.cast(node.inputs[1], DType::kFloat32), w.cast(node.inputs[2], DType::kFloat32)},
            {{"num_groups", node.attributes.getInt("groups")},
             {"epsilon", node.attributes.getFloat("epsilon", 1e-5F)}});
  if (node.attributes.getInt("activation") == 1) y = w.add("Mul", {y, w.add("Sigmoid", {y})});
  y = w.cast(y, dtype);
  return last ? w.add("Transpose", {y}, {{"perm", back}}) : y;
}

Result<std::vector<ir::Value*>> expandGroupNorm(ir::Graph& graph, const ir::Node& node) {
  NodeWriter w(graph, node, &node);
  return std::vector<ir::Value*>{writeGroupNorm(w, node, node.inputs[0])};
}

Result<std::vector<ir::Value*>> expandSkipGroupNorm(ir::Graph& graph, const ir::Node& node) {
  NodeWriter w(graph, node, &node);
  const bool last = node.attributes.getInt("channels_last", 1) != 0;
  // A skip [N, C] and a bias [C] are for every place of the plane.
  const std::vector<std::int64_t> plane =
      last ? std::vector<std::int64_t>{1, 2} : std::vector<std::int64_t>{2, 3};
  ir::Value* skip = node.inputs[3];
  if (skip->type.shape.known && skip->type.shape.rank() == 2)
    skip = w.add("Unsqueeze", {skip, w.ints(plane)});
  ir::Value* sum = w.add("Add", {node.inputs[0], skip});
  if (node.input(4) != nullptr) {
    ir::Value* bias = last ? node.inputs[4] : w.add("Unsqueeze", {node.inputs[4], w.ints({1, 2})});
    sum = w.add("Add", {sum, bias});
  }
  return std::vector<ir::Value*>{writeGroupNorm(w, node, sum), sum};
}

Status inferDiffusionNorm(InferContext& ctx) {
  const ir::Shape& x = ctx.inputShape(0);
  if (x.known && x.rank() != 4) {
    return ctx.error(ErrorCode::kShapeMismatch, "The input is not a batch of images", "rank 4",
                     "rank " + std::to_string(x.rank()));
  }
  const std::int64_t activation = ctx.attributes().getInt("activation");
  if (activation != 0 && activation != 1) {
    return ctx.error(ErrorCode::kBadAttribute, "The activation is not known", "0 (none) or 1 (SiLU)",
                     std::to_string(activation));
  }
  if (ctx.hasOutput(1)) ctx.setOutput(1, ctx.inputDtype(0), x);
  return inferSameAsFirst(ctx);
}

const RegisterEarlyExpansion kExpandBiasAdd("com.microsoft", "BiasAdd", nullptr, expandBiasAdd);
const RegisterEarlyExpansion kExpandBiasSplitGelu("com.microsoft", "BiasSplitGelu", nullptr,
                                                  expandBiasSplitGelu);
const RegisterEarlyExpansion kExpandBiasSoftmax("com.microsoft", "BiasSoftmax", nullptr, expandBiasSoftmax);
const RegisterEarlyExpansion kExpandGroupNorm("com.microsoft", "GroupNorm", nullptr, expandGroupNorm);
const RegisterEarlyExpansion kExpandSkipGroupNorm("com.microsoft", "SkipGroupNorm", nullptr,
                                                  expandSkipGroupNorm);

const Register kRegisterMicrosoftBiasAdd(Definition{
    .domain = "com.microsoft",
    .name = "BiasAdd",
    .versions = {1},
    .doc = "Input plus bias plus residual. Written as two Adds when the model is imported.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "X", .typeVariable = "T"},
               {.name = "bias", .typeVariable = "T"},
               {.name = "skip", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .infer = inferSameAsFirst,
});

const Register kRegisterMicrosoftBiasSplitGelu(Definition{
    .domain = "com.microsoft",
    .name = "BiasSplitGelu",
    .versions = {1},
    .doc =
        "The left half of input plus bias times the Gelu of the right half. Written in Add, Split, Gelu and "
        "Mul when the model is imported.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "X", .typeVariable = "T"}, {.name = "bias", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .infer = inferBiasSplitGelu,
});

const Register kRegisterMicrosoftBiasSoftmax(Definition{
    .domain = "com.microsoft",
    .name = "BiasSoftmax",
    .versions = {1},
    .doc = "Softmax, over all axes from the given one on, of data plus bias, which broadcasts. Written in "
           "Add and "
           "Softmax when the model is imported.",
    .kind = Kind::kReduction,
    .inputs = {{.name = "data", .typeVariable = "T"}, {.name = "bias", .typeVariable = "T"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .attributes = {{.name = "axis", .type = AttributeType::kInt},
                   {.name = "is_inner_broadcast", .type = AttributeType::kInt}},
    .infer = inferSameAsFirst,
});

const Register kRegisterMicrosoftGroupNorm(Definition{
    .domain = "com.microsoft",
    .name = "GroupNorm",
    .versions = {1},
    .doc = "GroupNormalization of images, channels last by default, followed by SiLU where asked. Written in "
           "GroupNormalization when the model is imported.",
    .kind = Kind::kReduction,
    .inputs = {{.name = "X", .typeVariable = "T"},
               {.name = "gamma", .typeVariable = "M"},
               {.name = "beta", .typeVariable = "M"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .attributes = {{.name = "activation", .type = AttributeType::kInt, .required = true},
                   {.name = "channels_last", .type = AttributeType::kInt},
                   {.name = "epsilon", .type = AttributeType::kFloat},
                   {.name = "groups", .type = AttributeType::kInt, .required = true}},
    .infer = inferDiffusionNorm,
});

const Register kRegisterMicrosoftSkipGroupNorm(Definition{
    .domain = "com.microsoft",
    .name = "SkipGroupNorm",
    .versions = {1},
    .doc = "GroupNorm of the sum of input, skip and bias; the sum is the second output. Written in simpler "
           "operators when the model is imported.",
    .kind = Kind::kReduction,
    .inputs = {{.name = "X", .typeVariable = "T"},
               {.name = "gamma", .typeVariable = "M"},
               {.name = "beta", .typeVariable = "M"},
               {.name = "skip", .typeVariable = "T"},
               {.name = "bias", .option = FormalOption::kOptional, .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"},
                {.name = "S", .option = FormalOption::kOptional, .typeVariable = "T"}},
    .attributes = {{.name = "activation", .type = AttributeType::kInt, .required = true},
                   {.name = "channels_last", .type = AttributeType::kInt},
                   {.name = "epsilon", .type = AttributeType::kFloat},
                   {.name = "groups", .type = AttributeType::kInt, .required = true}},
    .infer = inferDiffusionNorm,
});

}  // namespace
}  // namespace rota::op
