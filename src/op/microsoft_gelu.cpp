// SPDX-License-Identifier: Apache-2.0
// Gelu, BiasGelu, FastGelu and QuickGelu of com.microsoft. Tested by src/ref/microsoft_test.cpp and tests/test_microsoft_operators.py.
#include "op/common.h"

namespace rota::op {
namespace {

// x + bias where the bias is given.
ExpressionBuilder::Ref biasedInput(ExpressionBuilder& e, const ir::Node& node) {
  const auto x = e.input(0);
  return node.input(1) == nullptr ? x : e.apply(ScalarOp::kAdd, x, e.input(1));
}

std::optional<ScalarExpression> erfGelu(const ir::Node& node) {
  ExpressionBuilder e;
  const auto x = biasedInput(e, node);
  const auto bell = e.apply(ScalarOp::kErf, e.apply(ScalarOp::kMul, x, e.constant(0.7071067811865476)));
  e.apply(ScalarOp::kMul, e.apply(ScalarOp::kMul, e.constant(0.5), x),
          e.apply(ScalarOp::kAdd, e.constant(1), bell));
  return e.take();
}

std::optional<ScalarExpression> tanhGelu(const ir::Node& node) {
  ExpressionBuilder e;
  const auto x = biasedInput(e, node);
  const auto cube = e.apply(ScalarOp::kMul, x, e.apply(ScalarOp::kMul, x, x));
  const auto inner = e.apply(ScalarOp::kAdd, x, e.apply(ScalarOp::kMul, e.constant(0.044715), cube));
  const auto bell = e.apply(ScalarOp::kTanh, e.apply(ScalarOp::kMul, e.constant(0.7978845608028654), inner));
  e.apply(ScalarOp::kMul, e.apply(ScalarOp::kMul, e.constant(0.5), x),
          e.apply(ScalarOp::kAdd, e.constant(1), bell));
  return e.take();
}

std::optional<ScalarExpression> sigmoidGelu(const ir::Node& node) {
  ExpressionBuilder e;
  const auto x = e.input(0);
  const auto scaled =
      e.apply(ScalarOp::kMul, e.constant(static_cast<double>(node.attributes.getFloat("alpha", 1.702F))), x);
  e.apply(ScalarOp::kMul, x, e.apply(ScalarOp::kSigmoid, scaled));
  return e.take();
}

const Register kRegisterMicrosoftGelu(Definition{
    .domain = "com.microsoft",
    .name = "Gelu",
    .versions = {1},
    .doc = "x / 2 * (1 + erf(x / sqrt 2)).",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "X", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .infer = inferSameAsFirst,
    .expression = erfGelu,
});

const Register kRegisterMicrosoftBiasGelu(Definition{
    .domain = "com.microsoft",
    .name = "BiasGelu",
    .versions = {1},
    .doc = "Gelu of the sum of input and bias.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "A", .typeVariable = "T"}, {.name = "B", .typeVariable = "T"}},
    .outputs = {{.name = "C", .typeVariable = "T"}},
    .infer = inferSameAsFirst,
    .expression = erfGelu,
});

const Register kRegisterMicrosoftFastGelu(Definition{
    .domain = "com.microsoft",
    .name = "FastGelu",
    .versions = {1},
    .doc = "The tanh approximation of Gelu, of the sum of input and bias where there is one.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "X", .typeVariable = "T"},
               {.name = "bias", .option = FormalOption::kOptional, .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .infer = inferSameAsFirst,
    .expression = tanhGelu,
});

const Register kRegisterMicrosoftQuickGelu(Definition{
    .domain = "com.microsoft",
    .name = "QuickGelu",
    .versions = {1},
    .doc = "x * sigmoid(alpha * x), alpha 1.702 by default.",
    .kind = Kind::kPointwise,
    .inputs = {{.name = "X", .typeVariable = "T"}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .attributes = {{.name = "alpha", .type = AttributeType::kFloat}},
    .infer = inferSameAsFirst,
    .expression = sigmoidGelu,
});

}  // namespace
}  // namespace rota::op
