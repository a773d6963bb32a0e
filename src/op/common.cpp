// SPDX-License-Identifier: Apache-2.0
// Shared parts of inference; see common.h. Tested by src/op/pointwise_test.cpp.
#include "op/common.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/check.h"

namespace rota::op {

Result<std::size_t> normaliseAxis(const InferContext& ctx, std::int64_t axis, std::size_t rank) {
  const auto signedRank = static_cast<std::int64_t>(rank);
  if (axis < -signedRank || axis >= signedRank) {
    return ctx.error(ErrorCode::kBadAttribute, "An axis is outside the tensor",
                     "an axis from " + std::to_string(-signedRank) + " to " + std::to_string(signedRank - 1),
                     std::to_string(axis));
  }
  return static_cast<std::size_t>(axis < 0 ? axis + signedRank : axis);
}

std::optional<std::vector<std::int64_t>> constantInts(const InferContext& ctx, std::size_t i) {
  if (!ctx.hasInput(i)) return std::nullopt;
  if (const Tensor* tensor = ctx.constant(i)) {
    if (!isInteger(tensor->dtype()) && tensor->dtype() != DType::kBool) return std::nullopt;
    return intsOf(tensor->view());
  }
  const auto contents = ctx.contents(i);
  if (!contents) return std::nullopt;
  std::vector<std::int64_t> values;
  values.reserve(contents->size());
  for (const Size& size : *contents) {
    const auto value = size.constant();
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

Axes axesOf(const InferContext& ctx, std::size_t input, std::string_view name) {
  if (const auto* attribute = ctx.attributes().getInts(name)) return {true, true, *attribute};
  if (!ctx.hasInput(input)) return {false, true, {}};
  if (auto values = constantInts(ctx, input)) return {true, true, std::move(*values)};
  return {true, false, {}};
}

Result<std::vector<std::size_t>> normaliseAxes(const InferContext& ctx, const std::vector<std::int64_t>& axes,
                                               std::size_t rank) {
  std::vector<std::size_t> result;
  result.reserve(axes.size());
  for (const std::int64_t axis : axes) {
    auto normalised = normaliseAxis(ctx, axis, rank);
    if (!normalised) return normalised.status();
    if (std::find(result.begin(), result.end(), *normalised) != result.end()) {
      return ctx.error(ErrorCode::kBadAttribute, "An axis is named twice", "distinct axes",
                       std::to_string(axis));
    }
    result.push_back(*normalised);
  }
  return result;
}

Status inferSameAsFirst(InferContext& ctx) {
  ctx.setOutput(0, ctx.inputDtype(0), ctx.inputShape(0));
  return Status::ok();
}

Status inferRounding(InferContext& ctx) {
  ROTA_RETURN_IF_ERROR(inferSameAsFirst(ctx));
  if (auto contents = ctx.contents(0)) ctx.setContents(0, std::move(*contents));
  return Status::ok();
}

Status inferSameShapeBool(InferContext& ctx) {
  ctx.setOutput(0, DType::kBool, ctx.inputShape(0));
  return Status::ok();
}

Result<ir::Shape> broadcastShape(InferContext& ctx, std::size_t firstInput) {
  std::vector<std::vector<Size>> shapes;
  for (std::size_t i = firstInput; i < ctx.inputCount(); ++i) {
    if (!ctx.hasInput(i)) continue;
    if (!ctx.inputShape(i).known) return ir::Shape::unknown();
    shapes.push_back(ctx.inputShape(i).dims);
  }
  auto dims = ctx.broadcast(shapes);
  if (!dims) return dims.status();
  return ir::Shape::of(std::move(*dims));
}

Status inferBroadcast(InferContext& ctx) {
  auto shape = broadcastShape(ctx);
  if (!shape) return shape.status();
  ctx.setOutput(0, ctx.inputDtype(0), std::move(*shape));
  return Status::ok();
}

Status inferBroadcastBool(InferContext& ctx) {
  auto shape = broadcastShape(ctx);
  if (!shape) return shape.status();
  ctx.setOutput(0, DType::kBool, std::move(*shape));
  return Status::ok();
}

Status requireBroadcastTo(InferContext& ctx, std::size_t i, std::size_t target) {
  if (!ctx.inputShape(i).known || !ctx.inputShape(target).known) return Status::ok();
  const std::vector<Size> wanted = ctx.inputShape(target).dims;
  const std::vector<std::vector<Size>> shapes{ctx.inputShape(i).dims, wanted};
  auto dims = ctx.broadcast(shapes);
  if (!dims) return dims.status();
  if (dims->size() != wanted.size()) {
    return ctx.error(ErrorCode::kShapeMismatch,
                     "Input " + std::to_string(i) + " does not broadcast to input " + std::to_string(target),
                     "rank at most " + std::to_string(wanted.size()), "rank " + std::to_string(dims->size()));
  }
  for (std::size_t d = 0; d < wanted.size(); ++d) {
    ROTA_RETURN_IF_ERROR(
        ctx.requireEqual((*dims)[d], wanted[d],
                         "input " + std::to_string(i) + " broadcasts to input " + std::to_string(target)));
  }
  return Status::ok();
}

Status requireSameShape(InferContext& ctx, std::size_t a, std::size_t b) {
  if (!ctx.inputShape(a).known || !ctx.inputShape(b).known) return Status::ok();
  const std::vector<Size> first = ctx.inputShape(a).dims;
  const std::vector<Size> second = ctx.inputShape(b).dims;
  const std::string names = "inputs " + std::to_string(a) + " and " + std::to_string(b);
  if (first.size() != second.size()) {
    return ctx.error(ErrorCode::kShapeMismatch, "The shapes of " + names + " differ", "equal ranks",
                     std::to_string(first.size()) + " and " + std::to_string(second.size()));
  }
  for (std::size_t d = 0; d < first.size(); ++d) {
    ROTA_RETURN_IF_ERROR(ctx.requireEqual(first[d], second[d], names + " have the same shape"));
  }
  return Status::ok();
}

Status requireSingleElement(InferContext& ctx, std::size_t i) {
  if (!ctx.inputShape(i).known) return Status::ok();
  return ctx.requireEqual(product(ctx.inputShape(i).dims), 1, "input " + std::to_string(i) + " is a scalar");
}

Result<DType> dtypeAttribute(const InferContext& ctx, std::string_view name, DType fallback) {
  if (!ctx.attributes().has(name)) return fallback;
  const std::int64_t number = ctx.attributes().getInt(name);
  const bool inRange = number > 0 && number < 1000;
  const DType dtype = inRange ? dtypeFromOnnx(static_cast<int>(number)) : DType::kUndefined;
  if (dtype == DType::kUndefined) {
    return ctx.error(ErrorCode::kBadAttribute, "Attribute '" + std::string(name) + "' names no element type",
                     "a TensorProto.DataType number", std::to_string(number));
  }
  return dtype;
}

namespace {

bool isVectorOrScalar(const ir::Shape& shape) { return shape.known && shape.rank() <= 1; }

/// Contents of input `i`; of floating-point constants where all elements are whole numbers (a size times 2.0 is a size).
std::optional<std::vector<Size>> wholeContents(const InferContext& ctx, std::size_t i) {
  if (auto contents = ctx.contents(i)) return contents;
  const Tensor* tensor = ctx.constant(i);
  if (tensor == nullptr || !isFloat(tensor->dtype()) || tensor->count() > 64) return std::nullopt;
  std::vector<Size> result;
  for (std::int64_t k = 0; k < tensor->count(); ++k) {
    const double value = realAt(tensor->view(), k);
    if (!(std::fabs(value) < 0x1p31) || value != std::floor(value)) return std::nullopt;
    result.emplace_back(static_cast<std::int64_t>(value));
  }
  return result;
}

}  // namespace

void propagateElementwise(InferContext& ctx,
                          std::optional<Size> (*f)(InferContext& ctx, std::span<const Size> operands)) {
  std::vector<std::vector<Size>> inputs;
  std::size_t count = 1;
  for (std::size_t i = 0; i < ctx.inputCount(); ++i) {
    if (!ctx.hasInput(i) || !isVectorOrScalar(ctx.inputShape(i))) return;
    auto contents = wholeContents(ctx, i);
    if (!contents) return;
    if (contents->size() != 1) {
      if (count != 1 && contents->size() != count) return;
      count = contents->size();
    }
    inputs.push_back(std::move(*contents));
  }
  std::vector<Size> result;
  std::vector<Size> operands(inputs.size());
  for (std::size_t element = 0; element < count; ++element) {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      operands[i] = inputs[i][inputs[i].size() == 1 ? 0 : element];
    const auto value = f(ctx, operands);
    if (!value || !value->isValid()) return;
    result.push_back(*value);
  }
  ctx.setContents(0, std::move(result));
}

void propagateBinary(InferContext& ctx, std::optional<Size> (*f)(InferContext& ctx, Size a, Size b)) {
  if (!isVectorOrScalar(ctx.inputShape(0)) || !isVectorOrScalar(ctx.inputShape(1))) return;
  const auto a = ctx.contents(0);
  if (!a) return;
  const auto b = ctx.contents(1);
  if (!b) return;
  if (a->size() != b->size() && a->size() != 1 && b->size() != 1) return;
  const std::size_t count = a->size() == 1 ? b->size() : a->size();
  std::vector<Size> result;
  result.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = f(ctx, (*a)[a->size() == 1 ? 0 : i], (*b)[b->size() == 1 ? 0 : i]);
    if (!value || !value->isValid()) return;
    result.push_back(*value);
  }
  ctx.setContents(0, std::move(result));
}

std::optional<Size> compareSizes(InferContext& ctx, Size a, Size b, Relation relation) {
  const Size difference = ctx.sizes().resolve(a) - ctx.sizes().resolve(b);
  if (!difference.isValid()) return std::nullopt;
  const SizeRange range = ctx.sizes().range(difference);
  const bool hasUpper = range.hi != std::numeric_limits<std::int64_t>::max();
  switch (relation) {
    case Relation::kEqual:
      if (difference.is(0)) return Size(1);
      if (range.lo > 0 || (hasUpper && range.hi < 0)) return Size{};
      return std::nullopt;
    case Relation::kLess:
      if (hasUpper && range.hi < 0) return Size(1);
      if (range.lo >= 0) return Size{};
      return std::nullopt;
    case Relation::kLessEqual:
      if (hasUpper && range.hi <= 0) return Size(1);
      if (range.lo > 0) return Size{};
      return std::nullopt;
  }
  return std::nullopt;
}

void propagateUnary(InferContext& ctx, std::optional<Size> (*f)(InferContext& ctx, Size a)) {
  const auto a = ctx.contents(0);
  if (!a) return;
  std::vector<Size> result;
  result.reserve(a->size());
  for (const Size& size : *a) {
    const auto value = f(ctx, size);
    if (!value || !value->isValid()) return;
    result.push_back(*value);
  }
  ctx.setContents(0, std::move(result));
}

ExpressionBuilder::Ref ExpressionBuilder::append(ScalarInstruction instruction) {
  CHECK(code_.size() < 0xffff);
  code_.push_back(instruction);
  return static_cast<Ref>(code_.size() - 1);
}

std::optional<ScalarExpression> unaryExpression(ScalarOp op) {
  ExpressionBuilder e;
  e.apply(op, e.input(0));
  return e.take();
}

std::optional<ScalarExpression> binaryExpression(ScalarOp op) {
  ExpressionBuilder e;
  const auto a = e.input(0);
  const auto b = e.input(1);
  e.apply(op, a, b);
  return e.take();
}

std::optional<ScalarExpression> foldExpression(const ir::Node& node, ScalarOp op) {
  ExpressionBuilder e;
  auto result = e.input(0);
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    const auto next = e.input(static_cast<std::uint16_t>(i));
    result = e.apply(op, result, next);
  }
  return e.take();
}

}  // namespace rota::op
