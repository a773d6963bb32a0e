// SPDX-License-Identifier: Apache-2.0
// Reference kernels of Shape and Size. Tested by src/op/movement_test.cpp.
#include <algorithm>

#include "ref/movement_common.h"

namespace rota::ref {
namespace {

Status shapeKernel(KernelContext& context) {
  const TensorView input = context.input(0);
  const auto rank = static_cast<std::int64_t>(input.rank());
  const auto place = [rank](std::int64_t v) {
    return std::clamp<std::int64_t>(v < 0 ? v + rank : v, 0, rank);
  };
  const std::int64_t start = place(context.attributes().getInt("start"));
  const std::int64_t end = std::max(start, place(context.attributes().getInt("end", rank)));
  auto output = context.output(0, DimArray{end - start});
  if (!output) return output.status();
  std::copy_n(input.dims.begin() + start, end - start, output->as<std::int64_t>());
  return Status::ok();
}

Status sizeKernel(KernelContext& context) {
  auto output = context.output(0, Dims{});
  if (!output) return output.status();
  *output->as<std::int64_t>() = context.input(0).count();
  return Status::ok();
}

const RegisterKernel kShapeKernel("", "Shape", shapeKernel);
const RegisterKernel kSizeKernel("", "Size", sizeKernel);

}  // namespace
}  // namespace rota::ref
