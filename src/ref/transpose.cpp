// SPDX-License-Identifier: Apache-2.0
// Reference kernels that permute: Transpose, DepthToSpace, SpaceToDepth. The latter two are transpositions of a view of rank 6.
// Tested by src/op/movement_test.cpp.
#include "ref/movement_common.h"

namespace rota::ref {
namespace {

/// Writes `source` seen with `dims`, its axes in the order `perm`, to `target`.
void transposeInto(ThreadPool& threads, const TensorView& source, const DimArray& dims, const DimArray& perm,
                   void* target) {
  const DimArray strides = denseStrides(dims.dims());
  StridedCopy copy{.bits = info(source.dtype).bits, .source = source.data, .target = target};
  for (std::int64_t axis : perm.dims()) {
    copy.dims.push(dims[static_cast<std::size_t>(axis)]);
    copy.sourceStrides.push(strides[static_cast<std::size_t>(axis)]);
  }
  copy.targetStrides = denseStrides(copy.dims.dims());
  copyStrided(threads, copy);
}

Status transposeKernel(KernelContext& context) {
  const TensorView input = context.input(0);
  const std::size_t rank = input.rank();
  ROTA_RETURN_IF_ERROR(checkRank(rank));
  DimArray perm;
  if (const auto* given = context.attributes().getInts("perm")) {
    if (given->size() != rank) {
      return kernelError(ErrorCode::kBadAttribute, "perm needs one entry per axis", std::to_string(rank),
                         std::to_string(given->size()));
    }
    std::uint64_t seen = 0;
    for (std::int64_t entry : *given) {
      auto axis = axisOf(entry, rank);
      if (!axis) return axis.status();
      if ((seen >> *axis) & 1U)
        return kernelError(ErrorCode::kBadAttribute, "perm repeats an axis", "each axis once",
                           dimsText(*given));
      seen |= std::uint64_t{1} << *axis;
      perm.push(static_cast<std::int64_t>(*axis));
    }
  } else {
    for (std::size_t i = rank; i-- > 0;) perm.push(static_cast<std::int64_t>(i));
  }
  DimArray dims;
  for (std::int64_t axis : perm.dims()) dims.push(input.dims[static_cast<std::size_t>(axis)]);
  auto output = context.output(0, dims.dims());
  if (!output) return output.status();
  transposeInto(context.threads(), input, DimArray(input.dims), perm, output->data);
  return Status::ok();
}

Result<std::int64_t> blockSize(KernelContext& context) {
  const std::int64_t block = context.attributes().getInt("blocksize");
  if (context.input(0).rank() != 4) {
    return kernelError(ErrorCode::kShapeMismatch, "the input needs the axes batch, channels, height, width",
                       "rank 4", dimsText(context.input(0).dims));
  }
  if (block < 1)
    return kernelError(ErrorCode::kBadAttribute, "blocksize must be at least 1", "1 or more",
                       std::to_string(block));
  return block;
}

bool isColumnRowDepth(const KernelContext& context) {
  return context.attributes().getString("mode", "DCR") == "CRD";
}

Status depthToSpaceKernel(KernelContext& context) {
  auto block = blockSize(context);
  if (!block) return block.status();
  const std::int64_t b = *block;
  const TensorView input = context.input(0);
  const std::int64_t channels = input.dims[1];
  if (channels % (b * b) != 0) {
    return kernelError(ErrorCode::kShapeMismatch, "channels must divide by blocksize squared",
                       "a multiple of " + std::to_string(b * b), std::to_string(channels));
  }
  const std::int64_t depth = channels / (b * b);
  const std::int64_t n = input.dims[0];
  const std::int64_t h = input.dims[2];
  const std::int64_t w = input.dims[3];
  auto output = context.output(0, DimArray{n, depth, h * b, w * b});
  if (!output) return output.status();
  const bool crd = isColumnRowDepth(context);
  const DimArray dims(crd ? DimArray{n, depth, b, b, h, w} : DimArray{n, b, b, depth, h, w});
  const DimArray perm(crd ? DimArray{0, 1, 4, 2, 5, 3} : DimArray{0, 3, 4, 1, 5, 2});
  transposeInto(context.threads(), input, dims, perm, output->data);
  return Status::ok();
}

Status spaceToDepthKernel(KernelContext& context) {
  auto block = blockSize(context);
  if (!block) return block.status();
  const std::int64_t b = *block;
  const TensorView input = context.input(0);
  const std::int64_t n = input.dims[0];
  const std::int64_t c = input.dims[1];
  if (input.dims[2] % b != 0 || input.dims[3] % b != 0) {
    return kernelError(ErrorCode::kShapeMismatch, "height and width must divide by blocksize",
                       "multiples of " + std::to_string(b), dimsText(input.dims));
  }
  const std::int64_t h = input.dims[2] / b;
  const std::int64_t w = input.dims[3] / b;
  auto output = context.output(0, DimArray{n, c * b * b, h, w});
  if (!output) return output.status();
  const DimArray dims(DimArray{n, c, h, b, w, b});
  const DimArray perm(isColumnRowDepth(context) ? DimArray{0, 1, 3, 5, 2, 4} : DimArray{0, 3, 5, 1, 2, 4});
  transposeInto(context.threads(), input, dims, perm, output->data);
  return Status::ok();
}

const RegisterKernel kTransposeKernel("", "Transpose", transposeKernel);
const RegisterKernel kDepthToSpaceKernel("", "DepthToSpace", depthToSpaceKernel);
const RegisterKernel kSpaceToDepthKernel("", "SpaceToDepth", spaceToDepthKernel);

}  // namespace
}  // namespace rota::ref
