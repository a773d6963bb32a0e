// SPDX-License-Identifier: Apache-2.0
// DepthToSpace: channels moved into blocks of the plane.
// Tested by src/op/movement_test.cpp and the node cases of tests/conformance.
#include "op/block_image.h"

namespace rota::op {
namespace {

Status inferDepthToSpace(InferContext& ctx) {
  return inferBlockImage(
      ctx, "DepthToSpace needs images whose channels divide by blocksize squared",
      "[N, C, H, W] with C a multiple of blocksize squared",
      [](const std::vector<Size>& image, std::int64_t block) -> std::optional<std::vector<Size>> {
        if (!mayDivide(image[1], block * block)) return std::nullopt;
        return std::vector<Size>{image[0], floorDiv(image[1], block * block), image[2] * block,
                                 image[3] * block};
      });
}

const Register kRegisterDepthToSpace(Definition{
    .name = "DepthToSpace",
    .versions = {1, 11, 13, 28},
    .doc = "Moves groups of blocksize squared channels into blocks of the plane. In mode DCR the place in "
           "the block varies slowest over the channels, in "
           "mode CRD fastest.",
    .kind = Kind::kMovement,
    .inputs = {{.name = "input", .typeVariable = "T"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .attributes = {{.name = "blocksize", .type = AttributeType::kInt, .required = true},
                   {.name = "mode", .type = AttributeType::kString}},
    .infer = inferDepthToSpace,
});

}  // namespace
}  // namespace rota::op
