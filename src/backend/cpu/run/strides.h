// SPDX-License-Identifier: Apache-2.0
// How operands lie in memory, as loops that kernels can run: the dims of a layout, strides of broadcast operands, and the merging of dims that
// all operands walk through alike. No allocation: everything has a fixed bound. Tested by src/backend/cpu/run/strides_test.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "runtime/step_kernel.h"

namespace rota::runtime {

/// Dims of a layout: at most the rank and some blocks.
inline constexpr std::size_t kMaxLoops = 24;

/// The loops over the memory of one operand, outermost first. Loop `k` moves `unit[k]` elements along logical axis `axis[k]`.
struct PhysicalDims {
  std::size_t rank = 0;
  std::array<std::int64_t, kMaxLoops> size{};
  std::array<std::size_t, kMaxLoops> axis{};
  std::array<std::int64_t, kMaxLoops> unit{};
  bool isPadded = false;  ///< Some loops run over padding.

  std::int64_t count() const;
  std::int64_t strideOf(std::size_t loop) const;  ///< In elements.
};
PhysicalDims physicalDims(Dims dims, const Layout* layout);

using LoopStrides = std::array<std::int64_t, kMaxLoops>;

/// Strides of `operand`, which broadcasts to logical dims of rank `rank`, along the loops of `loops`; false when its layout cannot be walked so.
bool broadcastStrides(const Operand& operand, std::size_t rank, const PhysicalDims& loops,
                      LoopStrides& strides);

/// A nest of loops with strides for several operands.
struct LoopNest {
  std::size_t rank = 0;
  LoopStrides size{};
  std::span<LoopStrides> strides;  ///< One for each operand.

  /// Drops loops of size 1 and joins neighbours that every operand walks as one. At least one loop is left.
  void merge();
};

/// The offset of element `index` (row-major in the loops) of an operand.
std::int64_t offsetAt(const LoopNest& nest, const LoopStrides& strides, std::int64_t index);

/// Copies elements [start, start + n), in the order of the loops, of an operand with these strides to `out`; 1, 2, 4, 8 or 16 bytes each.
void gatherElements(const LoopNest& nest, const LoopStrides& strides, const void* data,
                    std::size_t elementBytes, std::int64_t start, std::int64_t n, void* out);

/// Bytes of an element; 0 for packed types.
std::size_t elementBytes(DType dtype);

}  // namespace rota::runtime
