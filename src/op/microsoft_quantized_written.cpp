// SPDX-License-Identifier: Apache-2.0
// QGemm, QLinearWhere, GatherBlockQuantized, DynamicQuantizeLSTM and QEmbedLayerNormalization of com.microsoft, which quantisers emit. The importer writes them in
// DequantizeLinear, the operator on real numbers and QuantizeLinear, the form that all of Rota's quantisation stands on. DynamicQuantizeLSTM keeps its
// activations in real numbers: it quantises them for the speed of one runtime only, and real numbers are closer to the model that was quantised.
// Tested by tests/test_microsoft_operators.py.
#include <string>

#include "core/check.h"
#include "op/early_expansion.h"
#include "op/matmul_common.h"

namespace rota::op {
namespace {

// --- QGemm: A, its scale and zero point, B, its scale and zero point, C, scale and zero point of the result.

Status inferQGemm(InferContext& ctx) {
  auto shape =
      matMulShape(ctx, 0, 3, ctx.attributes().getInt("transA") != 0, ctx.attributes().getInt("transB") != 0);
  if (!shape) return shape.status();
  if (ctx.hasInput(7) != ctx.hasInput(8)) {
    return ctx.error(ErrorCode::kMissingInput, "Scale and zero point of the result come together",
                     "both or neither", ctx.hasInput(7) ? "a scale alone" : "a zero point alone");
  }
  ctx.setOutput(0, ctx.hasInput(8) ? ctx.inputDtype(8) : ctx.inputDtype(1), *std::move(shape));
  return Status::ok();
}

Result<std::vector<ir::Value*>> expandQGemm(ir::Graph& graph, const ir::Node& node) {
  NodeWriter w(graph, node, &node);
  const bool turned = node.attributes.getInt("transB") != 0;
  const float alpha = node.attributes.getFloat("alpha", 1);
  const DType real = node.inputs[1]->type.dtype;
  ir::Value* a = w.add("DequantizeLinear", {node.inputs[0], node.inputs[1], node.inputs[2]});
  ir::Value* b = w.add("DequantizeLinear", {node.inputs[3], node.inputs[4], node.inputs[5]},
                       {{"axis", std::int64_t{turned ? 0 : 1}}});
  ir::Value* y = w.add("Gemm", {a, b},
                       {{"transA", node.attributes.getInt("transA")},
                        {"transB", node.attributes.getInt("transB")},
                        {"alpha", alpha}});
  if (node.input(6) != nullptr) {
    ir::Value* scale = w.add("Mul", {node.inputs[1], node.inputs[4]});
    if (alpha != 1) scale = w.add("Mul", {scale, w.scalar(static_cast<double>(alpha), real)});
    y = w.add("Add", {y, w.add("Mul", {w.cast(node.inputs[6], real), scale})});
  }
  if (node.input(7) != nullptr) y = w.add("QuantizeLinear", {y, node.inputs[7], node.inputs[8]});
  return std::vector<ir::Value*>{y};
}

// --- QLinearWhere: condition; X, scale, zero point; Y, scale, zero point; scale and zero point of the result.

Status inferQLinearWhere(InferContext& ctx) {
  ir::Shape shape = ir::Shape::unknown();
  if (ctx.inputShape(0).known && ctx.inputShape(1).known && ctx.inputShape(4).known) {
    const std::vector<std::vector<Size>> shapes{ctx.inputShape(0).dims, ctx.inputShape(1).dims,
                                                ctx.inputShape(4).dims};
    auto dims = ctx.broadcast(shapes);
    if (!dims) return dims.status();
    shape = ir::Shape::of(*std::move(dims));
  }
  ctx.setOutput(0, ctx.inputDtype(1), std::move(shape));
  return Status::ok();
}

Result<std::vector<ir::Value*>> expandQLinearWhere(ir::Graph& graph, const ir::Node& node) {
  NodeWriter w(graph, node, &node);
  const std::vector<ir::Value*>& in = node.inputs;
  ir::Value* x = w.add("DequantizeLinear", {in[1], in[2], in[3]});
  ir::Value* y = w.add("DequantizeLinear", {in[4], in[5], in[6]});
  return std::vector<ir::Value*>{w.add("QuantizeLinear", {w.add("Where", {in[0], x, y}), in[7], in[8]})};
}

// --- GatherBlockQuantized: data, indices, scales, zero points.

struct GatherForm {
  std::size_t gatherAxis = 0;
  std::size_t quantizeAxis = 0;
  std::int64_t bits = 4;
  bool isPacked = false;  ///< Several elements in a byte, along the last axis.
};

Result<GatherForm> gatherForm(InferContext& ctx) {
  const std::size_t rank = ctx.inputShape(0).rank();
  GatherForm form;
  auto gather = normaliseAxis(ctx, ctx.attributes().getInt("gather_axis", 0), rank);
  if (!gather) return gather.status();
  auto quantize = normaliseAxis(ctx, ctx.attributes().getInt("quantize_axis", 1), rank);
  if (!quantize) return quantize.status();
  form.gatherAxis = *gather, form.quantizeAxis = *quantize;
  form.bits = ctx.attributes().getInt("bits", 4);
  const DType dtype = ctx.inputDtype(0);
  form.isPacked = dtype == DType::kUInt8 && form.bits < 8;
  const bool isKnownType = dtype == DType::kUInt8 || dtype == DType::kInt4 || dtype == DType::kUInt4;
  if (!isKnownType || (form.bits != 2 && form.bits != 4 && form.bits != 8)) {
    return ctx
        .error(ErrorCode::kUnsupportedOperator, "This form of GatherBlockQuantized is not supported",
               "int4, uint4, or uint8 with 2, 4 or 8 bits",
               std::string(info(dtype).name) + " with " + std::to_string(form.bits) + " bits")
        .fix("quantise the table with whole numbers");
  }
  if (form.gatherAxis == form.quantizeAxis || (form.isPacked && form.gatherAxis + 1 == rank)) {
    return ctx.error(ErrorCode::kBadAttribute, "Blocks must not lie along the gathered axis",
                     "different gather_axis and quantize_axis", std::to_string(form.gatherAxis));
  }
  return form;
}

Status inferGatherBlockQuantized(InferContext& ctx) {
  const ir::Shape& data = ctx.inputShape(0);
  const ir::Shape& indices = ctx.inputShape(1);
  if (!data.known || !indices.known) {
    return ctx.error(ErrorCode::kShapeMismatch, "Data and indices need a known rank", "known ranks",
                     "unknown rank");
  }
  auto form = gatherForm(ctx);
  if (!form) return form.status();
  std::vector<Size> dims = data.dims;
  if (form->isPacked) dims.back() = dims.back() * Size(8 / form->bits);
  const auto at = dims.begin() + static_cast<std::ptrdiff_t>(form->gatherAxis);
  dims.insert(dims.erase(at), indices.dims.begin(), indices.dims.end());
  ctx.setOutput(0, ctx.inputDtype(2), ir::Shape::of(std::move(dims)));
  return Status::ok();
}

/// The elements of the bytes along the last axis, lowest bits first, as bytes of their own.
ir::Value* unpackLast(NodeWriter& w, ir::Value* bytes, std::size_t rank, std::int64_t bits) {
  std::vector<ir::Value*> parts;
  for (std::int64_t shift = 0; shift < 8; shift += bits) {
    ir::Value* moved = w.add("BitShift", {bytes, w.scalar(static_cast<double>(shift), DType::kUInt8)},
                             {{"direction", std::string("RIGHT")}});
    ir::Value* part =
        w.add("BitwiseAnd", {moved, w.scalar(static_cast<double>((1 << bits) - 1), DType::kUInt8)});
    parts.push_back(w.add("Unsqueeze", {part, w.ints({-1})}));
  }
  std::vector<std::int64_t> shape(rank, 0);
  shape.back() = -1;
  return w.add("Reshape", {w.add("Concat", parts, {{"axis", std::int64_t{-1}}}), w.ints(shape)});
}

Result<std::vector<ir::Value*>> expandGatherBlockQuantized(ir::Graph& graph, const ir::Node& node) {
  NodeWriter w(graph, node, &node);
  const auto rank = static_cast<std::int64_t>(node.inputs[0]->type.shape.rank());
  const auto more = static_cast<std::int64_t>(node.inputs[1]->type.shape.rank()) - 1;
  const auto fromFront = [rank](std::int64_t axis) { return axis < 0 ? axis + rank : axis; };
  const std::int64_t gatherAxis = fromFront(node.attributes.getInt("gather_axis", 0));
  std::int64_t axis = fromFront(node.attributes.getInt("quantize_axis", 1));
  if (axis > gatherAxis) axis += more;
  const auto gathered = [&](ir::Value* value) {
    return w.add("Gather", {value, node.inputs[1]}, {{"axis", gatherAxis}});
  };
  const bool isBytes = node.inputs[0]->type.dtype == DType::kUInt8;
  const std::int64_t bits = node.attributes.getInt("bits", 4);
  const bool isPacked = isBytes && bits < 8;
  const auto gatheredRank = static_cast<std::size_t>(rank + more);
  ir::Value* data = gathered(node.inputs[0]);
  ir::Value* scales = gathered(node.inputs[2]);
  ir::Value* zeros = node.input(3) == nullptr ? nullptr : gathered(node.inputs[3]);
  if (isPacked) data = unpackLast(w, data, gatheredRank, bits);
  if (isPacked && zeros != nullptr) {
    // The last byte may hold more than the blocks that there are.
    ir::Value* blocks = w.add("Shape", {scales}, {{"start", std::int64_t{-1}}});
    zeros = w.add("Slice", {unpackLast(w, zeros, gatheredRank, bits), w.ints({0}), blocks, w.ints({-1})});
  }
  if (isBytes && zeros == nullptr) {
    zeros = w.add("Expand",
                  {w.scalar(static_cast<double>(1 << (bits - 1)), DType::kUInt8), w.add("Shape", {scales})});
  }
  return std::vector<ir::Value*>{
      w.add("DequantizeLinear", {data, scales, zeros},
            {{"axis", axis}, {"block_size", node.attributes.getInt("block_size", 128)}})};
}

// --- DynamicQuantizeLSTM: inputs of LSTM with W and R as [directions, inputs, 4 * hidden], then scale and zero point of W and of R.

Status inferDynamicQuantizeLstm(InferContext& ctx) {
  const ir::Shape& x = ctx.inputShape(0);
  const ir::Shape& r = ctx.inputShape(2);
  const DType dtype = ctx.inputDtype(0);
  const bool known = x.known && r.known;
  if (known && (x.rank() != 3 || r.rank() != 3)) {
    return ctx.error(ErrorCode::kShapeMismatch, "The input and the recurrent weights need three axes",
                     "rank 3", "ranks " + std::to_string(x.rank()) + " and " + std::to_string(r.rank()));
  }
  const ir::Shape last = known ? ir::Shape::of({r.dims[0], x.dims[1], r.dims[1]}) : ir::Shape::unknown();
  if (ctx.hasOutput(0)) {
    ctx.setOutput(0, dtype,
                  known ? ir::Shape::of({x.dims[0], r.dims[0], x.dims[1], r.dims[1]}) : ir::Shape::unknown());
  }
  for (const std::size_t i : {1, 2}) {
    if (ctx.hasOutput(i)) ctx.setOutput(i, dtype, last);
  }
  return Status::ok();
}

/// Weights [directions, inputs, 4 * hidden] in real numbers, as [directions, 4 * hidden, inputs].
ir::Value* realWeights(NodeWriter& w, ir::Value* weights, ir::Value* scale, ir::Value* zero) {
  const auto spread = [&](ir::Value* value) {
    const bool perColumn = value->type.shape.known && value->type.shape.rank() == 2;
    return w.add("Unsqueeze", {w.cast(value, DType::kFloat32), perColumn ? w.ints({1}) : w.ints({1, 2})});
  };
  ir::Value* centred = w.add("Sub", {w.cast(weights, DType::kFloat32), spread(zero)});
  return w.add("Transpose", {w.add("Mul", {centred, spread(scale)})},
               {{"perm", std::vector<std::int64_t>{0, 2, 1}}});
}

Result<std::vector<ir::Value*>> expandDynamicQuantizeLstm(ir::Graph& graph, const ir::Node& node) {
  NodeWriter w(graph, node, &node);
  const std::vector<ir::Value*>& in = node.inputs;
  ir::Node* lstm = w.node("LSTM",
                          {in[0], realWeights(w, in[1], in[8], in[9]), realWeights(w, in[2], in[10], in[11]),
                           in[3], in[4], in[5], in[6], in[7]},
                          3);
  lstm->attributes = node.attributes;
  return std::vector<ir::Value*>(lstm->outputs.begin(),
                                 lstm->outputs.begin() + static_cast<std::ptrdiff_t>(node.outputs.size()));
}

// --- QEmbedLayerNormalization: ids, segment ids, five quantised tables (word, position, segment, gamma, beta), mask, five scales, five zero points.

Status inferQEmbedLayerNormalization(InferContext& ctx) {
  const ir::Shape& ids = ctx.inputShape(0);
  const ir::Shape& word = ctx.inputShape(2);
  const bool known = ids.known && word.known;
  if (known && (ids.rank() != 2 || word.rank() != 2)) {
    return ctx.error(ErrorCode::kShapeMismatch, "Ids and embedding table must be matrices", "rank 2",
                     "ranks " + std::to_string(ids.rank()) + " and " + std::to_string(word.rank()));
  }
  ctx.setOutput(0, ctx.inputDtype(8),
                known ? ir::Shape::of({ids.dims[0], ids.dims[1], word.dims[1]}) : ir::Shape::unknown());
  if (ctx.hasOutput(1))
    ctx.setOutput(1, DType::kInt32, known ? ir::Shape::of({ids.dims[0]}) : ir::Shape::unknown());
  return Status::ok();
}

Result<std::vector<ir::Value*>> expandQEmbedLayerNormalization(ir::Graph& graph, const ir::Node& node) {
  NodeWriter w(graph, node, &node);
  std::vector<ir::Value*> inputs{node.inputs[0], node.inputs[1]};
  for (std::size_t i = 0; i < 5; ++i) {
    const bool isGiven = node.input(2 + i) != nullptr;
    inputs.push_back(
        isGiven ? w.add("DequantizeLinear", {node.inputs[2 + i], node.input(8 + i), node.input(13 + i)})
                : nullptr);
  }
  inputs.push_back(node.input(7));
  ir::Node* core = w.node("EmbedLayerNormalization", inputs, 2, {}, "com.microsoft");
  core->attributes = node.attributes;
  return std::vector<ir::Value*>(core->outputs.begin(),
                                 core->outputs.begin() + static_cast<std::ptrdiff_t>(node.outputs.size()));
}

const RegisterEarlyExpansion kExpandQEmbedLayerNormalization("com.microsoft", "QEmbedLayerNormalization",
                                                             nullptr, expandQEmbedLayerNormalization);
const RegisterEarlyExpansion kExpandQGemm("com.microsoft", "QGemm", nullptr, expandQGemm);
const RegisterEarlyExpansion kExpandQLinearWhere("com.microsoft", "QLinearWhere", nullptr,
                                                 expandQLinearWhere);
const RegisterEarlyExpansion kExpandGatherBlockQuantized("com.microsoft", "GatherBlockQuantized", nullptr,
                                                         expandGatherBlockQuantized);
const RegisterEarlyExpansion kExpandDynamicQuantizeLstm("com.microsoft", "DynamicQuantizeLSTM", nullptr,
                                                        expandDynamicQuantizeLstm);

const Register kRegisterMicrosoftQGemm(Definition{
    .domain = "com.microsoft",
    .name = "QGemm",
    .versions = {1},
    .doc = "Gemm of quantised matrices, per tensor or with a scale for each column of B, quantised again "
           "where a "
           "scale of the result is given. Written in simpler operators when the model is imported.",
    .kind = Kind::kContraction,
    .inputs = {{.name = "A", .typeVariable = "TA"},
               {.name = "a_scale", .typeVariable = "T"},
               {.name = "a_zero_point", .typeVariable = "TA"},
               {.name = "B", .typeVariable = "TB"},
               {.name = "b_scale", .typeVariable = "T"},
               {.name = "b_zero_point", .typeVariable = "TB"},
               {.name = "C", .option = FormalOption::kOptional},
               {.name = "y_scale", .option = FormalOption::kOptional, .typeVariable = "T"},
               {.name = "y_zero_point", .option = FormalOption::kOptional}},
    .outputs = {{.name = "Y"}},
    .attributes = {{.name = "alpha", .type = AttributeType::kFloat},
                   {.name = "transA", .type = AttributeType::kInt},
                   {.name = "transB", .type = AttributeType::kInt}},
    .infer = inferQGemm,
});

const Register kRegisterMicrosoftQEmbedLayerNormalization(Definition{
    .domain = "com.microsoft",
    .name = "QEmbedLayerNormalization",
    .versions = {1},
    .doc = "EmbedLayerNormalization of quantised tables. Written with DequantizeLinear when the model is "
           "imported.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "input_ids", .typeVariable = "T1"},
               {.name = "segment_ids", .option = FormalOption::kOptional, .typeVariable = "T1"},
               {.name = "word_embedding_quant", .typeVariable = "T2"},
               {.name = "position_embedding_quant", .typeVariable = "T2"},
               {.name = "segment_embedding", .option = FormalOption::kOptional, .typeVariable = "T2"},
               {.name = "gamma_quant", .typeVariable = "T2"},
               {.name = "beta_quant", .typeVariable = "T2"},
               {.name = "mask", .option = FormalOption::kOptional, .typeVariable = "T1"},
               {.name = "word_embedding_scale", .typeVariable = "T"},
               {.name = "position_embedding_scale", .typeVariable = "T"},
               {.name = "segment_embedding_scale", .option = FormalOption::kOptional, .typeVariable = "T"},
               {.name = "gamma_scale", .typeVariable = "T"},
               {.name = "beta_scale", .typeVariable = "T"},
               {.name = "word_embedding_zero_point", .typeVariable = "T2"},
               {.name = "position_embedding_zero_point", .typeVariable = "T2"},
               {.name = "segment_embedding_zero_point",
                .option = FormalOption::kOptional,
                .typeVariable = "T2"},
               {.name = "gamma_zero_point", .typeVariable = "T2"},
               {.name = "beta_zero_point", .typeVariable = "T2"}},
    .outputs = {{.name = "layernorm_out", .typeVariable = "T"},
                {.name = "mask_index_out", .option = FormalOption::kOptional}},
    .attributes = {{.name = "epsilon", .type = AttributeType::kFloat}},
    .infer = inferQEmbedLayerNormalization,
});

const Register kRegisterMicrosoftQLinearWhere(Definition{
    .domain = "com.microsoft",
    .name = "QLinearWhere",
    .versions = {1},
    .doc = "Where of two quantised tensors, quantised again. Written in simpler operators when the model is "
           "imported.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "condition"},
               {.name = "X", .typeVariable = "T"},
               {.name = "x_scale"},
               {.name = "x_zero_point", .typeVariable = "T"},
               {.name = "Y", .typeVariable = "T"},
               {.name = "y_scale"},
               {.name = "y_zero_point", .typeVariable = "T"},
               {.name = "z_scale"},
               {.name = "z_zero_point", .typeVariable = "T"}},
    .outputs = {{.name = "Z", .typeVariable = "T"}},
    .infer = inferQLinearWhere,
});

