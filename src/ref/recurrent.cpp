// SPDX-License-Identifier: Apache-2.0
// RNN, GRU and LSTM.
//
// Per direction: one product of all inputs with W, then step by step one product of the state with R and the gate equations. State stays in double
// from the first step to the last. With sequence_lens every sequence of the batch has its own last step: there the reverse direction starts,
// beyond it Y is zero, and Y_h and Y_c hold the state after its last valid step.
// Tested by src/ref/recurrent_test.cpp.
#include "ref/recurrent.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "ref/blocks.h"
#include "ref/product.h"

namespace rota::ref {

namespace {

enum class CellKind : std::uint8_t { kRnn, kGru, kLstm };

struct RecurrentProblem {
  CellKind kind = CellKind::kRnn;
  std::int64_t steps = 0, batch = 0, input = 0, hidden = 0, directions = 1, gates = 1;
  bool batchFirst = false;    // layout 1
  bool reverseFirst = false;  // direction "reverse"
  bool linearBeforeReset = false;
  bool inputForget = false;
  double clip = 0;  // 0: none
  std::array<ActivationFunction, kMaxActivations> functions{};

  std::int64_t gateSize() const { return gates * hidden; }
  std::int64_t inputRow(std::int64_t t, std::int64_t n) const {
    return batchFirst ? n * steps + t : t * batch + n;
  }
  // First element of Y and of the states, in rows of `hidden`.
  std::int64_t outputRow(std::int64_t t, std::int64_t d, std::int64_t n) const {
    return batchFirst ? (n * steps + t) * directions + d : (t * directions + d) * batch + n;
  }
  std::int64_t stateRow(std::int64_t d, std::int64_t n) const {
    return batchFirst ? n * directions + d : d * batch + n;
  }
};

// What one direction works on, all in scratch memory.
struct DirectionState {
  const ActivationFunction* functions;
  double* projected;      // [inputRow, gates * hidden]: X * W' + Wb (+ Rb)
  double* recurrent;      // [gates * hidden, hidden]
  double* recurrentBias;  // [gates * hidden]
  double* peephole;       // [3 * hidden] or nullptr
  double* h;              // [batch, hidden]
  double* c;              // [batch, hidden]
  double* sums;           // [batch, gates * hidden]
  double* reset;          // [batch, hidden]: r * h of GRU
};

class RecurrentRun {
 public:
  RecurrentRun(KernelContext& ctx, const RecurrentProblem& problem) : ctx_(ctx), p_(problem) {}

  Status run() {
    for (std::size_t i = 0; i < 2; ++i) {
      if (ctx_.hasOutput(i))
        std::fill_n(ctx_.output(i).as<std::byte>(), ctx_.output(i).bytes(), std::byte{0});
    }
    ROTA_RETURN_IF_ERROR(allocate());
    for (std::int64_t d = 0; d < p_.directions; ++d) {
      prepare(d);
      const bool reverse = d == 1 || p_.reverseFirst;
      for (std::int64_t s = 0; s < p_.steps; ++s) step(d, s, reverse);
      storeStates(d);
    }
    return Status::ok();
  }

 private:
  Status allocate() {
    const std::int64_t gateSize = p_.gateSize();
    const auto take = [&](double*& to, std::int64_t count) -> Status {
      auto memory = ctx_.scratch<double>(count);
      if (!memory) return memory.status();
      to = *memory;
      return Status::ok();
    };
    ROTA_RETURN_IF_ERROR(take(state_.projected, p_.steps * p_.batch * gateSize));
    ROTA_RETURN_IF_ERROR(take(state_.recurrent, gateSize * p_.hidden));
    ROTA_RETURN_IF_ERROR(take(state_.recurrentBias, gateSize));
    ROTA_RETURN_IF_ERROR(take(inputBias_, gateSize));
    ROTA_RETURN_IF_ERROR(take(peepholeMemory_, 3 * p_.hidden));
    ROTA_RETURN_IF_ERROR(take(state_.h, p_.batch * p_.hidden));
    ROTA_RETURN_IF_ERROR(take(state_.c, p_.batch * p_.hidden));
    ROTA_RETURN_IF_ERROR(take(state_.sums, p_.batch * gateSize));
    ROTA_RETURN_IF_ERROR(take(state_.reset, p_.batch * p_.hidden));
    auto lengths = ctx_.scratch<std::int64_t>(p_.batch);
    if (!lengths) return lengths.status();
    lengths_ = *lengths;
    const TensorView given = ctx_.input(4);
    for (std::int64_t n = 0; n < p_.batch; ++n) {
      lengths_[n] = given.isGiven() ? intAt(given, n) : p_.steps;
      if (lengths_[n] < 0 || lengths_[n] > p_.steps) {
        return Status(ErrorCode::kBadIndex, "'sequence_lens' holds a length outside the sequence")
            .expected("0 to " + std::to_string(p_.steps))
            .found(std::to_string(lengths_[n]));
      }
    }
    return Status::ok();
  }

