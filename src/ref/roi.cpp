// SPDX-License-Identifier: Apache-2.0
// Reference kernels of RoiAlign, MaxRoiPool and NonMaxSuppression. RoiAlign: He et al., "Mask R-CNN", 2017; its `max` takes the largest weighted
// neighbour, which is what ONNX defines. MaxRoiPool: Girshick, "Fast R-CNN", 2015. Boxes with equal scores are taken in the order of their places.
// Tested by src/op/roi_test.cpp.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/element_access.h"
#include "ref/movement_common.h"

namespace rota::ref {
namespace {

struct RoiAlignOptions {
  std::int64_t height = 1;
  std::int64_t width = 1;
  std::int64_t sampling = 0;
  double scale = 1;
  bool halfPixel = true;
  bool isMax = false;
};

/// The four neighbours of a point and their weights; all zero when it is outside.
struct BilinearPoint {
  std::array<std::int64_t, 4> places{};
  std::array<double, 4> weights{};
};

BilinearPoint bilinearPoint(double y, double x, std::int64_t height, std::int64_t width) {
  BilinearPoint point;
  if (!(y >= -1 && y <= static_cast<double>(height) && x >= -1 && x <= static_cast<double>(width)))
    return point;
  y = std::max(y, 0.0);
  x = std::max(x, 0.0);
  const std::int64_t top = std::min(static_cast<std::int64_t>(y), height - 1);
  const std::int64_t left = std::min(static_cast<std::int64_t>(x), width - 1);
  const std::int64_t bottom = std::min(top + 1, height - 1);
  const std::int64_t right = std::min(left + 1, width - 1);
  const double dy = top == height - 1 ? 0 : y - static_cast<double>(top);
  const double dx = left == width - 1 ? 0 : x - static_cast<double>(left);
  point.places = {top * width + left, top * width + right, bottom * width + left, bottom * width + right};
  point.weights = {(1 - dy) * (1 - dx), (1 - dy) * dx, dy * (1 - dx), dy * dx};
  return point;
}

/// One pooled value: bin (ph, pw) of a region [y, x, height, width] in pixels of the plane.
double alignedBin(const double* plane, std::int64_t height, std::int64_t width,
                  const std::array<double, 4>& region, std::int64_t ph, std::int64_t pw,
                  const RoiAlignOptions& options) {
  const double binHeight = region[2] / static_cast<double>(options.height);
  const double binWidth = region[3] / static_cast<double>(options.width);
  const auto samples = [&](double bin) {
    return options.sampling > 0 ? options.sampling
                                : static_cast<std::int64_t>(std::ceil(std::clamp(bin, 0.0, 1e6)));
  };
  const std::int64_t rows = samples(binHeight);
  const std::int64_t columns = samples(binWidth);
  double sum = 0;
  double most = -std::numeric_limits<double>::infinity();
  for (std::int64_t iy = 0; iy < rows; ++iy) {
    const double y = region[0] + static_cast<double>(ph) * binHeight +
                     (static_cast<double>(iy) + 0.5) * binHeight / static_cast<double>(rows);
    for (std::int64_t ix = 0; ix < columns; ++ix) {
      const double x = region[1] + static_cast<double>(pw) * binWidth +
                       (static_cast<double>(ix) + 0.5) * binWidth / static_cast<double>(columns);
      const BilinearPoint point = bilinearPoint(y, x, height, width);
      for (std::size_t k = 0; k < 4; ++k) {
        const double weighted = point.weights[k] == 0 ? 0 : point.weights[k] * plane[point.places[k]];
        sum += weighted;
        most = std::max(most, weighted);
      }
    }
  }
  if (options.isMax) return rows * columns == 0 ? 0 : most;
  return sum / static_cast<double>(std::max<std::int64_t>(rows * columns, 1));
}

Result<RoiAlignOptions> roiAlignOptions(const KernelContext& context) {
  const Attributes& attributes = context.attributes();
  RoiAlignOptions options;
  options.height = attributes.getInt("output_height", 1);
  options.width = attributes.getInt("output_width", 1);
  options.sampling = attributes.getInt("sampling_ratio");
  options.scale = attributes.getFloat("spatial_scale", 1);
  // Version 10 has no such attribute and no shift by half a pixel.
  options.halfPixel =
      attributes.getString("coordinate_transformation_mode",
                           context.version() < 16 ? "output_half_pixel" : "half_pixel") == "half_pixel";
  const std::string_view mode = attributes.getString("mode", "avg");
  options.isMax = mode == "max";
  if ((mode != "avg" && mode != "max") || options.height < 1 || options.width < 1 || options.sampling < 0) {
    return kernelError(
        ErrorCode::kBadAttribute, "attributes of RoiAlign out of range",
        "mode avg or max, output sizes of at least 1",
        std::string(mode) + ", " + std::to_string(options.height) + " by " + std::to_string(options.width));
  }
  return options;
}

Status roiAlignKernel(KernelContext& context) {
  const TensorView input = context.input(0);
  const TensorView regions = context.input(1);
  const TensorView batches = context.input(2);
  auto options = roiAlignOptions(context);
  if (!options) return options.status();
  if (input.rank() != 4 || regions.rank() != 2 || regions.dims[1] != 4 ||
      batches.count() != regions.dims[0]) {
    return kernelError(
        ErrorCode::kShapeMismatch, "inputs of RoiAlign do not belong together",
        "[N, C, H, W], [regions, 4] and [regions]",
        dimsText(input.dims) + ", " + dimsText(regions.dims) + " and " + dimsText(batches.dims));
  }
  const std::int64_t channels = input.dims[1];
  auto output = context.output(0, DimArray{regions.dims[0], channels, options->height, options->width});
  if (!output) return output.status();
  if (output->count() == 0) return Status::ok();
  for (std::int64_t r = 0; r < regions.dims[0]; ++r) {
    const std::int64_t batch = intAt(batches, r);
    if (batch < 0 || batch >= input.dims[0] || input.dims[2] == 0 || input.dims[3] == 0) {
      return kernelError(ErrorCode::kBadIndex, "region " + std::to_string(r) + " belongs to no image",
                         "a batch index from 0 to " + std::to_string(input.dims[0] - 1),
                         std::to_string(batch));
    }
  }
  auto image = context.scratch<double>(input.count());
  if (!image) return image.status();
  context.threads().parallelFor(input.count(), kGrain, [&](std::int64_t begin, std::int64_t end) {
    loadAsDouble(input, begin, end - begin, *image + begin);
  });
  const std::int64_t bins = options->height * options->width;
  context.threads().parallelFor(regions.dims[0] * channels, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t line = begin; line < end; ++line) {
      const std::int64_t r = line / channels;
      std::array<double, 4> box{};
      loadAsDouble(regions, r * 4, 4, box.data());
      const double shift = options->halfPixel ? 0.5 : 0;
      std::array<double, 4> region{box[1] * options->scale - shift, box[0] * options->scale - shift, 0, 0};
      region[2] = box[3] * options->scale - shift - region[0];
      region[3] = box[2] * options->scale - shift - region[1];
      if (!options->halfPixel) {
        region[2] = std::max(region[2], 1.0);
        region[3] = std::max(region[3], 1.0);
      }
      const double* plane =
          *image + (intAt(batches, r) * channels + line % channels) * input.dims[2] * input.dims[3];
      for (std::int64_t bin = 0; bin < bins; ++bin) {
        const double value = alignedBin(plane, input.dims[2], input.dims[3], region, bin / options->width,
                                        bin % options->width, *options);
        storeFromDouble(*output, line * bins + bin, 1, &value);
      }
    }
  });
  return Status::ok();
}

