// SPDX-License-Identifier: Apache-2.0
// Scalars that give sizes; see signal_common.h. Tested by src/op/signal_test.cpp.
#include "op/signal_common.h"

#include <utility>

namespace rota::op {

Result<std::optional<Size>> scalarContents(InferContext& ctx, std::size_t i, SizeRange range) {
  const auto contents = ctx.contentsOrResolve(i, range);
  if (!contents) return std::optional<Size>();
  if (contents->size() != 1) {
    return ctx.error(ErrorCode::kShapeMismatch, "Input " + std::to_string(i) + " must be a scalar",
                     "one element", std::to_string(contents->size()) + " elements");
  }
  if (const auto value = contents->front().constant(); value && *value < range.lo) {
    return ctx.error(ErrorCode::kBadIndex, "Input " + std::to_string(i) + " is too small",
                     "at least " + std::to_string(range.lo), std::to_string(*value));
  }
  return std::optional<Size>(contents->front());
}

Status inferSignalWindow(InferContext& ctx) {
  auto dtype = dtypeAttribute(ctx, "output_datatype", DType::kFloat32);
  if (!dtype) return dtype.status();
  auto size = scalarContents(ctx, 0, SizeRange{});
  if (!size) return size.status();
  ctx.setOutput(0, *dtype, *size ? ir::Shape::of({**size}) : ir::Shape::unknown());
  return Status::ok();
}

Definition signalWindowDefinition(std::string name, std::string doc) {
  return Definition{
      .domain = "",
      .name = std::move(name),
      .versions = {17},
      .doc = std::move(doc),
      .kind = Kind::kOpaque,
      .inputs = {{.name = "size"}},
      .outputs = {{.name = "output"}},
      .attributes = {{.name = "output_datatype", .type = AttributeType::kInt},
                     {.name = "periodic", .type = AttributeType::kInt}},
      .infer = inferSignalWindow,
  };
}

}  // namespace rota::op
