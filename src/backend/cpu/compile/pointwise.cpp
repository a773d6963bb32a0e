// SPDX-License-Identifier: Apache-2.0
// Fused pointwise regions: the scalar expressions of all nodes as one program for "cpu.pointwise".
//
// A region computes in float32 (types float32, float16, bfloat16, bool) or exactly in int64 (integers and bool); one that mixes both is refused,
// so that region forming cuts it. Casts at the edges are loads and stores. Equal instructions are computed once; registers are reused when
// their last reader is done. When full-shape operands lie in a blocked layout, the region keeps it. Kernel: backend/cpu/run/pointwise.cpp.
// Tested by src/backend/cpu/compile/pointwise_test.cpp.
#include "backend/cpu/run/pointwise.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "backend/cpu/compile/kernel_tactic.h"
#include "backend/cpu/run/pointwise_op.h"

namespace rota::tactic {
namespace {

using op::ScalarOp;
using simd::PointwiseOp;

constexpr knob::Knob kEnabled =
    kernelToggle("tactic:cpu.pointwise", "Lets the vector kernels run pointwise regions.");
const knob::RegisterKnob kRegisterEnabled(kEnabled);

PointwiseOp operationOf(ScalarOp op) {
  switch (op) {
    case ScalarOp::kAdd: return PointwiseOp::kAdd;
    case ScalarOp::kSub: return PointwiseOp::kSub;
    case ScalarOp::kMul: return PointwiseOp::kMul;
    case ScalarOp::kDiv: return PointwiseOp::kDiv;
    case ScalarOp::kPow: return PointwiseOp::kPow;
    case ScalarOp::kMin: return PointwiseOp::kMin;
    case ScalarOp::kMax: return PointwiseOp::kMax;
    case ScalarOp::kMod: return PointwiseOp::kMod;
    case ScalarOp::kNeg: return PointwiseOp::kNeg;
    case ScalarOp::kAbs: return PointwiseOp::kAbs;
    case ScalarOp::kSign: return PointwiseOp::kSign;
    case ScalarOp::kFloor: return PointwiseOp::kFloor;
    case ScalarOp::kCeil: return PointwiseOp::kCeil;
    case ScalarOp::kRound: return PointwiseOp::kRound;
    case ScalarOp::kReciprocal: return PointwiseOp::kReciprocal;
    case ScalarOp::kSqrt: return PointwiseOp::kSqrt;
    case ScalarOp::kExp: return PointwiseOp::kExp;
    case ScalarOp::kLog: return PointwiseOp::kLog;
    case ScalarOp::kErf: return PointwiseOp::kErf;
    case ScalarOp::kTanh: return PointwiseOp::kTanh;
    case ScalarOp::kSigmoid: return PointwiseOp::kSigmoid;
    case ScalarOp::kSin: return PointwiseOp::kSin;
    case ScalarOp::kCos: return PointwiseOp::kCos;
    case ScalarOp::kTan: return PointwiseOp::kTan;
    case ScalarOp::kAsin: return PointwiseOp::kAsin;
    case ScalarOp::kAcos: return PointwiseOp::kAcos;
    case ScalarOp::kAtan: return PointwiseOp::kAtan;
    case ScalarOp::kSinh: return PointwiseOp::kSinh;
    case ScalarOp::kCosh: return PointwiseOp::kCosh;
    case ScalarOp::kAsinh: return PointwiseOp::kAsinh;
    case ScalarOp::kAcosh: return PointwiseOp::kAcosh;
    case ScalarOp::kAtanh: return PointwiseOp::kAtanh;
    case ScalarOp::kSoftplus: return PointwiseOp::kSoftplus;
    case ScalarOp::kLess: return PointwiseOp::kLess;
    case ScalarOp::kLessEqual: return PointwiseOp::kLessEqual;
    case ScalarOp::kGreater: return PointwiseOp::kGreater;
    case ScalarOp::kGreaterEqual: return PointwiseOp::kGreaterEqual;
    case ScalarOp::kEqual: return PointwiseOp::kEqual;
    case ScalarOp::kAnd: return PointwiseOp::kAnd;
    case ScalarOp::kOr: return PointwiseOp::kOr;
    case ScalarOp::kXor: return PointwiseOp::kXor;
    case ScalarOp::kNot: return PointwiseOp::kNot;
    case ScalarOp::kIsNan: return PointwiseOp::kIsNan;
    case ScalarOp::kIsInf: return PointwiseOp::kIsInf;
    case ScalarOp::kSelect: return PointwiseOp::kSelect;
    case ScalarOp::kInput:
    case ScalarOp::kConstant: return PointwiseOp::kCopy;
  }
  return PointwiseOp::kCopy;
}

int operandsOf(PointwiseOp op) {
  switch (op) {
    case PointwiseOp::kSelect: return 3;
    case PointwiseOp::kAdd:
    case PointwiseOp::kSub:
    case PointwiseOp::kMul:
    case PointwiseOp::kDiv:
    case PointwiseOp::kPow:
    case PointwiseOp::kMin:
    case PointwiseOp::kMax:
    case PointwiseOp::kMod:
    case PointwiseOp::kLess:
    case PointwiseOp::kLessEqual:
    case PointwiseOp::kGreater:
    case PointwiseOp::kGreaterEqual:
    case PointwiseOp::kEqual:
    case PointwiseOp::kAnd:
    case PointwiseOp::kOr:
    case PointwiseOp::kXor: return 2;
    default: return 1;
  }
}

/// Nanoseconds for one element on one core with eight lanes.
double costOf(PointwiseOp op) {
  switch (op) {
    case PointwiseOp::kExp:
    case PointwiseOp::kLog:
    case PointwiseOp::kErf:
    case PointwiseOp::kTanh:
    case PointwiseOp::kSigmoid:
    case PointwiseOp::kSoftplus:
    case PointwiseOp::kSin:
    case PointwiseOp::kCos: return 1.0;
    case PointwiseOp::kPow:
    case PointwiseOp::kMod:
    case PointwiseOp::kTan:
    case PointwiseOp::kAsin:
    case PointwiseOp::kAcos:
    case PointwiseOp::kAtan:
    case PointwiseOp::kSinh:
    case PointwiseOp::kCosh:
    case PointwiseOp::kAsinh:
    case PointwiseOp::kAcosh:
    case PointwiseOp::kAtanh: return 12.0;
    case PointwiseOp::kDiv:
    case PointwiseOp::kSqrt:
    case PointwiseOp::kReciprocal: return 0.25;
    default: return 0.08;
  }
}

struct Term {
  enum class Kind : std::uint8_t { kInput, kConstant, kOperation } kind = Kind::kOperation;
  PointwiseOp op = PointwiseOp::kCopy;
  std::size_t a = 0, b = 0, c = 0;  ///< Terms; kInput: a is the number of the input; kWrap: b is the type.
  double real = 0;
  std::int64_t whole = 0;
  auto key() const { return std::make_tuple(kind, op, a, b, c, std::bit_cast<std::uint64_t>(real), whole); }
};

/// An input of the program: a value of the graph, or numbers made from the parameters of a node.
struct ProgramInput {
  ir::Value* value = nullptr;
  Tensor tensor;
  std::string recipe;
};

/// BatchNormalization with constant parameters, as it is used after training: y = (x - mean) * factor + bias for each channel.
bool isBatchNorm(const ir::Node& node) {
  if (!node.domain.empty() || node.opType != "BatchNormalization" ||
      node.attributes.getInt("training_mode") != 0)
    return false;
  const ir::Value* x = node.input(0);
  if (x == nullptr || !x->type.shape.known || x->type.shape.rank() < 2 || x->type.dtype != DType::kFloat32)
    return false;
  for (std::size_t i = 1; i < node.outputs.size(); ++i)
    if (node.outputs[i] != nullptr) return false;
  for (std::size_t i = 1; i < 5; ++i)
    if (node.input(i) == nullptr || !node.inputs[i]->isConstant() ||
        node.inputs[i]->constant.count() != node.inputs[1]->constant.count())
      return false;
  return node.outputs[0] != nullptr;
}

/// The region as a list of terms, or the reason why it cannot be one.
class Composer {
 public:
  explicit Composer(const Region& region) : region_(region) {}

