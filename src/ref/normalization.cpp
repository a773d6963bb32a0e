// SPDX-License-Identifier: Apache-2.0
// Reference kernels of normalisations. Mean and variance are taken in two passes in double; results are rounded once, so the precision that
// `stash_type` asks for is always reached. Variances are those of the population.
// Tested by src/ref/normalization_test.cpp, src/op/reduction_test.cpp and the node cases of tests/conformance.
#include <cmath>

#include "ref/reduction.h"

namespace rota::ref {
namespace {

struct Moments {
  double mean = 0;
  double variance = 0;
};

/// Mean and variance of `n` neighbouring elements.
Moments momentsOf(const TensorView& x, std::int64_t begin, std::int64_t n) {
  std::array<double, kBlock> values;
  Moments moments;
  for (std::int64_t b = 0; b < n; b += kBlock) {
    const std::int64_t m = std::min(kBlock, n - b);
    loadAsDouble(x, begin + b, m, values.data());
    for (std::int64_t i = 0; i < m; ++i) moments.mean += values[static_cast<std::size_t>(i)];
  }
  moments.mean /= static_cast<double>(n);
  for (std::int64_t b = 0; b < n; b += kBlock) {
    const std::int64_t m = std::min(kBlock, n - b);
    loadAsDouble(x, begin + b, m, values.data());
    for (std::int64_t i = 0; i < m; ++i) {
      const double d = values[static_cast<std::size_t>(i)] - moments.mean;
      moments.variance += d * d;
    }
  }
  moments.variance /= static_cast<double>(n);
  return moments;
}

/// y = (x - shift) * factor * scale + bias for neighbouring elements; scale and bias broadcast to all of x.
struct AffineRow {
  const TensorView& x;
  const MutableTensorView& y;
  const BroadcastReader* scale;
  const BroadcastReader* bias;

  void apply(std::int64_t begin, std::int64_t n, double shift, double factor) const {
    std::array<double, kBlock> values;
    std::array<double, kBlock> operand;
    for (std::int64_t b = begin; b < begin + n; b += kBlock) {
      const std::int64_t m = std::min(kBlock, begin + n - b);
      loadAsDouble(x, b, m, values.data());
      for (std::int64_t i = 0; i < m; ++i) {
        double& value = values[static_cast<std::size_t>(i)];
        value = (value - shift) * factor;
      }
      if (scale != nullptr) {
        scale->load(b, m, operand.data());
        for (std::size_t i = 0; i < static_cast<std::size_t>(m); ++i) values[i] *= operand[i];
      }
      if (bias != nullptr) {
        bias->load(b, m, operand.data());
        for (std::size_t i = 0; i < static_cast<std::size_t>(m); ++i) values[i] += operand[i];
      }
      storeFromDouble(y, b, m, values.data());
    }
  }
};

std::int64_t rowGrain(std::int64_t rowElements) {
  return std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, rowElements));
}

/// Rows of `x` from attribute `axis` on: their number and their length.
struct Rows {
  std::int64_t count = 1;
  std::int64_t elements = 1;
};
Result<Rows> rowsFromAxis(const KernelContext& ctx) {
  const Dims dims = ctx.input(0).dims;
  const auto axis = axisOf(ctx.attributes().getInt("axis", -1), dims.size());
  if (!axis) return axis.status();
  Rows rows;
  for (std::size_t d = 0; d < dims.size(); ++d) (d < *axis ? rows.count : rows.elements) *= dims[d];
  return rows;
}

