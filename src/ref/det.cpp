// SPDX-License-Identifier: Apache-2.0
// Det: LU decomposition with row pivoting in double. Tested by src/ref/linear_attention_test.cpp.
#include <algorithm>
#include <cmath>

#include "ref/blocks.h"
#include "ref/common.h"

namespace rota::ref {

namespace {

double determinant(double* m, std::int64_t n) {
  double det = 1;
  for (std::int64_t c = 0; c < n; ++c) {
    std::int64_t pivot = c;
    for (std::int64_t r = c + 1; r < n; ++r) {
      if (std::fabs(m[r * n + c]) > std::fabs(m[pivot * n + c])) pivot = r;
    }
    if (m[pivot * n + c] == 0) return 0;
    if (pivot != c) {
      std::swap_ranges(m + pivot * n, m + pivot * n + n, m + c * n);
      det = -det;
    }
    det *= m[c * n + c];
    for (std::int64_t r = c + 1; r < n; ++r) {
      const double factor = m[r * n + c] / m[c * n + c];
      for (std::int64_t k = c + 1; k < n; ++k) m[r * n + k] -= factor * m[c * n + k];
    }
  }
  return det;
}

Status det(KernelContext& ctx) {
  const TensorView x = ctx.input(0);
  const std::size_t rank = x.rank();
  if (rank < 2 || x.dims[rank - 1] != x.dims[rank - 2]) {
    return Status(ErrorCode::kShapeMismatch, "A determinant needs square matrices")
        .expected("[…, M, M]")
        .found(dimsText(x.dims));
  }
  const std::int64_t n = x.dims[rank - 1];
  auto values = loadAll(ctx, x);
  if (!values) return values.status();
  const std::int64_t matrices = elementCount(x.dims.first(rank - 2));
  for (std::int64_t i = 0; i < matrices; ++i) {
    const double value = determinant(*values + i * n * n, n);
    storeBlock(ctx.output(0), i, 1, &value);
  }
  return Status::ok();
}

const RegisterKernel kDet("", "Det", det);

}  // namespace

}  // namespace rota::ref
