// SPDX-License-Identifier: Apache-2.0
// Reference kernels of sequences and optionals. Elements are shared, never changed; a new sequence copies the list of them. Lists of tensors are the
// one thing that kernels keep on the heap. Tested by src/op/sequence_test.cpp.
#include <algorithm>
#include <cstring>

#include "ref/movement_common.h"

namespace rota::ref {
namespace {

Result<const Sequence*> sequenceInput(const KernelContext& context, std::size_t i) {
  const Sequence* sequence = context.inputSequence(i);
  if (sequence == nullptr)
    return kernelError(ErrorCode::kTypeMismatch, "an input must be a sequence", "a sequence", "a tensor");
  return sequence;
}

/// A copy of a tensor that lies somewhere in a plan.
Result<Tensor> tensorCopy(const TensorView& view) {
  auto tensor = Tensor::allocate(view.dtype, {view.dims.begin(), view.dims.end()});
  if (tensor && view.bytes() > 0) std::memcpy(tensor->mutableData(), view.data, view.bytes());
  return tensor;
}

Status writeElement(KernelContext& context, const Tensor& element) {
  auto output = context.output(0, element.dims());
  if (!output) return output.status();
  if (element.bytes() > 0) std::memcpy(output->data, element.data(), element.bytes());
  return Status::ok();
}

/// Position in [0, limit) from the scalar input `i`, negative ones counting from `count`.
Result<std::size_t> positionInput(const KernelContext& context, std::size_t i, std::size_t count,
                                  std::size_t limit) {
  if (context.input(i).count() != 1) {
    return kernelError(ErrorCode::kShapeMismatch, "a position is one number", "one element",
                       dimsText(context.input(i).dims));
  }
  const std::int64_t given = intAt(context.input(i), 0);
  const auto signedCount = static_cast<std::int64_t>(count);
  const std::int64_t position = given < 0 ? given + signedCount : given;
  if (position < 0 || position >= static_cast<std::int64_t>(limit)) {
    return kernelError(ErrorCode::kBadIndex, "a position is outside the sequence",
                       "a value from " + std::to_string(-signedCount) + " to " +
                           std::to_string(static_cast<std::int64_t>(limit) - 1),
                       std::to_string(given));
  }
  return static_cast<std::size_t>(position);
}

Status sequenceEmptyKernel(KernelContext& context) {
  context.outputSequence(0)->elements.clear();
  return Status::ok();
}

Status sequenceConstructKernel(KernelContext& context) {
  Sequence& output = *context.outputSequence(0);
  output.elements.clear();
  for (std::size_t i = 0; i < context.inputCount(); ++i) {
    auto element = tensorCopy(context.input(i));
    if (!element) return element.status();
    output.elements.push_back(std::move(*element));
  }
  return Status::ok();
}

Status sequenceInsertKernel(KernelContext& context) {
  auto input = sequenceInput(context, 0);
  if (!input) return input.status();
  std::size_t position = (*input)->elements.size();
  if (context.hasInput(2)) {
    auto given = positionInput(context, 2, position, position + 1);
    if (!given) return given.status();
    position = *given;
  }
  auto element = tensorCopy(context.input(1));
  if (!element) return element.status();
  std::vector<Tensor> elements = (*input)->elements;
  elements.insert(elements.begin() + static_cast<std::ptrdiff_t>(position), std::move(*element));
  context.outputSequence(0)->elements = std::move(elements);
  return Status::ok();
}

Status sequenceEraseKernel(KernelContext& context) {
  auto input = sequenceInput(context, 0);
  if (!input) return input.status();
  const std::size_t count = (*input)->elements.size();
  if (count == 0)
    return kernelError(ErrorCode::kBadIndex, "nothing can be removed from an empty sequence", "elements",
                       "none");
  std::size_t position = count - 1;
  if (context.hasInput(1)) {
    auto given = positionInput(context, 1, count, count);
    if (!given) return given.status();
    position = *given;
  }
  std::vector<Tensor> elements = (*input)->elements;
  elements.erase(elements.begin() + static_cast<std::ptrdiff_t>(position));
  context.outputSequence(0)->elements = std::move(elements);
  return Status::ok();
}

Status sequenceAtKernel(KernelContext& context) {
  auto input = sequenceInput(context, 0);
  if (!input) return input.status();
  auto position = positionInput(context, 1, (*input)->elements.size(), (*input)->elements.size());
  if (!position) return position.status();
  return writeElement(context, (*input)->elements[*position]);
}

Status sequenceLengthKernel(KernelContext& context) {
  auto input = sequenceInput(context, 0);
  if (!input) return input.status();
  auto output = context.output(0, Dims{});
  if (!output) return output.status();
  *output->as<std::int64_t>() = static_cast<std::int64_t>((*input)->elements.size());
  return Status::ok();
}

/// The piece [begin, begin + length) of `axis` as a tensor of its own; without the axis when `drop`.
Result<Tensor> pieceOf(KernelContext& context, const TensorView& input, std::size_t axis, std::int64_t begin,
                       std::int64_t length, bool drop) {
  std::vector<std::int64_t> dims(input.dims.begin(), input.dims.end());
  if (drop) {
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  } else {
    dims[axis] = length;
  }
  auto piece = Tensor::allocate(input.dtype, std::move(dims));
  if (!piece) return piece;
  const AxisSplit split = splitAt(input.dims, axis);
  StridedCopy copy{.bits = info(input.dtype).bits,
                   .source = input.data,
                   .sourceOffset = begin * split.inner,
                   .target = piece->mutableData()};
  copy.dims = DimArray{split.outer, length * split.inner};
  copy.sourceStrides = DimArray{split.axis * split.inner, 1};
  copy.targetStrides = DimArray{length * split.inner, 1};
  copyStrided(context.threads(), copy);
  return piece;
}

Status splitToSequenceKernel(KernelContext& context) {
  const TensorView input = context.input(0);
  const TensorView sizes = context.input(1);
  ROTA_RETURN_IF_ERROR(checkRank(input.rank()));
  auto axis = axisOf(context.attributes().getInt("axis"), input.rank());
  if (!axis) return axis.status();
  const std::int64_t size = input.dims[*axis];
  const bool drop = !sizes.isGiven() && context.attributes().getInt("keepdims", 1) == 0;
  const bool isList = sizes.isGiven() && sizes.rank() == 1;
  const std::int64_t chunk = sizes.isGiven() && !isList ? intAt(sizes, 0) : 1;
  if (chunk < 1)
    return kernelError(ErrorCode::kShapeMismatch, "the size of the parts must be at least 1", "1 or more",
                       std::to_string(chunk));
  std::vector<Tensor> parts;
  std::int64_t at = 0;
  const std::int64_t count = isList ? sizes.count() : (size + chunk - 1) / chunk;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t length = isList ? intAt(sizes, i) : std::min(chunk, size - at);
    if (length < 0 || length > size - at) {
      return kernelError(ErrorCode::kShapeMismatch, "the sizes do not add up to the axis",
                         std::to_string(size), std::to_string(at + length));
    }
    auto part = pieceOf(context, input, *axis, at, length, drop);
    if (!part) return part.status();
    parts.push_back(std::move(*part));
    at += length;
  }
  if (at != size)
    return kernelError(ErrorCode::kShapeMismatch, "the sizes do not add up to the axis", std::to_string(size),
                       std::to_string(at));
  context.outputSequence(0)->elements = std::move(parts);
  return Status::ok();
}

Status concatFromSequenceKernel(KernelContext& context) {
  auto input = sequenceInput(context, 0);
  if (!input) return input.status();
  const std::vector<Tensor>& elements = (*input)->elements;
  if (elements.empty())
    return kernelError(ErrorCode::kShapeMismatch, "an empty sequence cannot be joined", "elements", "none");
  const bool isNew = context.attributes().getInt("new_axis") != 0;
  const Tensor& first = elements.front();
  ROTA_RETURN_IF_ERROR(checkRank(first.dims().size() + 1));
  auto axis = axisOf(context.attributes().getInt("axis"), first.dims().size() + (isNew ? 1 : 0));
  if (!axis) return axis.status();
  DimArray dims(first.dims());
  if (isNew) dims.insert(*axis, 1);
  dims[*axis] = 0;
  for (const Tensor& element : elements) {
    DimArray own(element.dims());
    if (isNew) own.insert(std::min(*axis, own.rank()), 1);
    bool fits = own.rank() == dims.rank() && element.dtype() == first.dtype();
    for (std::size_t i = 0; fits && i < own.rank(); ++i) fits = i == *axis || own[i] == dims[i];
    if (!fits) {
      return kernelError(ErrorCode::kShapeMismatch,
                         "elements of a sequence differ off the axis that is joined", dimsText(first.dims()),
                         dimsText(element.dims()));
    }
    dims[*axis] += own[*axis];
  }
  auto output = context.output(0, dims);
  if (!output) return output.status();
  const AxisSplit split = splitAt(dims, *axis);
  std::int64_t at = 0;
  for (const Tensor& element : elements) {
    const std::int64_t run = split.outer == 0 ? 0 : element.count() / split.outer;
    StridedCopy copy{.bits = info(first.dtype()).bits,
                     .source = element.data(),
                     .target = output->data,
                     .targetOffset = at};
    copy.dims = DimArray{split.outer, run};
    copy.sourceStrides = DimArray{run, 1};
    copy.targetStrides = DimArray{split.axis * split.inner, 1};
    copyStrided(context.threads(), copy);
    at += run;
  }
  return Status::ok();
}

bool isHeld(const Sequence& optional) {
  return !optional.isOptional || optional.holdsEmptySequence || !optional.elements.empty();
}

Status optionalKernel(KernelContext& context) {
  Sequence& output = *context.outputSequence(0);
  output.elements.clear();
  output.holdsEmptySequence = false;
  if (const Sequence* sequence = context.inputSequence(0)) {
    output.elements = sequence->elements;
    output.holdsEmptySequence = sequence->elements.empty();
  } else if (context.hasInput(0)) {
    auto element = tensorCopy(context.input(0));
    if (!element) return element.status();
    output.elements.push_back(std::move(*element));
  }
  return Status::ok();
}

Status optionalHasElementKernel(KernelContext& context) {
  auto output = context.output(0, Dims{});
  if (!output) return output.status();
  const Sequence* sequence = context.inputSequence(0);
  *output->as<std::uint8_t>() = (sequence != nullptr ? isHeld(*sequence) : context.hasInput(0)) ? 1 : 0;
  return Status::ok();
}

Status optionalGetElementKernel(KernelContext& context) {
  const Sequence* sequence = context.inputSequence(0);
  if (sequence == nullptr) {
    const TensorView input = context.input(0);
    auto output = context.output(0, input.dims);
    if (!output) return output.status();
    if (input.bytes() > 0) std::memcpy(output->data, input.data, input.bytes());
    return Status::ok();
  }
  if (!isHeld(*sequence))
    return kernelError(ErrorCode::kBadIndex, "an optional is empty", "an element", "none");
  if (Sequence* output = context.outputSequence(0)) {
    output->elements = sequence->elements;
    return Status::ok();
  }
  return writeElement(context, sequence->elements.front());
}

const RegisterKernel kSequenceEmptyKernel("", "SequenceEmpty", sequenceEmptyKernel);
const RegisterKernel kSequenceConstructKernel("", "SequenceConstruct", sequenceConstructKernel);
const RegisterKernel kSequenceInsertKernel("", "SequenceInsert", sequenceInsertKernel);
const RegisterKernel kSequenceEraseKernel("", "SequenceErase", sequenceEraseKernel);
const RegisterKernel kSequenceAtKernel("", "SequenceAt", sequenceAtKernel);
const RegisterKernel kSequenceLengthKernel("", "SequenceLength", sequenceLengthKernel);
const RegisterKernel kSplitToSequenceKernel("", "SplitToSequence", splitToSequenceKernel);
const RegisterKernel kConcatFromSequenceKernel("", "ConcatFromSequence", concatFromSequenceKernel);
const RegisterKernel kOptionalKernel("", "Optional", optionalKernel);
const RegisterKernel kOptionalHasElementKernel("", "OptionalHasElement", optionalHasElementKernel);
const RegisterKernel kOptionalGetElementKernel("", "OptionalGetElement", optionalGetElementKernel);

}  // namespace
}  // namespace rota::ref