  void loadState(std::size_t input, std::int64_t d, double* to) const {
    if (!ctx_.hasInput(input)) {
      std::fill(to, to + p_.batch * p_.hidden, 0.0);
      return;
    }
    for (std::int64_t n = 0; n < p_.batch; ++n)
      loadBlock(ctx_.input(input), p_.stateRow(d, n) * p_.hidden, p_.hidden, to + n * p_.hidden);
  }

  void prepare(std::int64_t d) {
    const std::int64_t gateSize = p_.gateSize();
    const std::size_t perDirection = p_.kind == CellKind::kRnn ? 1 : p_.kind == CellKind::kGru ? 2 : 3;
    state_.functions = p_.functions.data() + static_cast<std::size_t>(d) * perDirection;
    loadBlock(ctx_.input(2), d * gateSize * p_.hidden, gateSize * p_.hidden, state_.recurrent);
    if (ctx_.hasInput(3)) {
      loadBlock(ctx_.input(3), d * 2 * gateSize, gateSize, inputBias_);
      loadBlock(ctx_.input(3), (d * 2 + 1) * gateSize, gateSize, state_.recurrentBias);
    } else {
      std::fill(inputBias_, inputBias_ + gateSize, 0.0);
      std::fill(state_.recurrentBias, state_.recurrentBias + gateSize, 0.0);
    }
    state_.peephole = nullptr;
    if (p_.kind == CellKind::kLstm && ctx_.hasInput(7)) {
      state_.peephole = peepholeMemory_;
      loadBlock(ctx_.input(7), d * 3 * p_.hidden, 3 * p_.hidden, peepholeMemory_);
    }
    loadState(5, d, state_.h);
    if (p_.kind == CellKind::kLstm) loadState(6, d, state_.c);

    const std::int64_t rows = p_.steps * p_.batch;
    const std::int64_t offset = d * gateSize * p_.input;
    const DenseOperand<double> x(ctx_.input(0), true, p_.input);
    const DenseOperand<double> w(ctx_.input(1), true, p_.input, &offset);
    product<double>(ctx_.threads(), {1, rows, gateSize, p_.input}, x, w,
                    ScratchSink(state_.projected, rows, gateSize));
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t g = 0; g < gateSize; ++g) state_.projected[r * gateSize + g] += inputBias_[g];
    }
  }

  // sums[n, firstGate…] = state[n] * R'.
  void multiplyState(const double* from, std::int64_t firstGate, std::int64_t gateCount) const {
    const std::int64_t columns = gateCount * p_.hidden;
    product<double>(ctx_.threads(), {1, p_.batch, columns, p_.hidden}, ScratchOperand(from, true, p_.hidden),
                    ScratchOperand(state_.recurrent + firstGate * p_.hidden * p_.hidden, true, p_.hidden),
                    StateSink(state_.sums + firstGate * p_.hidden, p_.gateSize()));
  }

  class StateSink final : public ProductSink<double> {
   public:
    StateSink(double* to, std::int64_t rowStride) : to_(to), rowStride_(rowStride) {}
    void store(std::int64_t, std::int64_t row, std::int64_t column, std::int64_t count,
               const double* values) const override {
      std::copy(values, values + count, to_ + row * rowStride_ + column);
    }

   private:
    double* to_;
    std::int64_t rowStride_;
  };

