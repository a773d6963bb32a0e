// SPDX-License-Identifier: Apache-2.0
// "cpu.pointwise": a straight-line program of scalar operations over broadcast inputs, run block by block with vector loops.
//
// Parameters: "integer" (0: computes in float32, 1: in int64, exact); "registers": number of temporaries; "code": five numbers an instruction
// [operation, destination slot, a, b, c]; "constants" (floats) or "integers". Slots are numbered registers, inputs, constants, outputs.
// A block of every slot stays in the first-level cache; float32 inputs of the output's shape and float32 outputs are used in place, all
// other inputs are gathered and converted. Blocked layouts are walked as they lie: see strides.h. Tested by src/backend/cpu/compile/pointwise_test.cpp.
#include "backend/cpu/run/pointwise.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>

#include "backend/cpu/run/kernel_table.h"
#include "backend/cpu/run/strides.h"
#include "core/float_convert.h"

namespace rota::runtime {
namespace {

using simd::PointwiseOp;

constexpr std::int64_t kGrainBlocks = 16;

struct Instruction {
  PointwiseOp op = PointwiseOp::kCopy;
  std::uint16_t out = 0, a = 0, b = 0, c = 0;
};

/// Float operations without a vector form, by the C library (errors below 2 ulp).
template <float (*f)(float)>
void mapUnary(const float* a, const float*, const float*, float* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = f(a[i]);
}
void mapPow(const float* a, const float* b, const float*, float* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = b[i] == 2.0F ? a[i] * a[i] : std::pow(a[i], b[i]);
}
void mapMod(const float* a, const float* b, const float*, float* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    const float r = std::fmod(a[i], b[i]);
    out[i] = r == 0 ? std::copysign(r, b[i]) : (r < 0) != (b[i] < 0) ? r + b[i] : r;
  }
}
void roundFloat16(const float* a, const float*, const float*, float* out, std::int64_t n) {
  std::uint16_t codes[kPointwiseBlock];
  convertFloatToFloat16(a, static_cast<std::size_t>(n), codes);
  convertFloat16ToFloat(codes, static_cast<std::size_t>(n), out);
}
void roundBFloat16(const float* a, const float*, const float*, float* out, std::int64_t n) {
  std::uint16_t codes[kPointwiseBlock];
  convertFloatToBFloat16(a, static_cast<std::size_t>(n), codes);
  convertBFloat16ToFloat(codes, static_cast<std::size_t>(n), out);
}

simd::Kernels::Map floatOperation(PointwiseOp op) {
  switch (op) {
    case PointwiseOp::kPow: return mapPow;
    case PointwiseOp::kMod: return mapMod;
    case PointwiseOp::kTan: return mapUnary<std::tan>;
    case PointwiseOp::kAsin: return mapUnary<std::asin>;
    case PointwiseOp::kAcos: return mapUnary<std::acos>;
    case PointwiseOp::kAtan: return mapUnary<std::atan>;
    case PointwiseOp::kSinh: return mapUnary<std::sinh>;
    case PointwiseOp::kCosh: return mapUnary<std::cosh>;
    case PointwiseOp::kAsinh: return mapUnary<std::asinh>;
    case PointwiseOp::kAcosh: return mapUnary<std::acosh>;
    case PointwiseOp::kAtanh: return mapUnary<std::atanh>;
    case PointwiseOp::kRoundFloat16: return roundFloat16;
    case PointwiseOp::kRoundBFloat16: return roundBFloat16;
    default: return simd::kernels().map[static_cast<std::size_t>(op)];
  }
}

template <typename T> void widen(const void* in, std::int64_t n, float* out) {
  const T* p = static_cast<const T*>(in);
  for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(p[i]);
}
template <typename T> void widen(const void* in, std::int64_t n, std::int64_t* out) {
  const T* p = static_cast<const T*>(in);
  for (std::int64_t i = 0; i < n; ++i)
    out[i] = static_cast<std::int64_t>(p[i]);  // NOLINT(bugprone-signed-char-misuse): numbers, not letters
}
template <typename W> void loadBool(const void* in, std::int64_t n, W* out) {
  const auto* p = static_cast<const std::uint8_t*>(in);
  for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<W>(p[i] != 0 ? 1 : 0);
}

void convertIn(DType dtype, const void* in, std::int64_t n, float* out) {
  const auto count = static_cast<std::size_t>(n);
  switch (dtype) {
    case DType::kFloat32: std::memcpy(out, in, count * sizeof(float)); return;
    case DType::kFloat16: return convertFloat16ToFloat(static_cast<const std::uint16_t*>(in), count, out);
    case DType::kBFloat16: return convertBFloat16ToFloat(static_cast<const std::uint16_t*>(in), count, out);
    case DType::kBool: return loadBool(in, n, out);
    case DType::kUInt8: return widen<std::uint8_t>(in, n, out);
    case DType::kInt8: return widen<std::int8_t>(in, n, out);
    case DType::kUInt16: return widen<std::uint16_t>(in, n, out);
    case DType::kInt16: return widen<std::int16_t>(in, n, out);
    case DType::kUInt32: return widen<std::uint32_t>(in, n, out);
    case DType::kInt32: return widen<std::int32_t>(in, n, out);
    default: return widen<std::int64_t>(in, n, out);
  }
}
void convertIn(DType dtype, const void* in, std::int64_t n, std::int64_t* out) {
  switch (dtype) {
    case DType::kBool: return loadBool(in, n, out);
    case DType::kUInt8: return widen<std::uint8_t>(in, n, out);
    case DType::kInt8: return widen<std::int8_t>(in, n, out);
    case DType::kUInt16: return widen<std::uint16_t>(in, n, out);
    case DType::kInt16: return widen<std::int16_t>(in, n, out);
    case DType::kUInt32: return widen<std::uint32_t>(in, n, out);
    case DType::kInt32: return widen<std::int32_t>(in, n, out);
    default: std::memcpy(out, in, static_cast<std::size_t>(n) * sizeof(std::int64_t)); return;
  }
}

/// As the Cast operator: towards zero, saturating at int64, NaN gives 0.
std::int64_t wholeOf(float x) {
  if (!(x == x)) return 0;
  if (x >= 9223372036854775808.0F) return std::numeric_limits<std::int64_t>::max();
  if (x <= -9223372036854775808.0F) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(x);
}
std::int64_t wholeOf(std::int64_t x) { return x; }

template <typename T, typename W> void narrow(const W* in, std::int64_t n, void* out) {
  T* p = static_cast<T*>(out);
  for (std::int64_t i = 0; i < n; ++i) p[i] = static_cast<T>(wholeOf(in[i]));
}
template <typename W> void storeWhole(DType dtype, const W* in, std::int64_t n, void* out) {
  switch (dtype) {
    case DType::kBool: {
      auto* p = static_cast<std::uint8_t*>(out);
      for (std::int64_t i = 0; i < n; ++i) p[i] = in[i] != W{0} ? 1 : 0;
      return;
    }
    case DType::kUInt8: return narrow<std::uint8_t>(in, n, out);
    case DType::kInt8: return narrow<std::int8_t>(in, n, out);
    case DType::kUInt16: return narrow<std::uint16_t>(in, n, out);
    case DType::kInt16: return narrow<std::int16_t>(in, n, out);
    case DType::kUInt32: return narrow<std::uint32_t>(in, n, out);
    case DType::kInt32: return narrow<std::int32_t>(in, n, out);
    default: return narrow<std::int64_t>(in, n, out);
  }
}
void convertOut(DType dtype, const std::int64_t* in, std::int64_t n, void* out) {
  storeWhole(dtype, in, n, out);
}
void convertOut(DType dtype, const float* in, std::int64_t n, void* out) {
  const auto count = static_cast<std::size_t>(n);
  switch (dtype) {
    case DType::kFloat32: std::memcpy(out, in, count * sizeof(float)); return;
    case DType::kFloat16: return convertFloatToFloat16(in, count, static_cast<std::uint16_t*>(out));
    case DType::kBFloat16: return convertFloatToBFloat16(in, count, static_cast<std::uint16_t*>(out));
    case DType::kInt32: {
      auto* p = static_cast<std::int32_t*>(out);
      for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t v = wholeOf(in[i]);
        p[i] = static_cast<std::int32_t>(v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v);
      }
      return;
    }
    default: storeWhole(dtype, in, n, out);
  }
}

