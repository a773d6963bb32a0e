// SPDX-License-Identifier: Apache-2.0
// DeformConv in any number of spatial axes: a convolution whose sampling points are moved by learnt offsets, read by linear interpolation,
// zero outside the image. Columns are sampled while the product packs them. Tested by src/ref/deform_conv_test.cpp.
#include <algorithm>
#include <cmath>
#include <string>

#include "ref/blocks.h"
#include "ref/common.h"
#include "ref/product.h"
#include "ref/window.h"

namespace rota::ref {

namespace {

struct DeformProblem {
  std::int64_t images = 0, channels = 0, filters = 0, groups = 1, offsetGroups = 1;
  Window window;
  const double* x = nullptr;
  const double* offsets = nullptr;  // [image, offset group, kernel position, axis, output position]
  const double* mask = nullptr;     // [image, offset group, kernel position, output position] or nullptr
};

// Columns: line = (channel of the group, kernel position), runs along output positions. Batch = image * groups + group.
class DeformColumns final : public ProductOperand<double> {
 public:
  explicit DeformColumns(const DeformProblem& problem) : ProductOperand(false), p_(problem) {}
  void load(std::int64_t batch, std::int64_t line, std::int64_t begin, std::int64_t count,
            double* out) const override {
    const Window& w = p_.window;
    const std::int64_t image = batch / p_.groups;
    const std::int64_t kernelCount = w.kernelCount();
    const std::int64_t channel = batch % p_.groups * (p_.channels / p_.groups) + line / kernelCount;
    const std::int64_t offsetGroup = channel / (p_.channels / p_.offsetGroups);
    const std::int64_t kernelIndex = line % kernelCount;
    const std::int64_t positions = w.outCount();
    const double* plane = p_.x + (image * p_.channels + channel) * w.inCount();
    const std::int64_t sample = (image * p_.offsetGroups + offsetGroup) * kernelCount + kernelIndex;
    SpatialIndex kernel, at;
    kernel.seek(w.kernel, w.rank, kernelIndex);
    at.seek(w.out, w.rank, begin);
    for (std::int64_t i = 0; i < count; ++i, at.next(w.out, w.rank)) {
      std::array<double, kMaxSpatial> point{};
      for (std::size_t d = 0; d < w.rank; ++d) {
        const std::int64_t axis = sample * static_cast<std::int64_t>(w.rank) + static_cast<std::int64_t>(d);
        point[d] =
            static_cast<double>(at.at[d] * w.stride[d] - w.padBegin[d] + kernel.at[d] * w.dilation[d]) +
            p_.offsets[axis * positions + begin + i];
      }
      const double weight = p_.mask == nullptr ? 1 : p_.mask[sample * positions + begin + i];
      out[i] = weight * interpolate(plane, point);
    }
  }

 private:
  // Linear interpolation between the 2^rank neighbours; those outside the image are zero.
  double interpolate(const double* plane, const std::array<double, kMaxSpatial>& point) const {
    const Window& w = p_.window;
    std::array<double, kMaxSpatial> floors{};
    for (std::size_t d = 0; d < w.rank; ++d) {
      floors[d] = std::floor(point[d]);
      if (!(floors[d] >= -1 && floors[d] < static_cast<double>(w.in[d]))) return 0;
    }
    double sum = 0;
    for (std::size_t corner = 0; corner < (std::size_t{1} << w.rank); ++corner) {
      double weight = 1;
      std::int64_t offset = 0;
      bool inside = true;
      for (std::size_t d = 0; d < w.rank; ++d) {
        const bool upper = (corner >> d & 1) != 0;
        const double fraction = point[d] - floors[d];
        const std::int64_t index = static_cast<std::int64_t>(floors[d]) + (upper ? 1 : 0);
        weight *= upper ? fraction : 1 - fraction;
        inside = inside && index >= 0 && index < w.in[d];
        offset = offset * w.in[d] + index;
      }
      if (inside && weight != 0) sum += weight * plane[offset];
    }
    return sum;
  }

  const DeformProblem& p_;
};

class DeformSink final : public ProductSink<double> {
 public:
  DeformSink(const DeformProblem& problem, const MutableTensorView& y, const double* bias)
      : p_(problem),
        y_(y),
        bias_(bias) {}
  void store(std::int64_t batch, std::int64_t row, std::int64_t column, std::int64_t count,
             const double* values) const override {
    double sums[kProductRun];
    const std::int64_t filter = batch % p_.groups * (p_.filters / p_.groups) + row;
    for (std::int64_t i = 0; i < count; ++i) sums[i] = values[i] + (bias_ == nullptr ? 0 : bias_[filter]);
    storeBlock(y_, (batch / p_.groups * p_.filters + filter) * p_.window.outCount() + column, count, sums);
  }

 private:
  const DeformProblem& p_;
  MutableTensorView y_;
  const double* bias_;
};

Status deformConv(KernelContext& ctx) {
  const TensorView x = ctx.input(0), w = ctx.input(1), offset = ctx.input(2), mask = ctx.input(4);
  const MutableTensorView y = ctx.output(0);
  DeformProblem p;
  p.groups = ctx.attributes().getInt("group", 1);
  p.offsetGroups = ctx.attributes().getInt("offset_group", 1);
  const std::size_t rank = x.rank();
  Status mismatch =
      Status(ErrorCode::kShapeMismatch, "The inputs of the deformable convolution do not fit each other")
          .expected(
              "X [N, C, …], W [M, C / group, …], offset [N, offset_group * kernel * axes, out…], mask "
              "without the factor of the axes");
  if (rank < 3 || w.rank() != rank || offset.rank() != rank || y.rank() != rank || p.groups < 1 ||
      p.offsetGroups < 1 || x.dims[1] != w.dims[1] * p.groups || w.dims[0] % p.groups != 0 ||
      x.dims[1] % p.offsetGroups != 0) {
    return mismatch;
  }
  p.images = x.dims[0], p.channels = x.dims[1], p.filters = w.dims[0];
  auto window = windowOf(ctx.attributes(), x.dims.subspan(2), w.dims.subspan(2), y.dims.subspan(2));
  if (!window) return window.status();
  p.window = *window;
  const std::int64_t samples = p.images * p.offsetGroups * p.window.kernelCount() * p.window.outCount();
  if (offset.count() != samples * static_cast<std::int64_t>(p.window.rank) ||
      (mask.isGiven() && mask.count() != samples) || (ctx.hasInput(3) && ctx.input(3).count() != p.filters)) {
    return mismatch;
  }
  const double* loaded[4];
  const TensorView views[4] = {x, offset, mask, ctx.input(3)};
  for (std::size_t i = 0; i < 4; ++i) {
    auto values = loadAll(ctx, views[i]);
    if (!values) return values.status();
    loaded[i] = *values;
  }
  p.x = loaded[0], p.offsets = loaded[1], p.mask = loaded[2];

  const std::int64_t groupFilters = p.filters / p.groups;
  const std::int64_t depth = w.dims[1] * p.window.kernelCount();
  auto offsets = ctx.scratch<std::int64_t>(p.images * p.groups);
  if (!offsets) return offsets.status();
  for (std::int64_t i = 0; i < p.images * p.groups; ++i) (*offsets)[i] = i % p.groups * groupFilters * depth;
  product<double>(ctx.threads(), {p.images * p.groups, groupFilters, p.window.outCount(), depth},
                  DenseOperand<double>(w, true, depth, *offsets), DeformColumns(p),
                  DeformSink(p, y, loaded[3]));
  return Status::ok();
}

const RegisterKernel kDeformConv("", "DeformConv", deformConv);

}  // namespace

}  // namespace rota::ref
