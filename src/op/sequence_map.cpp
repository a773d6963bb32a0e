// SPDX-License-Identifier: Apache-2.0
// SequenceMap: a block applied to the elements of sequences. It has no kernel of its own: the importer writes it as the Loop over SequenceAt
// and SequenceInsert that the standard gives as its body.
// Tested by src/op/early_expansion_test.cpp and the node cases of tests/conformance.
#include "ir/inline_graph.h"
#include "op/control_flow_common.h"
#include "op/early_expansion.h"
#include "op/sequence_common.h"

namespace rota::op {
namespace {

Status inferSequenceMap(InferContext& ctx) {
  ROTA_RETURN_IF_ERROR(requireSequence(ctx, 0));
  auto block = requireBlock(ctx, "body", ctx.inputCount(), ctx.node().outputs.size());
  if (!block) return block.status();
  ir::Graph& body = **block;
  std::vector<ir::Type> types;
  for (std::size_t i = 0; i < ctx.inputCount(); ++i) {
    if (!ctx.hasInput(i))
      return ctx.error(ErrorCode::kMissingInput, "An input of a SequenceMap is left out", "a value", "none");
    ir::Type type = ctx.inputType(i);
    if (type.kind == ir::TypeKind::kSequence) type.kind = ir::TypeKind::kTensor;
    types.push_back(std::move(type));
  }
  setBlockInputs(body, 0, types);
  ROTA_RETURN_IF_ERROR(ctx.inferBlock(body));
  for (std::size_t i = 0; i < ctx.node().outputs.size(); ++i) {
    const ir::Type& result = body.outputs()[i]->type;
    if (result.kind != ir::TypeKind::kTensor) {
      return ctx.error(ErrorCode::kTypeMismatch, "What a SequenceMap collects must be tensors", "a tensor",
                       "a sequence or an optional");
    }
    ctx.setOutputType(i, sequenceOf(result.dtype, ir::Shape::unknown()));
  }
  return Status::ok();
}

Result<std::vector<ir::Value*>> expandSequenceMap(ir::Graph& graph, const ir::Node& node) {
  const ir::Graph& mapped = *node.block("body");
  NodeWriter outer(graph, node, &node);
  std::vector<ir::Value*> loopInputs{outer.add("SequenceLength", {node.inputs[0]}), nullptr};
  for (const ir::Value* result : mapped.outputs()) {
    loopInputs.push_back(outer.add("SequenceEmpty", {},
                                   {{"dtype", static_cast<std::int64_t>(info(result->type.dtype).onnx)}}));
  }
  ir::Node* loop = outer.node("Loop", loopInputs, mapped.outputs().size());
  ir::Graph& body = outer.block(*loop, "body");
  ir::Value* turn = body.addInput("turn", {.dtype = DType::kInt64, .shape = ir::Shape::of({})});
  ir::Value* condition = body.addInput("condition", {.dtype = DType::kBool, .shape = ir::Shape::of({})});
  std::vector<ir::Value*> collected;
  for (const ir::Value* result : mapped.outputs()) {
    collected.push_back(body.addInput("collected", sequenceOf(result->type.dtype, ir::Shape::unknown())));
  }
  NodeWriter inner(body, node, nullptr);
  std::vector<ir::Value*> arguments;
  for (ir::Value* input : node.inputs) {
    const bool isSequence = input->type.kind == ir::TypeKind::kSequence;
    arguments.push_back(isSequence ? inner.add("SequenceAt", {input, turn}) : input);
  }
  const std::vector<ir::Value*> results = ir::inlineGraph(mapped, arguments, body);
  body.addOutput(inner.add("Identity", {condition}));
  for (std::size_t i = 0; i < results.size(); ++i)
    body.addOutput(inner.add("SequenceInsert", {collected[i], results[i]}));
  return loop->outputs;
}

const RegisterEarlyExpansion kExpandSequenceMap("", "SequenceMap", nullptr, expandSequenceMap);

const Register kRegisterSequenceMap(Definition{
    .name = "SequenceMap",
    .versions = {17},
    .doc =
        "Runs its body once for each place of the given sequences, with their elements there and the given "
        "tensors, and collects each result in a sequence. Written as a Loop when the model is imported.",
    .kind = Kind::kControlFlow,
    .inputs = {{.name = "input_sequence"}, {.name = "additional_inputs", .option = FormalOption::kVariadic}},
    .outputs = {{.name = "out_sequence", .option = FormalOption::kVariadic}},
    .attributes = {{.name = "body", .type = AttributeType::kGraph, .required = true}},
    .infer = inferSequenceMap,
});

}  // namespace
}  // namespace rota::op
