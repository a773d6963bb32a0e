// SPDX-License-Identifier: Apache-2.0
// RotaryEmbedding of the default domain and of com.microsoft. Tested by src/op/attention_test.cpp and the node cases of tests/conformance.
#include <utility>

#include "core/check.h"
#include "op/common.h"
#include "op/describe.h"
#include "op/expansion.h"

namespace rota::op {
namespace {

/// Elements 0, 2, 4 … or the first half of the last axis, and the others.
std::pair<ir::Value*, ir::Value*> rotatedPairs(Expansion& e, ir::Value* x, std::int64_t size,
                                               bool interleaved) {
  if (!interleaved) {
    return {e.add("Slice", {x, e.ints({0}), e.ints({size / 2}), e.ints({-1})}),
            e.add("Slice", {x, e.ints({size / 2}), e.ints({size}), e.ints({-1})})};
  }
  return {e.add("Slice", {x, e.ints({0}), e.ints({size}), e.ints({-1}), e.ints({2})}),
          e.add("Slice", {x, e.ints({1}), e.ints({size}), e.ints({-1}), e.ints({2})})};
}

/// Inputs X, cosines, sines and positions, in this order.
Result<std::vector<ir::Value*>> expandRotaryEmbedding(ir::Graph& graph, const ir::Node& node) {
  Expansion e(graph, node);
  const ir::Shape& shape = node.inputs[0]->type.shape;
  const bool packed = shape.known && shape.rank() == 3;
  const std::int64_t heads = node.attributes.getInt("num_heads");
  const Size last = shape.known && !shape.dims.empty() ? shape.dims.back() : Size::invalid();
  if (!last.isConstant() || (packed && (heads < 1 || *last.constant() % heads != 0))) {
    return Status(ErrorCode::kBadGraph, "RotaryEmbedding cannot be expanded without the size of its heads")
        .at(describeNode(node))
        .expected("a fixed last axis, and 'num_heads' for an input of rank 3")
        .found(describeShape(shape, graph.sizes()));
  }
  const DType dtype = node.inputs[0]->type.dtype;
  const DType sumType = Expansion::sumType(dtype);
  const std::int64_t headSize = packed ? *last.constant() / heads : *last.constant();
  const std::int64_t asked = node.attributes.getInt("rotary_embedding_dim");
  const std::int64_t size = asked > 0 ? asked : headSize;
  const bool interleaved = node.attributes.getInt("interleaved") != 0;
  const std::vector<std::int64_t> swapHeads{0, 2, 1, 3};
  ir::Value* x = e.cast(node.inputs[0], sumType);
  if (packed) {
    x = e.add("Reshape", {x, e.ints({0, 0, heads, headSize})});
    x = e.add("Transpose", {x}, {{"perm", swapHeads}});
  }
  const auto angles = [&](std::size_t input) {
    ir::Value* table = e.cast(node.inputs[input], sumType);
    if (node.input(3) != nullptr) table = e.add("Gather", {table, node.inputs[3]});
    return e.add("Unsqueeze", {table, e.ints({1})});  // for every head
  };
  ir::Value* cosines = angles(1);
  ir::Value* sines = angles(2);
  const auto [a, b] = rotatedPairs(e, x, size, interleaved);
  ir::Value* first = e.add("Sub", {e.add("Mul", {a, cosines}), e.add("Mul", {b, sines})});
  ir::Value* second = e.add("Add", {e.add("Mul", {a, sines}), e.add("Mul", {b, cosines})});
  ir::Value* y = nullptr;
  if (interleaved) {
    const auto column = [&](ir::Value* value) { return e.add("Unsqueeze", {value, e.ints({-1})}); };
    y = e.add("Concat", {column(first), column(second)}, {{"axis", std::int64_t{-1}}});
    y = e.add("Reshape", {y, e.ints({0, 0, 0, -1})});
  } else {
    y = e.add("Concat", {first, second}, {{"axis", std::int64_t{-1}}});
  }
  if (size < headSize) {
    ir::Value* rest = e.add("Slice", {x, e.ints({size}), e.ints({headSize}), e.ints({-1})});
    y = e.add("Concat", {y, rest}, {{"axis", std::int64_t{-1}}});
  }
  if (packed) {
    y = e.add("Transpose", {y}, {{"perm", swapHeads}});
    y = e.add("Reshape", {y, e.ints({0, 0, heads * headSize})});
  }
  return e.finish({e.cast(y, dtype)});
}

const Register kRegisterRotaryEmbedding(Definition{
    .domain = "",
    .name = "RotaryEmbedding",
    .versions = {23},
    .doc = "Rotates pairs of the elements of every head by angles that depend on the position of the token; "
           "cosines and sines come from caches, by position "
           "when position_ids are given. rotary_embedding_dim limits the rotation to the first elements.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "X", .typeVariable = "T"},
               {.name = "cos_cache", .typeVariable = "T"},
               {.name = "sin_cache", .typeVariable = "T"},
               {.name = "position_ids", .option = FormalOption::kOptional}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .attributes = {{.name = "interleaved", .type = AttributeType::kInt},
                   {.name = "num_heads", .type = AttributeType::kInt},
                   {.name = "rotary_embedding_dim", .type = AttributeType::kInt}},
    .infer = inferSameAsFirst,
    .expand = expandRotaryEmbedding,
});

const Register kRegisterRotaryEmbeddingMicrosoft(Definition{
    .domain = "com.microsoft",
    .name = "RotaryEmbedding",
    .versions = {1},
    .doc = "Rotates pairs of the elements of every head by angles that depend on the position of the token. "
           "One position id is where every sequence starts; "
           "else there is one for each token.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "input", .typeVariable = "T"},
               {.name = "position_ids"},
               {.name = "cos_cache", .typeVariable = "T"},
               {.name = "sin_cache", .typeVariable = "T"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .attributes = {{.name = "interleaved", .type = AttributeType::kInt},
                   {.name = "is_packed_batching", .type = AttributeType::kInt},
                   {.name = "num_heads", .type = AttributeType::kInt},
                   {.name = "rotary_embedding_dim", .type = AttributeType::kInt},
                   {.name = "scale", .type = AttributeType::kFloat}},
    .infer = inferSameAsFirst,
});

}  // namespace
}  // namespace rota::op
