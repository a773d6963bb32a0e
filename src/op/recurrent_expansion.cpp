// SPDX-License-Identifier: Apache-2.0
// The one expansion of RNN, GRU and LSTM: for each direction the products with the input for all steps at once, then a Scan whose body is the cell. Steps
// behind the length of an entry keep its state and give zeros; backwards they come first, so an entry starts at its last element.
// Tested by src/op/expansion_test.cpp.
#include <algorithm>
#include <array>
#include <span>

#include "core/check.h"
#include "op/describe.h"
#include "op/early_expansion.h"
#include "op/expansion.h"
#include "op/recurrent_common.h"
#include "ref/recurrent.h"

namespace rota::op {
namespace {

using Activations = std::span<const ref::ActivationFunction>;

/// Writes the cell into the body of the Scan.
class CellWriter {
 public:
  CellWriter(NodeWriter& writer, const ir::Node& node, DType dtype, Activations functions)
      : w_(writer),
        dtype_(dtype),
        functions_(functions),
        clip_(static_cast<double>(node.attributes.getFloat("clip", 0))) {}

  ir::Value* add(ir::Value* a, ir::Value* b) { return w_.add("Add", {a, b}); }
  ir::Value* mul(ir::Value* a, ir::Value* b) { return w_.add("Mul", {a, b}); }
  ir::Value* number(double value) { return w_.scalar(value, dtype_); }
  ir::Value* oneMinus(ir::Value* a) { return w_.add("Sub", {number(1), a}); }
  std::vector<ir::Value*> split(ir::Value* value, std::size_t parts) {
    return w_
        .node("Split", {value}, parts,
              {{"axis", std::int64_t{-1}}, {"num_outputs", static_cast<std::int64_t>(parts)}})
        ->outputs;
  }
  /// Function `f` of the cell, of the clipped value.
  ir::Value* apply(std::size_t f, ir::Value* x);

 private:
  NodeWriter& w_;
  DType dtype_;
  Activations functions_;
  double clip_;
};

ir::Value* CellWriter::apply(std::size_t f, ir::Value* x) {
  const ref::ActivationFunction& function = functions_[f];
  const auto alpha = static_cast<float>(function.alpha);
  const auto beta = static_cast<float>(function.beta);
  if (clip_ > 0) x = w_.add("Clip", {x, number(-clip_), number(clip_)});
  using A = ref::Activation;
  switch (function.kind) {
    case A::kAffine: return add(mul(x, number(function.alpha)), number(function.beta));
    case A::kClip: return w_.add("Clip", {x, number(function.alpha), number(function.beta)});
    case A::kElu: return w_.add("Elu", {x}, {{"alpha", alpha}});
    case A::kHardSigmoid: return w_.add("HardSigmoid", {x}, {{"alpha", alpha}, {"beta", beta}});
    case A::kLeakyRelu: return w_.add("LeakyRelu", {x}, {{"alpha", alpha}});
    case A::kRelu: return w_.add("Relu", {x});
    case A::kScaledTanh: return mul(w_.add("Tanh", {mul(x, number(function.beta))}), number(function.alpha));
    case A::kSigmoid: return w_.add("Sigmoid", {x});
    case A::kSoftplus: return w_.add("Softplus", {x});
    case A::kSoftsign: return w_.add("Softsign", {x});
    case A::kTanh: return w_.add("Tanh", {x});
    case A::kThresholdedRelu:
      // At alpha itself the cell lets x through, ThresholdedRelu does not.
      return w_.add("Where", {w_.add("GreaterOrEqual", {x, number(function.alpha)}), x, number(0)});
  }
  return x;
}

/// Values of one direction that the body uses from outside.
struct DirectionWeights {
  ir::Value* recurrent = nullptr;     ///< [hidden, gates * hidden]
  ir::Value* bias = nullptr;          ///< [gates * hidden] or none
  ir::Value* gateWeights = nullptr;   ///< GRU: columns of z and r,
  ir::Value* stateWeights = nullptr;  ///< and of the candidate,
  ir::Value* gateBias = nullptr;      ///< with their biases.
  ir::Value* stateBias = nullptr;
  std::vector<ir::Value*> peepholes;  ///< LSTM: i, o, f.
  ir::Value* lengths = nullptr;       ///< [batch, 1] or none
};

class RecurrentExpansion {
 public:
  RecurrentExpansion(ir::Graph& graph, const ir::Node& node, RecurrentCell cell)
      : graph_(graph),
        node_(node),
        cell_(cell),
        e_(graph, node),
        dtype_(node.inputs[0]->type.dtype),
        sumType_(Expansion::sumType(dtype_)) {}

