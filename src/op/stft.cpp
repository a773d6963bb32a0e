// SPDX-License-Identifier: Apache-2.0
// STFT. Tested by src/op/signal_test.cpp and the node cases of tests/conformance.
#include <utility>

#include "core/check.h"
#include "op/signal_common.h"

namespace rota::op {
namespace {

// Length of a frame: input 3, or the window, or the whole signal.
Result<std::optional<Size>> stftFrameLength(InferContext& ctx) {
  if (ctx.hasInput(3)) return scalarContents(ctx, 3, SizeRange{.lo = 1});
  if (!ctx.hasInput(2)) return std::optional<Size>(ctx.inputShape(0).dims[1]);
  if (!ctx.inputShape(2).known) return std::optional<Size>();
  if (ctx.inputShape(2).rank() != 1) {
    return ctx.error(ErrorCode::kShapeMismatch, "'window' must be a vector", "rank 1",
                     "rank " + std::to_string(ctx.inputShape(2).rank()));
  }
  return std::optional<Size>(ctx.inputShape(2).dims[0]);
}

Status inferStft(InferContext& ctx) {
  const ir::Shape& signal = ctx.inputShape(0);
  if (!signal.known) {
    ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::unknown());
    return Status::ok();
  }
  if (signal.rank() != 3) {
    return ctx.error(ErrorCode::kShapeMismatch, "STFT needs a signal [batch, length, 1 or 2]", "rank 3",
                     "rank " + std::to_string(signal.rank()));
  }
  auto step = scalarContents(ctx, 1, SizeRange{.lo = 1});
  if (!step) return step.status();
  auto frame = stftFrameLength(ctx);
  if (!frame) return frame.status();
  if (!*step || !*frame) {
    ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::unknown());
    return Status::ok();
  }
  if (ctx.hasInput(2) && ctx.hasInput(3) && ctx.inputShape(2).known && ctx.inputShape(2).rank() == 1) {
    ROTA_RETURN_IF_ERROR(
        ctx.requireEqual(ctx.inputShape(2).dims[0], **frame, "the window is as long as a frame"));
  }
  const Size frames = floorDiv(signal.dims[1] - **frame, **step) + 1;
  const Size bins = ctx.attributes().getInt("onesided", 1) != 0 ? floorDiv(**frame, 2) + 1 : **frame;
  ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::of({signal.dims[0], frames, bins, 2}));
  return Status::ok();
}

const Register kRegisterStft(Definition{
    .domain = "",
    .name = "STFT",
    .versions = {17},
    .doc = "The discrete Fourier transforms of the frames of a signal, frame_step apart, each multiplied by "
           "the window. onesided keeps the first half of each "
           "spectrum.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "signal", .typeVariable = "T1"},
               {.name = "frame_step"},
               {.name = "window", .option = FormalOption::kOptional, .typeVariable = "T1"},
               {.name = "frame_length", .option = FormalOption::kOptional}},
    .outputs = {{.name = "output", .typeVariable = "T1"}},
    .attributes = {{.name = "onesided", .type = AttributeType::kInt}},
    .infer = inferStft,
});

}  // namespace
}  // namespace rota::op