  bool compose() {
    if (region_.root != nullptr && !isBatchNorm(*region_.root)) return no("the region is not pointwise");
    for (const ir::Node* node : region_.nodes) {
      if (node == region_.root) continue;
      if (node->definition->expression == nullptr || node->outputs.size() != 1 || node->outputs[0] == nullptr)
        return no("a node has no scalar expression");
    }
    if (!chooseMode()) return false;
    for (const ir::Node* node : region_.nodes) {
      if (node == region_.root) {
        addBatchNorm(*node);
      } else if (!addNode(*node)) {
        return false;
      }
    }
    for (const ir::Value* out : region_.outputs) {
      if (!out->type.shape.known || out->type.shape != region_.outputs[0]->type.shape)
        return no("outputs differ in shape");
      results.push_back(valueOf_.at(out));
    }
    for (const ProgramInput& input : inputs) {
      const ir::Value* in = input.value;
      if (in == nullptr) continue;
      if (!in->type.shape.known || in->type.shape.rank() > region_.outputs[0]->type.shape.rank())
        return no("an operand has another rank");
    }
    return allocate();
  }

  bool isInteger = false;
  std::vector<Term> terms;
  std::vector<ProgramInput> inputs;
  std::vector<std::size_t> results;  ///< Terms of the outputs.
  std::vector<std::int64_t> code;
  std::vector<float> floats;
  std::vector<std::int64_t> integers;
  std::size_t registers = 0;
  std::string reason;
  double nanoseconds = 0;  ///< For one element.