/// Largest element of rows [top, bottom) and columns [left, right) of a plane; 0 where there are none.
double maxOfWindow(const TensorView& input, std::int64_t plane, std::int64_t top, std::int64_t bottom,
                   std::int64_t left, std::int64_t right) {
  if (top >= bottom || left >= right) return 0;
  double most = -std::numeric_limits<double>::infinity();
  for (std::int64_t y = top; y < bottom; ++y) {
    for (std::int64_t x = left; x < right; ++x) {
      double value = 0;
      loadAsDouble(input, plane + y * input.dims[3] + x, 1, &value);
      most = value > most || value != value ? value : most;
    }
  }
  return most;
}

Status maxRoiPoolKernel(KernelContext& context) {
  const TensorView input = context.input(0);
  const TensorView regions = context.input(1);
  const auto* pooled = context.attributes().getInts("pooled_shape");
  const double scale = context.attributes().getFloat("spatial_scale", 1);
  if (pooled == nullptr || pooled->size() != 2 || (*pooled)[0] < 1 || (*pooled)[1] < 1) {
    return kernelError(ErrorCode::kBadAttribute, "pooled_shape is a height and a width",
                       "two numbers of at least 1", "");
  }
  if (input.rank() != 4 || regions.rank() != 2 || regions.dims[1] != 5) {
    return kernelError(ErrorCode::kShapeMismatch, "inputs of MaxRoiPool do not belong together",
                       "[N, C, H, W] and [regions, 5]",
                       dimsText(input.dims) + " and " + dimsText(regions.dims));
  }
  const std::int64_t channels = input.dims[1];
  const std::int64_t height = input.dims[2];
  const std::int64_t width = input.dims[3];
  auto output = context.output(0, DimArray{regions.dims[0], channels, (*pooled)[0], (*pooled)[1]});
  if (!output) return output.status();
  const auto bound = [](double v, std::int64_t size) {
    return static_cast<std::int64_t>(std::clamp(v, 0.0, static_cast<double>(size)));
  };
  for (std::int64_t r = 0; r < regions.dims[0]; ++r) {
    std::array<double, 5> box{};
    loadAsDouble(regions, r * 5, 5, box.data());
    if (!(box[0] >= 0 && box[0] < static_cast<double>(input.dims[0]))) {
      return kernelError(ErrorCode::kBadIndex, "region " + std::to_string(r) + " belongs to no image",
                         "a batch index from 0 to " + std::to_string(input.dims[0] - 1),
                         std::to_string(box[0]));
    }
    const double left = std::round(box[1] * scale);
    const double top = std::round(box[2] * scale);
    const double binWidth =
        std::max(std::round(box[3] * scale) - left + 1, 1.0) / static_cast<double>((*pooled)[1]);
    const double binHeight =
        std::max(std::round(box[4] * scale) - top + 1, 1.0) / static_cast<double>((*pooled)[0]);
    for (std::int64_t c = 0; c < channels; ++c) {
      const std::int64_t plane = (static_cast<std::int64_t>(box[0]) * channels + c) * height * width;
      for (std::int64_t ph = 0; ph < (*pooled)[0]; ++ph) {
        for (std::int64_t pw = 0; pw < (*pooled)[1]; ++pw) {
          const auto y = static_cast<double>(ph);
          const auto x = static_cast<double>(pw);
          const double value = maxOfWindow(input, plane, bound(std::floor(y * binHeight) + top, height),
                                           bound(std::ceil((y + 1) * binHeight) + top, height),
                                           bound(std::floor(x * binWidth) + left, width),
                                           bound(std::ceil((x + 1) * binWidth) + left, width));
          storeFromDouble(*output, ((r * channels + c) * (*pooled)[0] + ph) * (*pooled)[1] + pw, 1, &value);
        }
      }
    }
  }
  return Status::ok();
}