std::int64_t wrapTo(DType dtype, std::int64_t x) {
  switch (dtype) {
    case DType::kBool: return x != 0 ? 1 : 0;
    case DType::kUInt8: return static_cast<std::uint8_t>(x);
    case DType::kInt8: return static_cast<std::int8_t>(x);
    case DType::kUInt16: return static_cast<std::uint16_t>(x);
    case DType::kInt16: return static_cast<std::int16_t>(x);
    case DType::kUInt32: return static_cast<std::uint32_t>(x);
    case DType::kInt32: return static_cast<std::int32_t>(x);
    default: return x;
  }
}

std::int64_t wrapping(std::uint64_t x) { return static_cast<std::int64_t>(x); }
std::uint64_t raw(std::int64_t x) { return static_cast<std::uint64_t>(x); }

/// `fault` is set when an integer is divided by zero.
void integerOperation(const Instruction& i, const std::int64_t* a, const std::int64_t* b,
                      const std::int64_t* c, std::int64_t* out, std::int64_t n, bool& fault) {
  using T = std::int64_t;
  const auto each = [&](auto f) {
    for (std::int64_t k = 0; k < n; ++k) out[k] = f(a[k], b[k], c[k]);
  };
  switch (i.op) {
    case PointwiseOp::kCopy: return each([](T x, T, T) { return x; });
    case PointwiseOp::kAdd: return each([](T x, T y, T) { return wrapping(raw(x) + raw(y)); });
    case PointwiseOp::kSub: return each([](T x, T y, T) { return wrapping(raw(x) - raw(y)); });
    case PointwiseOp::kMul: return each([](T x, T y, T) { return wrapping(raw(x) * raw(y)); });
    case PointwiseOp::kDiv:
      return each([&](T x, T y, T) {
        if (y == 0) fault = true;
        return y == 0 ? 0 : y == -1 ? wrapping(0 - raw(x)) : x / y;
      });
    case PointwiseOp::kMod:
      return each([&](T x, T y, T) -> T {
        if (y == 0) fault = true;
        if (y == 0 || y == -1) return 0;
        const T r = x % y;
        return r != 0 && (r < 0) != (y < 0) ? r + y : r;
      });
    case PointwiseOp::kMin: return each([](T x, T y, T) { return x < y ? x : y; });
    case PointwiseOp::kMax: return each([](T x, T y, T) { return x > y ? x : y; });
    case PointwiseOp::kNeg: return each([](T x, T, T) { return wrapping(0 - raw(x)); });
    case PointwiseOp::kAbs: return each([](T x, T, T) { return x < 0 ? wrapping(0 - raw(x)) : x; });
    case PointwiseOp::kSign: return each([](T x, T, T) -> T { return x > 0 ? 1 : x < 0 ? -1 : 0; });
    case PointwiseOp::kLess: return each([](T x, T y, T) -> T { return x < y; });
    case PointwiseOp::kLessEqual: return each([](T x, T y, T) -> T { return x <= y; });
    case PointwiseOp::kGreater: return each([](T x, T y, T) -> T { return x > y; });
    case PointwiseOp::kGreaterEqual: return each([](T x, T y, T) -> T { return x >= y; });
    case PointwiseOp::kEqual: return each([](T x, T y, T) -> T { return x == y; });
    case PointwiseOp::kAnd: return each([](T x, T y, T) -> T { return x != 0 && y != 0; });
    case PointwiseOp::kOr: return each([](T x, T y, T) -> T { return x != 0 || y != 0; });
    case PointwiseOp::kXor: return each([](T x, T y, T) -> T { return (x != 0) != (y != 0); });
    case PointwiseOp::kNot: return each([](T x, T, T) -> T { return x == 0; });
    case PointwiseOp::kSelect: return each([](T x, T y, T z) { return x != 0 ? y : z; });
    default: {  // kWrap; the factory lets nothing else through
      const auto dtype = static_cast<DType>(i.b);
      for (std::int64_t k = 0; k < n; ++k) out[k] = wrapTo(dtype, a[k]);
    }
  }
}