 private:
  bool no(std::string why) {
    reason = std::move(why);
    return false;
  }

  bool isInside(const ir::Value* v) const {
    return v->producer != nullptr &&
           std::find(region_.nodes.begin(), region_.nodes.end(), v->producer) != region_.nodes.end();
  }
  static bool isNarrowFloat(DType d) { return d == DType::kFloat16 || d == DType::kBFloat16; }
  static bool isRealMode(DType d) { return d == DType::kFloat32 || isNarrowFloat(d) || d == DType::kBool; }
  static bool isWholeMode(DType d) {
    const DTypeInfo& row = info(d);
    return d == DType::kBool || (isInteger_(row) && row.bits >= 8 && d != DType::kUInt64);
  }
  static bool isInteger_(const DTypeInfo& row) {
    return row.dtypeClass == DTypeClass::kSigned || row.dtypeClass == DTypeClass::kUnsigned;
  }
  /// Only converts its input.
  static bool isCast(const ir::Node& node) {
    const auto e = node.definition->expression(node);
    return e && e->size() == 1 && (*e)[0].op == ScalarOp::kInput;
  }
  /// Inputs that the expression of `node` reads.
  static std::vector<std::size_t> readInputs(const op::ScalarExpression& e) {
    std::vector<std::size_t> read;
    for (const auto& i : e)
      if (i.op == ScalarOp::kInput) read.push_back(i.a);
    return read;
  }

  bool chooseMode() {
    bool allReal = true, allWhole = true, anyWhole = false;
    for (const ir::Node* node : region_.nodes) {
      if (node == region_.root) {
        allWhole = false;
        continue;
      }
      const auto e = node->definition->expression(*node);
      if (!e || e->empty()) return no("a node has no scalar expression");
      const DType out = node->outputs[0]->type.dtype;
      bool usedInside = false;
      for (const ir::Node* other : region_.nodes)
        usedInside = usedInside || std::find(other->inputs.begin(), other->inputs.end(), node->outputs[0]) !=
                                       other->inputs.end();
      const bool converts =
          isCast(*node) || (e->size() <= 4 && out == DType::kBool && readInputs(*e).size() == 1);
      // Integers at the edges of a float program are converted when loaded and stored.
      allReal = allReal && (isRealMode(out) || (isCast(*node) && !usedInside && isWholeMode(out)));
      allWhole = allWhole && isWholeMode(out);
      anyWhole = anyWhole || (isWholeMode(out) && out != DType::kBool);
      for (const std::size_t number : readInputs(*e)) {
        const ir::Value* in = node->input(number);
        if (in == nullptr || in->type.kind != ir::TypeKind::kTensor) return no("an operand is not given");
        const DType d = in->type.dtype;
        const bool isExponent = number == 1 && e->back().op == ScalarOp::kPow && e->size() == 3;
        allReal = allReal && (isRealMode(d) || (isWholeMode(d) && !isInside(in) &&
                                                ((converts && isRealMode(out)) || isExponent)));
        allWhole = allWhole && isWholeMode(d);
        anyWhole = anyWhole || (isWholeMode(d) && d != DType::kBool);
      }
    }
    if (!allReal && !allWhole) return no("the types are neither all float nor all integer");
    isInteger = allWhole && (anyWhole || !allReal);
    return true;
  }

