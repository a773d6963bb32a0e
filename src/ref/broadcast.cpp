// SPDX-License-Identifier: Apache-2.0
// Block-wise reading under broadcasting; see broadcast.h. Tested by src/ref/pointwise_test.cpp.
#include "ref/broadcast.h"

namespace rota::ref {

BroadcastReader::BroadcastReader(const TensorView& view, Dims outDims) : view_(view) {
  const DimArray strides = broadcastStrides(view.dims, outDims);
  // From the outermost dim inwards; the last merged dim absorbs the next one when one stride covers both.
  for (std::size_t d = 0; d < outDims.size(); ++d) {
    if (outDims[d] == 1) continue;
    const std::size_t last = dims_.rank();
    if (last > 0 && strides_[last - 1] == strides[d] * outDims[d]) {
      dims_[last - 1] *= outDims[d];
      strides_[last - 1] = strides[d];
      continue;
    }
    dims_.push(outDims[d]);
    strides_.push(strides[d]);
  }
  if (dims_.rank() == 0) {
    dims_.push(1);
    strides_.push(0);
  }
}

template <typename T> void BroadcastReader::loadAs(std::int64_t begin, std::int64_t n, T* out) const {
  const std::size_t rank = dims_.rank();
  std::array<std::int64_t, kMaxRank> index;
  std::int64_t rest = begin;
  for (std::size_t d = rank; d-- > 0;) {
    index[d] = rest % dims_[d];
    rest /= dims_[d];
  }
  while (n > 0) {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < rank; ++d) offset += index[d] * strides_[d];
    // The innermost stride of a dense tensor is 1, or 0 along a broadcast dim.
    const std::int64_t run = std::min(n, dims_[rank - 1] - index[rank - 1]);
    if (strides_[rank - 1] == 0) {
      std::fill_n(out, run, loadOne<T>(view_, offset));
    } else {
      loadValues(view_, offset, run, out);
    }
    out += run;
    n -= run;
    index[rank - 1] = 0;
    for (std::size_t d = rank - 1; d-- > 0;) {
      if (++index[d] < dims_[d]) break;
      index[d] = 0;
    }
  }
}

void BroadcastReader::load(std::int64_t begin, std::int64_t n, double* out) const { loadAs(begin, n, out); }
void BroadcastReader::load(std::int64_t begin, std::int64_t n, std::int64_t* out) const {
  loadAs(begin, n, out);
}
void BroadcastReader::load(std::int64_t begin, std::int64_t n, std::uint64_t* out) const {
  loadAs(begin, n, out);
}

Status requireReal(const KernelContext& ctx) {
  const auto isReal = [](DType dtype) {
    const ComputeType compute = info(dtype).compute;
    return compute != ComputeType::kNone && compute != ComputeType::kComplex;
  };
  const auto refuse = [](DType dtype) {
    return Status(ErrorCode::kUnsupportedType, "The operator does not compute with this element type")
        .found(info(dtype).name);
  };
  for (std::size_t i = 0; i < ctx.inputCount(); ++i) {
    if (ctx.hasInput(i) && !isReal(ctx.input(i).dtype)) return refuse(ctx.input(i).dtype);
  }
  if (ctx.hasOutput(0) && !isReal(ctx.output(0).dtype)) return refuse(ctx.output(0).dtype);
  return Status::ok();
}

}  // namespace rota::ref
