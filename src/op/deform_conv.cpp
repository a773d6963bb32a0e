// SPDX-License-Identifier: Apache-2.0
// DeformConv. Tested by src/ref/deform_conv_test.cpp and the node cases of tests/conformance.
#include "core/check.h"
#include "op/window_common.h"

namespace rota::op {
namespace {

Status inferDeformConv(InferContext& ctx) {
  auto shape = convOutputShape(ctx, 0, 1);
  if (!shape) return shape.status();
  if (shape->known && ctx.inputShape(2).known && ctx.inputShape(2).rank() == shape->rank()) {
    for (std::size_t d = 2; d < shape->rank(); ++d) {
      ROTA_RETURN_IF_ERROR(ctx.requireEqual(ctx.inputShape(2).dims[d], shape->dims[d],
                                            "there is an offset for every output position"));
    }
  }
  ctx.setOutput(0, ctx.inputDtype(0), *std::move(shape));
  return Status::ok();
}

const Register kRegisterDeformConv(Definition{
    .domain = "",
    .name = "DeformConv",
    .versions = {19, 22},
    .doc = "A convolution whose sampling points are moved by offsets and weighted by a mask, read by linear "
           "interpolation between neighbours, zero outside "
           "the image.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "X", .typeVariable = "T"},
               {.name = "W", .typeVariable = "T"},
               {.name = "offset", .typeVariable = "T"},
               {.name = "B", .option = FormalOption::kOptional, .typeVariable = "T"},
               {.name = "mask", .option = FormalOption::kOptional, .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .attributes = {{.name = "dilations", .type = AttributeType::kInts},
                   {.name = "group", .type = AttributeType::kInt},
                   {.name = "kernel_shape", .type = AttributeType::kInts},
                   {.name = "offset_group", .type = AttributeType::kInt},
                   {.name = "pads", .type = AttributeType::kInts},
                   {.name = "strides", .type = AttributeType::kInts}},
    .infer = inferDeformConv,
});

}  // namespace
}  // namespace rota::op