  std::size_t add(const Term& term) {
    const auto [it, isNew] = known_.try_emplace(term.key(), terms.size());
    if (isNew) terms.push_back(term);
    return it->second;
  }
  std::size_t operation(PointwiseOp op, std::size_t a, std::size_t b, std::size_t c) {
    const int n = operandsOf(op);
    return add({.op = op, .a = a, .b = n > 1 ? b : a, .c = n > 2 ? c : a});
  }
  std::size_t constant(double value) {
    Term t{.kind = Term::Kind::kConstant, .real = value};
    if (isInteger) t.whole = static_cast<std::int64_t>(value);
    return add(t);
  }

  std::size_t termOf(ir::Value* v) {
    if (const auto it = valueOf_.find(v); it != valueOf_.end()) return it->second;
    std::size_t term = 0;
    if (v->isConstant() && v->constant.count() == 1) {
      Term t{.kind = Term::Kind::kConstant};
      if (isInteger) {
        t.whole = intAt(v->constant.view(), 0);
        t.real = static_cast<double>(t.whole);
      } else {
        t.real = realAt(v->constant.view(), 0);
      }
      term = add(t);
    } else {
      term = add({.kind = Term::Kind::kInput, .a = inputs.size()});
      inputs.push_back({v, {}, {}});
    }
    valueOf_[v] = term;
    return term;
  }

  void addBatchNorm(const ir::Node& node) {
    const auto channels = node.inputs[1]->constant.count();
    std::vector<float> mean, factor, bias;
    const double epsilon = static_cast<double>(node.attributes.getFloat("epsilon", 1e-5F));
    for (std::int64_t c = 0; c < channels; ++c) {
      const auto parameter = [&](std::size_t i) { return realAt(node.inputs[i]->constant.view(), c); };
      factor.push_back(static_cast<float>(parameter(1) / std::sqrt(parameter(4) + epsilon)));
      bias.push_back(static_cast<float>(parameter(2)));
      mean.push_back(static_cast<float>(parameter(3)));
    }
    std::vector<std::int64_t> dims(node.inputs[0]->type.shape.rank() - 1, 1);
    dims[0] = channels;
    const auto perChannel = [&](std::vector<float> values, const char* what) {
      const std::size_t term = add({.kind = Term::Kind::kInput, .a = inputs.size()});
      const std::string recipe = std::string("batch normalisation ") + what + " of " + node.inputs[1]->recipe;
      inputs.push_back({nullptr, Tensor::ofFloat(std::move(values), dims), recipe});
      return term;
    };
    const std::size_t x = termOf(node.inputs[0]);
    const std::size_t centred = operation(PointwiseOp::kSub, x, perChannel(std::move(mean), "mean"), 0);
    const std::size_t scaled =
        operation(PointwiseOp::kMul, centred, perChannel(std::move(factor), "factor"), 0);
    valueOf_[node.outputs[0]] = operation(PointwiseOp::kAdd, scaled, perChannel(std::move(bias), "bias"), 0);
  }

  bool addNode(const ir::Node& node) {
    const auto e = node.definition->expression(node);
    std::vector<std::size_t> at;
    for (const auto& i : *e) {
      if (i.op == ScalarOp::kInput) {
        at.push_back(termOf(node.input(i.a)));
      } else if (i.op == ScalarOp::kConstant) {
        if (isInteger && (i.constant != std::floor(i.constant) || std::fabs(i.constant) > 4503599627370496.0))
          return no("an integer region has a fractional constant");
        at.push_back(constant(i.constant));
      } else {
        const PointwiseOp op = operationOf(i.op);
        if (isInteger && !isWholeOperation(op)) return no("an operation has no integer form");
        at.push_back(op == PointwiseOp::kPow ? power(at[i.a], at[i.b])
                                             : operation(op, at[i.a], at[i.b], at[i.c]));
      }
    }
    std::size_t result = at.back();
    const DType out = node.outputs[0]->type.dtype;
    if (isInteger) {
      if (needsWrap(result, node))
        result =
            add({.op = PointwiseOp::kWrap, .a = result, .b = static_cast<std::size_t>(out), .c = result});
    } else if (isCast(node) && isNarrowFloat(out) && node.input((*e)[0].a)->type.dtype != out) {
      const PointwiseOp round =
          out == DType::kFloat16 ? PointwiseOp::kRoundFloat16 : PointwiseOp::kRoundBFloat16;
      result = operation(round, result, result, result);
    }
    valueOf_[node.outputs[0]] = result;
    return true;
  }

