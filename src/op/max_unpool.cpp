// SPDX-License-Identifier: Apache-2.0
// MaxUnpool. Tested by src/op/window_test.cpp and the node cases of tests/conformance.
#include <utility>

#include "op/window_common.h"

namespace rota::op {
namespace {

Status inferMaxUnpool(InferContext& ctx) {
  const ir::Shape& x = ctx.inputShape(0);
  if (ctx.hasInput(2)) {
    auto sizes = ctx.contentsOrResolve(2, SizeRange{});
    ctx.setOutput(0, ctx.inputDtype(0), sizes ? ir::Shape::of(*std::move(sizes)) : ir::Shape::unknown());
    return Status::ok();
  }
  if (!x.known) {
    ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::unknown());
    return Status::ok();
  }
  if (x.rank() < 3) {
    return ctx.error(ErrorCode::kShapeMismatch, "Unpooling needs at least one spatial axis",
                     "[N, C, …] of rank 3 or more", "rank " + std::to_string(x.rank()));
  }
  const std::size_t rank = x.rank() - 2;
  auto kernel = windowAttribute(ctx, "kernel_shape", rank, 1, 1);
  if (!kernel) return kernel.status();
  auto strides = windowAttribute(ctx, "strides", rank, 1, 1);
  if (!strides) return strides.status();
  auto pads = windowAttribute(ctx, "pads", 2 * rank, 0, 0);
  if (!pads) return pads.status();
  std::vector<Size> dims{x.dims[0], x.dims[1]};
  for (std::size_t d = 0; d < rank; ++d) {
    dims.push_back((x.dims[d + 2] - 1) * Size((*strides)[d]) + (*kernel)[d] - (*pads)[d] - (*pads)[rank + d]);
  }
  ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::of(std::move(dims)));
  return Status::ok();
}

const Register kRegisterMaxUnpool(Definition{
    .domain = "",
    .name = "MaxUnpool",
    .versions = {9, 11, 22},
    .doc = "Puts every value where its index says in a tensor of zeros: the reverse of MaxPool with indices. "
           "`output_shape` settles sizes that "
           "pooling had rounded down.",
    .kind = Kind::kMovement,
    .inputs = {{.name = "X", .typeVariable = "T1"},
               {.name = "I", .typeVariable = "T2"},
               {.name = "output_shape", .option = FormalOption::kOptional, .typeVariable = "T2"}},
    .outputs = {{.name = "output", .typeVariable = "T1"}},
    .attributes = {{.name = "kernel_shape", .type = AttributeType::kInts, .required = true},
                   {.name = "pads", .type = AttributeType::kInts},
                   {.name = "strides", .type = AttributeType::kInts}},
    .infer = inferMaxUnpool,
});

}  // namespace
}  // namespace rota::op