bool isIntegerOperation(PointwiseOp op) {
  switch (op) {
    case PointwiseOp::kCopy:
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
    case PointwiseOp::kSelect:
    case PointwiseOp::kWrap: return true;
    default: return false;
  }
}

bool isLoadable(DType dtype, bool isInteger) {
  switch (dtype) {
    case DType::kBool:
    case DType::kUInt8:
    case DType::kInt8:
    case DType::kUInt16:
    case DType::kInt16:
    case DType::kUInt32:
    case DType::kInt32:
    case DType::kInt64: return true;
    case DType::kFloat32:
    case DType::kFloat16:
    case DType::kBFloat16: return !isInteger;
    default: return false;
  }
}

/// Numbers of a step's program, checked.
struct PointwiseCode {
  std::vector<Instruction> instructions;
  std::size_t registers = 0, inputs = 0, constants = 0, outputs = 0;
  std::size_t slots() const { return registers + inputs + constants + outputs; }
};

/// W: float or std::int64_t, the type that is computed in.
template <typename W> class Pointwise final : public StepKernel {
 public:
  static constexpr bool kInteger = std::is_same_v<W, std::int64_t>;
  static constexpr std::int64_t kBlock = kInteger ? kPointwiseBlock / 2 : kPointwiseBlock;

  Pointwise(PointwiseCode code, std::vector<W> constants)
      : code_(std::move(code)),
        constants_(std::move(constants)),
        inputs_(code_.inputs) {
    if constexpr (!kInteger) {
      for (const Instruction& i : code_.instructions) functions_.push_back(floatOperation(i.op));
    }
    strides_.resize(code_.inputs + 1);
  }

  Status prepare(const StepBinding& binding, std::size_t& workspaceBytes) override {
    workspaceBytes = 0;
    // Outputs that nobody needs are left out.
    std::size_t first = 0;
    while (!binding.outputs[first].isGiven()) ++first;
    const Operand& out = binding.outputs[first];
    const PhysicalDims loops = physicalDims(out.view.dims, out.layout);
    count_ = loops.count();
    nest_.rank = loops.rank;
    for (std::size_t k = 0; k < loops.rank; ++k) {
      nest_.size[k] = loops.size[k];
      strides_.back()[k] = loops.strideOf(k);
    }
    nest_.strides = strides_;
    for (const Operand& other : binding.outputs) {
      if (other.isGiven() && physicalDims(other.view.dims, other.layout).count() != count_)
        return mismatch("outputs differ in size");
    }
    for (std::size_t i = 0; i < code_.inputs; ++i) {
      if (!broadcastStrides(binding.inputs[i], out.view.dims.size(), loops, strides_[i]))
        return mismatch("an operand does not fit the output");
    }
    nest_.merge();
    for (std::size_t i = 0; i < code_.inputs; ++i) {
      bool isFlat = true, isScalar = true;
      for (std::size_t k = 0; k < nest_.rank; ++k) {
        isFlat = isFlat && strides_[i][k] == strides_.back()[k];
        isScalar = isScalar && strides_[i][k] == 0;
      }
      inputs_[i] = {isScalar, isFlat && !isScalar};
    }
    return Status::ok();
  }

  Status run(const StepBinding& binding) override {
    fault_.store(false, std::memory_order_relaxed);
    const std::int64_t blocks = (count_ + kBlock - 1) / kBlock;
    binding.threads->parallelFor(
        blocks, kGrainBlocks, [&](std::int64_t begin, std::int64_t end) { runBlocks(binding, begin, end); });
    if (!fault_.load(std::memory_order_relaxed)) return Status::ok();
    return Status(ErrorCode::kDivisionByZero, "An integer is divided by zero")
        .expected("a divisor other than 0")
        .found("0");
  }

 private:
  struct Input {
    bool isScalar = false;
    bool isFlat = false;
  };

  static Status mismatch(const char* what) {
    return Status(ErrorCode::kInternal, std::string("cpu.pointwise: ") + what);
  }

  void runBlocks(const StepBinding& binding, std::int64_t begin, std::int64_t end);

  static void fill(W* slot, W value) {
    for (std::int64_t k = 0; k < kBlock; ++k) slot[k] = value;
  }
  static bool isInPlace(DType dtype) { return dtype == (kInteger ? DType::kInt64 : DType::kFloat32); }

  void loadInput(const Operand& in, std::size_t i, std::int64_t start, std::int64_t n, W* memory, W** slots);

  void execute(W** slots, std::int64_t n) {
    bool fault = false;
    for (std::size_t k = 0; k < code_.instructions.size(); ++k) {
      const Instruction& i = code_.instructions[k];
      if constexpr (kInteger) {
        const bool isWrap = i.op == PointwiseOp::kWrap;
        integerOperation(i, slots[i.a], slots[isWrap ? i.a : i.b], slots[i.c], slots[i.out], n, fault);
      } else {
        functions_[k](slots[i.a], slots[i.b], slots[i.c], slots[i.out], n);
      }
    }
    if (fault) fault_.store(true, std::memory_order_relaxed);
  }

  PointwiseCode code_;
  std::vector<W> constants_;
  std::vector<simd::Kernels::Map> functions_;
  std::vector<Input> inputs_;
  std::vector<LoopStrides> strides_;  // inputs, then the output
  LoopNest nest_;
  std::int64_t count_ = 0;
  std::atomic<bool> fault_{false};
};

