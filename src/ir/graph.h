// SPDX-License-Identifier: Apache-2.0
// The graph: typed, pure SSA, with nested graphs for control flow and provenance on everything.
//
// A Graph owns its nodes and values. Nodes are kept in topological order. A node of a nested graph may use values of the graphs around
// it directly (captures). Sizes, symbols and the table of source nodes belong to the outermost graph and are shared by all nested ones.
// Every node and value knows the nodes of the user's model it came from; a rewrite passes that on (`Provenance::merge`).
// `verify` checks all invariants; `printGraph` / `parseGraph` give the text form that golden tests use.
// Not thread-safe. Tested by src/ir/graph_test.cpp, src/ir/text_test.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/attributes.h"
#include "core/size.h"

namespace rota::op {
struct Definition;
}

namespace rota::ir {

class Graph;
struct Node;

/// Decision N1. A quantised tensor is storage plus a descriptor; it joins here when quantisation comes.
enum class TypeKind : std::uint8_t { kTensor, kSequence, kOptional, kState };

/// Dims of a tensor; the rank itself may be unknown.
struct Shape {
  bool known = false;
  std::vector<Size> dims;

  static Shape of(std::vector<Size> dims) { return {true, std::move(dims)}; }
  static Shape unknown() { return {}; }
  std::size_t rank() const { return dims.size(); }
  bool isStatic() const;
  bool operator==(const Shape&) const = default;
};

/// For kSequence and kOptional, dtype and shape describe the element; `elementIsSequence` for optional(sequence(tensor)).
struct Type {
  TypeKind kind = TypeKind::kTensor;
  DType dtype = DType::kUndefined;
  Shape shape;
  bool elementIsSequence = false;
  bool operator==(const Type&) const = default;
};

/// Source nodes, as sorted ids into SourceTable.
struct Provenance {
  std::vector<std::uint32_t> sources;
  void merge(const Provenance& other);
};

/// A node of the user's model.
struct SourceNode {
  std::string scope;  ///< "" or "loop1/body/": the control-flow scopes and functions around it.
  std::string name;   ///< Node name, or "OpType(first output)" where it has none.
  std::string opType;
};

class SourceTable {
 public:
  std::uint32_t add(SourceNode node);
  const SourceNode& at(std::uint32_t id) const { return nodes_[id]; }
  std::size_t size() const { return nodes_.size(); }
  /// "scope/name (OpType), …" for messages; at most three, then "and N more".
  std::string describe(const Provenance& provenance) const;

 private:
  std::vector<SourceNode> nodes_;
};

struct Value {
  std::uint32_t id = 0;  ///< Unique in the outermost graph.
  std::string name;      ///< Unique in its graph.
  Type type;
  /// Of a graph input: the shape as it was declared, before sizes were unified; guards and messages name these dims.
  Shape declared;
  Graph* owner = nullptr;
  Node* producer = nullptr;  ///< nullptr for inputs and constants.
  std::size_t producerOutput = 0;
  Tensor constant;  ///< Given for constants (initializers, folded values).
  std::string
      recipe;  ///< For constants: how it came about, "initializer NAME" or an expression (decision N9).
  /// Symbolic contents of a small integer tensor (decision N3), row-major; empty optional when unknown.
  std::optional<std::vector<Size>> contents;
  /// Host-resolved symbols (a sync point) that get their values from elements of this tensor.
  std::vector<std::pair<std::uint32_t, SymbolId>> resolvedHere;
  Tensor
      known{};  ///< A small result that depends on constants only, once inference has computed it (op::learnValues).
  Provenance provenance;

  bool isConstant() const { return constant.isGiven(); }
  bool isInput() const { return producer == nullptr && !isConstant(); }
};

struct Node {
  std::uint32_t id = 0;
  std::string name;    ///< Unique in its graph; the user's name where there was one.
  std::string domain;  ///< "" for the default domain.
  std::string opType;
  int version = 0;  ///< Operator set version of the model for this domain.
  const op::Definition* definition = nullptr;
  Attributes attributes;
  std::vector<Value*> inputs;   ///< nullptr: optional input not given.
  std::vector<Value*> outputs;  ///< nullptr: optional output not wanted.
  std::vector<std::string> blockNames;
  std::vector<std::unique_ptr<Graph>> blocks;  ///< then_branch, else_branch, body.
  Graph* owner = nullptr;
  Provenance provenance;
  /// Data-dependent symbols that inference made for this node, by the name it gave; used again when the node is inferred again.
  std::vector<std::pair<std::string, SymbolId>> foundSizes;

