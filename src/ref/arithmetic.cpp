// SPDX-License-Identifier: Apache-2.0
// Reference kernels of binary and variadic arithmetic. Integers wrap; division of an integer by zero is an error.
// Tested by src/op/pointwise_test.cpp and the node cases of tests/conformance.
#include <atomic>
#include <cmath>

#include "ref/broadcast.h"

namespace rota::ref {
namespace {

Status addKernel(KernelContext& ctx) {
  return byComputeType(ctx.input(0).dtype, [&](auto zero) {
    using T = decltype(zero);
    return mapBinary<T>(ctx, [](T a, T b) { return wrappingAdd(a, b); });
  });
}
const RegisterKernel kAddKernel("", "Add", addKernel);

Status subKernel(KernelContext& ctx) {
  return byComputeType(ctx.input(0).dtype, [&](auto zero) {
    using T = decltype(zero);
    return mapBinary<T>(ctx, [](T a, T b) { return wrappingSub(a, b); });
  });
}
const RegisterKernel kSubKernel("", "Sub", subKernel);

Status mulKernel(KernelContext& ctx) {
  return byComputeType(ctx.input(0).dtype, [&](auto zero) {
    using T = decltype(zero);
    return mapBinary<T>(ctx, [](T a, T b) { return wrappingMul(a, b); });
  });
}
const RegisterKernel kMulKernel("", "Mul", mulKernel);

Status divisionByZero() {
  return Status(ErrorCode::kDivisionByZero, "An integer is divided by zero")
      .expected("a divisor other than 0")
      .found("0");
}

/// a / b towards zero; b is not 0.
template <typename T> T quotient(T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    if (b == T{-1}) return wrappingSub(T{0}, a);
  }
  return a / b;
}

Status divKernel(KernelContext& ctx) {
  std::atomic<bool> hasZero = false;
  ROTA_RETURN_IF_ERROR(byComputeType(ctx.input(0).dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>) {
      return mapBinary<T>(ctx, [](T a, T b) { return a / b; });
    } else {
      return mapBinary<T>(ctx, [&](T a, T b) {
        if (b != T{0}) return quotient(a, b);
        hasZero.store(true, std::memory_order_relaxed);
        return T{0};
      });
    }
  }));
  return hasZero ? divisionByZero() : Status::ok();
}
const RegisterKernel kDivKernel("", "Div", divKernel);

/// a - floor(a / b) * b; the result has the sign of b. b is not 0 for integers.
template <typename T> T floorRemainder(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    T r = std::fmod(a, b);
    if (r == 0) return std::copysign(r, b);
    return (r < 0) != (b < 0) ? r + b : r;
  } else if constexpr (std::is_signed_v<T>) {
    if (b == T{-1}) return T{0};
    const T r = a % b;
    return r != T{0} && (r < T{0}) != (b < T{0}) ? r + b : r;
  } else {
    return a % b;
  }
}

/// a - trunc(a / b) * b; the result has the sign of a. b is not 0 for integers.
template <typename T> T truncatedRemainder(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::fmod(a, b);
  } else {
    if constexpr (std::is_signed_v<T>) {
      if (b == T{-1}) return T{0};
    }
    return a % b;
  }
}

Status modKernel(KernelContext& ctx) {
  const bool isTruncated = ctx.attributes().getInt("fmod") != 0;
  std::atomic<bool> hasZero = false;
  ROTA_RETURN_IF_ERROR(byComputeType(ctx.input(0).dtype, [&](auto zero) {
    using T = decltype(zero);
    return mapBinary<T>(ctx, [&](T a, T b) {
      if (std::is_integral_v<T> && b == T{0}) {
        hasZero.store(true, std::memory_order_relaxed);
        return T{0};
      }
      return isTruncated ? truncatedRemainder(a, b) : floorRemainder(a, b);
    });
  }));
  return hasZero ? divisionByZero() : Status::ok();
}
const RegisterKernel kModKernel("", "Mod", modKernel);