  Result<std::vector<ir::Value*>> write();

 private:
  bool isLstm() const { return cell_ == RecurrentCell::kLstm; }
  std::int64_t gates() const {
    return cell_ == RecurrentCell::kRnn ? 1 : cell_ == RecurrentCell::kGru ? 3 : 4;
  }
  /// Part `d` along the axis of directions of an input, in the type of sums; nullptr when the input is left out.
  ir::Value* part(std::size_t input, std::int64_t d, std::int64_t axis = 0) {
    if (node_.input(input) == nullptr) return nullptr;
    ir::Value* index = graph_.addConstant(node_.name + "/direction", Tensor::ofInt64({d}, {}),
                                          "constant of " + node_.opType, node_.provenance);
    return e_.cast(e_.add("Gather", {node_.inputs[input], index}, {{"axis", axis}}), sumType_);
  }
  std::vector<ir::Value*> splitLast(ir::Value* value, const std::vector<std::int64_t>& sizes);
  ir::Value* initialState(std::size_t input, std::int64_t d);
  DirectionWeights weightsOf(std::int64_t d);
  std::vector<ir::Value*> writeCell(CellWriter& c, NodeWriter& body, const DirectionWeights& weights,
                                    ir::Value* x, const std::vector<ir::Value*>& states);
  /// The last states and all outputs [steps, batch, hidden] of direction `d`.
  std::vector<ir::Value*> runDirection(std::int64_t d, bool reverse, Activations functions);

