// SPDX-License-Identifier: Apache-2.0
// NhwcConv, NhwcFusedConv and NhwcMaxPool of com.microsoft: what layout optimisers make of Conv and MaxPool. The importer writes them with the channels
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

Status inferChannelsLastConv(InferContext& ctx) {
  ROTA_RETURN_IF_ERROR(requireImage(ctx));
  const ir::Shape& x = ctx.inputShape(0);
  const ir::Shape& w = ctx.inputShape(1);
  ir::Shape y = ir::Shape::unknown();
  if (w.known && w.rank() == x.rank()) {
    const std::vector<Size> kernel(w.dims.begin() + 2, w.dims.end());
    auto spatial = windowOutput(ctx, std::span(x.dims).subspan(1, x.rank() - 2), kernel);
    if (!spatial) return spatial.status();
    y = ir::Shape::of({x.dims[0]});
    y.dims.insert(y.dims.end(), spatial->begin(), spatial->end());
    y.dims.push_back(w.dims[0]);
  }
  ctx.setOutput(0, ctx.inputDtype(0), std::move(y));
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