Status layerNormalizationKernel(KernelContext& ctx) {
  ROTA_RETURN_IF_ERROR(requireReal(ctx));
  const TensorView x = ctx.input(0);
  const MutableTensorView y = ctx.output(0);
  const auto rows = rowsFromAxis(ctx);
  if (!rows) return rows.status();
  const double epsilon = ctx.attributes().getFloat("epsilon", 1e-5F);
  const BroadcastReader scale(ctx.input(1), x.dims);
  const BroadcastReader bias = ctx.hasInput(2) ? BroadcastReader(ctx.input(2), x.dims) : BroadcastReader();
  const AffineRow affine{x, y, &scale, ctx.hasInput(2) ? &bias : nullptr};
  ctx.threads().parallelFor(rows->count, rowGrain(rows->elements), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const Moments moments = momentsOf(x, row * rows->elements, rows->elements);
      const double factor = 1.0 / std::sqrt(moments.variance + epsilon);
      affine.apply(row * rows->elements, rows->elements, moments.mean, factor);
      if (ctx.hasOutput(1)) storeOne(ctx.output(1), row, moments.mean);
      if (ctx.hasOutput(2)) storeOne(ctx.output(2), row, factor);
    }
  });
  return Status::ok();
}
const RegisterKernel kLayerNormalizationKernel("", "LayerNormalization", layerNormalizationKernel);

Status rmsNormalizationKernel(KernelContext& ctx) {
  ROTA_RETURN_IF_ERROR(requireReal(ctx));
  const TensorView x = ctx.input(0);
  const MutableTensorView y = ctx.output(0);
  const auto rows = rowsFromAxis(ctx);
  if (!rows) return rows.status();
  const double epsilon = ctx.attributes().getFloat("epsilon", 1e-5F);
  const BroadcastReader scale(ctx.input(1), x.dims);
  const AffineRow affine{x, y, &scale, nullptr};
  ctx.threads().parallelFor(rows->count, rowGrain(rows->elements), [&](std::int64_t begin, std::int64_t end) {
    std::array<double, kBlock> values;
    for (std::int64_t row = begin; row < end; ++row) {
      double squares = 0;
      for (std::int64_t b = 0; b < rows->elements; b += kBlock) {
        const std::int64_t n = std::min(kBlock, rows->elements - b);
        loadAsDouble(x, row * rows->elements + b, n, values.data());
        for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) squares += values[i] * values[i];
      }
      const double mean = squares / static_cast<double>(rows->elements);
      affine.apply(row * rows->elements, rows->elements, 0, 1.0 / std::sqrt(mean + epsilon));
    }
  });
  return Status::ok();
}
const RegisterKernel kRmsNormalizationKernel("", "RMSNormalization", rmsNormalizationKernel);

/// Input 0 as [instances, channels, elements of a channel].
struct ChannelSplit {
  std::int64_t instances = 1;
  std::int64_t channels = 1;
  std::int64_t inner = 1;
};
ChannelSplit channelsOf(Dims dims) {
  ChannelSplit split;
  if (!dims.empty()) split.instances = dims[0];
  if (dims.size() > 1) split.channels = dims[1];
  for (std::size_t d = 2; d < dims.size(); ++d) split.inner *= dims[d];
  return split;
}

/// One value for each channel; an error unless the tensor has that many elements.
Status requireCount(const TensorView& view, std::int64_t count) {
  if (view.count() == count) return Status::ok();
  return Status(ErrorCode::kShapeMismatch, "A parameter of a normalisation has the wrong size")
      .expected(std::to_string(count) + " elements")
      .found(dimsText(view.dims));
}

/// y = (x - shift) * factor * scale + bias with one scale and bias for all elements.
void affineRun(const TensorView& x, const MutableTensorView& y, std::int64_t begin, std::int64_t n,
               double shift, double factor, double scale, double bias) {
  std::array<double, kBlock> values;
  for (std::int64_t b = begin; b < begin + n; b += kBlock) {
    const std::int64_t m = std::min(kBlock, begin + n - b);
    loadAsDouble(x, b, m, values.data());
    for (std::size_t i = 0; i < static_cast<std::size_t>(m); ++i)
      values[i] = (values[i] - shift) * factor * scale + bias;
    storeFromDouble(y, b, m, values.data());
  }
}