  void step(std::int64_t d, std::int64_t s, bool reverse) {
    const bool split = p_.kind == CellKind::kGru && !p_.linearBeforeReset;
    multiplyState(state_.h, 0, split ? 2 : p_.gates);
    if (split) {
      for (std::int64_t n = 0; n < p_.batch; ++n) resetState(n, s, reverse);
      multiplyState(state_.reset, 2, 1);
    }
    for (std::int64_t n = 0; n < p_.batch; ++n) {
      if (s >= lengths_[n]) continue;
      const std::int64_t t = reverse ? lengths_[n] - 1 - s : s;
      const double* x = state_.projected + p_.inputRow(t, n) * p_.gateSize();
      switch (p_.kind) {
        case CellKind::kRnn: rnnCell(x, n); break;
        case CellKind::kGru: gruCell(x, n); break;
        case CellKind::kLstm: lstmCell(x, n); break;
      }
      if (ctx_.hasOutput(0))
        storeBlock(ctx_.output(0), p_.outputRow(t, d, n) * p_.hidden, p_.hidden, state_.h + n * p_.hidden);
    }
  }

  double clipped(double x) const { return p_.clip > 0 ? std::clamp(x, -p_.clip, p_.clip) : x; }
  // Sum of a gate before its function, both biases included.
  double gateSum(const double* x, std::int64_t n, std::int64_t gate, std::int64_t j) const {
    const std::int64_t at = gate * p_.hidden + j;
    return x[at] + state_.sums[n * p_.gateSize() + at] + state_.recurrentBias[at];
  }

  void rnnCell(const double* x, std::int64_t n) const {
    for (std::int64_t j = 0; j < p_.hidden; ++j)
      state_.h[n * p_.hidden + j] = state_.functions[0](clipped(gateSum(x, n, 0, j)));
  }

  void resetState(std::int64_t n, std::int64_t s, bool reverse) const {
    const std::int64_t t = s >= lengths_[n] ? 0 : reverse ? lengths_[n] - 1 - s : s;
    const double* x = state_.projected + p_.inputRow(t, n) * p_.gateSize();
    for (std::int64_t j = 0; j < p_.hidden; ++j) {
      state_.reset[n * p_.hidden + j] =
          state_.functions[0](clipped(gateSum(x, n, 1, j))) * state_.h[n * p_.hidden + j];
    }
  }

  void gruCell(const double* x, std::int64_t n) const {
    const ActivationFunction& f = state_.functions[0];
    const ActivationFunction& g = state_.functions[1];
    for (std::int64_t j = 0; j < p_.hidden; ++j) {
      const std::int64_t at = 2 * p_.hidden + j;
      double& h = state_.h[n * p_.hidden + j];
      const double z = f(clipped(gateSum(x, n, 0, j)));
      double candidate = gateSum(x, n, 2, j);
      if (p_.linearBeforeReset) {
        const double r = f(clipped(gateSum(x, n, 1, j)));
        candidate = x[at] + r * (state_.sums[n * p_.gateSize() + at] + state_.recurrentBias[at]);
      }
      h = (1 - z) * g(clipped(candidate)) + z * h;
    }
  }

  void lstmCell(const double* x, std::int64_t n) const {
    const ActivationFunction& f = state_.functions[0];
    const ActivationFunction& g = state_.functions[1];
    const ActivationFunction& hOf = state_.functions[2];
    const double* peephole = state_.peephole;
    for (std::int64_t j = 0; j < p_.hidden; ++j) {
      double& c = state_.c[n * p_.hidden + j];
      const auto seen = [&](std::int64_t gate) {
        return peephole == nullptr ? 0.0 : peephole[gate * p_.hidden + j] * c;
      };
      const double i = f(clipped(gateSum(x, n, 0, j) + seen(0)));
      const double forget = p_.inputForget ? 1 - i : f(clipped(gateSum(x, n, 2, j) + seen(2)));
      c = forget * c + i * g(clipped(gateSum(x, n, 3, j)));
      const double o = f(clipped(gateSum(x, n, 1, j) + seen(1)));  // sees the new cell state
      state_.h[n * p_.hidden + j] = o * hOf(clipped(c));
    }
  }

  void storeStates(std::int64_t d) const {
    for (std::int64_t n = 0; n < p_.batch; ++n) {
      const std::int64_t at = p_.stateRow(d, n) * p_.hidden;
      if (ctx_.hasOutput(1)) storeBlock(ctx_.output(1), at, p_.hidden, state_.h + n * p_.hidden);
      if (p_.kind == CellKind::kLstm && ctx_.hasOutput(2))
        storeBlock(ctx_.output(2), at, p_.hidden, state_.c + n * p_.hidden);
    }
  }

