// SPDX-License-Identifier: Apache-2.0
// DFT, STFT, the window functions and MelWeightMatrix. Tested by src/ref/signal_test.cpp.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>

#include "ref/blocks.h"
#include "ref/common.h"
#include "ref/fourier.h"

namespace rota::ref {

namespace {

constexpr std::int64_t kSignalSlots = 64;  // lines transformed at a time, each with its own buffer

// Calls `body(line, buffer)` for every line in parallel; a buffer holds 2 * length doubles, followed by the plan's work area.
template <typename Body>
Status forSignalLines(KernelContext& ctx, const FourierPlan& plan, std::int64_t lines, const Body& body) {
  const std::int64_t slotSize = 2 * plan.length() + plan.workSize();
  const std::int64_t slots = std::min(lines, kSignalSlots);
  auto memory = ctx.scratch<double>(slots * slotSize);
  if (!memory) return memory.status();
  double* const base = *memory;
  for (std::int64_t first = 0; first < lines; first += slots) {
    ctx.threads().parallelFor(std::min(slots, lines - first), 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t slot = begin; slot < end; ++slot) body(first + slot, base + slot * slotSize);
    });
  }
  return Status::ok();
}

struct DftProblem {
  std::int64_t outer = 1, inner = 1;
  std::int64_t in = 0, out = 0, length = 0;  // along the axis
  std::int64_t parts = 1, outParts = 2;      // 1: real, 2: complex
  bool inverse = false;
  bool oneSided = false;
};

class DftRun {
 public:
  DftRun(KernelContext& ctx, const DftProblem& problem, MutableTensorView y)
      : ctx_(ctx),
        p_(problem),
        x_(ctx.input(0)),
        y_(y) {}
  Status run() {
    auto plan = FourierPlan::make(ctx_, p_.length);
    if (!plan) return plan.status();
    return forSignalLines(ctx_, *plan, p_.outer * p_.inner, [&](std::int64_t line, double* data) {
      read(line, data);
      plan->transform(data, data + 2 * p_.length, p_.inverse);
      write(line, data);
    });
  }

 private:
  void read(std::int64_t line, double* data) const {
    const std::int64_t first = line / p_.inner * p_.in * p_.inner + line % p_.inner;
    std::fill(data, data + 2 * p_.length, 0.0);
    const bool half = p_.inverse && p_.oneSided;
    const std::int64_t count = std::min(p_.in, half ? p_.length / 2 + 1 : p_.length);
    for (std::int64_t n = 0; n < count; ++n)
      loadBlock(x_, (first + n * p_.inner) * p_.parts, p_.parts, data + 2 * n);
    if (!half) return;
    // The other half of the spectrum of a real signal mirrors the first.
    for (std::int64_t n = p_.length / 2 + 1; n < p_.length; ++n) {
      data[2 * n] = data[2 * (p_.length - n)];
      data[2 * n + 1] = -data[2 * (p_.length - n) + 1];
    }
    data[1] = 0;
    if (p_.length % 2 == 0) data[p_.length + 1] = 0;
  }

  void write(std::int64_t line, const double* data) const {
    const std::int64_t first = line / p_.inner * p_.out * p_.inner + line % p_.inner;
    for (std::int64_t k = 0; k < p_.out; ++k) {
      double value[2] = {data[2 * k], data[2 * k + 1]};
      if (p_.inverse) {
        for (double& part : value) part /= static_cast<double>(p_.length);
      }
      storeBlock(y_, (first + k * p_.inner) * p_.outParts, p_.outParts, value);
    }
  }

  KernelContext& ctx_;
  const DftProblem& p_;
  TensorView x_;
  MutableTensorView y_;
};