/// Mean and variance of every channel over instances and inner elements.
Moments channelMoments(const TensorView& x, const ChannelSplit& split, std::int64_t channel) {
  std::array<double, kBlock> values;
  Moments moments;
  const auto count = static_cast<double>(split.instances * split.inner);
  const auto visit = [&](auto use) {
    for (std::int64_t n = 0; n < split.instances; ++n) {
      const std::int64_t start = (n * split.channels + channel) * split.inner;
      for (std::int64_t b = 0; b < split.inner; b += kBlock) {
        const std::int64_t m = std::min(kBlock, split.inner - b);
        loadAsDouble(x, start + b, m, values.data());
        for (std::size_t i = 0; i < static_cast<std::size_t>(m); ++i) use(values[i]);
      }
    }
  };
  visit([&](double v) { moments.mean += v; });
  moments.mean /= count;
  visit([&](double v) { moments.variance += (v - moments.mean) * (v - moments.mean); });
  moments.variance /= count;
  return moments;
}

Status batchNormalizationKernel(KernelContext& ctx) {
  ROTA_RETURN_IF_ERROR(requireReal(ctx));
  const TensorView x = ctx.input(0);
  const ChannelSplit split = channelsOf(x.dims);
  for (std::size_t i = 1; i < 5; ++i) ROTA_RETURN_IF_ERROR(requireCount(ctx.input(i), split.channels));
  const double epsilon = ctx.attributes().getFloat("epsilon", 1e-5F);
  const double momentum = ctx.attributes().getFloat("momentum", 0.9F);
  const bool isTraining = ctx.attributes().getInt("training_mode", 0) != 0;
  ctx.threads().parallelFor(
      split.channels, rowGrain(split.instances * split.inner), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t c = begin; c < end; ++c) {
          Moments moments{loadOne<double>(ctx.input(3), c), loadOne<double>(ctx.input(4), c)};
          if (isTraining) {
            const Moments given = moments;
            moments = channelMoments(x, split, c);
            if (ctx.hasOutput(1))
              storeOne(ctx.output(1), c, given.mean * momentum + moments.mean * (1 - momentum));
            if (ctx.hasOutput(2))
              storeOne(ctx.output(2), c, given.variance * momentum + moments.variance * (1 - momentum));
          }
          const double factor = 1.0 / std::sqrt(moments.variance + epsilon);
          const double scale = loadOne<double>(ctx.input(1), c);
          const double bias = loadOne<double>(ctx.input(2), c);
          for (std::int64_t n = 0; n < split.instances; ++n) {
            affineRun(x, ctx.output(0), (n * split.channels + c) * split.inner, split.inner, moments.mean,
                      factor, scale, bias);
          }
        }
      });
  return Status::ok();
}
const RegisterKernel kBatchNormalizationKernel("", "BatchNormalization", batchNormalizationKernel);

/// Groups of channels of every instance; scale and bias are by group (`byGroup`) or by channel.
Status normalizeGroups(KernelContext& ctx, std::int64_t groups, bool byGroup) {
  ROTA_RETURN_IF_ERROR(requireReal(ctx));
  const TensorView x = ctx.input(0);
  const ChannelSplit split = channelsOf(x.dims);
  if (groups < 1 || split.channels % groups != 0) {
    return Status(ErrorCode::kShapeMismatch, "The channels do not divide into groups")
        .expected("a multiple of " + std::to_string(groups))
        .found(std::to_string(split.channels));
  }
  const std::int64_t channels = split.channels / groups;
  const std::int64_t parameters = byGroup ? groups : split.channels;
  ROTA_RETURN_IF_ERROR(requireCount(ctx.input(1), parameters));
  ROTA_RETURN_IF_ERROR(requireCount(ctx.input(2), parameters));
  const double epsilon = ctx.attributes().getFloat("epsilon", 1e-5F);
  const std::int64_t elements = channels * split.inner;
  ctx.threads().parallelFor(
      split.instances * groups, rowGrain(elements), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t g = begin; g < end; ++g) {
          const Moments moments = momentsOf(x, g * elements, elements);
          const double factor = 1.0 / std::sqrt(moments.variance + epsilon);
          for (std::int64_t c = 0; c < channels; ++c) {
            const std::int64_t parameter = byGroup ? g % groups : g % groups * channels + c;
            affineRun(x, ctx.output(0), g * elements + c * split.inner, split.inner, moments.mean, factor,
                      loadOne<double>(ctx.input(1), parameter), loadOne<double>(ctx.input(2), parameter));
          }
        }
      });
  return Status::ok();
}

