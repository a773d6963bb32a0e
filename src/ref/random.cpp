// SPDX-License-Identifier: Apache-2.0
// Reference kernels of operators that draw random numbers, and of Dropout.
//
// The number at index i is a hash of (seed, i), so that results depend neither on threads nor on the order of work. The hash is the finaliser of
// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014) over a Weyl sequence. Without a seed each call takes
// the next number of a process-wide counter. Normal numbers come from the transform of Box and Muller (1958).
// Tested by src/ref/quantize_test.cpp, src/op/reduction_test.cpp.
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>

#include "ref/broadcast.h"

namespace rota::ref {
namespace {

std::uint64_t mixBits(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

class RandomSource {
 public:
  explicit RandomSource(const KernelContext& ctx) {
    const Attribute* seed = ctx.attributes().find("seed");
    if (seed == nullptr) {
      static std::atomic<std::uint64_t> unseeded{0};
      key_ = mixBits(~unseeded.fetch_add(1, std::memory_order_relaxed));
    } else if (const auto* whole = std::get_if<std::int64_t>(seed)) {
      key_ = mixBits(static_cast<std::uint64_t>(*whole) + 1);
    } else {
      key_ = mixBits(std::bit_cast<std::uint32_t>(ctx.attributes().getFloat("seed")) + 1ULL);
    }
  }
  /// Number `i` of stream `stream`, uniform in [0, 1).
  double uniform(std::int64_t i, std::uint64_t stream = 0) const {
    constexpr std::uint64_t kWeyl = 0x9e3779b97f4a7c15ULL;
    const std::uint64_t bits = mixBits(key_ + (2 * static_cast<std::uint64_t>(i) + stream + 1) * kWeyl);
    return static_cast<double>(bits >> 11) * 0x1p-53;
  }
  double normal(std::int64_t i) const {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform(i, 0)));
    return radius * std::cos(2.0 * std::numbers::pi * uniform(i, 1));
  }

