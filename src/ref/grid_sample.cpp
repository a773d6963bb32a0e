// SPDX-License-Identifier: Apache-2.0
// Reference kernels of GridSample (any number of spatial axes) and AffineGrid.
//
// Each sampling point has 1, 2 or 4 taps per axis with a weight and an element (-1: outside, counts as zero); the product over the axes is the
// same for all channels. Linear and nearest move the point into the image first, cubic moves its taps one by one, as PyTorch does: a cubic point
// beyond the border still mixes several elements. A coordinate that is NaN samples outside under `zeros` and at the first element otherwise.
// Tested by src/op/resize_test.cpp.
#include <algorithm>
#include <cmath>

#include "core/element_access.h"
#include "ref/complex_parts.h"
#include "ref/movement_common.h"

namespace rota::ref {
namespace {

enum class GridMode : std::uint8_t { kNearest, kLinear, kCubic };
enum class GridPadding : std::uint8_t { kZeros, kBorder, kReflection };

struct GridOptions {
  GridMode mode = GridMode::kLinear;
  GridPadding padding = GridPadding::kZeros;
  bool alignCorners = false;
};

Result<GridOptions> gridOptions(const KernelContext& context) {
  GridOptions options;
  const std::string_view mode = context.attributes().getString("mode", "linear");
  if (mode == "nearest") {
    options.mode = GridMode::kNearest;
  } else if (mode == "cubic" || mode == "bicubic") {
    options.mode = GridMode::kCubic;
  } else if (mode != "linear" && mode != "bilinear") {
    return kernelError(ErrorCode::kBadAttribute, "unknown value of attribute mode",
                       "nearest, linear or cubic", std::string(mode));
  }
  const std::string_view padding = context.attributes().getString("padding_mode", "zeros");
  if (padding == "border") {
    options.padding = GridPadding::kBorder;
  } else if (padding == "reflection") {
    options.padding = GridPadding::kReflection;
  } else if (padding != "zeros") {
    return kernelError(ErrorCode::kBadAttribute, "unknown value of attribute padding_mode",
                       "zeros, border or reflection", std::string(padding));
  }
  options.alignCorners = context.attributes().getInt("align_corners") != 0;
  return options;
}

/// Mirrors `x` at the borders [low, high] until it lies between them.
double reflected(double x, double low, double high) {
  const double extent = high - low;
  if (extent <= 0) return low;
  const double inPeriod = std::fmod(std::abs(x - low), 2 * extent);
  return low + (inPeriod > extent ? 2 * extent - inPeriod : inPeriod);
}

/// The taps of one point on one axis.
struct GridTaps {
  std::size_t count = 0;
  std::array<std::int64_t, 4> places{};
  std::array<double, 4> weights{};
};

/// The element that a tap stands for, or -1.
std::int64_t tapPlace(const GridOptions& options, double place, std::int64_t size) {
  const auto last = static_cast<double>(size - 1);
  if (options.padding == GridPadding::kBorder) place = std::clamp(place, 0.0, last);
  if (options.padding == GridPadding::kReflection) {
    place = options.alignCorners ? reflected(place, 0, last) : reflected(place, -0.5, last + 0.5);
    place = std::clamp(place, 0.0, last);
  }
  return place >= 0 && place <= last ? static_cast<std::int64_t>(place) : -1;
}

GridTaps gridTaps(const GridOptions& options, double normalised, std::int64_t size) {
  const auto n = static_cast<double>(size);
  double x = options.alignCorners ? (normalised + 1) / 2 * (n - 1) : ((normalised + 1) * n - 1) / 2;
  if (std::isnan(x)) x = options.padding == GridPadding::kZeros ? -10.0 : 0.0;
  // Far outside: all that is lost is the fraction, and the numbers below stay whole.
  if (options.padding != GridPadding::kReflection || std::isinf(x)) x = std::clamp(x, -1e12, 1e12);
  if (options.mode == GridMode::kNearest) x = std::nearbyint(x);
  const double low = options.alignCorners ? 0 : -0.5;
  const double high = options.alignCorners ? n - 1 : n - 0.5;
  const bool isFar = std::abs(x) > 1e9;
  if (options.padding == GridPadding::kReflection && (options.mode != GridMode::kCubic || isFar)) {
    if (x < low || x > high) x = reflected(x, low, high);
  } else if (options.padding == GridPadding::kBorder && options.mode != GridMode::kCubic) {
    x = std::clamp(x, 0.0, n - 1);
  }
  const double base = std::floor(x);
  const double t = x - base;
  GridTaps taps;
  if (options.mode == GridMode::kNearest) {
    taps.count = 1;
    taps.weights[0] = 1;
    taps.places[0] = tapPlace(options, std::trunc(x), size);
    return taps;
  }
  const bool cubic = options.mode == GridMode::kCubic;
  taps.count = cubic ? 4 : 2;
  if (cubic) {
    // Cubic convolution with a = -0.75 (Keys 1981).
    constexpr double a = -0.75;
    const auto near = [](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
    const auto far = [](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
    taps.weights = {far(t + 1), near(t), near(1 - t), far(2 - t)};
  } else {
    taps.weights = {1 - t, t, 0, 0};
  }
  for (std::size_t i = 0; i < taps.count; ++i) {
    taps.places[i] = tapPlace(options, base + static_cast<double>(i) - (cubic ? 1 : 0), size);
  }
  return taps;
}

constexpr std::size_t kMaxGridAxes = 4;

/// Offsets and weights of all taps of one point, outside ones left out.
struct PointTaps {
  std::size_t count = 0;
  std::array<std::int64_t, 256> offsets;
  std::array<double, 256> weights;

  double sumOf(const double* plane) const {
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += weights[i] * plane[offsets[i]];
    return sum;
  }
};
/// Points whose taps are found together; then one loop over the channels uses them.
constexpr std::int64_t kPointBlock = 16;

void combineTaps(std::span<const GridTaps> axes, const DimArray& strides, PointTaps& point) {
  point.count = 1;
  point.offsets[0] = 0;
  point.weights[0] = 1;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    std::size_t next = 0;
    std::array<std::int64_t, 256> offsets;
    std::array<double, 256> weights;
    for (std::size_t p = 0; p < point.count; ++p) {
      for (std::size_t t = 0; t < axes[a].count; ++t) {
        if (axes[a].places[t] < 0) continue;
        offsets[next] = point.offsets[p] + axes[a].places[t] * strides[a];
        weights[next++] = point.weights[p] * axes[a].weights[t];
      }
    }
    point.count = next;
    std::copy_n(offsets.begin(), next, point.offsets.begin());
    std::copy_n(weights.begin(), next, point.weights.begin());
  }
}

/// Taps of sampling point `line` of the grid.
void pointTaps(const GridOptions& options, const TensorView& input, const TensorView& grid, std::int64_t line,
               const DimArray& strides, PointTaps& taps) {
  const std::size_t spatial = input.rank() - 2;
  std::array<GridTaps, kMaxGridAxes> axes;
  std::array<double, kMaxGridAxes> coordinates{};
  loadAsDouble(grid, line * static_cast<std::int64_t>(spatial), static_cast<std::int64_t>(spatial),
               coordinates.data());
  // Coordinates go from the innermost axis to the outermost.
  for (std::size_t a = 0; a < spatial; ++a)
    axes[a] = gridTaps(options, coordinates[spatial - 1 - a], input.dims[a + 2]);
  combineTaps({axes.data(), spatial}, strides, taps);
}

Status checkGrid(const TensorView& input, const TensorView& grid) {
  const std::size_t rank = input.rank();
  const bool fits = rank >= 3 && rank <= kMaxGridAxes + 2 && grid.rank() == rank &&
                    grid.dims[0] == input.dims[0] &&
                    grid.dims[rank - 1] == static_cast<std::int64_t>(rank - 2);
  if (fits) return Status::ok();
  return kernelError(
      ErrorCode::kShapeMismatch, "the grid does not fit the image",
      "[batch, channels, 1 to 4 spatial axes] and a grid of [batch, spatial axes, coordinates]",
      dimsText(input.dims) + " and " + dimsText(grid.dims));
}

Status gridSampleKernel(KernelContext& context) {
  const TensorView input = context.input(0);
  const TensorView grid = context.input(1);
  auto options = gridOptions(context);
  if (!options) return options.status();
  ROTA_RETURN_IF_ERROR(checkGrid(input, grid));
  if (info(input.dtype).compute == ComputeType::kComplex) return runOnComplexParts(context, gridSampleKernel);
  const std::size_t spatial = input.rank() - 2;
  DimArray dims{input.dims[0], input.dims[1]};
  for (std::size_t i = 0; i < spatial; ++i) dims.push(grid.dims[i + 1]);
  auto output = context.output(0, dims);
  if (!output) return output.status();
  const std::int64_t points = elementCount(dims.dims().subspan(2));
  const std::int64_t channels = input.dims[1];
  const std::int64_t imageElements = elementCount(input.dims.subspan(2));
  if (output->count() == 0) return Status::ok();
  if (imageElements == 0 && options->padding != GridPadding::kZeros) {
    return kernelError(ErrorCode::kShapeMismatch, "an empty image has no border", "elements",
                       dimsText(input.dims));
  }
  // The image as double once, for every element is read several times.
  auto image = context.scratch<double>(std::max<std::int64_t>(input.count(), 1));
  if (!image) return image.status();
  context.threads().parallelFor(input.count(), kGrain, [&](std::int64_t begin, std::int64_t end) {
    loadAsDouble(input, begin, end - begin, *image + begin);
  });
  const DimArray strides = denseStrides(input.dims.subspan(2));
  const std::int64_t blocks = (points + kPointBlock - 1) / kPointBlock;
  context.threads().parallelFor(
      input.dims[0] * blocks, std::max<std::int64_t>(1, 64 / channels),
      [&](std::int64_t begin, std::int64_t end) {
        std::array<PointTaps, kPointBlock> taps;
        std::array<double, kPointBlock> sums;
        for (std::int64_t block = begin; block < end; ++block) {
          const std::int64_t n = block / blocks;
          const std::int64_t first = block % blocks * kPointBlock;
          const auto count = static_cast<std::size_t>(std::min(kPointBlock, points - first));
          for (std::size_t i = 0; i < count; ++i) {
            pointTaps(*options, input, grid, n * points + first + static_cast<std::int64_t>(i), strides,
                      taps[i]);
          }
          for (std::int64_t c = 0; c < channels; ++c) {
            const double* plane = *image + (n * channels + c) * imageElements;
            for (std::size_t i = 0; i < count; ++i) sums[i] = taps[i].sumOf(plane);
            storeFromDouble(*output, (n * channels + c) * points + first, static_cast<std::int64_t>(count),
                            sums.data());
          }
        }
      });
  return Status::ok();
}

/// Position i of `size` in [-1, 1].
double gridPosition(std::int64_t i, std::int64_t size, bool alignCorners) {
  if (alignCorners) return size == 1 ? -1 : -1 + 2 * static_cast<double>(i) / static_cast<double>(size - 1);
  return (2 * static_cast<double>(i) + 1) / static_cast<double>(size) - 1;
}

Status affineGridKernel(KernelContext& context) {
  const TensorView theta = context.input(0);
  auto size = kernelInts(context.input(1));
  if (!size) return size.status();
  const std::size_t spatial = size->rank() < 2 ? 0 : size->rank() - 2;
  const auto axes = static_cast<std::int64_t>(spatial);
  if ((spatial != 2 && spatial != 3) || theta.rank() != 3 || theta.dims[0] != (*size)[0] ||
      theta.dims[1] != axes || theta.dims[2] != axes + 1) {
    return kernelError(ErrorCode::kShapeMismatch, "theta and size do not belong together",
                       "[batch, 2, 3] with 4 sizes or [batch, 3, 4] with 5",
                       dimsText(theta.dims) + " and " + dimsText(*size));
  }
  DimArray dims{(*size)[0]};
  for (std::size_t i = 0; i < spatial; ++i) {
    if ((*size)[i + 2] < 0)
      return kernelError(ErrorCode::kShapeMismatch, "a size is negative", "0 or more", dimsText(*size));
    dims.push((*size)[i + 2]);
  }
  dims.push(axes);
  auto output = context.output(0, dims);
  if (!output) return output.status();
  const bool alignCorners = context.attributes().getInt("align_corners") != 0;
  const std::int64_t points = elementCount(dims.dims().subspan(1, spatial));
  context.threads().parallelFor(dims[0] * points, kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t line = begin; line < end; ++line) {
      std::array<double, 4> position{};  // x, y, (z,) 1
      std::int64_t rest = line % points;
      for (std::size_t a = 0; a < spatial; ++a) {
        const std::int64_t extent = (*size)[size->rank() - 1 - a];
        position[a] = gridPosition(rest % extent, extent, alignCorners);
        rest /= extent;
      }
      position[spatial] = 1;
      for (std::int64_t row = 0; row < axes; ++row) {
        std::array<double, 4> matrix{};
        loadAsDouble(theta, ((line / points) * axes + row) * (axes + 1), axes + 1, matrix.data());
        double sum = 0;
        for (std::size_t k = 0; k <= spatial; ++k) sum += matrix[k] * position[k];
        storeFromDouble(*output, line * axes + row, 1, &sum);
      }
    }
  });
  return Status::ok();
}

const RegisterKernel kGridSampleKernel("", "GridSample", gridSampleKernel);
const RegisterKernel kAffineGridKernel("", "AffineGrid", affineGridKernel);

}  // namespace
}  // namespace rota::ref
