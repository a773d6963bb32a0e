// SPDX-License-Identifier: Apache-2.0
// Scan: a block run over the slices of tensors. Version 8 is batched: axis 0 of everything is the batch and axis 1 is scanned, up to a length for
// each batch entry. The importer writes it as a Scan over the batch around a Scan of version 9 over the slices up to the length, whose results are
// filled up with zeros.
// Tested by src/op/control_flow_test.cpp and the node cases of tests/conformance.
#include <algorithm>

#include "ir/inline_graph.h"
#include "op/control_flow_common.h"
#include "op/early_expansion.h"

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

/// Batched inputs without the first `dims` dims; the first batch size and length that are known must be those of all.
Result<ir::Type> batchedType(InferContext& ctx, std::size_t i, std::size_t dims, Size (&sizes)[2]) {
  if (!ctx.hasInput(i))
    return ctx.error(ErrorCode::kMissingInput, "An input of a Scan is left out", "a value", "none");
  ir::Type type = ctx.inputType(i);
  if (!type.shape.known) return type;
  if (type.shape.rank() < dims) {
    return ctx.error(ErrorCode::kShapeMismatch, "An input of a batched Scan lacks its batch or scanned axis",
                     "rank " + std::to_string(dims) + " or more",
                     "rank " + std::to_string(type.shape.rank()));
  }
  constexpr const char* kReasons[2] = {"the inputs have the same batch size",
                                       "the scanned inputs have the same length"};
  for (std::size_t d = 0; d < dims; ++d) {
    if (sizes[d].isValid()) ROTA_RETURN_IF_ERROR(ctx.requireEqual(sizes[d], type.shape.dims[d], kReasons[d]));
    if (!sizes[d].isValid() || type.shape.dims[d].isConstant()) sizes[d] = type.shape.dims[d];
  }
  type.shape.dims.erase(type.shape.dims.begin(), type.shape.dims.begin() + static_cast<std::ptrdiff_t>(dims));
  return type;
}

/// Version 8: input 0 holds the lengths, or is not given.
Status inferBatchedScan(InferContext& ctx) {
  const std::int64_t scanned = ctx.attributes().getInt("num_scan_inputs");
  if (scanned < 1 || scanned >= static_cast<std::int64_t>(ctx.inputCount())) {
    return ctx.error(ErrorCode::kBadAttribute, "Attribute 'num_scan_inputs' does not fit the inputs",
                     "1 to the number of inputs behind the lengths", std::to_string(scanned));
  }
  const std::size_t inputs = ctx.inputCount() - 1;
  const std::size_t states = inputs - static_cast<std::size_t>(scanned);
  auto block = requireBlock(ctx, "body", inputs, std::max(states, ctx.node().outputs.size()));
  if (!block) return block.status();
  Size sizes[2] = {Size::invalid(), Size::invalid()};
  std::vector<ir::Type> types;
  for (std::size_t i = 0; i < inputs; ++i) {
    auto type = batchedType(ctx, i + 1, i < states ? 1 : 2, sizes);
    if (!type) return type.status();
    types.push_back(std::move(*type));
  }
  const auto firstSlice = types.begin() + static_cast<std::ptrdiff_t>(states);
  setBlockInputs(**block, states, {firstSlice, types.end()});
  types.erase(firstSlice, types.end());
  ROTA_RETURN_IF_ERROR(inferCarried(ctx, **block, 0, 0, types));
  if (!sizes[0].isValid()) sizes[0] = ctx.dataDependent("batch", {});
  if (!sizes[1].isValid()) sizes[1] = ctx.dataDependent("length", {});
  const auto inside = symbolsInside(**block);
  for (std::size_t i = 0; i < ctx.node().outputs.size(); ++i) {
    if (!ctx.hasOutput(i)) continue;
    ir::Type type = outsideType(ctx, i < states ? types[i] : (*block)->outputs()[i]->type, inside,
                                "output" + std::to_string(i));
    if (type.shape.known)
      type.shape.dims.insert(type.shape.dims.begin(), sizes, sizes + (i < states ? 1 : 2));
    ctx.setOutputType(i, std::move(type));
  }
  return Status::ok();
}

/// The type of a value without its first dim.
ir::Type sliceOf(ir::Type type) {
  if (type.shape.known) type.shape.dims.erase(type.shape.dims.begin());
  return type;
}

