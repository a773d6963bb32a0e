// SPDX-License-Identifier: Apache-2.0
// If: one of two blocks. When the condition is known only the block that is taken is inferred: the other may be impossible, as a Squeeze of an axis
// that is not 1.
// Tested by src/op/control_flow_test.cpp and the node cases of tests/conformance.
#include "op/control_flow_common.h"
#include "op/describe.h"

namespace rota::op {
namespace {

/// The condition, when it is known while building.
std::optional<bool> knownCondition(InferContext& ctx) {
  const auto condition = constantInts(ctx, 0);
  if (!condition || condition->size() != 1) return std::nullopt;
  return condition->front() != 0;
}

void passBlockContents(InferContext& ctx, std::size_t i, const ir::Value& value,
                       const std::vector<SymbolId>& inside) {
  if (!value.contents) return;
  for (const Size& size : *value.contents) {
    if (!size.isValid() || dependsOn(ctx, size, inside)) return;
  }
  ctx.setContents(i, *value.contents);
}

Status inferTakenBranch(InferContext& ctx, ir::Graph& block) {
  ROTA_RETURN_IF_ERROR(ctx.inferBlock(block));
  const auto inside = symbolsInside(block);
  for (std::size_t i = 0; i < ctx.node().outputs.size(); ++i) {
    if (!ctx.hasOutput(i)) continue;
    const ir::Value& value = *block.outputs()[i];
    ctx.setOutputType(i, outsideType(ctx, value.type, inside, "output" + std::to_string(i)));
    passBlockContents(ctx, i, value, inside);
  }
  return Status::ok();
}

Status inferIf(InferContext& ctx) {
  const std::size_t outputs = ctx.node().outputs.size();
  auto thenBlock = requireBlock(ctx, "then_branch", 0, outputs);
  auto elseBlock = requireBlock(ctx, "else_branch", 0, outputs);
  if (!thenBlock) return thenBlock.status();
  if (!elseBlock) return elseBlock.status();
  if (ctx.inputDtype(0) != DType::kBool) {
    return ctx.error(ErrorCode::kTypeMismatch, "The condition of an If is boolean", "bool",
                     describeType(ctx.inputType(0), ctx.sizes()));
  }
  if (const auto condition = knownCondition(ctx))
    return inferTakenBranch(ctx, *condition ? **thenBlock : **elseBlock);
  ROTA_RETURN_IF_ERROR(ctx.inferBlock(**thenBlock));
  ROTA_RETURN_IF_ERROR(ctx.inferBlock(**elseBlock));
  const auto insideThen = symbolsInside(**thenBlock);
  const auto insideElse = symbolsInside(**elseBlock);
  for (std::size_t i = 0; i < outputs; ++i) {
    if (!ctx.hasOutput(i)) continue;
    const std::string name = "output" + std::to_string(i);
    const ir::Value& a = *(*thenBlock)->outputs()[i];
    const ir::Value& b = *(*elseBlock)->outputs()[i];
    auto type = coveringType(ctx, outsideType(ctx, a.type, insideThen, name),
                             outsideType(ctx, b.type, insideElse, name), name);
    if (!type) return type.status();
    ctx.setOutputType(i, std::move(*type));
    if (a.contents && a.contents == b.contents) passBlockContents(ctx, i, a, insideThen);
  }
  return Status::ok();
}

const Register kRegisterIf(Definition{
    .name = "If",
    .versions = {1, 11, 13, 16, 19, 21, 23, 24, 25},
    .doc = "Runs the then or the else block, whichever the condition says, and returns its results. The "
           "blocks may return different shapes; then the "
           "size, or the rank, is known only at run time.",
    .kind = Kind::kControlFlow,
    .inputs = {{.name = "cond"}},
    .outputs = {{.name = "outputs", .option = FormalOption::kVariadic}},
    .attributes = {{.name = "then_branch", .type = AttributeType::kGraph, .required = true},
                   {.name = "else_branch", .type = AttributeType::kGraph, .required = true}},
    .infer = inferIf,
});

}  // namespace
}  // namespace rota::op