/// A box as its lower and upper corner.
struct BoxCorners {
  double y0;
  double x0;
  double y1;
  double x1;
  double area() const { return (y1 - y0) * (x1 - x0); }
};

BoxCorners boxCorners(const TensorView& boxes, std::int64_t i, bool isCentre) {
  std::array<double, 4> b{};
  loadAsDouble(boxes, i * 4, 4, b.data());
  if (isCentre) return {b[1] - b[3] / 2, b[0] - b[2] / 2, b[1] + b[3] / 2, b[0] + b[2] / 2};
  return {std::min(b[0], b[2]), std::min(b[1], b[3]), std::max(b[0], b[2]), std::max(b[1], b[3])};
}

bool overlapsMore(const BoxCorners& a, const BoxCorners& b, double threshold) {
  const double height = std::min(a.y1, b.y1) - std::max(a.y0, b.y0);
  const double width = std::min(a.x1, b.x1) - std::max(a.x0, b.x0);
  if (height <= 0 || width <= 0) return false;
  const double shared = height * width;
  const double all = a.area() + b.area() - shared;
  return a.area() > 0 && b.area() > 0 && all > 0 && shared / all > threshold;
}

/// Optional scalar input i as double.
double scalarOr(const KernelContext& context, std::size_t i, double fallback) {
  const TensorView view = context.input(i);
  return view.isGiven() && view.count() > 0 ? realAt(view, 0) : fallback;
}

struct NmsLimits {
  std::int64_t perClass = 0;
  double overlap = 0;
  double score = -std::numeric_limits<double>::infinity();
  bool hasScore = false;
  bool isCentre = false;
};

/// Kept boxes, coordinate by coordinate: thousands of them are compared with every candidate, and nearly all lie elsewhere.
struct KeptBoxes {
  double* lower[2];  // y0, x0
  double* upper[2];
  std::int64_t count = 0;

  static constexpr std::int64_t kRows = 4;
  KeptBoxes(double* memory, std::int64_t room)
      : lower{memory, memory + room},
        upper{memory + 2 * room, memory + 3 * room} {}
  void add(const BoxCorners& box) {
    lower[0][count] = box.y0, lower[1][count] = box.x0;
    upper[0][count] = box.y1, upper[1][count] = box.x1;
    ++count;
  }
  bool suppress(const BoxCorners& box, double threshold) const {
    for (std::int64_t i = 0; i < count; ++i) {
      if (upper[1][i] <= box.x0 || lower[1][i] >= box.x1) continue;
      if (upper[0][i] <= box.y0 || lower[0][i] >= box.y1) continue;
      if (overlapsMore(box, {lower[0][i], lower[1][i], upper[0][i], upper[1][i]}, threshold)) return true;
    }
    return false;
  }
};

