// SPDX-License-Identifier: Apache-2.0
// Attention in simpler operators, all over [batch, heads, queries, keys]: heads apart, past before present, scores, cap, masks as numbers that are
// added, softmax. A query that may see no key gives zeros: softmax of such a row has no meaning, so its probabilities are replaced.
// Needs known ranks and fixed numbers of heads. Tested by src/op/expansion_test.cpp.
#include "op/attention_expansion.h"

#include <cmath>
#include <limits>

#include "core/check.h"
#include "op/describe.h"
#include "op/expansion.h"

namespace rota::op {
namespace {

using Values = std::vector<ir::Value*>;

class AttentionExpansion {
 public:
  AttentionExpansion(ir::Graph& graph, const ir::Node& node)
      : graph_(graph),
        node_(node),
        e_(graph, node),
        dtype_(node.inputs[0]->type.dtype),
        sumType_(Expansion::sumType(dtype_)) {}

  Result<Values> write();

 private:
  Status readHeads();
  ir::Value* dimOf(ir::Value* value, std::int64_t axis) {
    return e_.add("Shape", {value}, {{"start", axis}, {"end", axis + 1}});
  }
  ir::Value* number(double value) { return e_.scalar(value, sumType_); }
  /// [batch, heads, rows, size] of an input that may have its heads side by side.
  ir::Value* headsApart(ir::Value* value, std::int64_t heads);
  ir::Value* withPast(std::size_t past, ir::Value* value) {
    if (node_.input(past) == nullptr) return value;
    return e_.add("Concat", {node_.inputs[past], value}, {{"axis", std::int64_t{2}}});
  }
  /// A head for each query head.
  ir::Value* repeated(ir::Value* value);
  ir::Value* scale(ir::Value* q);
  /// What input 3 adds to the scores.
  ir::Value* maskBias(ir::Value* keys);
  /// Where a query may see a key by position; nullptr when everywhere.
  ir::Value* allowedByPosition(ir::Value* q, ir::Value* keys);
  void restrict(ir::Value*& allowed, ir::Value* more) {
    allowed = allowed == nullptr ? more : e_.add("And", {allowed, more});
  }