template <typename W>
void Pointwise<W>::runBlocks(const StepBinding& binding, std::int64_t begin, std::int64_t end) {
  alignas(64) W memory[kMaxPointwiseSlots * kBlock];
  W* slots[kMaxPointwiseSlots];
  const std::size_t firstConstant = code_.registers + code_.inputs;
  const std::size_t firstOutput = firstConstant + code_.constants;
  for (std::size_t s = 0; s < code_.slots(); ++s) slots[s] = memory + static_cast<std::int64_t>(s) * kBlock;
  for (std::size_t i = 0; i < code_.constants; ++i) fill(slots[firstConstant + i], constants_[i]);
  for (std::size_t i = 0; i < code_.inputs; ++i) {
    if (!inputs_[i].isScalar) continue;
    W value{};
    convertIn(binding.inputs[i].view.dtype, binding.inputs[i].view.data, 1, &value);
    fill(slots[code_.registers + i], value);
  }
  for (std::int64_t b = begin; b < end; ++b) {
    const std::int64_t start = b * kBlock;
    const std::int64_t n = count_ - start < kBlock ? count_ - start : kBlock;
    for (std::size_t i = 0; i < code_.inputs; ++i) loadInput(binding.inputs[i], i, start, n, memory, slots);
    for (std::size_t o = 0; o < code_.outputs; ++o) {
      if (isInPlace(binding.outputs[o].view.dtype))
        slots[firstOutput + o] = static_cast<W*>(binding.outputs[o].mutableData) + start;
    }
    execute(slots, n);
    for (std::size_t o = 0; o < code_.outputs; ++o) {
      const Operand& out = binding.outputs[o];
      if (!out.isGiven() || isInPlace(out.view.dtype)) continue;
      convertOut(out.view.dtype, slots[firstOutput + o], n,
                 static_cast<std::byte*>(out.mutableData) +
                     start * static_cast<std::int64_t>(elementBytes(out.view.dtype)));
    }
  }
}

