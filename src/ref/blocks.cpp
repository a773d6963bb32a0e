// SPDX-License-Identifier: Apache-2.0
// Block access; see blocks.h. Tested by the kernels that use it.
#include "ref/blocks.h"

namespace rota::ref {

Result<double*> loadAll(KernelContext& ctx, const TensorView& view) {
  if (!view.isGiven()) return static_cast<double*>(nullptr);
  const std::int64_t count = view.count();
  auto values = ctx.scratch<double>(count);
  if (!values) return values.status();
  double* const out = *values;
  ctx.threads().parallelFor(count, 32768, [&](std::int64_t begin, std::int64_t end) {
    loadBlock(view, begin, end - begin, out + begin);
  });
  return out;
}

}  // namespace rota::ref