Status groupNormalizationKernel(KernelContext& ctx) {
  return normalizeGroups(ctx, ctx.attributes().getInt("num_groups", 1), ctx.version() < 21);
}
const RegisterKernel kGroupNormalizationKernel("", "GroupNormalization", groupNormalizationKernel);

Status instanceNormalizationKernel(KernelContext& ctx) {
  const std::int64_t channels = channelsOf(ctx.input(0).dims).channels;
  if (channels == 0) return Status::ok();
  return normalizeGroups(ctx, channels, false);
}
const RegisterKernel kInstanceNormalizationKernel("", "InstanceNormalization", instanceNormalizationKernel);

/// A statistic of the folded dims, kept as double tensors that broadcast over the input.
struct Statistic {
  DimArray dims;
  double* values = nullptr;
  MutableTensorView writable() const { return {DType::kFloat64, dims, values}; }
  TensorView view() const { return {DType::kFloat64, dims, values}; }
};
Result<Statistic> makeStatistic(KernelContext& ctx, const std::array<bool, kMaxRank>& folded) {
  Statistic statistic;
  statistic.dims = reducedDims(ctx.input(0).dims, folded, true);
  auto memory = ctx.scratch<double>(elementCount(statistic.dims));
  if (!memory) return memory.status();
  statistic.values = *memory;
  return statistic;
}

struct NormState {
  double sum = 0;
  bool isEuclidean = true;
  void add(double x) { sum += isEuclidean ? x * x : std::fabs(x); }
};

Status lpNormalizationKernel(KernelContext& ctx) {
  ROTA_RETURN_IF_ERROR(requireReal(ctx));
  const TensorView x = ctx.input(0);
  const auto axis = axisOf(ctx.attributes().getInt("axis", -1), x.rank());
  if (!axis) return axis.status();
  const bool isEuclidean = ctx.attributes().getInt("p", 2) == 2;
  std::array<bool, kMaxRank> folded{};
  folded[*axis] = true;
  auto norm = makeStatistic(ctx, folded);
  if (!norm) return norm.status();
  Reduction(x.dims, folded)
      .run<double>(ctx, x, NormState{0, isEuclidean}, [&](std::int64_t result, const NormState& state) {
        norm->values[result] = isEuclidean ? std::sqrt(state.sum) : state.sum;
      });
  const BroadcastReader norms(norm->view(), x.dims);
  const MutableTensorView y = ctx.output(0);
  forBlocks(ctx, y.count(), [&](std::int64_t begin, std::int64_t n) {
    std::array<double, kBlock> values;
    std::array<double, kBlock> divisors;
    loadAsDouble(x, begin, n, values.data());
    norms.load(begin, n, divisors.data());
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
      values[i] = divisors[i] == 0 ? 0 : values[i] / divisors[i];
    storeFromDouble(y, begin, n, values.data());
  });
  return Status::ok();
}
const RegisterKernel kLpNormalizationKernel("", "LpNormalization", lpNormalizationKernel);

/// Mean and sum of squared differences in one pass (Welford, "Note on a method for calculating corrected sums of squares", 1962).
struct WelfordState {
  double mean = 0;
  double squares = 0;
  double count = 0;
  void add(double x) {
    count += 1;
    const double d = x - mean;
    mean += d / count;
    squares += d * (x - mean);
  }
};