Status dft(KernelContext& ctx) {
  const TensorView x = ctx.input(0);
  const std::size_t rank = x.rank();
  DftProblem p;
  const bool axisIsInput = ctx.version() >= 20;
  const std::int64_t named =
      axisIsInput ? (ctx.hasInput(2) && ctx.input(2).count() == 1 ? intAt(ctx.input(2), 0) : -2)
                  : ctx.attributes().getInt("axis", 1);
  auto axis = axisOf(named, rank);
  if (!axis) return axis.status();
  if (rank < 2 || *axis + 1 == rank || x.dims[rank - 1] < 1 || x.dims[rank - 1] > 2) {
    return Status(ErrorCode::kShapeMismatch,
                  "DFT needs a last axis of 1 (real) or 2 (complex) and another axis to transform")
        .found(dimsText(x.dims));
  }
  p.inverse = ctx.attributes().getInt("inverse") != 0;
  p.oneSided = ctx.attributes().getInt("onesided") != 0;
  p.parts = x.dims[rank - 1];
  p.in = x.dims[*axis];
  const bool realResult = p.inverse && p.oneSided;
  p.outParts = realResult ? 1 : 2;
  p.length = ctx.hasInput(1) ? intAt(ctx.input(1), 0) : realResult ? 2 * (p.in - 1) : p.in;
  if (p.length < 1)
    return Status(ErrorCode::kBadIndex, "The length of a DFT must be at least 1")
        .found(std::to_string(p.length));
  p.out = p.oneSided && !p.inverse ? p.length / 2 + 1 : p.length;
  DimArray dims(x.dims);
  dims[*axis] = p.out;
  dims[rank - 1] = p.outParts;
  for (std::size_t d = 0; d < *axis; ++d) p.outer *= x.dims[d];
  for (std::size_t d = *axis + 1; d + 1 < rank; ++d) p.inner *= x.dims[d];
  auto y = ctx.output(0, dims);
  if (!y) return y.status();
  return DftRun(ctx, p, *y).run();
}

Status stft(KernelContext& ctx) {
  const TensorView signal = ctx.input(0);
  if (signal.rank() != 3 || signal.dims[2] < 1 || signal.dims[2] > 2) {
    return Status(ErrorCode::kShapeMismatch, "STFT needs a signal [batch, length, 1 or 2]")
        .found(dimsText(signal.dims));
  }
  const std::int64_t batch = signal.dims[0], length = signal.dims[1], parts = signal.dims[2];
  const std::int64_t step = intAt(ctx.input(1), 0);
  const TensorView window = ctx.input(2);
  const std::int64_t frame = ctx.hasInput(3)    ? intAt(ctx.input(3), 0)
                             : window.isGiven() ? window.count()
                                                : length;
  const bool oneSided = ctx.attributes().getInt("onesided", 1) != 0;
  if (step < 1 || frame < 1 || (window.isGiven() && window.count() != frame) || (oneSided && parts == 2)) {
    return Status(ErrorCode::kBadIndex,
                  "The frames of STFT do not fit: step and frame length must be at least 1, the window as "
                  "long as a frame, "
                  "and a complex signal has no one-sided transform")
        .found("step " + std::to_string(step) + ", frame length " + std::to_string(frame));
  }
  const std::int64_t frames = frame > length ? 0 : (length - frame) / step + 1;
  const std::int64_t bins = oneSided ? frame / 2 + 1 : frame;
  auto made = ctx.output(0, DimArray{batch, frames, bins, 2});
  if (!made) return made.status();
  const MutableTensorView y = *made;
  auto plan = FourierPlan::make(ctx, frame);
  if (!plan) return plan.status();
  auto weights = loadAll(ctx, window);
  if (!weights) return weights.status();
  auto samples = loadAll(ctx, signal);
  if (!samples) return samples.status();
  return forSignalLines(ctx, *plan, batch * frames, [&](std::int64_t line, double* data) {
    const double* from = *samples + (line / frames * length + line % frames * step) * parts;
    for (std::int64_t n = 0; n < frame; ++n) {
      const double weight = *weights == nullptr ? 1 : (*weights)[n];
      data[2 * n] = from[n * parts] * weight;
      data[2 * n + 1] = parts == 2 ? from[n * parts + 1] * weight : 0;
    }
    plan->transform(data, data + 2 * frame, false);
    storeBlock(y, line * bins * 2, bins * 2, data);
  });
}

