// SPDX-License-Identifier: Apache-2.0
// Reference kernels of operators that keep the elements in order and give them new dims: Reshape, Flatten, Squeeze, Unsqueeze.
// Tested by src/op/movement_test.cpp.
#include <cstring>

#include "core/checked.h"
#include "ref/movement_common.h"

namespace rota::ref {
namespace {

Status copyAsDims(KernelContext& context, Dims dims) {
  const TensorView input = context.input(0);
  auto output = context.output(0, dims);
  if (!output) return output.status();
  if (input.bytes() > 0) std::memcpy(output->data, input.data, input.bytes());
  return Status::ok();
}

/// The size that -1 stands for. A zero among the sizes makes the quotient undefined; then sizes that stand on both sides cancel first,
/// which is what symbolic inference does, so that an empty batch goes through `Reshape(x, [0, -1])`.
Result<std::int64_t> sizeOfMinusOne(Dims input, const DimArray& wanted, std::size_t minusOne) {
  DimArray left(input);
  DimArray right;
  for (std::size_t i = 0; i < wanted.rank(); ++i) {
    if (i == minusOne) continue;
    std::size_t same = 0;
    while (same < left.rank() && left[same] != wanted[i]) ++same;
    if (same < left.rank()) {
      left.erase(same);
    } else {
      right.push(wanted[i]);
    }
  }
  const auto known = checkedCount(right.dims());
  const std::int64_t total = elementCount(left.dims());
  if (!known || *known == 0 || total % *known != 0) {
    return kernelError(ErrorCode::kShapeMismatch, "no size for -1 keeps the number of elements",
                       "sizes that divide " + std::to_string(elementCount(input)), dimsText(wanted.dims()));
  }
  return total / *known;
}

Status reshapeKernel(KernelContext& context) {
  const TensorView input = context.input(0);
  ROTA_RETURN_IF_ERROR(checkRank(input.rank()));
  DimArray dims;
  if (const auto* shape = context.attributes().getInts("shape")) {
    ROTA_RETURN_IF_ERROR(checkRank(shape->size()));
    dims = DimArray(*shape);
  } else {
    auto shapeInput = kernelInts(context.input(1));
    if (!shapeInput) return shapeInput.status();
    dims = *shapeInput;
  }
  const bool allowZero = context.attributes().getInt("allowzero") != 0;
  std::size_t minusOne = dims.rank();
  bool hasZero = false;
  for (std::size_t i = 0; i < dims.rank(); ++i) {
    if (dims[i] == 0 && !allowZero) {
      if (i >= input.rank()) {
        return kernelError(
            ErrorCode::kShapeMismatch, "0 asks for a copy of an axis that the input does not have",
            "0 only at the first " + std::to_string(input.rank()) + " places", dimsText(dims.dims()));
      }
      dims[i] = input.dims[i];
    } else if (dims[i] == 0) {
      hasZero = true;
    } else if (dims[i] < -1 || (dims[i] == -1 && minusOne < dims.rank())) {
      return kernelError(ErrorCode::kShapeMismatch, "a shape has sizes of at least 0 and at most one -1",
                         "such a shape", dimsText(dims.dims()));
    } else if (dims[i] == -1) {
      minusOne = i;
    }
  }
  if (minusOne < dims.rank() && hasZero) {
    return kernelError(ErrorCode::kShapeMismatch, "-1 and 0 cannot stand in one shape when allowzero is 1",
                       "one of them", dimsText(dims.dims()));
  }
  if (minusOne < dims.rank()) {
    auto size = sizeOfMinusOne(input.dims, dims, minusOne);
    if (!size) return size.status();
    dims[minusOne] = *size;
  }
  const auto count = checkedCount(dims.dims());
  if (!count || *count != input.count()) {
    return kernelError(ErrorCode::kShapeMismatch, "the new shape has another number of elements",
                       std::to_string(input.count()) + " elements, as in " + dimsText(input.dims),
                       dimsText(dims.dims()));
  }
  return copyAsDims(context, dims.dims());
}

Status flattenKernel(KernelContext& context) {
  const TensorView input = context.input(0);
  const auto rank = static_cast<std::int64_t>(input.rank());
  const std::int64_t axis = context.attributes().getInt("axis", 1);
  if (axis < -rank || axis > rank) {
    return kernelError(ErrorCode::kBadAttribute, "axis outside the rank of the tensor",
                       "a value from " + std::to_string(-rank) + " to " + std::to_string(rank),
                       std::to_string(axis));
  }
  const auto split = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
  const std::array<std::int64_t, 2> dims{elementCount(input.dims.first(split)),
                                         elementCount(input.dims.subspan(split))};
  return copyAsDims(context, dims);
}

Status squeezeKernel(KernelContext& context) {
  const TensorView input = context.input(0);
  ROTA_RETURN_IF_ERROR(checkRank(input.rank()));
  auto axes = kernelAxes(context, 1, input.rank(), false);
  if (!axes) return axes.status();
  const bool given = context.attributes().has("axes") || context.hasInput(1);
  DimArray dims;
  for (std::size_t i = 0; i < input.rank(); ++i) {
    bool drop = !given && input.dims[i] == 1;
    for (std::int64_t axis : axes->dims()) drop = drop || axis == static_cast<std::int64_t>(i);
    if (!drop) {
      dims.push(input.dims[i]);
    } else if (input.dims[i] != 1) {
      return kernelError(ErrorCode::kShapeMismatch, "only axes of size 1 can be removed",
                         "size 1 on axis " + std::to_string(i), dimsText(input.dims));
    }
  }
  return copyAsDims(context, dims.dims());
}

Status unsqueezeKernel(KernelContext& context) {
  const TensorView input = context.input(0);
  std::size_t added = static_cast<std::size_t>(context.input(1).isGiven() ? context.input(1).count() : 0);
  if (const auto* attribute = context.attributes().getInts("axes")) added = attribute->size();
  const std::size_t rank = input.rank() + added;
  ROTA_RETURN_IF_ERROR(checkRank(rank));
  auto axes = kernelAxes(context, 1, rank, false);
  if (!axes) return axes.status();
  auto dims = DimArray::filled(rank, -1);
  for (std::int64_t axis : axes->dims()) dims[static_cast<std::size_t>(axis)] = 1;
  std::size_t next = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    if (dims[i] == -1) dims[i] = input.dims[next++];
  }
  return copyAsDims(context, dims.dims());
}

const RegisterKernel kReshapeKernel("", "Reshape", reshapeKernel);
const RegisterKernel kFlattenKernel("", "Flatten", flattenKernel);
const RegisterKernel kSqueezeKernel("", "Squeeze", squeezeKernel);
const RegisterKernel kUnsqueezeKernel("", "Unsqueeze", unsqueezeKernel);

}  // namespace
}  // namespace rota::ref