  ir::Graph& graph_;
  const ir::Node& node_;
  RecurrentCell cell_;
  Expansion e_;
  DType dtype_;
  DType sumType_;
  ir::Value* x_ = nullptr;  ///< [steps, batch, inputs]
  std::int64_t hidden_ = 0;
  bool batchFirst_ = false;
};

std::vector<ir::Value*> RecurrentExpansion::splitLast(ir::Value* value,
                                                      const std::vector<std::int64_t>& sizes) {
  std::vector<ir::Value*> parts;
  std::int64_t at = 0;
  for (const std::int64_t size : sizes) {
    parts.push_back(value == nullptr
                        ? nullptr
                        : e_.add("Slice", {value, e_.ints({at}), e_.ints({at + size}), e_.ints({-1})}));
    at += size;
  }
  return parts;
}

ir::Value* RecurrentExpansion::initialState(std::size_t input, std::int64_t d) {
  if (ir::Value* given = part(input, d, batchFirst_ ? 1 : 0)) return given;
  ir::Value* batch = e_.add("Shape", {x_}, {{"start", std::int64_t{1}}, {"end", std::int64_t{2}}});
  ir::Value* shape = e_.add("Concat", {batch, e_.ints({hidden_})}, {{"axis", std::int64_t{0}}});
  return e_.add("Expand", {e_.scalar(0, sumType_), shape});
}

DirectionWeights RecurrentExpansion::weightsOf(std::int64_t d) {
  DirectionWeights weights;
  const auto turned = [&](ir::Value* value) {
    return e_.add("Transpose", {value}, {{"perm", std::vector<std::int64_t>{1, 0}}});
  };
  weights.recurrent = turned(part(2, d));
  if (ir::Value* biases = part(3, d)) {
    const std::int64_t size = gates() * hidden_;
    weights.bias = splitLast(biases, {size, size})[1];
  }
  if (cell_ == RecurrentCell::kGru) {
    const std::vector<std::int64_t> sizes{2 * hidden_, hidden_};
    const auto columns = splitLast(weights.recurrent, sizes);
    const auto biases = splitLast(weights.bias, sizes);
    weights.gateWeights = columns[0], weights.stateWeights = columns[1];
    weights.gateBias = biases[0], weights.stateBias = biases[1];
  }
  if (isLstm() && node_.input(7) != nullptr)
    weights.peepholes = splitLast(part(7, d), {hidden_, hidden_, hidden_});
  if (node_.input(4) != nullptr)
    weights.lengths = e_.add("Unsqueeze", {e_.cast(node_.inputs[4], DType::kInt64), e_.ints({1})});
  return weights;
}

/// The new states: h, and c of an LSTM.
std::vector<ir::Value*> RecurrentExpansion::writeCell(CellWriter& c, NodeWriter& body,
                                                      const DirectionWeights& weights, ir::Value* x,
                                                      const std::vector<ir::Value*>& states) {
  const auto times = [&](ir::Value* state, ir::Value* matrix, ir::Value* bias) {
    ir::Value* product = body.add("MatMul", {state, matrix});
    return bias == nullptr ? product : c.add(product, bias);
  };
  ir::Value* h = states[0];
  if (cell_ == RecurrentCell::kRnn) return {c.apply(0, c.add(x, times(h, weights.recurrent, weights.bias)))};
  if (cell_ == RecurrentCell::kGru) {
    const std::vector<ir::Value*> in = c.split(x, 3);
    const std::vector<ir::Value*> gate = c.split(times(h, weights.gateWeights, weights.gateBias), 2);
    ir::Value* z = c.apply(0, c.add(in[0], gate[0]));
    ir::Value* r = c.apply(0, c.add(in[1], gate[1]));
    const bool linear = node_.attributes.getInt("linear_before_reset") != 0;
    ir::Value* seen = linear ? c.mul(r, times(h, weights.stateWeights, weights.stateBias))
                             : times(c.mul(r, h), weights.stateWeights, weights.stateBias);
    ir::Value* candidate = c.apply(1, c.add(in[2], seen));
    return {c.add(c.mul(c.oneMinus(z), candidate), c.mul(z, h))};
  }
  ir::Value* cellState = states[1];
  const std::vector<ir::Value*> sums =
      c.split(c.add(x, times(h, weights.recurrent, weights.bias)), 4);  // i, o, f, c
  const auto seeing = [&](std::size_t gate, ir::Value* state) {
    return weights.peepholes.empty() ? sums[gate] : c.add(sums[gate], c.mul(weights.peepholes[gate], state));
  };
  ir::Value* i = c.apply(0, seeing(0, cellState));
  ir::Value* forget =
      node_.attributes.getInt("input_forget") != 0 ? c.oneMinus(i) : c.apply(0, seeing(2, cellState));
  ir::Value* newCell = c.add(c.mul(forget, cellState), c.mul(i, c.apply(1, sums[3])));
  ir::Value* o = c.apply(0, seeing(1, newCell));
  return {c.mul(o, c.apply(2, newCell)), newCell};
}

std::vector<ir::Value*> RecurrentExpansion::runDirection(std::int64_t d, bool reverse,
                                                         Activations functions) {
  const DirectionWeights weights = weightsOf(d);
  ir::Value* turned = e_.add("Transpose", {part(1, d)}, {{"perm", std::vector<std::int64_t>{1, 0}}});
  ir::Value* projected = e_.add("MatMul", {x_, turned});
  if (ir::Value* biases = part(3, d))
    projected = e_.add("Add", {projected, splitLast(biases, {gates() * hidden_})[0]});
  std::vector<ir::Value*> inputs{initialState(5, d)};
  if (isLstm()) inputs.push_back(initialState(6, d));
  const std::size_t stateCount = inputs.size();
  inputs.push_back(projected);
  if (weights.lengths != nullptr) {
    ir::Value* steps = e_.add("Squeeze", {e_.add("Shape", {x_}, {{"end", std::int64_t{1}}})});
    inputs.push_back(e_.add("Range", {e_.scalar(0, DType::kInt64), steps, e_.scalar(1, DType::kInt64)}));
  }
  if (std::find(inputs.begin(), inputs.end(), nullptr) != inputs.end())
    return {};  // an error is kept already

  const auto scanned = static_cast<std::int64_t>(inputs.size() - stateCount);
  NodeWriter outer(graph_, node_, &node_);
  ir::Node* scan = outer.node("Scan", inputs, stateCount + 1, {{"num_scan_inputs", scanned}});
  if (reverse) {
    scan->attributes.set("scan_input_directions",
                         std::vector<std::int64_t>(static_cast<std::size_t>(scanned), 1));
    scan->attributes.set("scan_output_directions", std::vector<std::int64_t>{1});
  }
  ir::Graph& block = outer.block(*scan, "body");
  std::vector<ir::Value*> arguments;
  for (const char* name : {"h", "c"}) {
    if (arguments.size() < stateCount) arguments.push_back(block.addInput(name, {}));
  }
  ir::Value* x = block.addInput("x", {});
  ir::Value* time = scanned == 2 ? block.addInput("time", {}) : nullptr;
  NodeWriter body(block, node_, nullptr);
  CellWriter cell(body, node_, sumType_, functions);
  const std::vector<ir::Value*> states = writeCell(cell, body, weights, x, arguments);
  ir::Value* isInside = time == nullptr ? nullptr : body.add("Less", {time, weights.lengths});
  for (std::size_t i = 0; i < states.size(); ++i)
    block.addOutput(time == nullptr ? states[i] : body.add("Where", {isInside, states[i], arguments[i]}));
  block.addOutput(time == nullptr ? body.add("Identity", {states[0]})
                                  : body.add("Where", {isInside, states[0], body.scalar(0, sumType_)}));
  e_.fail(inferNode(*scan));
  return scan->outputs;
}

Result<std::vector<ir::Value*>> RecurrentExpansion::write() {
  const ir::Shape& r = node_.inputs[2]->type.shape;
  if (!r.known || r.rank() != 3 || !r.dims[2].isConstant()) {
    return Status(ErrorCode::kBadGraph, "A recurrent layer cannot be expanded without its hidden size")
        .at(describeNode(node_))
        .expected("R [directions, gates * hidden, hidden] with a fixed hidden size")
        .found(describeShape(r, graph_.sizes()));
  }
  hidden_ = *r.dims[2].constant();
  batchFirst_ = node_.attributes.getInt("layout") != 0;
  const std::string_view direction = node_.attributes.getString("direction", "forward");
  const std::int64_t directions = direction == "bidirectional" ? 2 : 1;
  using A = ref::Activation;
  const bool isRnn = cell_ == RecurrentCell::kRnn;
  const std::array<A, 3> defaults{isRnn ? A::kTanh : A::kSigmoid, A::kTanh, A::kTanh};
  const std::size_t perDirection = isRnn ? 1 : isLstm() ? 3 : 2;
  auto functions =
      ref::activationsOf(node_.attributes, perDirection, static_cast<std::size_t>(directions), defaults);
  if (!functions) return functions.status();
  const auto swapped = [&](ir::Value* value) {
    return e_.add("Transpose", {value}, {{"perm", std::vector<std::int64_t>{1, 0, 2}}});
  };
  x_ = e_.cast(node_.inputs[0], sumType_);
  if (batchFirst_) x_ = swapped(x_);
  std::vector<std::vector<ir::Value*>> parts(3);  // Y, Y_h, Y_c
  for (std::int64_t d = 0; d < directions; ++d) {
    const Activations own(functions->data() + static_cast<std::size_t>(d) * perDirection, perDirection);
    const auto results = runDirection(d, d == 1 || direction == "reverse", own);
    for (std::size_t i = 0; i < results.size(); ++i) {
      const bool isAll = i + 1 == results.size();
      parts[isAll ? 0 : i + 1].push_back(e_.add("Unsqueeze", {results[i], e_.ints({isAll ? 1 : 0})}));
    }
  }
  std::vector<ir::Value*> outputs;
  for (std::size_t i = 0; i < (isLstm() ? 3U : 2U); ++i) {
    ir::Value* whole = e_.add("Concat", parts[i], {{"axis", std::int64_t{i == 0 ? 1 : 0}}});
    if (batchFirst_ && i == 0)
      whole = e_.add("Transpose", {whole}, {{"perm", std::vector<std::int64_t>{2, 0, 1, 3}}});
    if (batchFirst_ && i > 0) whole = swapped(whole);
    outputs.push_back(e_.cast(whole, dtype_));
  }
  return e_.finish(std::move(outputs));
}

}  // namespace

Result<std::vector<ir::Value*>> expandRecurrent(ir::Graph& graph, const ir::Node& node, RecurrentCell cell) {
  return RecurrentExpansion(graph, node, cell).write();
}

}  // namespace rota::op
