// SPDX-License-Identifier: Apache-2.0
// Reference kernels that write values of their own: Constant, ConstantOfShape, Range, EyeLike, OneHot, Trilu.
// Tested by src/op/generate_test.cpp.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/checked.h"
#include "core/element_access.h"
#include "ref/movement_common.h"

namespace rota::ref {
namespace {

Status writeTensor(KernelContext& context, const TensorView& value) {
  auto output = context.output(0, value.dims);
  if (!output) return output.status();
  if (value.bytes() > 0) std::memcpy(output->data, value.data, value.bytes());
  return Status::ok();
}

Status constantKernel(KernelContext& context) {
  const Attributes& attributes = context.attributes();
  if (const Tensor* value = attributes.getTensor("value")) return writeTensor(context, value->view());
  if (const Tensor* value = attributes.getTensor("sparse_value")) return writeTensor(context, value->view());
  if (const auto* ints = attributes.getInts("value_ints")) {
    const std::array<std::int64_t, 1> dims{static_cast<std::int64_t>(ints->size())};
    auto output = context.output(0, dims);
    if (!output) return output.status();
    std::copy(ints->begin(), ints->end(), output->as<std::int64_t>());
    return Status::ok();
  }
  if (const auto* floats = attributes.getFloats("value_floats")) {
    const std::array<std::int64_t, 1> dims{static_cast<std::int64_t>(floats->size())};
    auto output = context.output(0, dims);
    if (!output) return output.status();
    std::copy(floats->begin(), floats->end(), output->as<float>());
    return Status::ok();
  }
  auto output = context.output(0, Dims{});
  if (!output) return output.status();
  if (attributes.has("value_int")) {
    *output->as<std::int64_t>() = attributes.getInt("value_int");
  } else if (attributes.has("value_float")) {
    *output->as<float>() = attributes.getFloat("value_float");
  } else {
    return kernelError(ErrorCode::kBadAttribute, "a Constant without a value",
                       "one of the attributes value, value_int, value_float, ...", "");
  }
  return Status::ok();
}

Status constantOfShapeKernel(KernelContext& context) {
  auto dims = kernelInts(context.input(0));
  if (!dims) return dims.status();
  if (!checkedCount(*dims)) {
    return kernelError(ErrorCode::kShapeMismatch, "the input is not a shape", "sizes of at least 0",
                       dimsText(*dims));
  }
  auto output = context.output(0, *dims);
  if (!output) return output.status();
  const std::array<std::byte, 16> zero{};
  const Tensor* value = context.attributes().getTensor("value");
  const void* element = value != nullptr ? static_cast<const void*>(value->data()) : zero.data();
  const int bits = info(output->dtype).bits;
  forParts(context.threads(), bits, output->count(), kGrain, [&](std::int64_t begin, std::int64_t end) {
    fillElements(bits, output->data, begin, end - begin, element);
  });
  return Status::ok();
}

/// Number of elements of an integer range, written so that nothing overflows.
Result<std::int64_t> integerRangeCount(std::int64_t start, std::int64_t limit, std::int64_t delta) {
  if (delta == 0)
    return kernelError(ErrorCode::kDivisionByZero, "the step of a Range is 0", "another step", "0");
  if (delta > 0 ? start >= limit : start <= limit) return std::int64_t{0};
  const auto s = static_cast<std::uint64_t>(start);
  const auto l = static_cast<std::uint64_t>(limit);
  const std::uint64_t distance = delta > 0 ? l - s : s - l;
  const std::uint64_t step =
      delta > 0 ? static_cast<std::uint64_t>(delta) : 0 - static_cast<std::uint64_t>(delta);
  const std::uint64_t count = (distance - 1) / step + 1;
  if (count > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() / 16)) {
    return kernelError(ErrorCode::kModelTooLarge, "a Range is far too long", "a tensor that fits in memory",
                       std::to_string(count));
  }
  return static_cast<std::int64_t>(count);
}

Status integerRange(KernelContext& context) {
  const std::int64_t start = intAt(context.input(0), 0);
  const std::int64_t delta = intAt(context.input(2), 0);
  auto count = integerRangeCount(start, intAt(context.input(1), 0), delta);
  if (!count) return count.status();
  auto output = context.output(0, DimArray{*count});
  if (!output) return output.status();
  forParts(context.threads(), info(output->dtype).bits, *count, kGrain,
           [&](std::int64_t begin, std::int64_t end) {
             std::array<std::int64_t, 256> block;
             for (std::int64_t at = begin; at < end; at += 256) {
               const std::int64_t n = std::min<std::int64_t>(256, end - at);
               for (std::int64_t i = 0; i < n; ++i) {
                 const auto offset = static_cast<std::uint64_t>(at + i) * static_cast<std::uint64_t>(delta);
                 block[static_cast<std::size_t>(i)] =
                     static_cast<std::int64_t>(static_cast<std::uint64_t>(start) + offset);
               }
               storeFromInt64(*output, at, n, block.data());
             }
           });
  return Status::ok();
}

Status realRange(KernelContext& context) {
  const double start = realAt(context.input(0), 0);
  const double limit = realAt(context.input(1), 0);
  const double delta = realAt(context.input(2), 0);
  if (delta == 0)
    return kernelError(ErrorCode::kDivisionByZero, "the step of a Range is 0", "another step", "0");
  const double length = std::max(std::ceil((limit - start) / delta), 0.0);
  if (!(length <= 1e15)) {
    return kernelError(ErrorCode::kModelTooLarge, "a Range has no length or is far too long", "finite bounds",
                       std::to_string(length));
  }
  const auto count = static_cast<std::int64_t>(length);
  auto output = context.output(0, DimArray{count});
  if (!output) return output.status();
  forParts(context.threads(), info(output->dtype).bits, count, kGrain,
           [&](std::int64_t begin, std::int64_t end) {
             std::array<double, 256> block;
             for (std::int64_t at = begin; at < end; at += 256) {
               const std::int64_t n = std::min<std::int64_t>(256, end - at);
               for (std::int64_t i = 0; i < n; ++i)
                 block[static_cast<std::size_t>(i)] = start + static_cast<double>(at + i) * delta;
               storeFromDouble(*output, at, n, block.data());
             }
           });
  return Status::ok();
}

Status rangeKernel(KernelContext& context) {
  for (std::size_t i = 0; i < 3; ++i) {
    if (context.input(i).count() != 1) {
      return kernelError(ErrorCode::kShapeMismatch, "start, limit and delta are scalars", "one element",
                         dimsText(context.input(i).dims));
    }
  }
  return isFloat(context.input(0).dtype) ? realRange(context) : integerRange(context);
}

Status eyeLikeKernel(KernelContext& context) {
  const TensorView input = context.input(0);
  if (input.rank() != 2)
    return kernelError(ErrorCode::kShapeMismatch, "EyeLike makes matrices", "rank 2", dimsText(input.dims));
  auto output = context.output(0, input.dims);
  if (!output) return output.status();
  if (output->bytes() > 0) std::memset(output->data, 0, output->bytes());
  const std::int64_t k = context.attributes().getInt("k");
  const std::int64_t one = 1;
  for (std::int64_t row = std::max<std::int64_t>(0, k < -input.dims[0] ? input.dims[0] : -k);
       row < input.dims[0]; ++row) {
    if (row >= input.dims[1] - k) break;
    storeFromInt64(*output, row * input.dims[1] + row + k, 1, &one);
  }
  return Status::ok();
}

/// A number of any real type as int64, towards zero.
std::int64_t wholeAt(const TensorView& view, std::int64_t i) {
  std::int64_t value = 0;
  loadAsInt64(view, i, 1, &value);
  return value;
}

Status oneHotKernel(KernelContext& context) {
  const TensorView indices = context.input(0);
  const TensorView depthInput = context.input(1);
  const TensorView values = context.input(2);
  if (depthInput.count() != 1 || values.count() != 2) {
    return kernelError(ErrorCode::kShapeMismatch, "depth is one number and values are two",
                       "1 and 2 elements",
                       std::to_string(depthInput.count()) + " and " + std::to_string(values.count()));
  }
  ROTA_RETURN_IF_ERROR(checkRank(indices.rank() + 1));
  auto axis = axisOf(context.attributes().getInt("axis", -1), indices.rank() + 1);
  if (!axis) return axis.status();
  const std::int64_t depth = wholeAt(depthInput, 0);
  DimArray dims(indices.dims);
  dims.insert(*axis, depth);
  if (!checkedCount(dims)) {
    return kernelError(ErrorCode::kShapeMismatch, "depth gives no shape", "0 or more", std::to_string(depth));
  }
  auto output = context.output(0, dims);
  if (!output) return output.status();
  const int bits = info(values.dtype).bits;
  alignas(16) std::array<std::byte, 16> off{};
  copyElements(bits, values.data, 0, off.data(), 0, 1);
  fillElements(bits, output->data, 0, output->count(), off.data());
  const AxisSplit split = splitAt(dims, *axis);
  const std::int64_t count = indices.count();
  forParts(context.threads(), bits, count, kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      std::int64_t index = wholeAt(indices, i);
      if (index < 0) index += depth;
      if (index < 0 || index >= depth) continue;
      copyElements(bits, values.data, 1, output->data,
                   ((i / split.inner) * depth + index) * split.inner + i % split.inner, 1);
    }
  });
  return Status::ok();
}