Status meanVarianceNormalizationKernel(KernelContext& ctx) {
  ROTA_RETURN_IF_ERROR(requireReal(ctx));
  const TensorView x = ctx.input(0);
  std::array<bool, kMaxRank> folded{};
  constexpr std::array<std::int64_t, 3> kDefaultAxes{0, 2, 3};
  const auto* given = ctx.attributes().getInts("axes");
  for (const std::int64_t written : given != nullptr ? Dims(*given) : Dims(kDefaultAxes)) {
    const auto axis = axisOf(written, x.rank());
    if (!axis) return axis.status();
    folded[*axis] = true;
  }
  auto mean = makeStatistic(ctx, folded);
  if (!mean) return mean.status();
  auto deviation = makeStatistic(ctx, folded);
  if (!deviation) return deviation.status();
  constexpr double kEpsilon = 1e-9;  // that of the function body in the standard
  Reduction(x.dims, folded)
      .run<double>(ctx, x, WelfordState{}, [&](std::int64_t result, const WelfordState& state) {
        mean->values[result] = state.mean;
        deviation->values[result] = std::sqrt(state.squares / state.count) + kEpsilon;
      });
  const BroadcastReader means(mean->view(), x.dims);
  const BroadcastReader deviations(deviation->view(), x.dims);
  const MutableTensorView y = ctx.output(0);
  forBlocks(ctx, y.count(), [&](std::int64_t begin, std::int64_t n) {
    std::array<double, kBlock> values;
    std::array<double, kBlock> m;
    std::array<double, kBlock> d;
    loadAsDouble(x, begin, n, values.data());
    means.load(begin, n, m.data());
    deviations.load(begin, n, d.data());
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) values[i] = (values[i] - m[i]) / d[i];
    storeFromDouble(y, begin, n, values.data());
  });
  return Status::ok();
}
const RegisterKernel kMeanVarianceNormalizationKernel("", "MeanVarianceNormalization",
                                                      meanVarianceNormalizationKernel);

Status lrnKernel(KernelContext& ctx) {
  ROTA_RETURN_IF_ERROR(requireReal(ctx));
  const TensorView x = ctx.input(0);
  const MutableTensorView y = ctx.output(0);
  const ChannelSplit split = channelsOf(x.dims);
  const std::int64_t size = ctx.attributes().getInt("size", 1);
  const double alpha = ctx.attributes().getFloat("alpha", 1e-4F);
  const double beta = ctx.attributes().getFloat("beta", 0.75F);
  const double bias = ctx.attributes().getFloat("bias", 1.0F);
  const std::int64_t before = (size - 1) / 2;
  const std::int64_t after = size - 1 - before;
  ctx.threads().parallelFor(split.instances * split.channels, rowGrain(split.inner * size),
                            [&](std::int64_t begin, std::int64_t end) {
                              std::array<double, kBlock> values;
                              std::array<double, kBlock> squares;
                              for (std::int64_t row = begin; row < end; ++row) {
                                const std::int64_t channel = row % split.channels;
                                const std::int64_t first = row - std::min(channel, before);
                                const std::int64_t last = row + std::min(split.channels - 1 - channel, after);
                                for (std::int64_t b = 0; b < split.inner; b += kBlock) {
                                  const std::int64_t n = std::min(kBlock, split.inner - b);
                                  squares.fill(0);
                                  for (std::int64_t r = first; r <= last; ++r) {
                                    loadAsDouble(x, r * split.inner + b, n, values.data());
                                    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
                                      squares[i] += values[i] * values[i];
                                  }
                                  loadAsDouble(x, row * split.inner + b, n, values.data());
                                  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
                                    values[i] /=
                                        std::pow(bias + alpha / static_cast<double>(size) * squares[i], beta);
                                  }
                                  storeFromDouble(y, row * split.inner + b, n, values.data());
                                }
                              }
                            });
  return Status::ok();
}
const RegisterKernel kLrnKernel("", "LRN", lrnKernel);

}  // namespace
}  // namespace rota::ref
