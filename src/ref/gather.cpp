// SPDX-License-Identifier: Apache-2.0
// Reference kernels of Gather, GatherElements and GatherND. An index outside its axis ends the kernel with kBadIndex; the copy of the lowest
// such place is the one reported, whatever the number of threads. Tested by src/op/movement_test.cpp.
#include <algorithm>

#include "ref/index_common.h"
#include "ref/movement_common.h"

namespace rota::ref {
namespace {

/// Gather as [outer, indices, inner] from [outer, axis, inner].
Status gatherKernel(KernelContext& context) {
  const TensorView data = context.input(0);
  const TensorView indices = context.input(1);
  ROTA_RETURN_IF_ERROR(checkRank(data.rank() + indices.rank()));
  auto axis = axisOf(context.attributes().getInt("axis"), data.rank());
  if (!axis) return axis.status();
  DimArray dims(data.dims.first(*axis));
  for (std::int64_t d : indices.dims) dims.push(d);
  for (std::int64_t d : data.dims.subspan(*axis + 1)) dims.push(d);
  auto output = context.output(0, dims);
  if (!output) return output.status();
  const AxisSplit split = splitAt(data.dims, *axis);
  const std::int64_t count = indices.count();
  const int bits = info(data.dtype).bits;
  BadIndex bad;
  forParts(context.threads(), bits, count, kGrain / std::max<std::int64_t>(split.inner, 1),
           [&](std::int64_t begin, std::int64_t end) {
             IndexReader reader(indices);
             for (std::int64_t i = begin; i < end; ++i) {
               std::int64_t index = reader.at(i);
               if (!bad.normalise(index, split.axis, i)) continue;
               for (std::int64_t o = 0; o < split.outer; ++o) {
                 copyElements(bits, data.data, (o * split.axis + index) * split.inner, output->data,
                              (o * count + i) * split.inner, split.inner);
               }
             }
           });
  return bad.status(indices, split.axis);
}

Status gatherElementsKernel(KernelContext& context) {
  const TensorView data = context.input(0);
  const TensorView indices = context.input(1);
  ROTA_RETURN_IF_ERROR(checkRank(data.rank()));
  auto axis = axisOf(context.attributes().getInt("axis"), data.rank());
  if (!axis) return axis.status();
  ROTA_RETURN_IF_ERROR(checkElementIndices(data.dims, indices.dims, *axis));
  auto output = context.output(0, indices.dims);
  if (!output) return output.status();
  const int bits = info(data.dtype).bits;
  const DimArray strides = denseStrides(data.dims);
  BadIndex bad;
  forParts(context.threads(), bits, indices.count(), kGrain, [&](std::int64_t begin, std::int64_t end) {
    IndexWalker<1> walker(indices.dims);
    walker.strides(0) = strides;
    walker.strides(0)[*axis] = 0;
    walker.seek(begin);
    IndexReader reader(indices);
    for (std::int64_t i = begin; i < end; ++i, walker.next()) {
      std::int64_t index = reader.at(i);
      if (!bad.normalise(index, data.dims[*axis], i)) continue;
      copyElements(bits, data.data, walker.offset(0) + index * strides[*axis], output->data, i, 1);
    }
  });
  return bad.status(indices, data.dims[*axis]);
}

Status gatherNdKernel(KernelContext& context) {
  const TensorView data = context.input(0);
  const TensorView indices = context.input(1);
  ROTA_RETURN_IF_ERROR(checkRank(data.rank() + indices.rank()));
  const std::int64_t batchDims = context.attributes().getInt("batch_dims");
  if (batchDims < 0 || batchDims >= static_cast<std::int64_t>(std::min(data.rank(), indices.rank()))) {
    return kernelError(ErrorCode::kBadAttribute, "batch_dims is outside the ranks of data and indices",
                       "0 or more", std::to_string(batchDims));
  }
  const auto batch = static_cast<std::size_t>(batchDims);
  auto tuples = tuplesOf(data.dims, indices.dims, batch);
  if (!tuples) return tuples.status();
  DimArray dims(indices.dims.first(indices.rank() - 1));
  for (std::int64_t d : data.dims.subspan(batch + tuples->length)) dims.push(d);
  auto output = context.output(0, dims);
  if (!output) return output.status();
  const int bits = info(data.dtype).bits;
  const std::int64_t batches = elementCount(data.dims.first(batch));
  const std::int64_t perBatch = batches == 0 ? 0 : tuples->count / batches;
  const std::int64_t batchElements = elementCount(data.dims.subspan(batch));
  BadIndex bad;
  forParts(context.threads(), bits, tuples->count, kGrain / std::max<std::int64_t>(tuples->sliceElements, 1),
           [&](std::int64_t begin, std::int64_t end) {
             IndexReader reader(indices);
             for (std::int64_t i = begin; i < end; ++i) {
               std::int64_t place = 0;
               if (!tuples->placeOf(reader, i, bad, place)) continue;
               copyElements(bits, data.data, (i / perBatch) * batchElements + place, output->data,
                            i * tuples->sliceElements, tuples->sliceElements);
             }
           });
  return bad.status(indices, -1);
}

const RegisterKernel kGatherKernel("", "Gather", gatherKernel);
const RegisterKernel kGatherElementsKernel("", "GatherElements", gatherElementsKernel);
const RegisterKernel kGatherNdKernel("", "GatherND", gatherNdKernel);

}  // namespace
}  // namespace rota::ref
