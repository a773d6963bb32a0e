// SPDX-License-Identifier: Apache-2.0
// Loop: a block run a number of times or while a condition holds. A condition inside is known to be true, which lets a for loop, whose body passes
// its condition on, have outputs of exactly as many rows as there are turns.
// Tested by src/op/control_flow_test.cpp and the node cases of tests/conformance.
#include <algorithm>
#include <limits>

#include "op/control_flow_common.h"
#include "op/describe.h"

namespace rota::op {
namespace {

bool isConstantTrue(const std::optional<std::vector<Size>>& contents) {
  return contents && contents->size() == 1 && contents->front().isConstant() && !contents->front().is(0);
}

/// The number of turns: exact for a for loop, else what the data says, bounded by the trip count.
Size turnsOf(InferContext& ctx, const ir::Graph& body) {
  const bool always =
      (!ctx.hasInput(1) || isConstantTrue(ctx.contents(1))) && isConstantTrue(body.outputs()[0]->contents);
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  if (!ctx.hasInput(0)) return ctx.dataDependent("turns", {});
  const auto trips = always ? ctx.contentsOrResolve(0, {-most, most}) : ctx.contents(0);
  if (!trips || trips->size() != 1) return ctx.dataDependent("turns", {});
  const Size turns = largerOf(ctx, trips->front(), 0);
  return always ? turns : ctx.dataDependent("turns", {0, ctx.sizes().range(turns).hi});
}

Status inferLoop(InferContext& ctx) {
  const std::size_t carried = ctx.inputCount() < 2 ? 0 : ctx.inputCount() - 2;
  auto block = requireBlock(ctx, "body", carried + 2, carried + 1);
  if (!block) return block.status();
  ir::Graph& body = **block;
  if (ctx.node().outputs.size() > body.outputs().size() - 1) {
    return ctx.error(ErrorCode::kBadGraph, "A Loop has more outputs than its body computes",
                     "at most " + std::to_string(body.outputs().size() - 1),
                     std::to_string(ctx.node().outputs.size()));
  }
  if (ctx.hasInput(0) && ctx.inputDtype(0) != DType::kInt64) {
    return ctx.error(ErrorCode::kTypeMismatch, "The trip count of a Loop is an integer", "int64",
                     describeType(ctx.inputType(0), ctx.sizes()));
  }
  if (ctx.hasInput(1) && ctx.inputDtype(1) != DType::kBool) {
    return ctx.error(ErrorCode::kTypeMismatch, "The condition of a Loop is boolean", "bool",
                     describeType(ctx.inputType(1), ctx.sizes()));
  }
  std::vector<ir::Type> types;
  for (std::size_t i = 0; i < carried; ++i) {
    if (!ctx.hasInput(i + 2))
      return ctx.error(ErrorCode::kMissingInput, "An initial value of a Loop is left out", "a value", "none");
    types.push_back(ctx.inputType(i + 2));
  }
  const ir::Shape scalar = ir::Shape::of({});
  setBlockInputs(body, 0,
                 {{.dtype = DType::kInt64, .shape = scalar}, {.dtype = DType::kBool, .shape = scalar}});
  body.inputs()[1]->contents.emplace(1, Size(1));
  ROTA_RETURN_IF_ERROR(inferCarried(ctx, body, 2, 1, types));
  if (const ir::Type& next = body.outputs()[0]->type;
      next.kind != ir::TypeKind::kTensor || next.dtype != DType::kBool) {
    return ctx.error(ErrorCode::kTypeMismatch, "The first output of a Loop's body is its condition", "bool",
                     describeType(next, ctx.sizes()));
  }

  auto inside = symbolsInside(body);
  for (const auto& [name, symbol] : ctx.node().foundSizes) {
    if (name.starts_with("carried")) inside.push_back(symbol);
  }
  std::sort(inside.begin(), inside.end());
  std::optional<Size> turns;
  for (std::size_t i = 0; i < ctx.node().outputs.size(); ++i) {
    if (!ctx.hasOutput(i)) continue;
    const std::string name = "output" + std::to_string(i);
    const ir::Type& result = body.outputs()[i + 1]->type;
    if (i < carried) {
      ir::Type type = types[i];
      if (result.kind != type.kind) type = result;
      ctx.setOutputType(i, outsideType(ctx, std::move(type), inside, name));
      continue;
    }
    if (result.kind != ir::TypeKind::kTensor) {
      return ctx.error(ErrorCode::kTypeMismatch, "What a Loop collects must be tensors", "a tensor",
                       "a sequence or an optional");
    }
    ir::Type type = result;
    if (!turns) turns = turnsOf(ctx, body);
    type = outsideType(ctx, std::move(type), inside, name);
    if (type.shape.known) type.shape.dims.insert(type.shape.dims.begin(), *turns);
    ctx.setOutputType(i, std::move(type));
  }
  return Status::ok();
}

const Register kRegisterLoop(Definition{
    .name = "Loop",
    .versions = {1, 11, 13, 16, 19, 21, 23, 24, 25},
    .doc = "Runs its body as often as the trip count says and while the condition holds; both may be left "
           "out. The body gets the number of the turn, the "
           "condition and the carried values and returns the next ones; further results are collected, one "
           "row a turn.",
    .kind = Kind::kControlFlow,
    .inputs = {{.name = "M", .option = FormalOption::kOptional},
               {.name = "cond", .option = FormalOption::kOptional},
               {.name = "v_initial", .option = FormalOption::kVariadic}},
    .outputs = {{.name = "v_final_and_scan_outputs", .option = FormalOption::kVariadic}},
    .attributes = {{.name = "body", .type = AttributeType::kGraph, .required = true}},
    .infer = inferLoop,
});

}  // namespace
}  // namespace rota::op
