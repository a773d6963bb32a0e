// SPDX-License-Identifier: Apache-2.0
// ImageDecoder: known, and refused. Decoding of compressed images belongs in front of the network.
// Tested by src/op/roi_test.cpp.
#include "op/movement_common.h"

namespace rota::op {
namespace {

Status inferImageDecoder(InferContext& ctx) {
  return ctx.error(ErrorCode::kUnsupportedOperator,
                   "Compressed images are not decoded inside an engine: decode them in the application and "
                   "pass the pixels",
                   "an input of pixels", "ImageDecoder of " + shapeText(ctx, ctx.inputShape(0)) + " bytes");
}

const Register kRegisterImageDecoder(Definition{
    .name = "ImageDecoder",
    .versions = {20},
    .doc = "Decodes a compressed image (PNG, JPEG, ...). Rota refuses it: decode images in the application "
           "and pass the pixels.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "encoded_stream"}},
    .outputs = {{.name = "image"}},
    .attributes = {{.name = "pixel_format", .type = AttributeType::kString}},
    .infer = inferImageDecoder,
});

}  // namespace
}  // namespace rota::op
