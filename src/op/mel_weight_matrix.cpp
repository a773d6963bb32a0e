// SPDX-License-Identifier: Apache-2.0
// MelWeightMatrix. Tested by src/op/signal_test.cpp and the node cases of tests/conformance.
#include "op/signal_common.h"

namespace rota::op {
namespace {

Status inferMelWeightMatrix(InferContext& ctx) {
  auto dtype = dtypeAttribute(ctx, "output_datatype", DType::kFloat32);
  if (!dtype) return dtype.status();
  auto bands = scalarContents(ctx, 0, SizeRange{});
  if (!bands) return bands.status();
  auto length = scalarContents(ctx, 1, SizeRange{});
  if (!length) return length.status();
  ctx.setOutput(
      0, *dtype,
      *bands && *length ? ir::Shape::of({floorDiv(**length, 2) + 1, **bands}) : ir::Shape::unknown());
  return Status::ok();
}

const Register kRegisterMelWeightMatrix(Definition{
    .domain = "",
    .name = "MelWeightMatrix",
    .versions = {17},
    .doc = "The matrix that turns the bins of a one-sided spectrum into bands of the mel scale: overlapping "
           "triangles with a peak of 1.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "num_mel_bins", .typeVariable = "T1"},
               {.name = "dft_length", .typeVariable = "T1"},
               {.name = "sample_rate", .typeVariable = "T1"},
               {.name = "lower_edge_hertz", .typeVariable = "T2"},
               {.name = "upper_edge_hertz", .typeVariable = "T2"}},
    .outputs = {{.name = "output"}},
    .attributes = {{.name = "output_datatype", .type = AttributeType::kInt}},
    .infer = inferMelWeightMatrix,
});

}  // namespace
}  // namespace rota::op