  Value* input(std::size_t i) const { return i < inputs.size() ? inputs[i] : nullptr; }
  Value* output(std::size_t i) const { return i < outputs.size() ? outputs[i] : nullptr; }
  Graph* block(std::string_view blockName) const;
};

class Graph {
 public:
  /// An outermost graph.
  Graph();
  /// A graph nested in a node of `parent`.
  explicit Graph(Graph& parent);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  std::string name;
  /// 0 for the outermost graph, else a number that no other nested graph of it has: the `scope` of the guards that hold in this block only.
  std::uint32_t scope = 0;
  SizeContext& sizes() { return *sizes_; }
  const SizeContext& sizes() const { return *sizes_; }
  SourceTable& sources() { return *sources_; }
  const SourceTable& sources() const { return *sources_; }
  Graph* parent() const { return parent_; }

  /// New values and nodes. Names are made unique by a suffix; an empty name gets one.
  Value* addInput(std::string name, Type type);
  Value* addConstant(std::string name, Tensor tensor, std::string recipe, Provenance provenance = {});
  /// Appends a node (or inserts it before `before`); outputs are made with the given names, "" = not wanted. Types are unset until inference.
  Node* addNode(std::string name, std::string domain, std::string opType, int version,
                std::vector<Value*> inputs, const std::vector<std::string>& outputNames,
                Provenance provenance = {}, const Node* before = nullptr);
  void addOutput(Value* value) { outputs_.push_back(value); }
  void setOutput(std::size_t i, Value* value) { outputs_[i] = value; }

  const std::vector<Value*>& inputs() const { return inputs_; }
  const std::vector<Value*>& outputs() const { return outputs_; }
  /// Names of the outputs as the user knows them (a value can be two outputs, or an input).
  std::vector<std::string>& outputNames() { return outputNames_; }
  const std::vector<std::string>& outputNames() const { return outputNames_; }
  /// In topological order. Do not keep across changes.
  const std::vector<std::unique_ptr<Node>>& nodes() const { return nodes_; }
  const std::vector<std::unique_ptr<Value>>& values() const { return values_; }

  Value* findValue(std::string_view name) const;  ///< In this graph only.
  /// Replaces every use of `from` in this graph and the graphs nested in it, graph outputs included.
  void replaceUses(Value* from, Value* to);
  /// Nodes that use `value`, here and in nested graphs, and whether a graph output is it.
  std::vector<Node*> usersOf(const Value* value) const;
  bool isGraphOutput(const Value* value) const;
  /// Removes a node whose outputs have no uses.
  void eraseNode(Node* node);
  /// Removes constants and unused values; nodes stay.
  void eraseUnusedValues();
  /// Sorts the nodes topologically (stable); an error names a node on a cycle.
  Status sortNodes();

 private:
  friend class GraphCloner;
  Value* newValue(std::string name);
  std::string uniqueValueName(std::string name);

  Graph* parent_ = nullptr;
  std::shared_ptr<SizeContext> sizes_;
  std::shared_ptr<SourceTable> sources_;
  std::shared_ptr<std::uint32_t> nextId_;
  std::shared_ptr<std::uint32_t> nextScope_;
  std::vector<Value*> inputs_;
  std::vector<Value*> outputs_;
  std::vector<std::string> outputNames_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<std::unique_ptr<Value>> values_;
  struct Index;
  std::unique_ptr<Index> index_;
};

/// Contents of a constant: the elements of an integer or boolean tensor of at most kMaxContents elements.
inline constexpr std::int64_t kMaxContents = 64;
std::optional<std::vector<Size>> constantContents(const Tensor& tensor);

/// Graphs may be nested this deep.
inline constexpr int kMaxGraphDepth = 64;

/// A deep copy, nested graphs included, with its own sizes and sources (symbols keep ids and names).
std::unique_ptr<Graph> cloneGraph(const Graph& graph);

/// Checks all invariants; the first violation is a kInternal error that names node and rule.
Status verify(const Graph& graph);

/// The text form: symbols, inputs, constants (up to 16 elements; larger ones as a hash), one node a line, nested graphs indented. Sources and
/// recipes stand in it, guards do not.
///
///     graph "main" {
///       symbol batch [1, inf] input
///       input %x: float32[batch, 3]
///       constant %w: float32[3] = {1, 2, 3} recipe "initializer w"
///       %y: float32[batch, 3] = Mul.14(%x, %w) "mul_1" {attribute = 1}
///       output "y" = %y
///     }
///
/// A value of a graph around the node's graph has one ^ for each level: %^x. Known contents follow the type: <batch, 3>.
std::string printGraph(const Graph& graph);
/// Parses what printGraph prints (constants printed as hashes become zeros). The caller attaches definitions (op::attachDefinitions).
Result<std::unique_ptr<Graph>> parseGraph(std::string_view text);

}  // namespace rota::ir
