// SPDX-License-Identifier: Apache-2.0
// What an operator is: schema, shape inference, kind, reference binding, documentation. One file an operator (`src/op/<name>.cpp`), which
// registers itself. All versions of an operator share one definition: differences between versions are differences of form (an attribute that
// became an input), which inference and kernel handle by looking at what is given.
//
// `kind` is all that fusion needs; no code anywhere asks for operator names to find out "is it elementwise".
// The reference kernel is found by the same domain and name in rota::ref.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace rota::op {

enum class Kind : std::uint8_t {
  kPointwise,    ///< A scalar expression of broadcast inputs.
  kReduction,    ///< Folds axes.
  kContraction,  ///< Einsum-like, with windows: Conv, MatMul, Gemm.
  kMovement,     ///< An index map: Transpose, Slice, Concat, Gather, Pad.
  kScan,         ///< CumSum, recurrent cells.
  kSort,         ///< TopK, Unique, NonMaxSuppression.
  kOpaque,
  kControlFlow,  ///< If, Loop, Scan.
};

enum class FormalOption : std::uint8_t { kRequired, kOptional, kVariadic };

/// One formal input or output. Formals with the same `typeVariable` have the same dtype ("" = on its own).
struct Formal {
  std::string name{};
  FormalOption option = FormalOption::kRequired;
  std::string typeVariable{};
};

enum class AttributeType : std::uint8_t {
  kInt,
  kFloat,
  kString,
  kTensor,
  kGraph,
  kInts,
  kFloats,
  kStrings,
  kTensors,
  kTypeProto
};

struct AttributeFormal {
  std::string name{};
  AttributeType type = AttributeType::kInt;
  bool required = false;
};

/// What inference sees of a node, and where it puts what it finds. Errors carry the node's name.
class InferContext {
 public:
  virtual ~InferContext() = default;

  virtual const ir::Node& node() const = 0;
  virtual SizeContext& sizes() = 0;
  int version() const { return node().version; }
  const Attributes& attributes() const { return node().attributes; }

  std::size_t inputCount() const { return node().inputs.size(); }
  bool hasInput(std::size_t i) const { return node().input(i) != nullptr; }
  const ir::Type& inputType(std::size_t i) const { return node().input(i)->type; }
  /// Shape of input i; with unknown rank, inference gives unknown outputs.
  const ir::Shape& inputShape(std::size_t i) const { return node().input(i)->type.shape; }
  DType inputDtype(std::size_t i) const { return node().input(i)->type.dtype; }

  /// The tensor, when input i is a constant.
  virtual const Tensor* constant(std::size_t i) const = 0;
  /// Contents of an integer input: constant, symbolic, or unknown.
  virtual std::optional<std::vector<Size>> contents(std::size_t i) const = 0;
  /// Contents of an integer input whose number of elements is known; unknown elements become host-resolved symbols (a sync point). Nothing when
  /// the element count itself is unknown or above 64.
  virtual std::optional<std::vector<Size>> contentsOrResolve(std::size_t i, SizeRange range) = 0;
  /// A size that the kernel finds (decision N4), with its bound.
  virtual Size dataDependent(std::string_view name, SizeRange range) = 0;

  virtual bool hasOutput(std::size_t i) const = 0;
  virtual void setOutput(std::size_t i, DType dtype, ir::Shape shape) = 0;
  virtual void setOutputType(std::size_t i, ir::Type type) = 0;
  virtual void setContents(std::size_t i, std::vector<Size> contents) = 0;

  /// Sizes that must agree: unified, guarded, or an error naming the node.
  virtual Status requireEqual(Size a, Size b, std::string reason) = 0;
  /// NumPy broadcasting of two or more shapes, with guards where sizes are symbolic.
  virtual Result<std::vector<Size>> broadcast(std::span<const std::vector<Size>> shapes) = 0;

  /// An error about this node.
  Status error(ErrorCode code, std::string message, std::string expected = {}, std::string found = {}) const;
  /// Types and shapes of the blocks of a control-flow node: infers `block` given the types of its inputs.
  virtual Status inferBlock(ir::Graph& block) = 0;
};

using InferFunction = Status (*)(InferContext&);

/// Scalar operations of pointwise expressions. NaN goes through kMin and kMax as in numpy.
enum class ScalarOp : std::uint8_t {
  kInput,
  kConstant,
  kAdd,
  kSub,
  kMul,
  kDiv,
  kPow,
  kMin,
  kMax,
  kMod,
  kNeg,
  kAbs,
  kSign,
  kFloor,
  kCeil,
  kRound,
  kReciprocal,
  kSqrt,
  kExp,
  kLog,
  kErf,
  kTanh,
  kSigmoid,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kAsinh,
  kAcosh,
  kAtanh,
  kSoftplus,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kEqual,
  kAnd,
  kOr,
  kXor,
  kNot,
  kIsNan,
  kIsInf,
  kSelect,
};

struct ScalarInstruction {
  ScalarOp op = ScalarOp::kInput;
  std::uint16_t a = 0;  ///< Operand: index of an earlier instruction; for kInput the input's number.
  std::uint16_t b = 0;
  std::uint16_t c = 0;  ///< kSelect: a ? b : c.
  double constant = 0;
};

/// A straight-line scalar program over the broadcast inputs; the last instruction is the result.
using ScalarExpression = std::vector<ScalarInstruction>;

struct Definition {
  std::string domain{};
  std::string name{};
  std::vector<int>
      versions{};     ///< Operator set versions at which the definition changed, oldest supported first.
  std::string doc{};  ///< One paragraph, our own words.
  Kind kind = Kind::kOpaque;
  std::vector<Formal> inputs{};
  std::vector<Formal> outputs{};
  std::vector<AttributeFormal> attributes{};
  InferFunction infer = nullptr;
  /// For kPointwise: the scalar expression of this node, or nothing when it has none for these attributes.
  std::optional<ScalarExpression> (*expression)(const ir::Node& node) = nullptr;
  /// For composites (decision N25): writes the one expansion into simpler nodes before `node`; the outputs replace those of `node`.
  Result<std::vector<ir::Value*>> (*expand)(ir::Graph& graph, const ir::Node& node) = nullptr;
  /// The result depends on more than the inputs (random numbers): never folded or merged.
  bool isPure = true;
  /// The first output has the elements of the first input in the same row-major order (Reshape): it may be a view.
  bool keepsOrder = false;
};

/// At namespace scope of `src/op/<name>.cpp`: `const Register kRegister(Definition{.name = "Relu", …});`
class Register {
 public:
  explicit Register(Definition definition);
};

/// The definition, or nullptr. Domain "ai.onnx" is "".
const Definition* find(std::string_view domain, std::string_view name);
/// All definitions sorted by (domain, name).
std::vector<const Definition*> all();

/// Sets `definition` on every node (nested graphs included); collects one error for each node that has none.
std::vector<Status> attachDefinitions(ir::Graph& graph);
/// Infers types, shapes and contents of every node in order, nested graphs included.
Status inferGraph(ir::Graph& graph);
Status inferNode(ir::Node& node);
/// After inferNode: computes small results of known inputs, so that sizes that go through them are known. Part of inferGraph.
void learnValues(ir::Node& node);

}  // namespace rota::op