  ir::Graph& graph_;
  const ir::Node& node_;
  Expansion e_;
  DType dtype_;
  DType sumType_;
  bool packed_ = false;
  std::int64_t heads_ = 0;
  std::int64_t kvHeads_ = 0;
};

Status AttentionExpansion::readHeads() {
  const ir::Shape& q = node_.inputs[0]->type.shape;
  const ir::Shape& k = node_.inputs[1]->type.shape;
  packed_ = q.known && q.rank() == 3;
  if (packed_) {
    heads_ = node_.attributes.getInt("q_num_heads");
    kvHeads_ = node_.attributes.getInt("kv_num_heads");
  } else if (q.known && k.known && q.dims[1].isConstant() && k.dims[1].isConstant()) {
    heads_ = *q.dims[1].constant();
    kvHeads_ = *k.dims[1].constant();
  }
  if (heads_ >= 1 && kvHeads_ >= 1 && heads_ % kvHeads_ == 0) return Status::ok();
  return Status(ErrorCode::kBadGraph, "Attention cannot be expanded without fixed numbers of heads")
      .at(describeNode(node_))
      .expected("a number of query heads that is a multiple of the key heads")
      .found(describeShape(q, graph_.sizes()) + " and " + describeShape(k, graph_.sizes()));
}

ir::Value* AttentionExpansion::headsApart(ir::Value* value, std::int64_t heads) {
  if (!packed_) return value;
  ir::Value* apart = e_.add("Reshape", {value, e_.ints({0, 0, heads, -1})});
  return e_.add("Transpose", {apart}, {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
}

ir::Value* AttentionExpansion::repeated(ir::Value* value) {
  if (heads_ == kvHeads_) return value;
  std::vector<std::int64_t> sources;
  for (std::int64_t h = 0; h < heads_; ++h) sources.push_back(h / (heads_ / kvHeads_));
  return e_.add("Gather", {value, e_.ints(std::move(sources))}, {{"axis", std::int64_t{1}}});
}

ir::Value* AttentionExpansion::scale(ir::Value* q) {
  if (node_.attributes.has("scale")) return number(static_cast<double>(node_.attributes.getFloat("scale")));
  ir::Value* size = e_.cast(e_.add("Squeeze", {dimOf(q, 3)}), sumType_);
  return e_.add("Reciprocal", {e_.add("Sqrt", {size})});
}

ir::Value* AttentionExpansion::maskBias(ir::Value* keys) {
  ir::Value* mask = node_.input(3);
  if (mask == nullptr) return nullptr;
  const double never = -std::numeric_limits<double>::infinity();
  ir::Value* bias = mask->type.dtype == DType::kBool ? e_.add("Where", {mask, number(0), number(never)})
                                                     : e_.cast(mask, sumType_);
  const ir::Shape& shape = mask->type.shape;
  if (shape.known && !shape.dims.empty() && shape.dims.back().is(1)) return bias;
  // Keys beyond a mask that is too short are disallowed.
  ir::Value* missing = e_.add("Sub", {keys, dimOf(bias, static_cast<std::int64_t>(shape.rank()) - 1)});
  ir::Value* pads = e_.add("Concat", {e_.ints({0}), missing}, {{"axis", std::int64_t{0}}});
  return e_.add("Pad", {bias, pads, number(never), e_.ints({-1})});
}

ir::Value* AttentionExpansion::allowedByPosition(ir::Value* q, ir::Value* keys) {
  const std::int64_t left = node_.attributes.getInt("left_window_size", -1);
  const std::int64_t right = node_.attributes.getInt("right_window_size", -1);
  const bool causal = node_.attributes.getInt("is_causal") != 0;
  ir::Value* valid = node_.input(6);
  if (left < 0 && right < 0 && !causal && valid == nullptr) return nullptr;
  const auto places = [&](ir::Value* count, std::int64_t axis) {
    ir::Value* range = e_.add(
        "Range", {e_.scalar(0, DType::kInt64), e_.add("Squeeze", {count}), e_.scalar(1, DType::kInt64)});
    return e_.add("Unsqueeze", {range, e_.ints({axis})});
  };
  ir::Value* queries = dimOf(q, 2);
  ir::Value* key = places(keys, 0);
  ir::Value* position = places(queries, 1);  // of each query among the keys
  if (valid != nullptr) {
    valid = e_.add("Unsqueeze", {valid, e_.ints({1, 2, 3})});
    position = e_.add("Add", {position, e_.add("Sub", {valid, queries})});
  } else if (node_.input(4) != nullptr) {
    position = e_.add("Add", {position, dimOf(node_.inputs[4], 2)});
  }
  ir::Value* allowed = nullptr;
  const auto shifted = [&](std::int64_t by) {
    return e_.add("Add", {position, e_.scalar(static_cast<double>(by), DType::kInt64)});
  };
  if (causal) restrict(allowed, e_.add("LessOrEqual", {key, position}));
  if (left >= 0) restrict(allowed, e_.add("GreaterOrEqual", {key, shifted(-left)}));
  if (right >= 0) restrict(allowed, e_.add("LessOrEqual", {key, shifted(right)}));
  if (valid != nullptr) restrict(allowed, e_.add("Less", {key, valid}));
  return allowed;
}

Result<Values> AttentionExpansion::write() {
  ROTA_RETURN_IF_ERROR(readHeads());
  const double never = -std::numeric_limits<double>::infinity();
  ir::Value* q = headsApart(node_.inputs[0], heads_);
  ir::Value* k = withPast(4, headsApart(node_.inputs[1], kvHeads_));
  ir::Value* v = withPast(5, headsApart(node_.inputs[2], kvHeads_));
  ir::Value* turned = e_.add("Transpose", {e_.cast(repeated(k), sumType_)},
                             {{"perm", std::vector<std::int64_t>{0, 1, 3, 2}}});
  ir::Value* scores = e_.add("Mul", {e_.add("MatMul", {e_.cast(q, sumType_), turned}), scale(q)});
  Values stages{scores};
  if (const double cap = static_cast<double>(node_.attributes.getFloat("softcap", 0)); cap != 0)
    scores = e_.add("Mul", {e_.add("Tanh", {e_.add("Div", {scores, number(cap)})}), number(cap)});
  stages.push_back(scores);
  ir::Value* keys = dimOf(k, 2);
  ir::Value* bias = maskBias(keys);
  ir::Value* allowed = allowedByPosition(q, keys);
  if (bias != nullptr) scores = e_.add("Add", {scores, bias});
  if (allowed != nullptr) scores = e_.add("Where", {allowed, scores, number(never)});
  stages.push_back(scores);
  ir::Value* probabilities = e_.add("Softmax", {scores}, {{"axis", std::int64_t{-1}}});
  if (bias != nullptr || allowed != nullptr) {
    ir::Value* most = e_.add("ReduceMax", {scores, e_.ints({-1})});
    ir::Value* none = e_.add("Equal", {most, number(never)});
    probabilities = e_.add("Where", {none, number(0), probabilities});
  }
  stages.push_back(probabilities);
  ir::Value* y = e_.cast(e_.add("MatMul", {probabilities, e_.cast(repeated(v), sumType_)}), dtype_);
  if (packed_) {
    y = e_.add("Transpose", {y}, {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
    y = e_.add("Reshape", {y, e_.ints({0, 0, -1})});
  }
  Values outputs{y};
  if (node_.outputs.size() > 1) outputs.insert(outputs.end(), {k, v});
  if (node_.output(3) != nullptr) {
    const auto mode = static_cast<std::size_t>(node_.attributes.getInt("qk_matmul_output_mode"));
    if (mode < stages.size()) outputs.push_back(e_.cast(stages[mode], dtype_));
  }
  return e_.finish(std::move(outputs));
}

}  // namespace

Result<std::vector<ir::Value*>> expandAttention(ir::Graph& graph, const ir::Node& node) {
  return AttentionExpansion(graph, node).write();
}

}  // namespace rota::op
