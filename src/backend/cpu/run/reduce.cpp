// SPDX-License-Identifier: Apache-2.0
// "cpu.reduce": folds float32 along any axes. Parameters: "op" (sum, mean, max, min, prod, l1, l2, sum_square, log_sum, log_sum_exp), "axes" (normalised).
//
// Loops over the input's memory are joined where they fold or keep alike. When the innermost loop folds, runs go through vector folds; when it
// is kept, some hundred neighbouring results are folded at once, row by row. A blocked input is walked as it lies, which gives results in plain
// order as long as all axes behind the blocked one fold (the tactic sees to it). Sums end in double. Tested by src/backend/cpu/compile/reduce_test.cpp.
#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "backend/cpu/run/kernel_table.h"
#include "backend/cpu/run/strides.h"

namespace rota::runtime {
namespace {

enum class Fold : std::uint8_t { kSum, kMean, kMax, kMin, kProd, kL1, kL2, kSumSquare, kLogSum, kLogSumExp };

constexpr std::int64_t kTile = 256;  // results folded side by side
constexpr std::int64_t kGrain = 16384;

struct Loops {
  std::size_t rank = 0;
  LoopStrides size{}, stride{};
  std::int64_t count() const {
    std::int64_t n = 1;
    for (std::size_t k = 0; k < rank; ++k) n *= size[k];
    return n;
  }
  std::int64_t offset(std::int64_t index) const {
    std::int64_t o = 0;
    for (std::size_t k = rank; k-- > 0;) {
      o += index % size[k] * stride[k];
      index /= size[k];
    }
    return o;
  }
};

double finish(Fold fold, double value, std::int64_t count) {
  switch (fold) {
    case Fold::kMean: return value / static_cast<double>(count);
    case Fold::kL2: return std::sqrt(value);
    case Fold::kLogSum: return std::log(value);
    default: return value;
  }
}

class Reduce final : public StepKernel {
 public:
  Reduce(Fold fold, std::vector<std::int64_t> axes) : fold_(fold), axes_(std::move(axes)) {}

  Status prepare(const StepBinding& binding, std::size_t& workspaceBytes) override {
    workspaceBytes = 0;
    kept_ = folded_ = Loops{};
    innerFolds_ = false;
    const Operand& in = binding.inputs[0];
    const PhysicalDims loops = physicalDims(in.view.dims, in.layout);
    if (loops.isPadded) return Status(ErrorCode::kInternal, "cpu.reduce: the blocks do not divide the dims");
    bool hasLast = false;
    for (std::size_t k = 0; k < loops.rank; ++k) {
      if (loops.size[k] == 1) continue;
      const bool folds =
          std::find(axes_.begin(), axes_.end(), static_cast<std::int64_t>(loops.axis[k])) != axes_.end();
      Loops& kind = folds ? folded_ : kept_;
      if (hasLast && folds == innerFolds_) {
        kind.size[kind.rank - 1] *= loops.size[k];
        kind.stride[kind.rank - 1] = loops.strideOf(k);
      } else {
        kind.size[kind.rank] = loops.size[k];
        kind.stride[kind.rank++] = loops.strideOf(k);
      }
      innerFolds_ = folds;
      hasLast = true;
    }
    results_ = kept_.count();
    perResult_ = folded_.count();
    if (results_ != binding.outputs[0].view.count())
      return Status(ErrorCode::kInternal, "cpu.reduce: the output has another size");
    return Status::ok();
  }

