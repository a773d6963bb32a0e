// SPDX-License-Identifier: Apache-2.0
// NhwcConv, NhwcFusedConv, NhwcMaxPool and QLinearConv of com.microsoft: what layout optimisers make of convolutions and MaxPool. The importer writes them with the channels
// first again, between two Transposes; the layout of an edge is the planner's choice, not the graph's.
// Tested by tests/test_microsoft_operators.py.
#include <algorithm>
#include <numeric>

#include "core/check.h"
#include "op/early_expansion.h"
#include "op/window_common.h"

namespace rota::op {
namespace {

/// [N, spatial ..., C] as [N, C, spatial ...], or back.
std::vector<std::int64_t> channelsFirst(std::size_t rank) {
  std::vector<std::int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin() + 1, order.end() - 1, order.end());
  return order;
}
std::vector<std::int64_t> channelsLast(std::size_t rank) {
  std::vector<std::int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return order;
}

Status requireImage(const InferContext& ctx) {
  const ir::Shape& x = ctx.inputShape(0);
  if (x.known && x.rank() >= 3) return Status::ok();
  return ctx.error(ErrorCode::kShapeMismatch, "The input needs a known rank with at least one spatial axis",
                   "[N, spatial axes, C]", x.known ? "rank " + std::to_string(x.rank()) : "unknown rank");
}

/// A convolution with filters in input `filters` and a result of type `dtype`.
Status inferChannelsLast(InferContext& ctx, std::size_t filters, DType dtype) {
  ROTA_RETURN_IF_ERROR(requireImage(ctx));
  const ir::Shape& x = ctx.inputShape(0);
  const ir::Shape& w = ctx.inputShape(filters);
  ir::Shape y = ir::Shape::unknown();
  if (w.known && w.rank() == x.rank()) {
    const std::vector<Size> kernel(w.dims.begin() + 2, w.dims.end());
    auto spatial = windowOutput(ctx, std::span(x.dims).subspan(1, x.rank() - 2), kernel);
    if (!spatial) return spatial.status();
    y = ir::Shape::of({x.dims[0]});
    y.dims.insert(y.dims.end(), spatial->begin(), spatial->end());
    y.dims.push_back(w.dims[0]);
  }
  ctx.setOutput(0, dtype, std::move(y));
  return Status::ok();
}

Status inferChannelsLastConv(InferContext& ctx) { return inferChannelsLast(ctx, 1, ctx.inputDtype(0)); }

/// The channels are last only where the node says so.
bool hasChannelsLast(const ir::Node& node) { return node.attributes.getInt("channels_last") != 0; }

Status inferQuantizedConv(InferContext& ctx) {
  if (hasChannelsLast(ctx.node())) return inferChannelsLast(ctx, 3, ctx.inputDtype(7));
  auto shape = convOutputShape(ctx, 0, 3);
  if (!shape) return shape.status();
  ctx.setOutput(0, ctx.inputDtype(7), *std::move(shape));
  return Status::ok();
}

Status inferChannelsLastPool(InferContext& ctx) {
  ROTA_RETURN_IF_ERROR(requireImage(ctx));
  ir::Shape y = ctx.inputShape(0);
  const std::size_t spatial = y.rank() - 2;
  auto kernel = windowAttribute(ctx, "kernel_shape", spatial, 1, 1);
  if (!kernel) return kernel.status();
  const std::vector<Size> sizes(kernel->begin(), kernel->end());
  auto out = windowOutput(ctx, std::span(y.dims).subspan(1, spatial), sizes);
  if (!out) return out.status();
  std::copy(out->begin(), out->end(), y.dims.begin() + 1);
  ctx.setOutput(0, ctx.inputDtype(0), std::move(y));
  return Status::ok();
}

Result<std::vector<ir::Value*>> expandChannelsLast(ir::Graph& graph, const ir::Node& node) {
  NodeWriter w(graph, node, &node);
  const std::size_t rank = node.inputs[0]->type.shape.rank();
  const auto turn = [&](ir::Value* value, std::vector<std::int64_t> order) {
    return w.add("Transpose", {value}, {{"perm", std::move(order)}});
  };
  std::vector<ir::Value*> inputs = node.inputs;
  inputs[0] = turn(inputs[0], channelsFirst(rank));
  const bool isFused = node.opType == "NhwcFusedConv";
  if (isFused && node.input(3) != nullptr) inputs[3] = turn(inputs[3], channelsFirst(rank));
  ir::Node* core = isFused ? w.node("FusedConv", inputs, 1, {}, "com.microsoft")
                           : w.node(node.opType == "NhwcMaxPool" ? "MaxPool" : "Conv", inputs, 1);
  core->attributes = node.attributes;
  return std::vector<ir::Value*>{turn(core->outputs[0], channelsLast(rank))};
}

Result<std::vector<ir::Value*>> expandQuantizedConv(ir::Graph& graph, const ir::Node& node) {
  NodeWriter w(graph, node, &node);
  const bool last = hasChannelsLast(node);
  const std::size_t rank = last ? node.inputs[0]->type.shape.rank() : 0;
  std::vector<ir::Value*> inputs = node.inputs;
  if (last) inputs[0] = w.add("Transpose", {inputs[0]}, {{"perm", channelsFirst(rank)}});
  ir::Node* core = w.node("QLinearConv", inputs, 1);
  core->attributes = node.attributes;
  core->attributes.erase("channels_last");
  ir::Value* y = core->outputs[0];
  return std::vector<ir::Value*>{last ? w.add("Transpose", {y}, {{"perm", channelsLast(rank)}}) : y};
}

const RegisterEarlyExpansion kExpandMicrosoftQLinearConv("com.microsoft", "QLinearConv", nullptr,
                                                         expandQuantizedConv);
const RegisterEarlyExpansion kExpandNhwcConv("com.microsoft", "NhwcConv", nullptr, expandChannelsLast);
const RegisterEarlyExpansion kExpandNhwcFusedConv("com.microsoft", "NhwcFusedConv", nullptr,
                                                  expandChannelsLast);
const RegisterEarlyExpansion kExpandNhwcMaxPool("com.microsoft", "NhwcMaxPool", nullptr, expandChannelsLast);

const Register kRegisterNhwcConv(Definition{
    .domain = "com.microsoft",
    .name = "NhwcConv",
    .versions = {1},
    .doc = "Conv of images whose channels come last. Written as Conv between Transposes when the model is "
           "imported.",
    .kind = Kind::kContraction,
    .inputs = {{.name = "X", .typeVariable = "T"},
               {.name = "W", .typeVariable = "T"},
               {.name = "B", .option = FormalOption::kOptional, .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .attributes = windowAttributes({{.name = "group", .type = AttributeType::kInt}}),
    .infer = inferChannelsLastConv,
});

const Register kRegisterNhwcFusedConv(Definition{
    .domain = "com.microsoft",
    .name = "NhwcFusedConv",
    .versions = {1},
    .doc = "FusedConv of images whose channels come last. Written as FusedConv between Transposes when the "
           "model is imported.",
    .kind = Kind::kContraction,
    .inputs = {{.name = "X", .typeVariable = "T"},
               {.name = "W", .typeVariable = "T"},
               {.name = "B", .option = FormalOption::kOptional, .typeVariable = "T"},
               {.name = "Z", .option = FormalOption::kOptional, .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .attributes = windowAttributes({{.name = "activation", .type = AttributeType::kString},
                                    {.name = "activation_params", .type = AttributeType::kFloats},
                                    {.name = "group", .type = AttributeType::kInt}}),
    .infer = inferChannelsLastConv,
});

const Register kRegisterMicrosoftQLinearConv(Definition{
    .domain = "com.microsoft",
    .name = "QLinearConv",
    .versions = {1},
    .doc =
        "QLinearConv, whose channels come last where channels_last is set. Written as the QLinearConv of the "
        "default domain when the model is imported.",
    .kind = Kind::kContraction,
    .inputs = {{.name = "x", .typeVariable = "T1"},
               {.name = "x_scale"},
               {.name = "x_zero_point", .typeVariable = "T1"},
               {.name = "w", .typeVariable = "T2"},
               {.name = "w_scale"},
               {.name = "w_zero_point", .typeVariable = "T2"},
               {.name = "y_scale"},
               {.name = "y_zero_point"},
               {.name = "B", .option = FormalOption::kOptional}},
    .outputs = {{.name = "y"}},
    .attributes = windowAttributes({{.name = "channels_last", .type = AttributeType::kInt},
                                    {.name = "group", .type = AttributeType::kInt}}),
    .infer = inferQuantizedConv,
});

const Register kRegisterNhwcMaxPool(Definition{
    .domain = "com.microsoft",
    .name = "NhwcMaxPool",
    .versions = {1},
    .doc = "MaxPool of images whose channels come last. Written as MaxPool between Transposes when the model "
           "is imported.",
    .kind = Kind::kReduction,
    .inputs = {{.name = "x", .typeVariable = "T"}},
    .outputs = {{.name = "y", .typeVariable = "T"}},
    .attributes = windowAttributes({{.name = "ceil_mode", .type = AttributeType::kInt}}),
    .infer = inferChannelsLastPool,
});

}  // namespace
}  // namespace rota::op
