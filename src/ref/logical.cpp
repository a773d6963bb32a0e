// SPDX-License-Identifier: Apache-2.0
// Reference kernels of comparisons, logical and bitwise operators, and Where.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include "ref/broadcast.h"

namespace rota::ref {
namespace {

/// A comparison from a generic function object; it computes in the type of the operands, so 64-bit integers compare exactly.
template <typename Compare> Status compareKernel(KernelContext& ctx) {
  return byComputeType(ctx.input(0).dtype, [&](auto zero) {
    using T = decltype(zero);
    return mapBinary<T>(ctx, [](T a, T b) { return Compare{}(a, b); });
  });
}
const RegisterKernel kEqualKernel("", "Equal", compareKernel<std::equal_to<>>);
const RegisterKernel kGreaterKernel("", "Greater", compareKernel<std::greater<>>);
const RegisterKernel kGreaterOrEqualKernel("", "GreaterOrEqual", compareKernel<std::greater_equal<>>);
const RegisterKernel kLessKernel("", "Less", compareKernel<std::less<>>);
const RegisterKernel kLessOrEqualKernel("", "LessOrEqual", compareKernel<std::less_equal<>>);

/// A bit operation; booleans are 0 and 1.
template <typename Operation> Status bitKernel(KernelContext& ctx) {
  return mapBinary<std::uint64_t>(ctx, [](std::uint64_t a, std::uint64_t b) { return Operation{}(a, b); });
}
const RegisterKernel kAndKernel("", "And", bitKernel<std::bit_and<>>);
const RegisterKernel kOrKernel("", "Or", bitKernel<std::bit_or<>>);
const RegisterKernel kXorKernel("", "Xor", bitKernel<std::bit_xor<>>);
const RegisterKernel kBitwiseAndKernel("", "BitwiseAnd", bitKernel<std::bit_and<>>);
const RegisterKernel kBitwiseOrKernel("", "BitwiseOr", bitKernel<std::bit_or<>>);
const RegisterKernel kBitwiseXorKernel("", "BitwiseXor", bitKernel<std::bit_xor<>>);

Status bitShiftKernel(KernelContext& ctx) {
  const bool isLeft = ctx.attributes().getString("direction") == "LEFT";
  const int bits = info(ctx.input(0).dtype).bits;
  return byComputeType(ctx.input(0).dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>) {
      return Status(ErrorCode::kUnsupportedType, "BitShift shifts integers")
          .found(info(ctx.input(0).dtype).name);
    } else {
      return mapBinary<T>(ctx, [=](T x, T amount) {
        const bool isOut = amount < T{0} || amount >= static_cast<T>(bits);
        if (isOut) return !isLeft && x < T{0} ? static_cast<T>(-1) : T{0};
        return static_cast<T>(isLeft ? static_cast<T>(static_cast<std::uint64_t>(x) << amount) : x >> amount);
      });
    }
  });
}
const RegisterKernel kBitShiftKernel("", "BitShift", bitShiftKernel);

/// The bits of a tensor as unsigned integers; complex128 as pairs along a new last dim, all others with a last dim of 1.
struct BitsView {
  DimArray dims;
  TensorView view;

  BitsView(const TensorView& tensor, std::int64_t words) : dims(tensor.dims) {
    dims.push(words);
    DType dtype = DType::kUInt64;
    switch (info(tensor.dtype).bits) {
      case 8: dtype = DType::kUInt8; break;
      case 16: dtype = DType::kUInt16; break;
      case 32: dtype = DType::kUInt32; break;
      default: break;
    }
    view = {dtype, dims, tensor.data};
  }
};

/// Where moves bits and computes nothing, so it serves every type of whole bytes.
Status whereKernel(KernelContext& ctx) {
  const TensorView x = ctx.input(1);
  const int bits = info(x.dtype).bits;
  if (bits < 8 || x.rank() + 1 > kMaxRank) {
    return Status(ErrorCode::kUnsupportedType, "Where does not take this element type")
        .found(info(x.dtype).name);
  }
  const MutableTensorView y = ctx.output(0);
  const std::int64_t words = bits == 128 ? 2 : 1;
  const BitsView condition(ctx.input(0), 1);
  const BitsView whenTrue(x, words);
  const BitsView whenFalse(ctx.input(2), words);
  const BitsView result(y, words);
  const MutableTensorView out{result.view.dtype, result.dims, y.data};
  const BroadcastReader readCondition(condition.view, result.dims);
  const BroadcastReader readTrue(whenTrue.view, result.dims);
  const BroadcastReader readFalse(whenFalse.view, result.dims);
  forBlocks(ctx, out.count(), [&](std::int64_t begin, std::int64_t n) {
    std::array<std::uint64_t, kBlock> c;
    std::array<std::uint64_t, kBlock> a;
    std::array<std::uint64_t, kBlock> b;
    readCondition.load(begin, n, c.data());
    readTrue.load(begin, n, a.data());
    readFalse.load(begin, n, b.data());
    for (std::int64_t i = 0; i < n; ++i) {
      const auto k = static_cast<std::size_t>(i);
      a[k] = c[k] != 0 ? a[k] : b[k];
    }
    storeFromUInt64(out, begin, n, a.data());
  });
  return Status::ok();
}
const RegisterKernel kWhereKernel("", "Where", whereKernel);

}  // namespace
}  // namespace rota::ref
