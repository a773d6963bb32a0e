// SPDX-License-Identifier: Apache-2.0
// SpaceToDepth: blocks of the plane moved into channels.
// Tested by src/op/movement_test.cpp and the node cases of tests/conformance.
#include "op/block_image.h"

namespace rota::op {
namespace {

Status inferSpaceToDepth(InferContext& ctx) {
  return inferBlockImage(
      ctx, "SpaceToDepth needs images whose height and width divide by blocksize",
      "[N, C, H, W] with H and W multiples of blocksize",
      [](const std::vector<Size>& image, std::int64_t block) -> std::optional<std::vector<Size>> {
        if (!mayDivide(image[2], block) || !mayDivide(image[3], block)) return std::nullopt;
        return std::vector<Size>{image[0], image[1] * (block * block), floorDiv(image[2], block),
                                 floorDiv(image[3], block)};
      });
}

const Register kRegisterSpaceToDepth(Definition{
    .name = "SpaceToDepth",
    .versions = {1, 13, 28},
    .doc = "Moves blocks of the plane into channels, the inverse of DepthToSpace. In mode DCR (all there is "
           "before version 28) the place in the block "
           "varies slowest over the channels, in mode CRD fastest.",
    .kind = Kind::kMovement,
    .inputs = {{.name = "input", .typeVariable = "T"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .attributes = {{.name = "blocksize", .type = AttributeType::kInt, .required = true},
                   {.name = "mode", .type = AttributeType::kString}},
    .infer = inferSpaceToDepth,
});

}  // namespace
}  // namespace rota::op
