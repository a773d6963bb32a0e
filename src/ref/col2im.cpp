// SPDX-License-Identifier: Apache-2.0
// Reference kernel of Col2Im: the columns of sliding blocks added back into an image of any number of axes. Each element of the image is summed in
// the order of the blocks, in double for floats, wrapping for integers. Tested by src/op/roi_test.cpp.
#include <algorithm>

#include "core/checked.h"
#include "core/element_access.h"
#include "ref/complex_parts.h"
#include "ref/movement_common.h"

namespace rota::ref {
namespace {

/// The geometry of one Col2Im, per spatial axis.
struct ColumnPlan {
  DimArray image{};
  DimArray block{};
  DimArray strides{};
  DimArray dilations{};
  DimArray padBegin{};
  DimArray steps{};  ///< Blocks along the axis.
};

DimArray intsOr(const KernelContext& context, const char* name, std::size_t count, std::int64_t fallback) {
  const auto* given = context.attributes().getInts(name);
  return given != nullptr && given->size() == count ? DimArray(*given) : DimArray::filled(count, fallback);
}

Result<ColumnPlan> columnPlan(KernelContext& context) {
  ColumnPlan plan;
  auto image = kernelInts(context.input(1));
  auto block = kernelInts(context.input(2));
  if (!image) return image.status();
  if (!block) return block.status();
  const std::size_t axes = image->rank();
  ROTA_RETURN_IF_ERROR(checkRank(2 * axes + 2));
  const TensorView input = context.input(0);
  if (axes == 0 || block->rank() != axes || input.rank() != 3 || !checkedCount(*image) ||
      !checkedCount(*block)) {
    return kernelError(ErrorCode::kShapeMismatch, "inputs of Col2Im do not belong together",
                       "[batch, channels * block, blocks] and one size per axis",
                       dimsText(input.dims) + ", " + dimsText(*image) + " and " + dimsText(*block));
  }
  plan.image = *image;
  plan.block = *block;
  plan.strides = intsOr(context, "strides", axes, 1);
  plan.dilations = intsOr(context, "dilations", axes, 1);
  const DimArray pads = intsOr(context, "pads", 2 * axes, 0);
  for (std::size_t i = 0; i < axes; ++i) {
    plan.padBegin.push(pads[i]);
    if (plan.strides[i] < 1 || plan.dilations[i] < 1 || plan.block[i] < 1) {
      return kernelError(ErrorCode::kBadAttribute, "strides, dilations and blocks are at least 1",
                         "1 or more", dimsText(plan.strides));
    }
    const std::int64_t room =
        plan.image[i] + pads[i] + pads[i + axes] - plan.dilations[i] * (plan.block[i] - 1) - 1;
    plan.steps.push(room < 0 ? 0 : room / plan.strides[i] + 1);
  }
  const std::int64_t blockElements = elementCount(plan.block);
  if (input.dims[1] % blockElements != 0 || input.dims[2] != elementCount(plan.steps)) {
    return kernelError(ErrorCode::kShapeMismatch, "the columns do not cover the image",
                       "a multiple of " + std::to_string(blockElements) + " rows and " +
                           std::to_string(elementCount(plan.steps)) + " columns",
                       dimsText(input.dims));
  }
  return plan;
}

/// Place in the image of element `offset` of block `step`, or -1 in the padding.
std::int64_t imagePlace(const ColumnPlan& plan, std::int64_t offset, std::int64_t step) {
  std::int64_t place = 0;
  std::int64_t stride = 1;
  for (std::size_t i = plan.image.rank(); i-- > 0;) {
    const std::int64_t at = (step % plan.steps[i]) * plan.strides[i] - plan.padBegin[i] +
                            (offset % plan.block[i]) * plan.dilations[i];
    if (at < 0 || at >= plan.image[i]) return -1;
    place += at * stride;
    stride *= plan.image[i];
    step /= plan.steps[i];
    offset /= plan.block[i];
  }
  return place;
}

template <typename T>
Status addColumns(KernelContext& context, const MutableTensorView& output, const ColumnPlan& plan,
                  std::int64_t planes, std::int64_t pixels,
                  void (*load)(const TensorView&, std::int64_t, std::int64_t, T*),
                  void (*store)(const MutableTensorView&, std::int64_t, std::int64_t, const T*)) {
  const TensorView input = context.input(0);
  const std::int64_t blocks = input.dims[2];
  const std::int64_t blockElements = elementCount(plan.block);
  auto sums = context.scratch<T>(std::max<std::int64_t>(planes * pixels, 1));
  auto rows = context.scratch<T>(std::max<std::int64_t>(planes * blocks, 1));
  if (!sums) return sums.status();
  if (!rows) return rows.status();
  context.threads().parallelFor(planes, 1, [&](std::int64_t begin, std::int64_t end) {
    std::fill(*sums + begin * pixels, *sums + end * pixels, T{0});
    for (std::int64_t plane = begin; plane < end; ++plane) {
      T* sum = *sums + plane * pixels;
      T* row = *rows + plane * blocks;
      for (std::int64_t offset = 0; offset < blockElements; ++offset) {
        load(input, (plane * blockElements + offset) * blocks, blocks, row);
        for (std::int64_t step = 0; step < blocks; ++step) {
          const std::int64_t place = imagePlace(plan, offset, step);
          if (place >= 0) sum[place] += row[step];
        }
      }
    }
    store(output, begin * pixels, (end - begin) * pixels, *sums + begin * pixels);
  });
  return Status::ok();
}

Status col2ImKernel(KernelContext& context) {
  const TensorView input = context.input(0);
  auto plan = columnPlan(context);
  if (!plan) return plan.status();
  if (info(input.dtype).compute == ComputeType::kComplex) return runOnComplexParts(context, col2ImKernel);
  if (info(input.dtype).bits < 8) {
    return kernelError(ErrorCode::kUnsupportedType, "Col2Im does not add this type",
                       "a type of at least 8 bits", info(input.dtype).name);
  }
  const std::int64_t blockElements = elementCount(plan->block);
  const std::int64_t channels = input.dims[1] / blockElements;
  DimArray dims{input.dims[0], channels};
  for (std::int64_t d : plan->image.dims()) dims.push(d);
  auto output = context.output(0, dims);
  if (!output) return output.status();
  const std::int64_t pixels = elementCount(plan->image);
  const std::int64_t planes = input.dims[0] * channels;
  const ComputeType compute = info(input.dtype).compute;
  if (compute == ComputeType::kDouble)
    return addColumns<double>(context, *output, *plan, planes, pixels, loadAsDouble, storeFromDouble);
  // Sums of whole numbers wrap: the low bits of uint64 are those of int64.
  return addColumns<std::uint64_t>(context, *output, *plan, planes, pixels, loadAsUInt64, storeFromUInt64);
}

const RegisterKernel kCol2ImKernel("", "Col2Im", col2ImKernel);

}  // namespace
}  // namespace rota::ref