/// Boxes of one class that are kept, in order of score; `scores` and `order` have room for every box, `kept` and `memory` (KeptBoxes::kRows each)
/// for the result.
std::int64_t keepBoxes(const TensorView& boxes, std::int64_t firstBox, std::int64_t count,
                       const NmsLimits& limits, const double* scores, std::int64_t* order, double* memory,
                       std::int64_t* kept) {
  std::int64_t candidates = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (!limits.hasScore || scores[i] > limits.score) order[candidates++] = i;
  }
  const auto key = [scores](std::int64_t i) {
    return scores[i] != scores[i] ? -std::numeric_limits<double>::infinity() : scores[i];
  };
  std::sort(order, order + candidates,
            [&key](std::int64_t a, std::int64_t b) { return key(a) != key(b) ? key(a) > key(b) : a < b; });
  KeptBoxes found(memory, limits.perClass);
  for (std::int64_t i = 0; i < candidates && found.count < limits.perClass; ++i) {
    const BoxCorners box = boxCorners(boxes, firstBox + order[i], limits.isCentre);
    if (found.suppress(box, limits.overlap)) continue;
    kept[found.count] = order[i];
    found.add(box);
  }
  return found.count;
}

Status nonMaxSuppressionKernel(KernelContext& context) {
  const TensorView boxes = context.input(0);
  const TensorView scores = context.input(1);
  if (boxes.rank() != 3 || boxes.dims[2] != 4 || scores.rank() != 3 || scores.dims[0] != boxes.dims[0] ||
      scores.dims[2] != boxes.dims[1]) {
    return kernelError(ErrorCode::kShapeMismatch, "boxes and scores do not belong together",
                       "[batch, boxes, 4] and [batch, classes, boxes]",
                       dimsText(boxes.dims) + " and " + dimsText(scores.dims));
  }
  const std::int64_t count = boxes.dims[1];
  const std::int64_t classes = boxes.dims[0] * scores.dims[1];
  NmsLimits limits;
  const TensorView most = context.input(2);
  limits.perClass =
      std::clamp<std::int64_t>(most.isGiven() && most.count() > 0 ? intAt(most, 0) : 0, 0, count);
  limits.overlap = scalarOr(context, 3, 0);
  limits.hasScore = context.hasInput(4) && context.input(4).count() > 0;
  limits.score = scalarOr(context, 4, 0);
  limits.isCentre = context.attributes().getInt("center_point_box") != 0;
  auto scoreRow = context.scratch<double>(count + 1);
  auto order = context.scratch<std::int64_t>(count + 1);
  auto corners = context.scratch<double>(KeptBoxes::kRows * limits.perClass + 1);
  auto kept = context.scratch<std::int64_t>(classes * limits.perClass + 1);
  auto keptCount = context.scratch<std::int64_t>(classes + 1);
  for (const Status& status :
       {scoreRow.status(), order.status(), corners.status(), kept.status(), keptCount.status()}) {
    if (!status) return status;
  }
  std::int64_t total = 0;
  for (std::int64_t c = 0; c < classes; ++c) {
    loadAsDouble(scores, c * count, count, *scoreRow);
    (*keptCount)[c] = keepBoxes(boxes, c / scores.dims[1] * count, count, limits, *scoreRow, *order, *corners,
                                *kept + c * limits.perClass);
    total += (*keptCount)[c];
  }
  auto output = context.output(0, DimArray{total, 3});
  if (!output) return output.status();
  auto* row = output->as<std::int64_t>();
  for (std::int64_t c = 0; c < classes; ++c) {
    for (std::int64_t i = 0; i < (*keptCount)[c]; ++i) {
      *row++ = c / scores.dims[1];
      *row++ = c % scores.dims[1];
      *row++ = (*kept)[c * limits.perClass + i];
    }
  }
  return Status::ok();
}

const RegisterKernel kRoiAlignKernel("", "RoiAlign", roiAlignKernel);
const RegisterKernel kMaxRoiPoolKernel("", "MaxRoiPool", maxRoiPoolKernel);
const RegisterKernel kNonMaxSuppressionKernel("", "NonMaxSuppression", nonMaxSuppressionKernel);

}  // namespace
}  // namespace rota::ref
