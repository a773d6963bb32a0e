// SPDX-License-Identifier: Apache-2.0
// What Resize does along one axis: the size of the result, the coordinate in the input of every place of the result, and the weights of the
// elements there. Shared by the kernel and by shape inference, so that both find the same sizes.
// Tested by src/op/resize_test.cpp.
#pragma once

#include <string_view>

#include "ref/kernel.h"

namespace rota::ref {

enum class ResizeMode : std::uint8_t { kNearest, kLinear, kCubic };
enum class ResizeCoordinates : std::uint8_t {
  kHalfPixel,
  kHalfPixelSymmetric,
  kPytorchHalfPixel,
  kAlignCorners,
  kAsymmetric,
  kCropAndResize,
};
/// kFloorUpCeilDown is what Upsample and version 10 of Resize do.
enum class ResizeRounding : std::uint8_t { kPreferFloor, kPreferCeil, kFloor, kCeil, kFloorUpCeilDown };

/// The attributes of one Resize or Upsample.
struct ResizeOptions {
  ResizeMode mode = ResizeMode::kNearest;
  ResizeCoordinates coordinates = ResizeCoordinates::kHalfPixel;
  ResizeRounding rounding = ResizeRounding::kPreferFloor;
  double cubicA = -0.75;
  bool excludeOutside = false;
  bool antialias = false;
  double extrapolation = 0;
};

/// Reads and checks the attributes; `simple` for Upsample and for Resize before version 11.
Result<ResizeOptions> resizeOptions(const Attributes& attributes, bool simple);

/// One axis. `scale` is what the coordinates are divided by; `start` and `end` are the region of tf_crop_and_resize.
struct ResizeAxis {
  std::int64_t in = 0;
  std::int64_t out = 0;
  double scale = 1;
  double start = 0;
  double end = 1;

  bool isIdentity(const ResizeOptions& options) const;
  /// Coordinate in the input of place `i` of the result.
  double coordinate(const ResizeOptions& options, std::int64_t i) const;
  /// The nearest element, -1 where the extrapolation value goes.
  std::int64_t nearest(const ResizeOptions& options, std::int64_t i) const;
  /// Weights per place of the result in linear and cubic modes.
  std::int64_t taps(const ResizeOptions& options) const;
  /// Fills weights[taps] and returns the first element (which may lie outside: clamp); nothing where the extrapolation value goes.
  std::int64_t weights(const ResizeOptions& options, std::int64_t i, double* weights,
                       bool& extrapolate) const;
};

/// floor(size * extent * scale), multiplied in float32 as exporters and ONNX shape inference do.
std::int64_t scaledSize(std::int64_t size, float extent, float scale);
/// The size that keeps the aspect ratio: round half up of in * wanted / base, exact.
std::int64_t aspectSize(std::int64_t in, std::int64_t wanted, std::int64_t base);

}  // namespace rota::ref
