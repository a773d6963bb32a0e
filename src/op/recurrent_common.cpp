// SPDX-License-Identifier: Apache-2.0
// What RNN, GRU and LSTM share; see recurrent_common.h. Tested by src/op/recurrent_test.cpp.
#include "op/recurrent_common.h"

#include <utility>

#include "core/check.h"

namespace rota::op {

namespace {

Result<std::int64_t> recurrentDirections(const InferContext& ctx) {
  const std::string_view direction = ctx.attributes().getString("direction", "forward");
  if (direction == "forward" || direction == "reverse") return std::int64_t{1};
  if (direction == "bidirectional") return std::int64_t{2};
  return ctx.error(ErrorCode::kBadAttribute, "Attribute 'direction' has an unknown value",
                   "forward, reverse or bidirectional", std::string(direction));
}

Status requireDims(InferContext& ctx, std::size_t input, const char* name, const std::vector<Size>& dims) {
  if (!ctx.hasInput(input) || !ctx.inputShape(input).known) return Status::ok();
  const ir::Shape& found = ctx.inputShape(input);
  if (found.rank() != dims.size()) {
    return ctx.error(ErrorCode::kShapeMismatch, "Input '" + std::string(name) + "' has the wrong rank",
                     "rank " + std::to_string(dims.size()), "rank " + std::to_string(found.rank()));
  }
  for (std::size_t d = 0; d < dims.size(); ++d) {
    ROTA_RETURN_IF_ERROR(ctx.requireEqual(
        found.dims[d], dims[d], "axis " + std::to_string(d) + " of '" + name + "' fits the recurrent layer"));
  }
  return Status::ok();
}

}  // namespace

Status inferRecurrent(InferContext& ctx, std::int64_t gates) {
  auto directions = recurrentDirections(ctx);
  if (!directions) return directions.status();
  const bool batchFirst = ctx.attributes().getInt("layout") != 0;
  const ir::Shape& x = ctx.inputShape(0);
  const ir::Shape& r = ctx.inputShape(2);
  const bool known = x.known && (r.known || ctx.attributes().has("hidden_size"));
  if (!known) {
    for (std::size_t i = 0; i < 3; ++i) {
      if (ctx.hasOutput(i)) ctx.setOutput(i, ctx.inputDtype(0), ir::Shape::unknown());
    }
    return Status::ok();
  }
  if (x.rank() != 3 || (r.known && r.rank() != 3)) {
    return ctx.error(ErrorCode::kShapeMismatch, "A recurrent layer needs X and R of rank 3", "rank 3",
                     "ranks " + std::to_string(x.rank()) + " and " + std::to_string(r.rank()));
  }
  const Size d = *directions;
  const Size steps = x.dims[batchFirst ? 1 : 0];
  const Size batch = x.dims[batchFirst ? 0 : 1];
  const Size hidden = r.known ? r.dims[2] : Size(ctx.attributes().getInt("hidden_size"));
  if (ctx.attributes().has("hidden_size")) {
    ROTA_RETURN_IF_ERROR(ctx.requireEqual(hidden, Size(ctx.attributes().getInt("hidden_size")),
                                          "'hidden_size' is the last axis of R"));
  }
  const Size gateSize = hidden * Size(gates);
  const std::vector<Size> state =
      batchFirst ? std::vector<Size>{batch, d, hidden} : std::vector<Size>{d, batch, hidden};
  ROTA_RETURN_IF_ERROR(requireDims(ctx, 1, "W", {d, gateSize, x.dims[2]}));
  ROTA_RETURN_IF_ERROR(requireDims(ctx, 2, "R", {d, gateSize, hidden}));
  ROTA_RETURN_IF_ERROR(requireDims(ctx, 3, "B", {d, gateSize * Size(2)}));
  ROTA_RETURN_IF_ERROR(requireDims(ctx, 4, "sequence_lens", {batch}));
  ROTA_RETURN_IF_ERROR(requireDims(ctx, 5, "initial_h", state));
  ROTA_RETURN_IF_ERROR(requireDims(ctx, 6, "initial_c", state));
  ROTA_RETURN_IF_ERROR(requireDims(ctx, 7, "P", {d, hidden * Size(3)}));
  if (ctx.hasOutput(0)) {
    ctx.setOutput(0, ctx.inputDtype(0),
                  ir::Shape::of(batchFirst ? std::vector<Size>{batch, steps, d, hidden}
                                           : std::vector<Size>{steps, d, batch, hidden}));
  }
  for (std::size_t i = 1; i < 3; ++i) {
    if (ctx.hasOutput(i)) ctx.setOutput(i, ctx.inputDtype(0), ir::Shape::of(state));
  }
  return Status::ok();
}

std::vector<Formal> recurrentInputs(bool lstm) {
  constexpr auto kOptional = FormalOption::kOptional;
  std::vector<Formal> inputs = {{.name = "X", .typeVariable = "T"},
                                {.name = "W", .typeVariable = "T"},
                                {.name = "R", .typeVariable = "T"},
                                {.name = "B", .option = kOptional, .typeVariable = "T"},
                                {.name = "sequence_lens", .option = kOptional},
                                {.name = "initial_h", .option = kOptional, .typeVariable = "T"}};
  if (lstm) {
    inputs.push_back({.name = "initial_c", .option = kOptional, .typeVariable = "T"});
    inputs.push_back({.name = "P", .option = kOptional, .typeVariable = "T"});
  }
  return inputs;
}

std::vector<Formal> recurrentOutputs(bool lstm) {
  constexpr auto kOptional = FormalOption::kOptional;
  std::vector<Formal> outputs = {{.name = "Y", .option = kOptional, .typeVariable = "T"},
                                 {.name = "Y_h", .option = kOptional, .typeVariable = "T"}};
  if (lstm) outputs.push_back({.name = "Y_c", .option = kOptional, .typeVariable = "T"});
  return outputs;
}

std::vector<AttributeFormal> recurrentAttributes(std::vector<AttributeFormal> more) {
  std::vector<AttributeFormal> all = {{.name = "activation_alpha", .type = AttributeType::kFloats},
                                      {.name = "activation_beta", .type = AttributeType::kFloats},
                                      {.name = "activations", .type = AttributeType::kStrings},
                                      {.name = "clip", .type = AttributeType::kFloat},
                                      {.name = "direction", .type = AttributeType::kString},
                                      {.name = "hidden_size", .type = AttributeType::kInt},
                                      {.name = "layout", .type = AttributeType::kInt}};
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return all;
}

}  // namespace rota::op