template <typename W>
void Pointwise<W>::loadInput(const Operand& in, std::size_t i, std::int64_t start, std::int64_t n, W* memory,
                             W** slots) {
  if (inputs_[i].isScalar) return;
  const std::size_t slot = code_.registers + i;
  const DType dtype = in.view.dtype;
  const auto bytes = static_cast<std::int64_t>(elementBytes(dtype));
  const auto* data = static_cast<const std::byte*>(in.view.data);
  if (inputs_[i].isFlat) {
    if (isInPlace(dtype)) {
      // Inputs are never destinations: the factory has checked it.
      slots[slot] = const_cast<W*>(reinterpret_cast<const W*>(data)) + start;
    } else {
      convertIn(dtype, data + start * bytes, n, slots[slot]);
    }
    return;
  }
  W* own = memory + static_cast<std::int64_t>(slot) * kBlock;
  if (isInPlace(dtype)) {
    gatherElements(nest_, strides_[i], data, static_cast<std::size_t>(bytes), start, n, own);
    return;
  }
  alignas(8) std::byte packed[kBlock * 8];
  gatherElements(nest_, strides_[i], data, static_cast<std::size_t>(bytes), start, n, packed);
  convertIn(dtype, packed, n, own);
}

Status damaged(const char* what) {
  return Status(ErrorCode::kEngineDamaged, std::string("a cpu.pointwise step is damaged: ") + what);
}