Status triluKernel(KernelContext& context) {
  const TensorView input = context.input(0);
  const std::size_t rank = input.rank();
  if (rank < 2)
    return kernelError(ErrorCode::kShapeMismatch, "Trilu works on matrices", "rank 2 or more",
                       dimsText(input.dims));
  const bool upper = context.attributes().getInt("upper", 1) != 0;
  std::int64_t k = 0;
  if (context.hasInput(1)) {
    if (context.input(1).count() != 1)
      return kernelError(ErrorCode::kShapeMismatch, "k is one number", "one element",
                         dimsText(context.input(1).dims));
    k = intAt(context.input(1), 0);
  }
  auto output = context.output(0, input.dims);
  if (!output) return output.status();
  const std::int64_t rows = input.dims[rank - 2];
  const std::int64_t columns = input.dims[rank - 1];
  const std::int64_t shift = std::clamp(k, -rows, columns);
  const std::array<std::byte, 16> zero{};
  const int bits = info(input.dtype).bits;
  const std::int64_t lines = elementCount(input.dims.first(rank - 1));
  forParts(context.threads(), bits, lines, kGrain / std::max<std::int64_t>(columns, 1),
           [&](std::int64_t begin, std::int64_t end) {
             for (std::int64_t line = begin; line < end; ++line) {
               // Columns before `edge` are below the diagonal and go with the lower triangle; for the lower one the diagonal itself stays too.
               const std::int64_t edge =
                   std::clamp<std::int64_t>(line % rows + shift + (upper ? 0 : 1), 0, columns);
               const std::int64_t at = line * columns;
               const std::int64_t keepFrom = upper ? edge : 0;
               const std::int64_t keepTo = upper ? columns : edge;
               fillElements(bits, output->data, at, keepFrom, zero.data());
               copyElements(bits, input.data, at + keepFrom, output->data, at + keepFrom, keepTo - keepFrom);
               fillElements(bits, output->data, at + keepTo, columns - keepTo, zero.data());
             }
           });
  return Status::ok();
}

const RegisterKernel kConstantKernel("", "Constant", constantKernel);
const RegisterKernel kConstantOfShapeKernel("", "ConstantOfShape", constantOfShapeKernel);
const RegisterKernel kRangeKernel("", "Range", rangeKernel);
const RegisterKernel kEyeLikeKernel("", "EyeLike", eyeLikeKernel);
const RegisterKernel kOneHotKernel("", "OneHot", oneHotKernel);
const RegisterKernel kTriluKernel("", "Trilu", triluKernel);

}  // namespace
}  // namespace rota::ref
