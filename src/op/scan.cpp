// SPDX-License-Identifier: Apache-2.0
// Scan: a block run over the slices of tensors, from version 9 on (the batched form of version 8 is not known).
// Tested by src/op/control_flow_test.cpp and the node cases of tests/conformance.
#include <algorithm>

#include "op/control_flow_common.h"

namespace rota::op {
namespace {

std::int64_t scanEntry(InferContext& ctx, const char* name, std::size_t i) {
  const auto* list = ctx.attributes().getInts(name);
  return list != nullptr && i < list->size() ? (*list)[i] : 0;
}

/// Types of the slices; all inputs have the same length along their axes.
Result<std::vector<ir::Type>> sliceTypes(InferContext& ctx, std::size_t first, Size& length) {
  std::vector<ir::Type> types;
  bool hasLength = false;
  for (std::size_t i = first; i < ctx.inputCount(); ++i) {
    if (!ctx.hasInput(i))
      return ctx.error(ErrorCode::kMissingInput, "An input of a Scan is left out", "a value", "none");
    ir::Type type = ctx.inputType(i);
    if (type.shape.known) {
      auto axis = normaliseAxis(ctx, scanEntry(ctx, "scan_input_axes", i - first), type.shape.rank());
      if (!axis) return axis.status();
      const Size size = type.shape.dims[*axis];
      if (hasLength)
        ROTA_RETURN_IF_ERROR(ctx.requireEqual(length, size, "the scanned inputs have the same length"));
      if (!hasLength || size.isConstant()) length = size;
      hasLength = true;
      type.shape.dims.erase(type.shape.dims.begin() + static_cast<std::ptrdiff_t>(*axis));
    }
    types.push_back(std::move(type));
  }
  if (!hasLength) length = ctx.dataDependent("length", {});
  return types;
}

Status inferScan(InferContext& ctx) {
  const std::int64_t scanned = ctx.attributes().getInt("num_scan_inputs");
  if (scanned < 1 || scanned > static_cast<std::int64_t>(ctx.inputCount())) {
    return ctx.error(ErrorCode::kBadAttribute, "Attribute 'num_scan_inputs' does not fit the inputs",
                     "1 to " + std::to_string(ctx.inputCount()), std::to_string(scanned));
  }
  const std::size_t states = ctx.inputCount() - static_cast<std::size_t>(scanned);
  auto block = requireBlock(ctx, "body", ctx.inputCount(), states);
  if (!block) return block.status();
  ir::Graph& body = **block;
  if (ctx.node().outputs.size() > body.outputs().size()) {
    return ctx.error(ErrorCode::kBadGraph, "A Scan has more outputs than its body computes",
                     "at most " + std::to_string(body.outputs().size()),
                     std::to_string(ctx.node().outputs.size()));
  }
  Size length;
  auto slices = sliceTypes(ctx, states, length);
  if (!slices) return slices.status();
  setBlockInputs(body, states, *slices);
  std::vector<ir::Type> types;
  for (std::size_t i = 0; i < states; ++i) {
    if (!ctx.hasInput(i))
      return ctx.error(ErrorCode::kMissingInput, "An initial state of a Scan is left out", "a value", "none");
    types.push_back(ctx.inputType(i));
  }
  ROTA_RETURN_IF_ERROR(inferCarried(ctx, body, 0, 0, types));

  auto inside = symbolsInside(body);
  for (const auto& [name, symbol] : ctx.node().foundSizes) {
    if (name.starts_with("carried")) inside.push_back(symbol);
  }
  std::sort(inside.begin(), inside.end());
  for (std::size_t i = 0; i < ctx.node().outputs.size(); ++i) {
    if (!ctx.hasOutput(i)) continue;
    ir::Type type = outsideType(ctx, i < states ? types[i] : body.outputs()[i]->type, inside,
                                "output" + std::to_string(i));
    if (i >= states && type.shape.known) {
      auto axis = normaliseAxis(ctx, scanEntry(ctx, "scan_output_axes", i - states), type.shape.rank() + 1);
      if (!axis) return axis.status();
      type.shape.dims.insert(type.shape.dims.begin() + static_cast<std::ptrdiff_t>(*axis), length);
    }
    ctx.setOutputType(i, std::move(type));
  }
  return Status::ok();
}

const Register kRegisterScan(Definition{
    .name = "Scan",
    .versions = {9, 11, 16, 19, 21, 23, 24, 25},
    .doc = "Runs its body once for each place along an axis of the scanned inputs, forwards or backwards, "
           "with the slices there and the state of the turn "
           "before; returns the last state and the further results, stacked along an axis.",
    .kind = Kind::kControlFlow,
    .inputs = {{.name = "initial_state_and_scan_inputs", .option = FormalOption::kVariadic}},
    .outputs = {{.name = "final_state_and_scan_outputs", .option = FormalOption::kVariadic}},
    .attributes = {{.name = "body", .type = AttributeType::kGraph, .required = true},
                   {.name = "num_scan_inputs", .type = AttributeType::kInt, .required = true},
                   {.name = "scan_input_axes", .type = AttributeType::kInts},
                   {.name = "scan_input_directions", .type = AttributeType::kInts},
                   {.name = "scan_output_axes", .type = AttributeType::kInts},
                   {.name = "scan_output_directions", .type = AttributeType::kInts}},
    .infer = inferScan,
});

}  // namespace
}  // namespace rota::op
