// SPDX-License-Identifier: Apache-2.0
// Reference kernels of Expand and Tile: strided copies that read repeated axes with stride 0.
// Tested by src/op/movement_test.cpp.
#include "core/checked.h"
#include "ref/movement_common.h"

namespace rota::ref {
namespace {

Status expandKernel(KernelContext& context) {
  const TensorView input = context.input(0);
  ROTA_RETURN_IF_ERROR(checkRank(input.rank()));
  auto shape = kernelInts(context.input(1));
  if (!shape) return shape.status();
  auto dims = broadcastDims(input.dims, *shape);
  if (!dims) return dims.status();
  if (!checkedCount(*dims)) {
    return kernelError(ErrorCode::kShapeMismatch, "the shape to expand to is not a shape",
                       "sizes of at least 0", dimsText(*shape));
  }
  auto output = context.output(0, *dims);
  if (!output) return output.status();
  StridedCopy copy{.bits = info(input.dtype).bits, .source = input.data, .target = output->data};
  copy.dims = *dims;
  copy.sourceStrides = broadcastStrides(input.dims, *dims);
  copy.targetStrides = denseStrides(*dims);
  copyStrided(context.threads(), copy);
  return Status::ok();
}

Status tileKernel(KernelContext& context) {
  const TensorView input = context.input(0);
  ROTA_RETURN_IF_ERROR(checkRank(input.rank() * 2));
  auto repeats = kernelInts(context.input(1));
  if (!repeats) return repeats.status();
  if (repeats->rank() != input.rank()) {
    return kernelError(ErrorCode::kShapeMismatch, "repeats need one entry per axis",
                       std::to_string(input.rank()), std::to_string(repeats->rank()));
  }
  const DimArray inputStrides = denseStrides(input.dims);
  DimArray dims;
  StridedCopy copy{.bits = info(input.dtype).bits, .source = input.data};
  for (std::size_t i = 0; i < input.rank(); ++i) {
    const auto size = checkedMul(input.dims[i], (*repeats)[i]);
    if ((*repeats)[i] < 0 || !size) {
      return kernelError(ErrorCode::kShapeMismatch, "a number of repeats is negative or far too large",
                         "0 or more", dimsText(*repeats));
    }
    dims.push(*size);
    copy.dims.push((*repeats)[i]);
    copy.dims.push(input.dims[i]);
    copy.sourceStrides.push(0);
    copy.sourceStrides.push(inputStrides[i]);
  }
  if (!checkedCount(dims)) {
    return kernelError(ErrorCode::kShapeMismatch, "the repeated tensor is far too large",
                       "a tensor that fits in memory", dimsText(dims));
  }
  auto output = context.output(0, dims);
  if (!output) return output.status();
  copy.target = output->data;
  copy.targetStrides = denseStrides(copy.dims);
  copyStrided(context.threads(), copy);
  return Status::ok();
}

const RegisterKernel kExpandKernel("", "Expand", expandKernel);
const RegisterKernel kTileKernel("", "Tile", tileKernel);

}  // namespace
}  // namespace rota::ref