  Status run(const StepBinding& binding) override {
    const auto* x = static_cast<const float*>(binding.inputs[0].view.data);
    auto* y = static_cast<float*>(binding.outputs[0].mutableData);
    if (results_ == 0) return Status::ok();
    if (innerFolds_ || perResult_ <= 1 || kept_.rank == 0 || fold_ == Fold::kLogSumExp) {
      const std::int64_t grain = std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, perResult_));
      binding.threads->parallelFor(results_, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t r = begin; r < end; ++r) y[r] = foldRuns(x + kept_.offset(r));
      });
      return Status::ok();
    }
    const std::int64_t inner = kept_.size[kept_.rank - 1];
    const std::int64_t tiles = (inner + kTile - 1) / kTile;
    const std::int64_t work = std::min(kTile, inner) * perResult_;
    binding.threads->parallelFor(results_ / inner * tiles, std::max<std::int64_t>(1, kGrain / work),
                                 [&](std::int64_t begin, std::int64_t end) {
                                   for (std::int64_t t = begin; t < end; ++t) {
                                     const std::int64_t column = t % tiles * kTile;
                                     const std::int64_t first = t / tiles * inner + column;
                                     foldColumns(x + kept_.offset(first), y + first,
                                                 std::min(kTile, inner - column));
                                   }
                                 });
    return Status::ok();
  }

 private:
  /// One result, whose elements start at `x`.
  float foldRuns(const float* x) const {
    const simd::Kernels& k = simd::kernels();
    const std::int64_t run = folded_.rank == 0 ? 1 : folded_.size[folded_.rank - 1];
    const std::int64_t step = folded_.rank == 0 ? 1 : folded_.stride[folded_.rank - 1];
    if (fold_ == Fold::kLogSumExp) return logSumExp(x, run, step);
    if (perResult_ == 0) return static_cast<float>(finish(fold_, neutral(), 0));
    double total = neutral();
    float extreme = static_cast<float>(total);
    for (std::int64_t done = 0; done < perResult_; done += run) {
      const float* p = x + folded_.offset(done);
      if (step != 1) {
        for (std::int64_t i = 0; i < run; ++i) addOne(p[i * step], total, extreme);
        continue;
      }
      switch (fold_) {
        case Fold::kSum:
        case Fold::kMean:
        case Fold::kLogSum: total += k.sum(p, run); break;
        case Fold::kL1: total += k.sumOfMagnitudes(p, run); break;
        case Fold::kL2:
        case Fold::kSumSquare: total += k.sumOfSquares(p, run, 0); break;
        case Fold::kLogSumExp: break;  // above
        case Fold::kMax: addOne(k.largest(p, run), total, extreme); break;
        case Fold::kMin: addOne(k.smallest(p, run), total, extreme); break;
        case Fold::kProd:
          for (std::int64_t i = 0; i < run; ++i) total *= static_cast<double>(p[i]);
          break;
      }
    }
    if (fold_ == Fold::kMax || fold_ == Fold::kMin) return extreme;
    return static_cast<float>(finish(fold_, total, perResult_));
  }

  /// Relative to the largest element, so nothing overflows.
  float logSumExp(const float* x, std::int64_t run, std::int64_t step) const {
    const simd::Kernels& k = simd::kernels();
    float top = -INFINITY;
    const auto raise = [&](float v) { top = std::isnan(v) || v > top ? v : top; };
    for (std::int64_t done = 0; done < perResult_ && !std::isnan(top); done += run) {
      const float* p = x + folded_.offset(done);
      if (step == 1) {
        raise(k.largest(p, run));
      } else {
        for (std::int64_t i = 0; i < run; ++i) raise(p[i * step]);
      }
    }
    if (!std::isfinite(top)) return top;
    double total = 0;
    for (std::int64_t done = 0; done < perResult_; done += run) {
      const float* p = x + folded_.offset(done);
      if (step == 1) {
        total += k.sumOfExponentials(p, run, top);
      } else {
        for (std::int64_t i = 0; i < run; ++i)
          total += std::exp(static_cast<double>(p[i * step]) - static_cast<double>(top));
      }
    }
    return static_cast<float>(static_cast<double>(top) + std::log(total));
  }

  double neutral() const {
    switch (fold_) {
      case Fold::kMax: return -INFINITY;
      case Fold::kMin: return INFINITY;
      case Fold::kProd: return 1;
      default: return 0;
    }
  }

  void addOne(float v, double& total, float& extreme) const {
    const auto d = static_cast<double>(v);
    switch (fold_) {
      case Fold::kSum:
      case Fold::kMean:
      case Fold::kLogSum: total += d; break;
      case Fold::kL1: total += std::fabs(d); break;
      case Fold::kL2:
      case Fold::kSumSquare: total += d * d; break;
      case Fold::kProd: total *= d; break;
      case Fold::kMax: extreme = std::isnan(v) || (v > extreme) ? v : extreme; break;
      case Fold::kMin: extreme = std::isnan(v) || (v < extreme) ? v : extreme; break;
      case Fold::kLogSumExp: break;  // above
    }
  }

  /// `columns` neighbouring results.
  void foldColumns(const float* x, float* y, std::int64_t columns) const {
    const simd::Kernels& k = simd::kernels();
    const std::int64_t run = folded_.size[folded_.rank - 1];
    const std::int64_t step = folded_.stride[folded_.rank - 1];
    if (fold_ == Fold::kMax || fold_ == Fold::kMin) {
      std::fill_n(y, columns, static_cast<float>(neutral()));
      for (std::int64_t done = 0; done < perResult_; done += run)
        (fold_ == Fold::kMax ? k.largestRows : k.smallestRows)(x + folded_.offset(done), run, step, columns,
                                                               y);
      return;
    }
    double acc[kTile];
    std::fill_n(acc, columns, neutral());
    for (std::int64_t done = 0; done < perResult_; done += run) {
      const float* p = x + folded_.offset(done);
      switch (fold_) {
        case Fold::kL1: k.addMagnitudeRows(p, run, step, columns, acc); break;
        case Fold::kL2:
        case Fold::kSumSquare: k.addSquareRows(p, run, step, columns, acc); break;
        case Fold::kProd:
          for (std::int64_t r = 0; r < run; ++r)
            for (std::int64_t c = 0; c < columns; ++c) acc[c] *= static_cast<double>(p[r * step + c]);
          break;
        default: k.addRows(p, run, step, columns, acc); break;
      }
    }
    for (std::int64_t c = 0; c < columns; ++c) y[c] = static_cast<float>(finish(fold_, acc[c], perResult_));
  }

  Fold fold_;
  std::vector<std::int64_t> axes_;
  Loops kept_, folded_;
  bool innerFolds_ = false;
  std::int64_t results_ = 0, perResult_ = 0;
};

