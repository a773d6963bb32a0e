// SPDX-License-Identifier: Apache-2.0
// From the views of a model to the graph: names to values through scopes, functions inlined, nested graphs to blocks, constants.
//
// A name that cannot be had (an undefined input, an output of a broken node) becomes a broken value: nodes that use it are checked but not
// built, so one problem does not hide the next and is not repeated by those behind it. Inner names shadow outer ones; functions see only
// what they are given. Everything is counted: functions that call each other twice each cannot blow up.
// Tested by src/import/onnx/reader_test.cpp and functions_test.cpp.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "import/onnx/input_dims.h"
#include "import/onnx/model_view.h"
#include "import/onnx/problems.h"
#include "import/onnx/reader.h"
#include "op/definition.h"

namespace rota::onnx {

using Opsets = std::map<std::string_view, std::int64_t>;

/// Checks and collects operator set imports; equal ones may be repeated.
Opsets readOpsets(const std::vector<OpsetView>& views, std::string_view where, Problems& problems);

class GraphBuilder {
 public:
  GraphBuilder(const ModelView& model, const Opsets& opsets, const ImportOptions& options,
               const TensorSource& source, Problems& problems, std::vector<std::string>& notes);
  /// The whole graph; only complete when there are no problems.
  std::unique_ptr<ir::Graph> build();

 private:
  /// What a name stands for. Broken: it is defined, but by something that has a problem.
  struct Bound {
    ir::Value* value = nullptr;
    bool isBroken = false;
  };
  struct Scope {
    const Scope* parent = nullptr;
    std::unordered_map<std::string_view, Bound> values;
  };
  struct Frame;
  /// An attribute of a call, with the frame that its graphs and references belong to.
  struct BoundAttribute {
    const AttributeView* view = nullptr;
    const Frame* frame = nullptr;
  };
  using Bindings = std::unordered_map<std::string_view, BoundAttribute>;
  /// Where nodes are being built.
  struct Frame {
    ir::Graph* graph = nullptr;
    Scope* scope = nullptr;
    const Opsets* opsets = nullptr;
    const Bindings* bindings = nullptr;  ///< Attributes of the function; nullptr outside functions.
    const FunctionView* function = nullptr;
    const Frame* caller = nullptr;  ///< The frame around this one, for depth and recursion.
    std::string path;               ///< "loop1/body/": scopes around, for provenance.
    std::string prefix;             ///< Put before names, inside inlined functions.
    const std::unordered_map<std::string_view, std::string>* outputNames =
        nullptr;  ///< Of the function's outputs in the graph.
    int depth = 1;
  };
  using FunctionKey = std::string;

  static FunctionKey functionKey(std::string_view domain, std::string_view name, std::string_view overload);
  void indexFunctions();

  // Graphs.
  void buildInputs(const GraphView& view, Frame& frame);
  void buildBlockInputs(const GraphView& view, Frame& frame);
  void buildInitializers(const GraphView& view, Frame& frame);
  void buildInitializer(const InitializerView& view, Frame& frame);
  void buildOutputs(const GraphView& view, Frame& frame);
  void buildNodes(const std::vector<NodeView>& nodes, Frame& frame);
  std::unique_ptr<ir::Graph> buildBlock(const BoundAttribute& attribute, std::string_view name, Frame& frame,
                                        const std::string& node);

  // Nodes.
  void buildNode(const NodeView& node, Frame& frame);
  void buildConstant(const NodeView& node, Frame& frame);
  bool findInputs(const NodeView& node, Frame& frame, std::vector<ir::Value*>& inputs);
  const op::Definition* findDefinition(const NodeView& node, const Frame& frame, int& version);
  bool buildAttributes(const NodeView& node, const op::Definition& definition, Frame& frame,
                       Attributes& attributes, std::vector<std::pair<std::string, BoundAttribute>>& graphs);
  void addNode(const NodeView& node, const op::Definition& definition, int version,
               std::vector<ir::Value*> inputs, Attributes attributes,
               const std::vector<std::pair<std::string, BoundAttribute>>& graphs, Frame& frame);

  // Functions.
  const FunctionView* findFunction(const NodeView& node) const;
  void inlineCall(const NodeView& node, const FunctionView& function, Frame& frame);
  bool bindArguments(const NodeView& node, const FunctionView& function, Frame& frame, Scope& scope,
                     Bindings& bindings);

  // Names.
  BoundAttribute resolve(const AttributeView& attribute, const Frame& frame) const;
  const Bound* find(const Scope& scope, std::string_view name) const;
  void bind(Frame& frame, std::string_view name, Bound bound, const std::string& where);
  void breakOutputs(const NodeView& node, Frame& frame);
  std::string valueName(std::string_view name, const Frame& frame) const;
  std::string placeOf(const NodeView& node, const Frame& frame) const;
  ir::Provenance provenanceOf(const NodeView& node, const Frame& frame);
  bool countNode(const Frame& frame);

  const ModelView& model_;
  const Opsets& opsets_;
  const ImportOptions& options_;
  const TensorSource& source_;
  Problems& problems_;
  std::vector<std::string>& notes_;
  std::unordered_map<FunctionKey, const FunctionView*> functions_;
  std::unordered_map<const FunctionView*, Opsets> functionOpsets_;
  /// Of nested graphs and functions, by the message they stand in: a function that is called often shares them.
  std::unordered_map<const char*, Tensor> repeatedConstants_;
  std::size_t nestedCost_ = 0;  ///< Of nodes in nested graphs and functions, names included.
  bool isExhausted_ = false;
};

}  // namespace rota::onnx
