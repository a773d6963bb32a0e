// SPDX-License-Identifier: Apache-2.0
// Coordinates and weights of Resize; see resize_plan.h. Cubic weights: R. Keys, "Cubic convolution interpolation for digital image processing",
// 1981, equation 4. Formulas of the coordinate modes: the ONNX operator text.
#include "ref/resize_plan.h"

#include <algorithm>
#include <cmath>

#include "ref/movement_common.h"

namespace rota::ref {
namespace {

/// The entry of `names` that `name` is.
template <typename E, std::size_t N>
Result<E> entryOf(const std::array<std::pair<std::string_view, E>, N>& names, std::string_view name,
                  const char* attribute) {
  std::string known;
  for (const auto& [text, value] : names) {
    if (text == name) return value;
    known += (known.empty() ? "" : ", ") + std::string(text);
  }
  return kernelError(ErrorCode::kBadAttribute, std::string("unknown value of attribute ") + attribute, known,
                     std::string(name));
}

constexpr std::array<std::pair<std::string_view, ResizeMode>, 5> kModes{{{"nearest", ResizeMode::kNearest},
                                                                         {"linear", ResizeMode::kLinear},
                                                                         {"cubic", ResizeMode::kCubic},
                                                                         // Old spellings of Upsample.
                                                                         {"bilinear", ResizeMode::kLinear},
                                                                         {"bicubic", ResizeMode::kCubic}}};

constexpr std::array<std::pair<std::string_view, ResizeCoordinates>, 7> kCoordinates{
    {{"half_pixel", ResizeCoordinates::kHalfPixel},
     {"half_pixel_symmetric", ResizeCoordinates::kHalfPixelSymmetric},
     {"pytorch_half_pixel", ResizeCoordinates::kPytorchHalfPixel},
     {"align_corners", ResizeCoordinates::kAlignCorners},
     {"asymmetric", ResizeCoordinates::kAsymmetric},
     {"tf_crop_and_resize", ResizeCoordinates::kCropAndResize},
     // Version 11 only: half_pixel with another rounding of the nearest element, see resizeOptions.
     {"tf_half_pixel_for_nn", ResizeCoordinates::kHalfPixel}}};

constexpr std::array<std::pair<std::string_view, ResizeRounding>, 4> kRoundings{
    {{"round_prefer_floor", ResizeRounding::kPreferFloor},
     {"round_prefer_ceil", ResizeRounding::kPreferCeil},
     {"floor", ResizeRounding::kFloor},
     {"ceil", ResizeRounding::kCeil}}};

/// Coordinates come from scales in float32: what differs from a whole or half number by less than that noise is meant to be one.
double snapped(double x) {
  const double half = std::nearbyint(2 * x) / 2;
  return std::abs(x - half) < 2.4e-7 * std::max(1.0, std::abs(x)) ? half : x;
}

double cubicWeight(double a, double distance) {
  const double d = std::abs(distance);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  if (d < 2) return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  return 0;
}

}  // namespace

Result<ResizeOptions> resizeOptions(const Attributes& attributes, bool simple) {
  ResizeOptions options;
  auto mode = entryOf(kModes, attributes.getString("mode", "nearest"), "mode");
  if (!mode) return mode.status();
  options.mode = *mode;
  if (simple) {
    options.coordinates = ResizeCoordinates::kAsymmetric;
    options.rounding = ResizeRounding::kFloorUpCeilDown;
    return options;
  }
  const std::string_view coordinatesName =
      attributes.getString("coordinate_transformation_mode", "half_pixel");
  auto coordinates = entryOf(kCoordinates, coordinatesName, "coordinate_transformation_mode");
  if (!coordinates) return coordinates.status();
  options.coordinates = *coordinates;
  auto rounding =
      entryOf(kRoundings, attributes.getString("nearest_mode", "round_prefer_floor"), "nearest_mode");
  if (!rounding) return rounding.status();
  options.rounding = *rounding;
  // (i + 0.5) / scale without - 0.5, then floor: the same element as half_pixel with halves rounded up.
  if (coordinatesName == "tf_half_pixel_for_nn" && options.rounding == ResizeRounding::kFloor)
    options.rounding = ResizeRounding::kPreferCeil;
  options.cubicA = attributes.getFloat("cubic_coeff_a", -0.75F);
  options.excludeOutside = attributes.getInt("exclude_outside") != 0;
  options.antialias = attributes.getInt("antialias") != 0;
  options.extrapolation = attributes.getFloat("extrapolation_value", 0);
  if (options.antialias && options.mode == ResizeMode::kNearest) {
    return kernelError(ErrorCode::kBadAttribute, "nearest has no antialiasing",
                       "antialias 0, or mode linear or cubic", "antialias 1");
  }
  return options;
}

bool ResizeAxis::isIdentity(const ResizeOptions& options) const {
  return in == out && std::abs(scale - 1) < 1e-9 &&
         (options.coordinates != ResizeCoordinates::kCropAndResize || (start == 0 && end == 1));
}

double ResizeAxis::coordinate(const ResizeOptions& options, std::int64_t i) const {
  const auto x = static_cast<double>(i);
  const auto last = static_cast<double>(in - 1);
  // The length before rounding down, which scales may make fractional.
  const double length = scale * static_cast<double>(in);
  switch (options.coordinates) {
    case ResizeCoordinates::kHalfPixel: return (x + 0.5) / scale - 0.5;
    case ResizeCoordinates::kHalfPixelSymmetric:
      return static_cast<double>(in) / 2 * (1 - static_cast<double>(out) / length) + (x + 0.5) / scale - 0.5;
    case ResizeCoordinates::kPytorchHalfPixel: return out > 1 ? (x + 0.5) / scale - 0.5 : 0;
    case ResizeCoordinates::kAlignCorners: return out <= 1 || length == 1 ? 0 : x * last / (length - 1);
    case ResizeCoordinates::kAsymmetric: return x / scale;
    case ResizeCoordinates::kCropAndResize: break;
  }
  if (out <= 1) return 0.5 * (start + end) * last;
  return start * last + x * (end - start) * last / static_cast<double>(out - 1);
}

std::int64_t ResizeAxis::nearest(const ResizeOptions& options, std::int64_t i) const {
  const double exact = coordinate(options, i);
  if (options.coordinates == ResizeCoordinates::kCropAndResize &&
      !(exact >= 0 && exact <= static_cast<double>(in - 1)))
    return -1;
  const double x = snapped(exact);
  double place = 0;
  switch (options.rounding) {
    case ResizeRounding::kPreferFloor: place = std::ceil(x - 0.5); break;
    case ResizeRounding::kPreferCeil: place = std::floor(x + 0.5); break;
    case ResizeRounding::kFloor: place = std::floor(x); break;
    case ResizeRounding::kCeil: place = std::ceil(x); break;
    case ResizeRounding::kFloorUpCeilDown: place = scale < 1 ? std::ceil(x) : std::floor(x); break;
  }
  return static_cast<std::int64_t>(std::clamp(place, 0.0, static_cast<double>(in - 1)));
}

std::int64_t ResizeAxis::taps(const ResizeOptions& options) const {
  const std::int64_t reach = options.mode == ResizeMode::kCubic ? 2 : 1;
  if (!options.antialias || scale >= 1) return 2 * reach;
  const auto first = static_cast<std::int64_t>(std::floor(static_cast<double>(-reach) / scale)) + 1;
  return 2 - 2 * first;
}

std::int64_t ResizeAxis::weights(const ResizeOptions& options, std::int64_t i, double* weights,
                                 bool& extrapolate) const {
  const double x = coordinate(options, i);
  extrapolate = options.coordinates == ResizeCoordinates::kCropAndResize &&
                !(x >= 0 && x <= static_cast<double>(in - 1));
  const std::int64_t count = taps(options);
  // x lies in (base, base + 1].
  const double base = std::ceil(std::clamp(x, -1e15, 1e15)) - 1;
  const double stretch = options.antialias ? std::min(scale, 1.0) : 1.0;
  const std::int64_t first = static_cast<std::int64_t>(base) + 1 - count / 2;
  double sum = 0;
  for (std::int64_t t = 0; t < count; ++t) {
    const std::int64_t place = first + t;
    const double distance = (static_cast<double>(place) - x) * stretch;
    double weight = options.mode == ResizeMode::kCubic ? cubicWeight(options.cubicA, distance)
                                                       : std::max(0.0, 1 - std::abs(distance));
    if (options.excludeOutside && (place < 0 || place >= in)) weight = 0;
    weights[t] = weight;
    sum += weight;
  }
  if ((options.antialias || options.excludeOutside) && sum != 0) {
    for (std::int64_t t = 0; t < count; ++t) weights[t] /= sum;
  }
  return first;
}

std::int64_t scaledSize(std::int64_t size, float extent, float scale) {
  const float length = std::floor(static_cast<float>(size) * extent * scale);
  return length >= 0 && length < 9e15F ? static_cast<std::int64_t>(length) : -1;
}

std::int64_t aspectSize(std::int64_t in, std::int64_t wanted, std::int64_t base) {
  return (2 * in * wanted + base) / (2 * base);
}

}  // namespace rota::ref
