// SPDX-License-Identifier: Apache-2.0
// ConvTranspose. Tested by src/op/window_test.cpp and the node cases of tests/conformance.
#include <algorithm>
#include <utility>

#include "core/check.h"
#include "op/window_common.h"

namespace rota::op {
namespace {

Result<std::vector<Size>> transposedSpatial(InferContext& ctx, std::span<const Size> in,
                                            std::span<const Size> kernel) {
  const std::size_t rank = in.size();
  auto strides = windowAttribute(ctx, "strides", rank, 1, 1);
  if (!strides) return strides.status();
  auto dilations = windowAttribute(ctx, "dilations", rank, 1, 1);
  if (!dilations) return dilations.status();
  auto outputPadding = windowAttribute(ctx, "output_padding", rank, 0, 0);
  if (!outputPadding) return outputPadding.status();
  auto autoPad = autoPadOf(ctx);
  if (!autoPad) return autoPad.status();

  if (const auto* given = ctx.attributes().getInts("output_shape"); given != nullptr && !given->empty()) {
    // Some exporters write all axes; the spatial ones are the last.
    if ((given->size() != rank && given->size() != rank + 2) ||
        *std::min_element(given->begin(), given->end()) < 0) {
      return ctx.error(ErrorCode::kBadAttribute, "Attribute 'output_shape' does not fit the input",
                       "one size for each of " + std::to_string(rank) + " spatial axes",
                       std::to_string(given->size()) + " values");
    }
    return std::vector<Size>(given->end() - static_cast<std::ptrdiff_t>(rank), given->end());
  }
  std::vector<std::int64_t> pads(2 * rank, 0);
  if (*autoPad == "NOTSET") {
    auto given = windowAttribute(ctx, "pads", 2 * rank, 0, 0);
    if (!given) return given.status();
    pads = *std::move(given);
  }
  std::vector<Size> out;
  for (std::size_t d = 0; d < rank; ++d) {
    const Size stride = (*strides)[d];
    if (*autoPad == "SAME_UPPER" || *autoPad == "SAME_LOWER") {
      out.push_back(in[d] * stride);
      continue;
    }
    const Size size = stride * (in[d] - 1) + (*outputPadding)[d] + (kernel[d] - 1) * Size((*dilations)[d]) +
                      1 - pads[d] - pads[rank + d];
    if (const auto value = size.constant(); value && *value < 0) {
      return ctx.error(ErrorCode::kShapeMismatch, "The pads cut away more than the whole result",
                       "an output size of at least 0", std::to_string(*value));
    }
    out.push_back(size);
  }
  return out;
}

Status inferConvTranspose(InferContext& ctx) {
  const ir::Shape& image = ctx.inputShape(0);
  const ir::Shape& filters = ctx.inputShape(1);
  if (!image.known || !filters.known) {
    ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::unknown());
    return Status::ok();
  }
  if (image.rank() < 3 || filters.rank() != image.rank()) {
    return ctx.error(ErrorCode::kShapeMismatch, "Input and filters must have the same rank of at least 3",
                     "X [N, C, …] and W [C, M / group, …]",
                     "ranks " + std::to_string(image.rank()) + " and " + std::to_string(filters.rank()));
  }
  const std::int64_t group = ctx.attributes().getInt("group", 1);
  if (group < 1)
    return ctx.error(ErrorCode::kBadAttribute, "Attribute 'group' is too small", "at least 1",
                     std::to_string(group));
  ROTA_RETURN_IF_ERROR(
      ctx.requireEqual(image.dims[1], filters.dims[0], "X and W have the same number of channels"));
  if (const auto channels = image.dims[1].constant(); channels && *channels % group != 0) {
    return ctx.error(ErrorCode::kShapeMismatch, "The number of channels is not a multiple of the groups",
                     "a multiple of " + std::to_string(group), std::to_string(*channels));
  }
  const std::span<const Size> kernel = std::span(filters.dims).subspan(2);
  auto given = windowAttribute(ctx, "kernel_shape", kernel.size(), 0, 1);
  if (!given) return given.status();
  for (std::size_t d = 0; d < kernel.size(); ++d) {
    if ((*given)[d] == 0) continue;
    ROTA_RETURN_IF_ERROR(
        ctx.requireEqual(kernel[d], Size((*given)[d]), "'kernel_shape' gives the spatial sizes of W"));
  }
  const Size outputs = filters.dims[1] * Size(group);
  if (ctx.hasInput(2) && ctx.inputShape(2).known && ctx.inputShape(2).rank() == 1) {
    ROTA_RETURN_IF_ERROR(ctx.requireEqual(ctx.inputShape(2).dims[0], outputs,
                                          "the bias has one element for each output channel"));
  }
  auto spatial = transposedSpatial(ctx, std::span(image.dims).subspan(2), kernel);
  if (!spatial) return spatial.status();
  std::vector<Size> dims{image.dims[0], outputs};
  dims.insert(dims.end(), spatial->begin(), spatial->end());
  ctx.setOutput(0, ctx.inputDtype(0), ir::Shape::of(std::move(dims)));
  return Status::ok();
}

const Register kRegisterConvTranspose(Definition{
    .domain = "",
    .name = "ConvTranspose",
    .versions = {1, 11, 22},
    .doc = "The transpose of a convolution: every input element spreads the filter over the output, "
           "`strides` apart. `output_shape` or "
           "`auto_pad` fix the output size and derive the pads; `output_padding` adds rows and columns at "
           "the end.",
    .kind = Kind::kContraction,
    .inputs = {{.name = "X", .typeVariable = "T"},
               {.name = "W", .typeVariable = "T"},
               {.name = "B", .option = FormalOption::kOptional, .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .attributes = windowAttributes({{.name = "group", .type = AttributeType::kInt},
                                    {.name = "output_padding", .type = AttributeType::kInts},
                                    {.name = "output_shape", .type = AttributeType::kInts}}),
    .infer = inferConvTranspose,
});

}  // namespace
}  // namespace rota::op
