// SPDX-License-Identifier: Apache-2.0
// Einsum. Tested by src/op/product_test.cpp and the node cases of tests/conformance.
#include <optional>
#include <utility>

#include "core/check.h"
#include "op/common.h"
#include "ref/einsum_equation.h"

namespace rota::op {
namespace {

Status inferEinsum(InferContext& ctx) {
  std::vector<std::size_t> ranks;
  for (std::size_t i = 0; i < ctx.inputCount(); ++i) {
    if (!ctx.inputShape(i).known) {
      ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::unknown());
      return Status::ok();
    }
    ranks.push_back(ctx.inputShape(i).rank());
  }
  auto equation = ref::parseEinsum(ctx.attributes().getString("equation"), ranks);
  if (!equation) {
    const Status status = equation.status();
    return ctx.error(status.code(), status.detail().message, status.detail().expected, status.detail().found);
  }
  std::vector<std::optional<Size>> sizes(ref::kEinsumLabels);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    for (std::size_t d = 0; d < ranks[i]; ++d) {
      std::optional<Size>& size = sizes[equation->inputs[i].labels[d]];
      const Size found = ctx.inputShape(i).dims[d];
      if (!size) {
        size = found;
        continue;
      }
      const std::vector<std::vector<Size>> shapes = {{*size}, {found}};
      auto both = ctx.broadcast(shapes);
      if (!both) return both.status();
      size = (*both)[0];
    }
  }
  std::vector<Size> dims;
  for (const std::uint8_t label : equation->output.all()) dims.push_back(*sizes[label]);
  ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::of(std::move(dims)));
  return Status::ok();
}

const Register kRegisterEinsum(Definition{
    .domain = "",
    .name = "Einsum",
    .versions = {12, 28},
    .doc = "Multiplies its operands and sums over every label of the equation that the output does not have. "
           "Labels name axes, a repeated label in one "
           "operand takes its diagonal, '...' stands for axes that broadcast.",
    .kind = Kind::kContraction,
    .inputs = {{.name = "Inputs", .option = FormalOption::kVariadic, .typeVariable = "T"}},
    .outputs = {{.name = "Output", .typeVariable = "T"}},
    .attributes = {{.name = "equation", .type = AttributeType::kString, .required = true}},
    .infer = inferEinsum,
});

}  // namespace
}  // namespace rota::op
