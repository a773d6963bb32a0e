// SPDX-License-Identifier: Apache-2.0
// What the inference functions of many operators share: axes, same-shape and broadcasting operators, contents of small integer tensors,
// and the building of scalar expressions. A family of operators keeps its own helpers in `<family>_common.h`.
// All functions take sizes as symbolic; constants fall out of that. Inputs of unknown rank give outputs of unknown rank, never an error.
// Tested by src/op/pointwise_test.cpp and the tests of the operators that use it.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "op/definition.h"

namespace rota::op {

// --- Axes.

/// `axis` in [-rank, rank) as [0, rank); an error that names the node otherwise.
Result<std::size_t> normaliseAxis(const InferContext& ctx, std::int64_t axis, std::size_t rank);

/// Axes that a node names in attribute `axes` or in an input.
struct Axes {
  bool given = false;                ///< The attribute or the input is there (it may be empty).
  bool known = false;                ///< The values are known; always so when not given.
  std::vector<std::int64_t> values;  ///< As written, not normalised.
};

/// Axes from attribute `name`, or else from the contents of input `input`.
Axes axesOf(const InferContext& ctx, std::size_t input, std::string_view name = "axes");

/// Axes in [0, rank), in the order given; an error for one out of range or named twice.
Result<std::vector<std::size_t>> normaliseAxes(const InferContext& ctx, const std::vector<std::int64_t>& axes,
                                               std::size_t rank);

// --- Whole inference functions, to be named in definitions.

/// Output 0 has dtype and shape of input 0.
Status inferSameAsFirst(InferContext& ctx);
/// The same for operators that leave whole numbers as they are: contents pass through.
Status inferRounding(InferContext& ctx);
/// Output 0 is bool with the shape of input 0.
Status inferSameShapeBool(InferContext& ctx);
/// Output 0 has the dtype of input 0 and the broadcast shape of all inputs.
Status inferBroadcast(InferContext& ctx);
/// Output 0 is bool with the broadcast shape of all inputs.
Status inferBroadcastBool(InferContext& ctx);

// --- Parts of inference functions.

/// The broadcast shape of the given inputs; unknown when the rank of one of them is.
Result<ir::Shape> broadcastShape(InferContext& ctx, std::size_t firstInput = 0);
/// Constant elements of integer input `i`: from the constant or from contents that are all constant; else nothing.
std::optional<std::vector<std::int64_t>> constantInts(const InferContext& ctx, std::size_t i);
/// The dtype named by the ONNX number in attribute `name`, or `fallback` when the attribute is absent; an error for a number that is no type.
Result<DType> dtypeAttribute(const InferContext& ctx, std::string_view name, DType fallback);
/// An error unless input `i` broadcasts to the shape of input `target` (it may not make it larger).
Status requireBroadcastTo(InferContext& ctx, std::size_t i, std::size_t target);
/// An error unless inputs `a` and `b` have the same shape.
Status requireSameShape(InferContext& ctx, std::size_t a, std::size_t b);
/// An error unless input `i` has one element.
Status requireSingleElement(InferContext& ctx, std::size_t i);

// --- Contents of integer and boolean tensors under elementwise operators (and of floating-point ones that hold whole numbers, as sizes do on their
// way through Cast, Mul, Floor, Cast). When the contents of all inputs are known, their ranks are at most 1
// and `f` gives a valid size for every element, output 0 gets these contents.

void propagateElementwise(InferContext& ctx,
                          std::optional<Size> (*f)(InferContext& ctx, std::span<const Size> operands));
void propagateBinary(InferContext& ctx, std::optional<Size> (*f)(InferContext& ctx, Size a, Size b));
/// For one input of any rank.
void propagateUnary(InferContext& ctx, std::optional<Size> (*f)(InferContext& ctx, Size a));

enum class Relation : std::uint8_t { kEqual, kLess, kLessEqual };
/// 1 or 0 where `relation` holds for every or for no value of the symbols, else nothing.
std::optional<Size> compareSizes(InferContext& ctx, Size a, Size b, Relation relation);

// --- Scalar expressions.

/// Builds a straight-line scalar program; every call appends one instruction and returns its index. The last one is the result.
class ExpressionBuilder {
 public:
  using Ref = std::uint16_t;
  Ref input(std::uint16_t number) { return append({.op = ScalarOp::kInput, .a = number}); }
  Ref constant(double value) { return append({.op = ScalarOp::kConstant, .constant = value}); }
  Ref apply(ScalarOp op, Ref a, Ref b = 0, Ref c = 0) { return append({.op = op, .a = a, .b = b, .c = c}); }
  ScalarExpression take() { return std::move(code_); }

 private:
  Ref append(ScalarInstruction instruction);
  ScalarExpression code_;
};

/// `op` of input 0.
std::optional<ScalarExpression> unaryExpression(ScalarOp op);
/// `op` of inputs 0 and 1.
std::optional<ScalarExpression> binaryExpression(ScalarOp op);
/// `op` folded over all inputs of `node` from left to right; a single input is passed through.
std::optional<ScalarExpression> foldExpression(const ir::Node& node, ScalarOp op);

}  // namespace rota::op
