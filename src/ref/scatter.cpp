// SPDX-License-Identifier: Apache-2.0
// Reference kernels of ScatterElements, Scatter, ScatterND and TensorScatter: a copy of the data, then updates one after the other in the order
// of the indices, so that with duplicate indices the last update wins and reductions round in one order. NaN goes through min and max.
// Tested by src/op/movement_test.cpp.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/element_access.h"
#include "ref/index_common.h"
#include "ref/movement_common.h"

namespace rota::ref {
namespace {

enum class ScatterReduction : std::uint8_t { kNone, kAdd, kMul, kMin, kMax };

Result<ScatterReduction> scatterReduction(const KernelContext& context) {
  const std::string_view name = context.attributes().getString("reduction", "none");
  if (name == "none") return ScatterReduction::kNone;
  if (name == "add") return ScatterReduction::kAdd;
  if (name == "mul") return ScatterReduction::kMul;
  if (name == "min") return ScatterReduction::kMin;
  if (name == "max") return ScatterReduction::kMax;
  return kernelError(ErrorCode::kBadAttribute, "unknown reduction", "none, add, mul, min or max",
                     std::string(name));
}

template <typename T> T combineScattered(ScatterReduction reduction, T a, T b) {
  switch (reduction) {
    case ScatterReduction::kAdd: return a + b;
    case ScatterReduction::kMul: return a * b;
    case ScatterReduction::kMin: return b != b || b < a ? b : a;
    case ScatterReduction::kMax: return b != b || b > a ? b : a;
    case ScatterReduction::kNone: break;
  }
  return b;
}

/// Sums and products of int64 wrap, which uint64 does without undefined behaviour.
std::int64_t combineSigned(ScatterReduction reduction, std::int64_t a, std::int64_t b) {
  if (reduction == ScatterReduction::kMin || reduction == ScatterReduction::kMax)
    return combineScattered(reduction, a, b);
  return static_cast<std::int64_t>(
      combineScattered(reduction, static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
}

void combineComplex(ScatterReduction reduction, double* a, const double* b) {
  if (reduction == ScatterReduction::kMul) {
    const double real = a[0] * b[0] - a[1] * b[1];
    a[1] = a[0] * b[1] + a[1] * b[0];
    a[0] = real;
  } else {
    a[0] += b[0];
    a[1] += b[1];
  }
}

/// target[to, to + count) = reduction(target, source[from, from + count)).
void scatterRun(ScatterReduction reduction, const TensorView& source, std::int64_t from,
                const MutableTensorView& target, std::int64_t to, std::int64_t count) {
  const DTypeInfo& type = info(target.dtype);
  if (reduction == ScatterReduction::kNone)
    return copyElements(type.bits, source.data, from, target.data, to, count);
  constexpr std::int64_t kRun = 256;
  for (std::int64_t done = 0; done < count; done += kRun) {
    const std::int64_t n = std::min(kRun, count - done);
    const auto last = static_cast<std::size_t>(n);
    if (type.compute == ComputeType::kInt64) {
      std::array<std::int64_t, kRun> a;
      std::array<std::int64_t, kRun> b;
      loadAsInt64(target, to + done, n, a.data());
      loadAsInt64(source, from + done, n, b.data());
      for (std::size_t i = 0; i < last; ++i) a[i] = combineSigned(reduction, a[i], b[i]);
      storeFromInt64(target, to + done, n, a.data());
    } else if (type.compute == ComputeType::kUInt64) {
      std::array<std::uint64_t, kRun> a;
      std::array<std::uint64_t, kRun> b;
      loadAsUInt64(target, to + done, n, a.data());
      loadAsUInt64(source, from + done, n, b.data());
      for (std::size_t i = 0; i < last; ++i) a[i] = combineScattered(reduction, a[i], b[i]);
      storeFromUInt64(target, to + done, n, a.data());
    } else if (type.compute == ComputeType::kDouble) {
      std::array<double, kRun> a;
      std::array<double, kRun> b;
      loadAsDouble(target, to + done, n, a.data());
      loadAsDouble(source, from + done, n, b.data());
      for (std::size_t i = 0; i < last; ++i) a[i] = combineScattered(reduction, a[i], b[i]);
      storeFromDouble(target, to + done, n, a.data());
    } else {
      std::array<double, 2 * kRun> a;
      std::array<double, 2 * kRun> b;
      loadAsComplex(target, to + done, n, a.data());
      loadAsComplex(source, from + done, n, b.data());
      for (std::size_t i = 0; i < last; ++i) combineComplex(reduction, &a[2 * i], &b[2 * i]);
      storeFromComplex(target, to + done, n, a.data());
    }
  }
}

/// Output 0 as a copy of input 0.
Result<MutableTensorView> copyOfData(KernelContext& context) {
  const TensorView data = context.input(0);
  auto output = context.output(0, data.dims);
  if (!output) return output.status();
  if (data.bytes() > 0) std::memcpy(output->data, data.data, data.bytes());
  return output;
}

Status checkScatterType(ScatterReduction reduction, DType dtype) {
  const bool isOrdered = reduction == ScatterReduction::kMin || reduction == ScatterReduction::kMax;
  if (!isOrdered || info(dtype).compute != ComputeType::kComplex) return Status::ok();
  return kernelError(ErrorCode::kUnsupportedType, "complex numbers have no order",
                     "reduction none, add or mul", "");
}

Status scatterElementsKernel(KernelContext& context) {
  const TensorView data = context.input(0);
  const TensorView indices = context.input(1);
  const TensorView updates = context.input(2);
  ROTA_RETURN_IF_ERROR(checkRank(data.rank()));
  auto axis = axisOf(context.attributes().getInt("axis"), data.rank());
  if (!axis) return axis.status();
  auto reduction = scatterReduction(context);
  if (!reduction) return reduction.status();
  ROTA_RETURN_IF_ERROR(checkScatterType(*reduction, data.dtype));
  ROTA_RETURN_IF_ERROR(checkElementIndices(data.dims, indices.dims, *axis));
  if (!std::ranges::equal(indices.dims, updates.dims)) {
    return kernelError(ErrorCode::kShapeMismatch, "there must be one update per index",
                       dimsText(indices.dims), dimsText(updates.dims));
  }
  auto output = copyOfData(context);
  if (!output) return output.status();
  IndexWalker<1> walker(indices.dims);
  const DimArray strides = denseStrides(data.dims);
  walker.strides(0) = strides;
  walker.strides(0)[*axis] = 0;
  const std::int64_t count = indices.count();
  BadIndex bad;
  IndexReader reader(indices);
  if (count > 0) walker.seek(0);
  for (std::int64_t i = 0; i < count; ++i, walker.next()) {
    std::int64_t index = reader.at(i);
    if (!bad.normalise(index, data.dims[*axis], i)) break;
    scatterRun(*reduction, updates, i, *output, walker.offset(0) + index * strides[*axis], 1);
  }
  return bad.status(indices, data.dims[*axis]);
}

Status scatterNdKernel(KernelContext& context) {
  const TensorView data = context.input(0);
  const TensorView indices = context.input(1);
  const TensorView updates = context.input(2);
  ROTA_RETURN_IF_ERROR(checkRank(data.rank() + indices.rank()));
  auto reduction = scatterReduction(context);
  if (!reduction) return reduction.status();
  ROTA_RETURN_IF_ERROR(checkScatterType(*reduction, data.dtype));
  auto tuples = tuplesOf(data.dims, indices.dims, 0);
  if (!tuples) return tuples.status();
  DimArray expected(indices.dims.first(indices.rank() - 1));
  for (std::int64_t d : data.dims.subspan(tuples->length)) expected.push(d);
  if (!std::ranges::equal(expected.dims(), updates.dims)) {
    return kernelError(ErrorCode::kShapeMismatch, "updates need one slice per index tuple",
                       dimsText(expected), dimsText(updates.dims));
  }
  auto output = copyOfData(context);
  if (!output) return output.status();
  BadIndex bad;
  IndexReader reader(indices);
  for (std::int64_t i = 0; i < tuples->count; ++i) {
    std::int64_t place = 0;
    if (!tuples->placeOf(reader, i, bad, place)) break;
    scatterRun(*reduction, updates, i * tuples->sliceElements, *output, place, tuples->sliceElements);
  }
  return bad.status(indices, -1);
}

Status tensorScatterKernel(KernelContext& context) {
  const TensorView cache = context.input(0);
  const TensorView update = context.input(1);
  const TensorView writes = context.input(2);
  ROTA_RETURN_IF_ERROR(checkRank(cache.rank()));
  auto axis = axisOf(context.attributes().getInt("axis", -2), cache.rank());
  if (!axis) return axis.status();
  const bool circular = context.attributes().getString("mode", "linear") == "circular";
  bool fits =
      update.rank() == cache.rank() && *axis > 0 && (!writes.isGiven() || writes.count() == cache.dims[0]);
  for (std::size_t i = 0; fits && i < cache.rank(); ++i) {
    fits = i == *axis ? update.dims[i] <= cache.dims[i] : update.dims[i] == cache.dims[i];
  }
  if (!fits) {
    return kernelError(ErrorCode::kShapeMismatch, "the update does not fit into the cache",
                       dimsText(cache.dims) + ", no longer than it", dimsText(update.dims));
  }
  auto output = copyOfData(context);
  if (!output) return output.status();
  const AxisSplit split = splitAt(cache.dims, *axis);
  const std::int64_t length = update.dims[*axis];
  const std::int64_t perSample = cache.dims[0] == 0 ? 0 : split.outer / cache.dims[0];
  const int bits = info(cache.dtype).bits;
  for (std::int64_t o = 0; o < split.outer; ++o) {
    const std::int64_t sample = o / perSample;
    const std::int64_t start = writes.isGiven() ? intAt(writes, sample) : 0;
    if (start < 0 || (!circular && start > split.axis - length)) {
      return kernelError(
          ErrorCode::kBadIndex, "the update of sample " + std::to_string(sample) + " goes beyond the cache",
          "a write index from 0 to " + std::to_string(split.axis - length), std::to_string(start));
    }
    for (std::int64_t t = 0; t < length; ++t) {
      const std::int64_t at = circular ? (start % split.axis + t) % split.axis : start + t;
      copyElements(bits, update.data, (o * length + t) * split.inner, output->data,
                   (o * split.axis + at) * split.inner, split.inner);
    }
  }
  return Status::ok();
}

const RegisterKernel kScatterKernel("", "Scatter", scatterElementsKernel);
const RegisterKernel kScatterElementsKernel("", "ScatterElements", scatterElementsKernel);
const RegisterKernel kScatterNdKernel("", "ScatterND", scatterNdKernel);
const RegisterKernel kTensorScatterKernel("", "TensorScatter", tensorScatterKernel);

}  // namespace
}  // namespace rota::ref
