// SPDX-License-Identifier: Apache-2.0
// GroupNormalization: every group of channels of every instance with mean 0 and variance 1, then scaled and shifted: by group in operator set 18, by channel since 21.
// Tested by src/ref/normalization_test.cpp, src/op/reduction_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/common.h"
#include "op/expansion.h"
#include "op/normalization_common.h"

namespace rota::op {
namespace {

Status inferGroupNormalization(InferContext& ctx) {
  const std::int64_t groups = ctx.attributes().getInt("num_groups", 0);
  if (groups < 1)
    return ctx.error(ErrorCode::kBadAttribute, "Attribute 'num_groups' is not positive", "1 or more",
                     std::to_string(groups));
  const ir::Shape& shape = ctx.inputShape(0);
  if (shape.known && shape.rank() > 1) {
    const auto channels = shape.dims[1].constant();
    if (channels && *channels % groups != 0) {
      return ctx.error(ErrorCode::kShapeMismatch, "The channels do not divide into groups",
                       "a multiple of " + std::to_string(groups), std::to_string(*channels));
    }
  }
  if (ctx.version() >= 21) {
    for (std::size_t i = 1; i < 3; ++i) ROTA_RETURN_IF_ERROR(requireChannelVector(ctx, i, 1));
  }
  return inferSameAsFirst(ctx);
}

Result<std::vector<ir::Value*>> expandGroupNormalization(ir::Graph& graph, const ir::Node& node) {
  Expansion e(graph, node);
  const DType dtype = node.inputs[0]->type.dtype;
  const DType sumType = Expansion::sumType(dtype);
  const std::int64_t groups = node.attributes.getInt("num_groups", 1);
  const std::size_t inner = e.axesFrom(node.inputs[0], 2).size();
  ir::Value* x = e.cast(node.inputs[0], sumType);
  ir::Value* shape = e.add("Shape", {x});
  // [instances, groups, elements of a group], without -1, which empty tensors would leave open.
  ir::Value* instances = e.add("Shape", {x}, {{"start", std::int64_t{0}}, {"end", std::int64_t{1}}});
  ir::Value* rest = e.add("ReduceProd", {e.add("Shape", {x}, {{"start", std::int64_t{1}}})});
  ir::Value* groupCount = e.ints({groups});
  ir::Value* elements = e.add("Div", {rest, groupCount});
  ir::Value* grouped = e.add("Concat", {instances, groupCount, elements}, {{"axis", std::int64_t{0}}});
  const bool byGroup = node.version < 21;
  ir::Value* rows = e.add("Reshape", {x, grouped}, {{"allowzero", std::int64_t{1}}});
  const Standardised s = standardise(e, rows, {2}, node.attributes.getFloat("epsilon", 1e-5F));
  ir::Value* y = s.value;
  const std::size_t trailing = byGroup ? 1 : inner;
  if (!byGroup) y = e.add("Reshape", {y, shape}, {{"allowzero", std::int64_t{1}}});
  y = e.add("Mul", {y, channelOperand(e, node.inputs[1], trailing, sumType)});
  y = e.add("Add", {y, channelOperand(e, node.inputs[2], trailing, sumType)});
  if (byGroup) y = e.add("Reshape", {y, shape}, {{"allowzero", std::int64_t{1}}});
  return e.finish({e.cast(y, dtype)});
}

const Register kRegisterGroupNormalization(Definition{
    .domain = "",
    .name = "GroupNormalization",
    .versions = {18, 21},
    .doc = "Every group of channels of every instance with mean 0 and variance 1, then scaled and "
           "shifted: by group in operator set 18, by channel since 21.",
    .kind = Kind::kReduction,
    .inputs = {{.name = "X", .typeVariable = "T"},
               {.name = "scale", .typeVariable = "T"},
               {.name = "bias", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .attributes = {{.name = "epsilon", .type = AttributeType::kFloat},
                   {.name = "num_groups", .type = AttributeType::kInt, .required = true},
                   {.name = "stash_type", .type = AttributeType::kInt}},
    .infer = inferGroupNormalization,
    .expand = expandGroupNormalization,
});

}  // namespace
}  // namespace rota::op
