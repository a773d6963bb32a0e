// SPDX-License-Identifier: Apache-2.0
// DFT. Tested by src/op/signal_test.cpp and the node cases of tests/conformance.
#include <utility>

#include "op/signal_common.h"

namespace rota::op {
namespace {

// The axis: an attribute up to operator set 19, an input since 20.
Result<std::optional<std::int64_t>> dftAxis(InferContext& ctx) {
  if (ctx.version() < 20) return std::optional<std::int64_t>(ctx.attributes().getInt("axis", 1));
  if (!ctx.hasInput(2)) return std::optional<std::int64_t>(-2);
  const auto values = constantInts(ctx, 2);
  if (!values) return std::optional<std::int64_t>();
  if (values->size() != 1)
    return ctx.error(ErrorCode::kShapeMismatch, "'axis' must be a scalar", "one element",
                     std::to_string(values->size()));
  return std::optional<std::int64_t>(values->front());
}

Status inferDft(InferContext& ctx) {
  const ir::Shape& x = ctx.inputShape(0);
  auto named = dftAxis(ctx);
  if (!named) return named.status();
  if (!x.known || !*named) {
    ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::unknown());
    return Status::ok();
  }
  auto axis = normaliseAxis(ctx, **named, x.rank());
  if (!axis) return axis.status();
  if (*axis + 1 == x.rank()) {
    return ctx.error(ErrorCode::kBadAttribute,
                     "The last axis holds real and imaginary parts and cannot be transformed", "another axis",
                     std::to_string(**named));
  }
  const bool inverse = ctx.attributes().getInt("inverse") != 0;
  const bool oneSided = ctx.attributes().getInt("onesided") != 0;
  Size length = inverse && oneSided ? (x.dims[*axis] - 1) * Size(2) : x.dims[*axis];
  if (ctx.hasInput(1)) {
    auto given = scalarContents(ctx, 1, SizeRange{.lo = 1});
    if (!given) return given.status();
    if (!*given) {
      ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::unknown());
      return Status::ok();
    }
    length = **given;
  }
  std::vector<Size> dims = x.dims;
  dims[*axis] = oneSided && !inverse ? floorDiv(length, 2) + 1 : length;
  dims.back() = inverse && oneSided ? 1 : 2;
  ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::of(std::move(dims)));
  return Status::ok();
}

const Register kRegisterDft(Definition{
    .domain = "",
    .name = "DFT",
    .versions = {17, 20},
    .doc = "The discrete Fourier transform along one axis of a real or complex signal (last axis 1 or 2), "
           "cut or padded to dft_length. onesided keeps the "
           "first half of the spectrum of a real signal, or makes a real signal from it when inverse is set; "
           "the inverse divides by the length.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "input", .typeVariable = "T1"},
               {.name = "dft_length", .option = FormalOption::kOptional},
               {.name = "axis", .option = FormalOption::kOptional}},
    .outputs = {{.name = "output", .typeVariable = "T1"}},
    .attributes = {{.name = "axis", .type = AttributeType::kInt},
                   {.name = "inverse", .type = AttributeType::kInt},
                   {.name = "onesided", .type = AttributeType::kInt}},
    .infer = inferDft,
});

}  // namespace
}  // namespace rota::op