const Register kRegisterMicrosoftGatherBlockQuantized(Definition{
    .domain = "com.microsoft",
    .name = "GatherBlockQuantized",
    .versions = {1},
    .doc = "Gather from a table of 2, 4 or 8 bits whose blocks have scales and zero points, as real numbers. "
           "Written in Gather and DequantizeLinear when the model is imported. An index outside is an error.",
    .kind = Kind::kMovement,
    .inputs = {{.name = "data", .typeVariable = "T1"},
               {.name = "indices"},
               {.name = "scales"},
               {.name = "zero_points", .option = FormalOption::kOptional, .typeVariable = "T1"}},
    .outputs = {{.name = "output"}},
    .attributes = {{.name = "bits", .type = AttributeType::kInt},
                   {.name = "block_size", .type = AttributeType::kInt},
                   {.name = "gather_axis", .type = AttributeType::kInt},
                   {.name = "quantize_axis", .type = AttributeType::kInt}},
    .infer = inferGatherBlockQuantized,
});

const Register kRegisterMicrosoftDynamicQuantizeLstm(Definition{
    .domain = "com.microsoft",
    .name = "DynamicQuantizeLSTM",
    .versions = {1},
    .doc = "LSTM with quantised weights. Written as LSTM with the weights in real numbers when the model is "
           "imported; activations are not quantised.",
    .kind = Kind::kScan,
    .inputs = {{.name = "X", .typeVariable = "T"},
               {.name = "W", .typeVariable = "T2"},
               {.name = "R", .typeVariable = "T2"},
               {.name = "B", .option = FormalOption::kOptional, .typeVariable = "T"},
               {.name = "sequence_lens", .option = FormalOption::kOptional},
               {.name = "initial_h", .option = FormalOption::kOptional, .typeVariable = "T"},
               {.name = "initial_c", .option = FormalOption::kOptional, .typeVariable = "T"},
               {.name = "P", .option = FormalOption::kOptional, .typeVariable = "T"},
               {.name = "W_scale", .typeVariable = "T"},
               {.name = "W_zero_point", .typeVariable = "T2"},
               {.name = "R_scale", .typeVariable = "T"},
               {.name = "R_zero_point", .typeVariable = "T2"}},
    .outputs = {{.name = "Y", .option = FormalOption::kOptional, .typeVariable = "T"},
                {.name = "Y_h", .option = FormalOption::kOptional, .typeVariable = "T"},
                {.name = "Y_c", .option = FormalOption::kOptional, .typeVariable = "T"}},
    .attributes = {{.name = "activation_alpha", .type = AttributeType::kFloats},
                   {.name = "activation_beta", .type = AttributeType::kFloats},
                   {.name = "activations", .type = AttributeType::kStrings},
                   {.name = "clip", .type = AttributeType::kFloat},
                   {.name = "direction", .type = AttributeType::kString},
                   {.name = "hidden_size", .type = AttributeType::kInt},
                   {.name = "input_forget", .type = AttributeType::kInt}},
    .infer = inferDynamicQuantizeLstm,
});

}  // namespace
}  // namespace rota::op