 private:
  std::uint64_t key_ = 0;
};

/// Fills output 0 with f(index).
template <typename F> Status fillRandom(KernelContext& ctx, const F& f) {
  // Of an input only the shape counts.
  const MutableTensorView y = ctx.output(0);
  if (!isFloat(y.dtype)) {
    return Status(ErrorCode::kUnsupportedType, "Random numbers are of a floating-point type")
        .found(info(y.dtype).name);
  }
  forBlocks(ctx, y.count(), [&](std::int64_t begin, std::int64_t n) {
    std::array<double, kBlock> values;
    for (std::int64_t i = 0; i < n; ++i) values[static_cast<std::size_t>(i)] = f(begin + i);
    storeFromDouble(y, begin, n, values.data());
  });
  return Status::ok();
}

Status randomNormalKernel(KernelContext& ctx) {
  const double mean = ctx.attributes().getFloat("mean", 0.0F);
  const double scale = ctx.attributes().getFloat("scale", 1.0F);
  const RandomSource source(ctx);
  return fillRandom(ctx, [&](std::int64_t i) { return mean + scale * source.normal(i); });
}
const RegisterKernel kRandomNormalKernel("", "RandomNormal", randomNormalKernel);
const RegisterKernel kRandomNormalLikeKernel("", "RandomNormalLike", randomNormalKernel);

Status randomUniformKernel(KernelContext& ctx) {
  const double low = ctx.attributes().getFloat("low", 0.0F);
  const double high = ctx.attributes().getFloat("high", 1.0F);
  const RandomSource source(ctx);
  return fillRandom(ctx, [&](std::int64_t i) { return low + (high - low) * source.uniform(i); });
}
const RegisterKernel kRandomUniformKernel("", "RandomUniform", randomUniformKernel);
const RegisterKernel kRandomUniformLikeKernel("", "RandomUniformLike", randomUniformKernel);

Status bernoulliKernel(KernelContext& ctx) {
  const RandomSource source(ctx);
  ROTA_RETURN_IF_ERROR(requireReal(ctx));
  const MutableTensorView y = ctx.output(0);
  forBlocks(ctx, y.count(), [&](std::int64_t begin, std::int64_t n) {
    std::array<double, kBlock> values;
    loadAsDouble(ctx.input(0), begin, n, values.data());
    for (std::int64_t i = 0; i < n; ++i) {
      double& value = values[static_cast<std::size_t>(i)];
      value = source.uniform(begin + i) < value ? 1.0 : 0.0;
    }
    storeFromDouble(y, begin, n, values.data());
  });
  return Status::ok();
}
const RegisterKernel kBernoulliKernel("", "Bernoulli", bernoulliKernel);

/// The class whose share of the summed probabilities holds `target`.
std::int64_t drawClass(const double* weights, std::int64_t classes, double target) {
  std::int64_t last = 0;
  for (std::int64_t c = 0; c < classes; ++c) {
    if (!(weights[c] > 0)) continue;
    last = c;
    target -= weights[c];
    if (target < 0) break;
  }
  return last;
}

Status multinomialKernel(KernelContext& ctx) {
  ROTA_RETURN_IF_ERROR(requireReal(ctx));
  const TensorView x = ctx.input(0);
  const MutableTensorView y = ctx.output(0);
  if (x.rank() != 2)
    return Status(ErrorCode::kShapeMismatch, "The input is not a matrix").found(dimsText(x.dims));
  if (y.count() == 0) return Status::ok();
  const std::int64_t classes = x.dims[1];
  if (classes == 0)
    return Status(ErrorCode::kShapeMismatch, "There is no class to draw").found(dimsText(x.dims));
  auto weights = ctx.scratch<double>(classes);
  if (!weights) return weights.status();
  const RandomSource source(ctx);
  const std::int64_t samples = y.dims[1];
  for (std::int64_t row = 0; row < x.dims[0]; ++row) {
    loadAsDouble(x, row * classes, classes, *weights);
    const double largest = *std::max_element(*weights, *weights + classes);
    double total = 0;
    for (std::int64_t c = 0; c < classes; ++c) total += (*weights)[c] = std::exp((*weights)[c] - largest);
    for (std::int64_t s = 0; s < samples; ++s) {
      const std::int64_t index = row * samples + s;
      storeOne(y, index, drawClass(*weights, classes, source.uniform(index) * total));
    }
  }
  return Status::ok();
}
const RegisterKernel kMultinomialKernel("", "Multinomial", multinomialKernel);

/// Inference copies; training zeroes elements with probability `ratio` and scales the others so that the expectation stays.
Status dropoutKernel(KernelContext& ctx) {
  const TensorView x = ctx.input(0);
  const MutableTensorView y = ctx.output(0);
  const double ratio = ctx.hasInput(1) && ctx.input(1).count() == 1
                           ? loadOne<double>(ctx.input(1), 0)
                           : ctx.attributes().getFloat("ratio", 0.5F);
  const bool isTraining =
      ctx.hasInput(2) && ctx.input(2).count() == 1 && loadOne<std::int64_t>(ctx.input(2), 0) != 0;
  if (!isTraining || ratio == 0) {
    if (y.bytes() > 0) std::memcpy(y.data, x.data, y.bytes());
    if (!ctx.hasOutput(1)) return Status::ok();
    const MutableTensorView mask = ctx.output(1);
    forBlocks(ctx, mask.count(), [&](std::int64_t begin, std::int64_t n) {
      std::array<std::int64_t, kBlock> ones;
      ones.fill(1);
      storeFromInt64(mask, begin, n, ones.data());
    });
    return Status::ok();
  }
  ROTA_RETURN_IF_ERROR(requireReal(ctx));
  const RandomSource source(ctx);
  const double scale = ratio < 1 ? 1.0 / (1.0 - ratio) : 0.0;
  forBlocks(ctx, y.count(), [&](std::int64_t begin, std::int64_t n) {
    std::array<double, kBlock> values;
    std::array<double, kBlock> kept;
    loadAsDouble(x, begin, n, values.data());
    for (std::int64_t i = 0; i < n; ++i) {
      const auto k = static_cast<std::size_t>(i);
      kept[k] = source.uniform(begin + i) >= ratio ? 1.0 : 0.0;
      values[k] = kept[k] != 0 ? values[k] * scale : 0.0;
    }
    storeFromDouble(y, begin, n, values.data());
    if (ctx.hasOutput(1)) storeFromDouble(ctx.output(1), begin, n, kept.data());
  });
  return Status::ok();
}
const RegisterKernel kDropoutKernel("", "Dropout", dropoutKernel);

}  // namespace
}  // namespace rota::ref