  static bool isWholeOperation(PointwiseOp op) {
    switch (op) {
      case PointwiseOp::kAdd:
      case PointwiseOp::kSub:
      case PointwiseOp::kMul:
      case PointwiseOp::kDiv:
      case PointwiseOp::kMod:
      case PointwiseOp::kMin:
      case PointwiseOp::kMax:
      case PointwiseOp::kNeg:
      case PointwiseOp::kAbs:
      case PointwiseOp::kSign:
      case PointwiseOp::kLess:
      case PointwiseOp::kLessEqual:
      case PointwiseOp::kGreater:
      case PointwiseOp::kGreaterEqual:
      case PointwiseOp::kEqual:
      case PointwiseOp::kAnd:
      case PointwiseOp::kOr:
      case PointwiseOp::kXor:
      case PointwiseOp::kNot:
      case PointwiseOp::kSelect: return true;
      default: return false;
    }
  }

  /// Whether the value may lie outside the range of the node's type.
  bool needsWrap(std::size_t term, const ir::Node& node) const {
    const DType out = node.outputs[0]->type.dtype;
    if (info(out).bits == 64) return false;
    if (terms[term].kind != Term::Kind::kOperation) return true;
    switch (terms[term].op) {
      case PointwiseOp::kAdd:
      case PointwiseOp::kSub:
      case PointwiseOp::kMul:
      case PointwiseOp::kDiv:
      case PointwiseOp::kMod:
      case PointwiseOp::kNeg:
      case PointwiseOp::kAbs: return true;
      case PointwiseOp::kMin:
      case PointwiseOp::kMax:
      case PointwiseOp::kSign:
      case PointwiseOp::kSelect: return false;
      default: return out != DType::kBool && !isTruth(terms[term].op);
    }
  }
  static bool isTruth(PointwiseOp op) { return op >= PointwiseOp::kLess && op <= PointwiseOp::kIsInf; }

  /// Powers by small constants without the general function; the results agree with it, also at zeros and infinities.
  std::size_t power(std::size_t base, std::size_t exponent) {
    if (terms[exponent].kind == Term::Kind::kConstant) {
      const double e = terms[exponent].real;
      if (e == 1) return base;
      if (e == 2) return operation(PointwiseOp::kMul, base, base, 0);
      if (e == 3) return operation(PointwiseOp::kMul, operation(PointwiseOp::kMul, base, base, 0), base, 0);
      if (e == -1) return operation(PointwiseOp::kReciprocal, base, 0, 0);
      if (e == 0.5) {
        // pow(-0, 0.5) is +0, pow(-inf, 0.5) is +inf.
        const double inf = std::numeric_limits<double>::infinity();
        const std::size_t root =
            operation(PointwiseOp::kAdd, operation(PointwiseOp::kSqrt, base, 0, 0), constant(0), 0);
        return operation(PointwiseOp::kSelect, operation(PointwiseOp::kEqual, base, constant(-inf), 0),
                         constant(inf), root);
      }
    }
    return operation(PointwiseOp::kPow, base, exponent, 0);
  }