Result<PointwiseCode> readCode(const StepKernelSpec& spec, bool isInteger, std::size_t constants) {
  const Step& step = spec.step;
  PointwiseCode code;
  const auto* numbers = step.parameters.getInts("code");
  const std::int64_t registers = step.parameters.getInt("registers");
  if (numbers == nullptr || numbers->size() % 5 != 0) return damaged("it has no code");
  code.inputs = step.inputs.size();
  code.constants = constants;
  code.outputs = step.outputs.size();
  const std::size_t fixed = code.inputs + code.constants + code.outputs;
  if (registers < 0 || code.outputs == 0 || fixed > kMaxPointwiseSlots ||
      static_cast<std::size_t>(registers) > kMaxPointwiseSlots - fixed)
    return damaged("slots");
  code.registers = static_cast<std::size_t>(registers);
  if (std::count(step.outputs.begin(), step.outputs.end(), kNone) ==
      static_cast<std::ptrdiff_t>(step.outputs.size()))
    return damaged("outputs");
  for (const auto* list : {&step.inputs, &step.outputs}) {
    for (std::int32_t id : *list) {
      if (id == kNone && list == &step.outputs) continue;
      if (id == kNone || !isLoadable(spec.program.values[static_cast<std::size_t>(id)].dtype, isInteger))
        return damaged("operand types");
    }
  }
  const std::size_t firstOutput = code.registers + code.inputs + code.constants;
  std::vector<bool> isWritten(code.slots(), false);
  for (std::size_t s = code.registers; s < firstOutput; ++s) isWritten[s] = true;
  for (std::size_t k = 0; k < numbers->size(); k += 5) {
    const std::int64_t* n = numbers->data() + k;
    if (n[0] < 0 || n[0] >= simd::kPointwiseOps) return damaged("operation");
    Instruction i;
    i.op = static_cast<PointwiseOp>(n[0]);
    const bool isWrap = i.op == PointwiseOp::kWrap;
    for (std::size_t operand = 1; operand < 5; ++operand) {
      if (operand == 3 && isWrap) continue;
      const auto limit = static_cast<std::int64_t>(code.slots());
      if (n[operand] < 0 || n[operand] >= limit) return damaged("slot number");
      if (operand > 1 && !isWritten[static_cast<std::size_t>(n[operand])])
        return damaged("order of instructions");
    }
    if (isWrap && (n[3] < 0 || n[3] >= static_cast<std::int64_t>(DType::kCount))) return damaged("type");
    i.out = static_cast<std::uint16_t>(n[1]);
    i.a = static_cast<std::uint16_t>(n[2]);
    i.b = static_cast<std::uint16_t>(n[3]);
    i.c = static_cast<std::uint16_t>(n[4]);
    if (i.out >= code.registers && i.out < firstOutput) return damaged("destination");
    isWritten[i.out] = true;
    if (isInteger ? !isIntegerOperation(i.op) : isWrap || floatOperation(i.op) == nullptr)
      return damaged("operation");
    code.instructions.push_back(i);
  }
  for (std::size_t s = firstOutput; s < code.slots(); ++s)
    if (!isWritten[s]) return damaged("an output is not computed");
  return code;
}

template <typename W>
Result<std::unique_ptr<StepKernel>> makeTyped(const StepKernelSpec& spec, std::vector<W> constants) {
  auto code = readCode(spec, std::is_same_v<W, std::int64_t>, constants.size());
  if (!code) return code.status();
  return std::unique_ptr<StepKernel>(std::make_unique<Pointwise<W>>(std::move(*code), std::move(constants)));
}

Result<std::unique_ptr<StepKernel>> makePointwise(const StepKernelSpec& spec) {
  if (spec.step.parameters.getInt("integer") != 0) {
    const auto* integers = spec.step.parameters.getInts("integers");
    return makeTyped<std::int64_t>(spec, integers != nullptr ? *integers : std::vector<std::int64_t>{});
  }
  const auto* floats = spec.step.parameters.getFloats("constants");
  return makeTyped<float>(spec, floats != nullptr ? *floats : std::vector<float>{});
}

const RegisterStepKernel kPointwise("cpu.pointwise", makePointwise);

}  // namespace
}  // namespace rota::runtime