/// One entry of the batch: a Scan of version 9 over slices of `length` (nullptr: all of them).
std::vector<ir::Value*> scanOneEntry(NodeWriter& batch, const ir::Node& node, std::vector<ir::Value*> entry,
                                     ir::Value* length) {
  const ir::Graph& scanned = *node.block("body");
  const auto slices = static_cast<std::size_t>(node.attributes.getInt("num_scan_inputs"));
  const std::size_t states = entry.size() - slices;
  ir::Value* first = batch.ints({0});
  ir::Value* whole = batch.add("Shape", {entry[states]}, {{"end", std::int64_t{1}}});
  if (length != nullptr) {
    ir::Value* end = batch.add("Reshape", {batch.cast(length, DType::kInt64), batch.ints({1})});
    for (std::size_t i = states; i < entry.size(); ++i)
      entry[i] = batch.add("Slice", {entry[i], first, end, first});
  }
  ir::Node* scan = batch.node("Scan", entry, scanned.outputs().size(),
                              {{"num_scan_inputs", static_cast<std::int64_t>(slices)}});
  if (const auto* directions = node.attributes.getInts("directions"))
    scan->attributes.set("scan_input_directions", *directions);
  ir::Graph& body = batch.block(*scan, "body");
  std::vector<ir::Value*> arguments;
  for (const ir::Value* input : scanned.inputs())
    arguments.push_back(body.addInput(input->name, input->type));
  for (ir::Value* output : ir::inlineGraph(scanned, arguments, body)) body.addOutput(output);
  std::vector<ir::Value*> results = scan->outputs;
  for (std::size_t i = states; length != nullptr && i < results.size(); ++i) {
    ir::Value* missing =
        batch.add("Sub", {whole, batch.add("Shape", {results[i]}, {{"end", std::int64_t{1}}})});
    ir::Value* pads = batch.add("Concat", {first, missing}, {{"axis", std::int64_t{0}}});
    results[i] = batch.add("Pad", {results[i], pads, nullptr, first});
  }
  return results;
}

Result<std::vector<ir::Value*>> expandBatchedScan(ir::Graph& graph, const ir::Node& node) {
  NodeWriter outer(graph, node, &node);
  const bool hasLengths = node.inputs[0] != nullptr;
  const std::vector<ir::Value*> batched(node.inputs.begin() + (hasLengths ? 0 : 1), node.inputs.end());
  ir::Node* scan = outer.node("Scan", batched, node.block("body")->outputs().size(),
                              {{"num_scan_inputs", static_cast<std::int64_t>(batched.size())}});
  ir::Graph& body = outer.block(*scan, "body");
  std::vector<ir::Value*> entry;
  for (const ir::Value* input : batched)
    entry.push_back(body.addInput(input->name + "/entry", sliceOf(input->type)));
  ir::Value* length = hasLengths ? entry.front() : nullptr;
  if (hasLengths) entry.erase(entry.begin());
  NodeWriter inner(body, node, nullptr);
  for (ir::Value* result : scanOneEntry(inner, node, std::move(entry), length)) body.addOutput(result);
  return scan->outputs;
}

const RegisterEarlyExpansion kExpandBatchedScan(
    "", "Scan", [](const ir::Node& node) { return node.version < 9; }, expandBatchedScan);

Status inferScan(InferContext& ctx) {
  if (ctx.version() < 9) return inferBatchedScan(ctx);
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
  for (const auto& [name, count] : {std::pair{"scan_input_axes", static_cast<std::size_t>(scanned)},
                                    std::pair{"scan_input_directions", static_cast<std::size_t>(scanned)},
                                    std::pair{"scan_output_axes", body.outputs().size() - states},
                                    std::pair{"scan_output_directions", body.outputs().size() - states}}) {
    const auto* list = ctx.attributes().getInts(name);
    if (list != nullptr && list->size() != count) {
      return ctx.error(ErrorCode::kBadAttribute,
                       std::string("Attribute '") + name + "' does not fit the body",
                       std::to_string(count) + " entries", std::to_string(list->size()));
    }
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
    .versions = {8, 9, 11, 16, 19, 21, 23, 24, 25},
    .doc = "Runs its body once for each place along an axis of the scanned inputs, forwards or backwards, "
           "with the slices there and the state of the turn "
           "before; returns the last state and the further results, stacked along an axis. In version 8 each "
           "entry of a "
           "batch is scanned on its own, up to its length.",
    .kind = Kind::kControlFlow,
    // In version 8 the first one holds the lengths.
    .inputs = {{.name = "first_of_initial_state_and_scan_inputs", .option = FormalOption::kOptional},
               {.name = "initial_state_and_scan_inputs", .option = FormalOption::kVariadic}},
    .outputs = {{.name = "final_state_and_scan_outputs", .option = FormalOption::kVariadic}},
    .attributes = {{.name = "body", .type = AttributeType::kGraph, .required = true},
                   {.name = "directions", .type = AttributeType::kInts},
                   {.name = "num_scan_inputs", .type = AttributeType::kInt, .required = true},
                   {.name = "scan_input_axes", .type = AttributeType::kInts},
                   {.name = "scan_input_directions", .type = AttributeType::kInts},
                   {.name = "scan_output_axes", .type = AttributeType::kInts},
                   {.name = "scan_output_directions", .type = AttributeType::kInts}},
    .infer = inferScan,
});

}  // namespace
}  // namespace rota::op