  /// Slots for all terms that the outputs need, and the code.
  bool allocate() {
    std::vector<bool> needed(terms.size(), false);
    for (const std::size_t r : results) needed[r] = true;
    std::vector<std::size_t> lastUse(terms.size(), 0);
    for (std::size_t t = terms.size(); t-- > 0;) {
      if (!needed[t] || terms[t].kind != Term::Kind::kOperation) continue;
      for (const std::size_t operand : operandTerms(terms[t])) {
        needed[operand] = true;
        lastUse[operand] = std::max(lastUse[operand], t);
      }
    }
    dropUnusedInputs(needed);
    std::vector<std::int64_t> constantSlot(terms.size(), -1);
    for (std::size_t t = 0; t < terms.size(); ++t) {
      if (!needed[t] || terms[t].kind != Term::Kind::kConstant) continue;
      constantSlot[t] = static_cast<std::int64_t>(isInteger ? integers.size() : floats.size());
      isInteger ? integers.push_back(terms[t].whole) : floats.push_back(static_cast<float>(terms[t].real));
    }
    // Slots are numbered once the number of registers is known: first as (kind, index).
    std::vector<std::pair<int, std::int64_t>> slot(terms.size(), {0, -1});
    for (std::size_t t = 0; t < terms.size(); ++t) {
      if (terms[t].kind == Term::Kind::kInput) slot[t] = {1, inputSlot_[terms[t].a]};
      if (terms[t].kind == Term::Kind::kConstant) slot[t] = {2, constantSlot[t]};
    }
    for (std::size_t r = results.size(); r-- > 0;)
      if (terms[results[r]].kind == Term::Kind::kOperation)
        slot[results[r]] = {3, static_cast<std::int64_t>(r)};
    std::vector<std::int64_t> free;
    std::vector<std::vector<std::size_t>> order;
    for (std::size_t t = 0; t < terms.size(); ++t) {
      if (!needed[t] || terms[t].kind != Term::Kind::kOperation) continue;
      for (const std::size_t operand : operandTerms(terms[t])) {
        if (slot[operand].first == 0 && lastUse[operand] == t &&
            std::find(free.begin(), free.end(), slot[operand].second) == free.end())
          free.push_back(slot[operand].second);
      }
      if (slot[t].first == 0) {
        if (free.empty()) {
          slot[t].second = static_cast<std::int64_t>(registers++);
        } else {
          slot[t].second = free.back();
          free.pop_back();
        }
      }
      nanoseconds += costOf(terms[t].op);
    }
    const std::size_t constants = isInteger ? integers.size() : floats.size();
    if (registers + inputs.size() + constants + results.size() > runtime::kMaxPointwiseSlots)
      return no("the region needs too many registers");
    emitCode(needed, slot, constants);
    return true;
  }

  void emitCode(const std::vector<bool>& needed, const std::vector<std::pair<int, std::int64_t>>& slot,
                std::size_t constants) {
    const std::int64_t base[4] = {0, static_cast<std::int64_t>(registers),
                                  static_cast<std::int64_t>(registers + inputs.size()),
                                  static_cast<std::int64_t>(registers + inputs.size() + constants)};
    const auto number = [&](std::size_t t) { return base[slot[t].first] + slot[t].second; };
    for (std::size_t t = 0; t < terms.size(); ++t) {
      if (!needed[t] || terms[t].kind != Term::Kind::kOperation) continue;
      const bool isWrap = terms[t].op == PointwiseOp::kWrap;
      code.insert(code.end(),
                  {static_cast<std::int64_t>(terms[t].op), number(t), number(terms[t].a),
                   isWrap ? static_cast<std::int64_t>(terms[t].b) : number(terms[t].b), number(terms[t].c)});
    }
    for (std::size_t r = 0; r < results.size(); ++r) {
      const std::int64_t destination = base[3] + static_cast<std::int64_t>(r);
      if (number(results[r]) == destination) continue;
      const std::int64_t from = number(results[r]);
      code.insert(code.end(), {static_cast<std::int64_t>(PointwiseOp::kCopy), destination, from, from, from});
    }
  }

  static std::vector<std::size_t> operandTerms(const Term& t) {
    if (t.op == PointwiseOp::kWrap) return {t.a};
    return {t.a, t.b, t.c};
  }

  void dropUnusedInputs(const std::vector<bool>& needed) {
    std::vector<ProgramInput> kept;
    inputSlot_.assign(inputs.size(), -1);
    for (std::size_t t = 0; t < terms.size(); ++t) {
      if (terms[t].kind != Term::Kind::kInput || !needed[t]) continue;
      inputSlot_[terms[t].a] = static_cast<std::int64_t>(kept.size());
      kept.push_back(inputs[terms[t].a]);
    }
    inputs = std::move(kept);
  }

