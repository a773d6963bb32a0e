// SPDX-License-Identifier: Apache-2.0
// Products of float32 matrices of any shape, with nothing to make ready: what runs where dims change from run to run (decision N18).
//
// C = A * B with operations after it. B comes in pieces from a PanelSource, which packs them (or lets them be read where they lie), so that a
// convolution is a product whose B is an image. Cut into parts by shape alone; a part needs kProductScratch floats of its own. Terms are added in
// order of the depth in each of the kProductDepth-long stretches, stretch by stretch: other bits than a library primitive gives, within the
// same error. Tested by src/backend/cpu/run/product_test.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "backend/cpu/run/kernel_table.h"
#include "core/attributes.h"

namespace rota::runtime {

/// An operation after a product.
struct PostStep {
  /// Which element of the operand goes with an element of the result.
  enum class Operand : std::uint8_t { kNone, kEach, kColumn, kRow, kOne };
  simd::Post kind = simd::Post::kRelu;
  float alpha = 0, beta = 0;
  Operand over = Operand::kNone;
  const float* data = nullptr;
};
inline constexpr std::size_t kMaxPostSteps = 32;

/// The parameters "post", "post_alpha" and "post_beta" of a step; operands are for the caller to fill in.
Result<std::vector<PostStep>> readPostSteps(const Attributes& parameters);

inline bool takesOperand(simd::Post kind) { return kind >= simd::Post::kAdd; }

/// The second factor, piece by piece.
class PanelSource {
 public:
  virtual ~PanelSource() = default;
  /// Writes rows [d, d + depth) of columns [column, column + columns) to `to`, in panels of `width` columns one after the other, the rows of a panel
  /// `width` apart; columns that are missing in the last panel become zero. At most kPanelsAtOnce panels.
  virtual void pack(std::int64_t d, std::int64_t depth, std::int64_t column, std::int64_t columns,
                    std::int64_t width, float* to) const = 0;
  /// Where element (0, column) lies when neighbouring columns are neighbours in memory, with rows `stride` apart; else nullptr.
  virtual const float* rowsInPlace(std::int64_t column, std::int64_t& stride) const = 0;
  /// The same when neighbouring rows are neighbours in memory, with columns `stride` apart.
  virtual const float* columnsInPlace(std::int64_t column, std::int64_t& stride) const = 0;
};

/// A matrix in memory.
class MatrixPanels final : public PanelSource {
 public:
  MatrixPanels(const float* data, std::int64_t row, std::int64_t column)
      : data_(data),
        row_(row),
        column_(column) {}
  void pack(std::int64_t d, std::int64_t depth, std::int64_t column, std::int64_t columns, std::int64_t width,
            float* to) const override;
  const float* rowsInPlace(std::int64_t column, std::int64_t& stride) const override;
  const float* columnsInPlace(std::int64_t column, std::int64_t& stride) const override;

 private:
  const float* data_;
  std::int64_t row_, column_;
};

struct MatrixProduct {
  std::int64_t rows = 0, columns = 0, depth = 0;
  const float* a = nullptr;
  std::int64_t aRow = 0, aDepth = 1;
  const PanelSource* b = nullptr;
  float* c = nullptr;
  std::int64_t cRow = 0;
  std::span<const PostStep> post;  ///< kEach: data lies as c does; kRow and kColumn: from row and column 0.
};

inline constexpr std::int64_t kProductRows = 192, kProductColumns = 192, kProductDepth = 256;
inline constexpr std::int64_t kPanelsAtOnce = 4;  ///< Packed together, so that B is read in longer stretches.
inline constexpr std::int64_t kProductScratch =
    kPanelsAtOnce * simd::kMaxTileColumns * kProductDepth;  ///< Floats.

/// Parts that a product is cut into.
std::int64_t productParts(std::int64_t rows, std::int64_t columns);
void runProductPart(const MatrixProduct& product, std::int64_t part, float* scratch);

}  // namespace rota::runtime