// a0 - a1 cos(2 pi n / N) + a2 cos(4 pi n / N), N = size, or size - 1 for a symmetric window.
Status cosineWindow(KernelContext& ctx, double a0, double a1, double a2) {
  const std::int64_t size = intAt(ctx.input(0), 0);
  if (size < 0)
    return Status(ErrorCode::kBadIndex, "The size of a window function must not be negative")
        .found(std::to_string(size));
  auto y = ctx.output(0, DimArray{size});
  if (!y) return y.status();
  const std::int64_t period = ctx.attributes().getInt("periodic", 1) != 0 ? size : size - 1;
  for (std::int64_t n = 0; n < size; ++n) {
    const double angle = period == 0
                             ? std::numbers::pi
                             : 2 * std::numbers::pi * static_cast<double>(n) / static_cast<double>(period);
    const double value = a0 - a1 * std::cos(angle) + a2 * std::cos(2 * angle);
    storeBlock(*y, n, 1, &value);
  }
  return Status::ok();
}

Status blackmanWindow(KernelContext& ctx) { return cosineWindow(ctx, 0.42, 0.5, 0.08); }
Status hannWindow(KernelContext& ctx) { return cosineWindow(ctx, 0.5, 0.5, 0); }
Status hammingWindow(KernelContext& ctx) { return cosineWindow(ctx, 25.0 / 46, 21.0 / 46, 0); }

// Triangles with a peak of 1 at points that are equally far apart on the mel scale, 2595 log10(1 + f / 700).
Status melWeightMatrix(KernelContext& ctx) {
  const std::int64_t bands = intAt(ctx.input(0), 0);
  const std::int64_t length = intAt(ctx.input(1), 0);
  const std::int64_t rate = intAt(ctx.input(2), 0);
  if (bands < 0 || length < 0 || rate < 1)
    return Status(ErrorCode::kBadIndex,
                  "MelWeightMatrix needs sizes that are not negative and a sample rate of at least 1");
  const std::int64_t bins = length / 2 + 1;
  auto y = ctx.output(0, DimArray{bins, bands});
  if (!y) return y.status();
  const auto mel = [](double hertz) { return 2595 * std::log1p(hertz / 700) / std::numbers::ln10; };
  const double low = mel(realAt(ctx.input(3), 0));
  const double step = (mel(realAt(ctx.input(4), 0)) - low) / static_cast<double>(bands + 2);
  const auto binOf = [&](std::int64_t point) {
    const double hertz =
        700 * std::expm1((static_cast<double>(point) * step + low) / 2595 * std::numbers::ln10);
    return static_cast<std::int64_t>(
        std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate)));
  };
  for (std::int64_t bin = 0; bin < bins; ++bin) {
    for (std::int64_t band = 0; band < bands; ++band) {
      const std::int64_t left = binOf(band), centre = binOf(band + 1), right = binOf(band + 2);
      double weight = 0;
      if (bin == centre) {
        weight = 1;
      } else if (bin >= left && bin < centre) {
        weight = static_cast<double>(bin - left) / static_cast<double>(centre - left);
      } else if (bin > centre && bin < right) {
        weight = static_cast<double>(right - bin) / static_cast<double>(right - centre);
      }
      storeBlock(*y, bin * bands + band, 1, &weight);
    }
  }
  return Status::ok();
}

const RegisterKernel kDft("", "DFT", dft);
const RegisterKernel kStft("", "STFT", stft);
const RegisterKernel kBlackmanWindow("", "BlackmanWindow", blackmanWindow);
const RegisterKernel kHannWindow("", "HannWindow", hannWindow);
const RegisterKernel kHammingWindow("", "HammingWindow", hammingWindow);
const RegisterKernel kMelWeightMatrix("", "MelWeightMatrix", melWeightMatrix);

}  // namespace

}  // namespace rota::ref