  const Region& region_;
  std::map<decltype(Term{}.key()), std::size_t> known_;
  std::map<const ir::Value*, std::size_t> valueOf_;
  std::vector<std::int64_t> inputSlot_;
};

Support supportsPointwise(const Problem& problem) {
  if (Support s = kernelsAllowed(problem, kEnabled); !s.yes) return s;
  if (problem.region.outputs.empty()) return Support::no("nothing is computed");
  Composer composer(problem.region);
  if (!composer.compose()) return Support::no(composer.reason);
  return Support::ok();
}

double predictPointwiseUs(const Problem& problem) {
  Composer composer(problem.region);
  composer.compose();
  double bytes = 0;
  for (const ProgramInput& in : composer.inputs)
    if (in.value != nullptr) bytes += typicalBytes(problem, *in.value);
  for (const ir::Value* v : problem.region.outputs) bytes += typicalBytes(problem, *v);
  // Never above what the reference takes for its nodes one by one: the kernel visits memory once and computes in float.
  const double operations = static_cast<double>(composer.code.size() / 5);
  const double perElement =
      composer.isInteger ? 2.0 * operations : composer.nanoseconds * 8.0 / problem.target.vectorLanes();
  const double compute = static_cast<double>(typicalElements(problem, *problem.region.outputs[0])) *
                         std::min(perElement, 15.0 * static_cast<double>(problem.region.nodes.size()));
  return 0.5 + std::max(bytes / kBytesPerUs, compute / 1000.0);
}

/// The blocked layout of the first operand of the output's shape that has one; plain where blocks would need padding.
runtime::Layout chooseLayout(const Composer& composer, const ir::Shape& shape, Emitter& emitter) {
  for (const ProgramInput& input : composer.inputs) {
    const ir::Value* in = input.value;
    if (in == nullptr || in->type.shape != shape) continue;
    const runtime::Layout layout = emitter.currentLayout(in);
    if (layout.isPlain()) continue;
    const bool isWhole = std::all_of(layout.blocks.begin(), layout.blocks.end(), [&](const auto& b) {
      return emitter.sizes().divisible(shape.dims[b.axis], b.size);
    });
    if (isWhole && layout.order.empty() && layout.blocks.size() == 1) return layout;
  }
  return {};
}

Status emitPointwise(const Problem& problem, Emitter& emitter) {
  Composer composer(problem.region);
  if (!composer.compose())
    return Status(ErrorCode::kInternal, "cpu.pointwise was asked for a region that it refuses")
        .found(composer.reason);
  const ir::Shape& shape = problem.region.outputs[0]->type.shape;
  const runtime::Layout layout = chooseLayout(composer, shape, emitter);
  runtime::Step step;
  step.kernel = "cpu.pointwise";
  step.parameters.set("code", composer.code);
  step.parameters.set("registers", static_cast<std::int64_t>(composer.registers));
  if (composer.isInteger) {
    step.parameters.set("integer", std::int64_t{1});
    if (!composer.integers.empty()) step.parameters.set("integers", composer.integers);
  } else if (!composer.floats.empty()) {
    step.parameters.set("constants", composer.floats);
  }
  for (const ProgramInput& input : composer.inputs) {
    ir::Value* in = input.value;
    if (in == nullptr) {
      step.inputs.push_back(emitter.constant(input.tensor, input.recipe));
      continue;
    }
    // Operands that broadcast are read as they lie when they have the same blocks.
    const bool keeps = in->type.shape == shape || emitter.currentLayout(in) == layout;
    step.inputs.push_back(keeps ? emitter.operand(in, layout) : emitter.operand(in));
  }
  for (ir::Value* out : problem.region.outputs) step.outputs.push_back(emitter.define(out, layout));
  emitter.step(std::move(step));
  return Status::ok();
}

constexpr Tactic kPointwise{.name = "cpu.pointwise",
                            .numerics = knob::Numerics::kReassociating,
                            .doc = "Fused pointwise operations by a program over blocks of vectors.",
                            .supports = supportsPointwise,
                            .predictUs = predictPointwiseUs,
                            .emit = emitPointwise};
const RegisterTactic kRegisterPointwise(kPointwise);

}  // namespace
}  // namespace rota::tactic