Result<std::unique_ptr<StepKernel>> makeReduce(const StepKernelSpec& spec) {
  const Step& step = spec.step;
  constexpr std::pair<std::string_view, Fold> kFolds[] = {
      {"sum", Fold::kSum},        {"mean", Fold::kMean},
      {"max", Fold::kMax},        {"min", Fold::kMin},
      {"prod", Fold::kProd},      {"l1", Fold::kL1},
      {"l2", Fold::kL2},          {"sum_square", Fold::kSumSquare},
      {"log_sum", Fold::kLogSum}, {"log_sum_exp", Fold::kLogSumExp}};
  const auto* axes = step.parameters.getInts("axes");
  const auto isFloat32 = [&](std::int32_t id) {
    return id != kNone && spec.program.values[static_cast<std::size_t>(id)].dtype == DType::kFloat32;
  };
  if (axes == nullptr || step.inputs.size() != 1 || step.outputs.size() != 1 || !isFloat32(step.inputs[0]) ||
      !isFloat32(step.outputs[0]))
    return Status(ErrorCode::kEngineDamaged,
                  "a cpu.reduce step needs axes, one float32 input and one float32 output");
  for (const auto& [name, fold] : kFolds) {
    if (step.parameters.getString("op") != name) continue;
    return std::unique_ptr<StepKernel>(std::make_unique<Reduce>(fold, *axes));
  }
  return Status(ErrorCode::kEngineDamaged, "a cpu.reduce step names no known fold");
}

const RegisterStepKernel kReduce("cpu.reduce", makeReduce);

}  // namespace
}  // namespace rota::runtime