/// base to a power that is not negative, by repeated squaring; wraps.
template <typename T> T integerPower(T base, std::uint64_t exponent) {
  T result{1};
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1U) != 0) result = wrappingMul(result, base);
    base = wrappingMul(base, base);
  }
  return result;
}

/// An integer to an integer power; a negative power of 0 divides by zero, of other numbers gives 0 or, for 1 and -1, 1 or -1.
template <typename T> T powerOfInteger(T base, std::int64_t exponent, std::atomic<bool>& hasZero) {
  if (exponent >= 0) return integerPower(base, static_cast<std::uint64_t>(exponent));
  if (base == T{0}) hasZero.store(true, std::memory_order_relaxed);
  if (base == T{1}) return base;
  if (base == static_cast<T>(-1) && std::is_signed_v<T>) return exponent % 2 == 0 ? T{1} : base;
  return T{0};
}

/// A double as T: towards zero, saturating, NaN gives 0.
template <typename T> T integerOf(double value) {
  if constexpr (std::is_signed_v<T>) {
    return doubleToInt64(value);
  } else {
    return doubleToUInt64(value);
  }
}

template <typename T> Status powIntegerBase(KernelContext& ctx) {
  std::atomic<bool> hasZero = false;
  ROTA_RETURN_IF_ERROR(byComputeType(ctx.input(1).dtype, [&](auto zero) {
    using E = decltype(zero);
    return mapBinary<T, E>(ctx, [&](T base, E exponent) {
      if constexpr (std::is_floating_point_v<E>) {
        // Whole exponents stay exact where double would not be.
        if (exponent >= 0 && exponent < 64 && exponent == std::floor(exponent)) {
          return integerPower(base, static_cast<std::uint64_t>(exponent));
        }
        return integerOf<T>(std::pow(static_cast<double>(base), exponent));
      } else if constexpr (std::is_signed_v<E>) {
        return powerOfInteger(base, exponent, hasZero);
      } else {
        return integerPower(base, exponent);
      }
    });
  }));
  return hasZero ? divisionByZero() : Status::ok();
}

Status powKernel(KernelContext& ctx) {
  ROTA_RETURN_IF_ERROR(requireReal(ctx));
  return byComputeType(ctx.input(0).dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>) {
      return mapBinary<T>(
          ctx, [](T base, T exponent) { return exponent == 2 ? base * base : std::pow(base, exponent); });
    } else {
      return powIntegerBase<T>(ctx);
    }
  });
}
const RegisterKernel kPowKernel("", "Pow", powKernel);

Status maxKernel(KernelContext& ctx) {
  return byComputeType(ctx.input(0).dtype, [&](auto zero) {
    using T = decltype(zero);
    return foldInputs<T>(ctx, maxWithNan<T>, [](T x) { return x; });
  });
}
const RegisterKernel kMaxKernel("", "Max", maxKernel);

Status minKernel(KernelContext& ctx) {
  return byComputeType(ctx.input(0).dtype, [&](auto zero) {
    using T = decltype(zero);
    return foldInputs<T>(ctx, minWithNan<T>, [](T x) { return x; });
  });
}
const RegisterKernel kMinKernel("", "Min", minKernel);

Status sumKernel(KernelContext& ctx) {
  return byComputeType(ctx.input(0).dtype, [&](auto zero) {
    using T = decltype(zero);
    return foldInputs<T>(ctx, [](T a, T b) { return wrappingAdd(a, b); }, [](T x) { return x; });
  });
}
const RegisterKernel kSumKernel("", "Sum", sumKernel);

Status meanKernel(KernelContext& ctx) {
  const auto inputs = static_cast<double>(ctx.inputCount());
  return foldInputs<double>(
      ctx, [](double a, double b) { return a + b; }, [=](double x) { return x / inputs; });
}
const RegisterKernel kMeanKernel("", "Mean", meanKernel);

}  // namespace
}  // namespace rota::ref