  KernelContext& ctx_;
  const RecurrentProblem& p_;
  DirectionState state_{};
  double* inputBias_ = nullptr;
  double* peepholeMemory_ = nullptr;
  std::int64_t* lengths_ = nullptr;
};

bool isDims(const KernelContext& ctx, std::size_t input, std::initializer_list<std::int64_t> dims) {
  if (!ctx.hasInput(input)) return true;
  const Dims found = ctx.input(input).dims;
  return std::equal(found.begin(), found.end(), dims.begin(), dims.end());
}

Status checkRecurrentShapes(const KernelContext& ctx, const RecurrentProblem& p) {
  const std::int64_t d = p.directions, n = p.batch, h = p.hidden;
  const bool states = p.batchFirst ? isDims(ctx, 5, {n, d, h}) && isDims(ctx, 6, {n, d, h})
                                   : isDims(ctx, 5, {d, n, h}) && isDims(ctx, 6, {d, n, h});
  if (isDims(ctx, 1, {d, p.gateSize(), p.input}) && isDims(ctx, 2, {d, p.gateSize(), h}) &&
      isDims(ctx, 3, {d, 2 * p.gateSize()}) && isDims(ctx, 4, {n}) && isDims(ctx, 7, {d, 3 * h}) && states) {
    return Status::ok();
  }
  return Status(ErrorCode::kShapeMismatch,
                "Weights, biases, lengths or states do not fit the recurrent layer")
      .expected("directions " + std::to_string(d) + ", gates times hidden " + std::to_string(p.gateSize()) +
                ", input " + std::to_string(p.input) + ", hidden " + std::to_string(h) + ", batch " +
                std::to_string(n));
}

Status recurrent(KernelContext& ctx, CellKind kind) {
  const Attributes& attributes = ctx.attributes();
  RecurrentProblem p;
  p.kind = kind;
  p.gates = kind == CellKind::kRnn ? 1 : kind == CellKind::kGru ? 3 : 4;
  if (ctx.input(0).rank() != 3 || ctx.input(2).rank() != 3) {
    return Status(ErrorCode::kShapeMismatch, "A recurrent layer needs X and R of rank 3").expected("rank 3");
  }
  p.batchFirst = attributes.getInt("layout") != 0;
  p.steps = ctx.input(0).dims[p.batchFirst ? 1 : 0];
  p.batch = ctx.input(0).dims[p.batchFirst ? 0 : 1];
  p.input = ctx.input(0).dims[2];
  p.hidden = ctx.input(2).dims[2];
  const std::string_view direction = attributes.getString("direction", "forward");
  p.directions = direction == "bidirectional" ? 2 : 1;
  p.reverseFirst = direction == "reverse";
  p.linearBeforeReset = attributes.getInt("linear_before_reset") != 0;
  p.inputForget = attributes.getInt("input_forget") != 0;
  p.clip = attributes.getFloat("clip", 0);
  ROTA_RETURN_IF_ERROR(checkRecurrentShapes(ctx, p));
  using A = Activation;
  const std::array<A, 3> defaults = kind == CellKind::kRnn ? std::array{A::kTanh, A::kTanh, A::kTanh}
                                                           : std::array{A::kSigmoid, A::kTanh, A::kTanh};
  const std::size_t perDirection = kind == CellKind::kRnn ? 1 : kind == CellKind::kGru ? 2 : 3;
  auto functions = activationsOf(attributes, perDirection, static_cast<std::size_t>(p.directions), defaults);
  if (!functions) return functions.status();
  p.functions = *functions;
  return RecurrentRun(ctx, p).run();
}

Status rnn(KernelContext& ctx) { return recurrent(ctx, CellKind::kRnn); }
Status gru(KernelContext& ctx) { return recurrent(ctx, CellKind::kGru); }
Status lstm(KernelContext& ctx) { return recurrent(ctx, CellKind::kLstm); }

const RegisterKernel kRnn("", "RNN", rnn);
const RegisterKernel kGru("", "GRU", gru);
const RegisterKernel kLstm("", "LSTM", lstm);

}  // namespace

}  // namespace rota::ref
