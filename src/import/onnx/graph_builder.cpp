// SPDX-License-Identifier: Apache-2.0
// Graphs, inputs, initializers, outputs and names; nodes are in node_builder.cpp, functions in function_inliner.cpp. See graph_builder.h.
#include "import/onnx/graph_builder.h"

#include <algorithm>
#include <unordered_set>

#include "import/onnx/node_check.h"
#include "import/onnx/node_order.h"

namespace rota::onnx {

Opsets readOpsets(const std::vector<OpsetView>& views, std::string_view where, Problems& problems) {
  Opsets opsets;
  for (const OpsetView& view : views) {
    const std::string domain = view.domain.empty() ? "ai.onnx" : std::string(view.domain);
    const std::int64_t newest = view.domain.empty() ? kNewestOpset : 1'000'000;
    if (view.version < 1 || view.version > newest) {
      const bool isNew = view.version > newest;
      problems.add(
          Status(ErrorCode::kUnsupportedVersion, isNew ? "the operator set of the model is too new"
                                                       : "the operator set of the model has no valid version")
              .expected(domain + " 1 to " + std::to_string(newest))
              .found(domain + " " + std::to_string(view.version))
              .fix("export the model with operator set " + std::to_string(kNewestOpset) + " or older"),
          where);
    }
    const auto [known, isFirst] = opsets.emplace(view.domain, view.version);
    if (!isFirst && known->second != view.version) {
      problems.add(
          Status(ErrorCode::kModelInvalid, "two versions of the operator set '" + domain + "' are imported")
              .expected("one version of each domain")
              .found(std::to_string(known->second) + " and " + std::to_string(view.version)),
          where);
    }
  }
  return opsets;
}

GraphBuilder::GraphBuilder(const ModelView& model, const Opsets& opsets, const ImportOptions& options,
                           const TensorSource& source, Problems& problems, std::vector<std::string>& notes)
    : model_(model),
      opsets_(opsets),
      options_(options),
      source_(source),
      problems_(problems),
      notes_(notes) {}

std::unique_ptr<ir::Graph> GraphBuilder::build() {
  indexFunctions();
  auto graph = std::make_unique<ir::Graph>();
  graph->name = model_.graph->name;
  Scope scope;
  Frame frame;
  frame.graph = graph.get();
  frame.scope = &scope;
  frame.opsets = &opsets_;
  buildInitializers(*model_.graph, frame);
  buildInputs(*model_.graph, frame);
  buildNodes(model_.graph->nodes, frame);
  buildOutputs(*model_.graph, frame);
  return graph;
}

// --- Names.

const GraphBuilder::Bound* GraphBuilder::find(const Scope& scope, std::string_view name) const {
  for (const Scope* at = &scope; at != nullptr; at = at->parent) {
    if (const auto found = at->values.find(name); found != at->values.end()) return &found->second;
  }
  return nullptr;
}

void GraphBuilder::bind(Frame& frame, std::string_view name, Bound bound, const std::string& where) {
  if (frame.scope->values.emplace(name, bound).second) return;
  problems_.add(
      Status(ErrorCode::kBadGraph, "the value '" + frame.path + std::string(name) + "' is defined twice")
          .expected("one definition of each name in a graph")
          .fix("rename one of them"),
      where);
}

void GraphBuilder::breakOutputs(const NodeView& node, Frame& frame) {
  for (const std::string_view name : node.outputs) {
    if (!name.empty()) bind(frame, name, {nullptr, true}, placeOf(node, frame));
  }
}

std::string GraphBuilder::valueName(std::string_view name, const Frame& frame) const {
  if (name.empty()) return {};
  if (frame.outputNames != nullptr) {
    if (const auto outer = frame.outputNames->find(name); outer != frame.outputNames->end())
      return outer->second;
  }
  return frame.prefix + std::string(name);
}

std::string GraphBuilder::placeOf(const NodeView& node, const Frame& frame) const {
  return frame.path + nodeName(node) + (node.name.empty() ? "" : " (" + std::string(node.opType) + ")");
}

ir::Provenance GraphBuilder::provenanceOf(const NodeView& node, const Frame& frame) {
  ir::Provenance provenance;
  provenance.sources.push_back(
      frame.graph->sources().add({frame.path, nodeName(node), std::string(node.opType)}));
  return provenance;
}

bool GraphBuilder::countNode(const Frame& frame) {
  // Nodes of the file were counted when it was parsed. Functions can multiply them, and long names of scopes are repeated in every name inside.
  constexpr std::size_t kMaxCost = std::size_t{32} << 20;
  if (!frame.path.empty()) nestedCost_ += 64 + 4 * frame.path.size();
  if (nestedCost_ <= kMaxCost) return true;
  if (!isExhausted_) {
    problems_.add(Status(ErrorCode::kModelTooLarge, "the model is too large when its functions are inlined")
                      .expected("up to about a hundred thousand nodes inside functions and nested graphs"),
                  frame.path);
  }
  isExhausted_ = true;
  return false;
}

// --- Graphs.

void GraphBuilder::buildInitializer(const InitializerView& view, Frame& frame) {
  const std::string where = frame.path + std::string(view.name);
  if (view.name.empty()) {
    problems_.add(Status(ErrorCode::kModelInvalid, "an initializer has no name"),
                  frame.path + "initializers");
    return;
  }
  const auto known = repeatedConstants_.find(view.message.data());
  auto tensor = known != repeatedConstants_.end() ? NamedTensor{{}, known->second}
                : view.isSparse                   ? readSparseTensorProto(view.message, source_)
                                                  : readTensorProto(view.message, source_);
  if (!tensor) {
    problems_.add(tensor.status(), where);
    bind(frame, view.name, {nullptr, true}, where);
    return;
  }
  if (!frame.path.empty()) repeatedConstants_.try_emplace(view.message.data(), tensor->tensor);
  ir::Value* value =
      frame.graph->addConstant(std::string(view.name), std::move(tensor->tensor), "initializer " + where);
  bind(frame, view.name, {value, false}, where);
}

void GraphBuilder::buildInitializers(const GraphView& view, Frame& frame) {
  for (const InitializerView& initializer : view.initializers) buildInitializer(initializer, frame);
}

namespace {

/// The type of an input, checked; nothing when it has a problem.
std::optional<TypeView> inputType(const ValueInfoView& input, const std::string& where, Problems& problems) {
  auto type = readType(input.type);
  if (!type) {
    problems.add(type.status(), where);
    return std::nullopt;
  }
  if (type->dtype == DType::kString) {
    problems.add(Status(ErrorCode::kUnsupportedType, "string tensors are not supported")
                     .expected("a numeric or boolean tensor")
                     .fix("do the text processing outside the model"),
                 where);
    return std::nullopt;
  }
  for (const DimView& dim : type->dims) {
    if (dim.value && *dim.value < -1) {
      problems.add(Status(ErrorCode::kModelInvalid, "the input has a negative dim")
                       .expected("a size, or a name")
                       .found(std::to_string(*dim.value)),
                   where);
      return std::nullopt;
    }
  }
  return std::move(*type);
}

/// Elements of a sequence may differ in the dims that its type leaves open, and nothing binds those of an optional.
void forgetElementDims(TypeView& type) {
  const bool isOpen = std::any_of(type.dims.begin(), type.dims.end(),
                                  [](const DimView& dim) { return !dim.value || *dim.value < 0; });
  if (type.kind == ir::TypeKind::kTensor || !isOpen) return;
  type.hasShape = false;
  type.dims.clear();
}

}  // namespace

void GraphBuilder::buildInputs(const GraphView& view, Frame& frame) {
  InputDims dims(options_, frame.graph->sizes(), problems_);
  struct Input {
    std::string_view name;
    std::optional<TypeView> type;
  };
  std::vector<Input> inputs;
  for (const ValueInfoView& input : view.inputs) {
    if (const Bound* known = find(*frame.scope, input.name);
        known != nullptr && (known->value == nullptr || known->value->isConstant())) {
      // Before IR version 4 every initializer had to be listed as an input; since then it is a default value.
      if (model_.irVersion >= 4)
        notes_.push_back("the input '" + std::string(input.name) +
                         "' has a default value and is taken as a constant");
      continue;
    }
    const std::string where(input.name);
    auto type = inputType(input, where, problems_);
    if (type && type->dtype == DType::kUndefined) {
      problems_.add(
          Status(ErrorCode::kModelInvalid, "the input has no type").expected("an element type").found("none"),
          where);
      type.reset();
    }
    if (type) forgetElementDims(*type);
    if (type) dims.note(where, *type);
    inputs.push_back({input.name, std::move(type)});
  }
  dims.finish();
  for (const Input& input : inputs) {
    const std::string where(input.name);
    if (!input.type) {
      bind(frame, input.name, {nullptr, true}, where);
      continue;
    }
    ir::Type type{input.type->kind, input.type->dtype, dims.shapeOf(where, *input.type),
                  input.type->elementIsSequence};
    bind(frame, input.name, {frame.graph->addInput(where, std::move(type)), false}, where);
  }
}

void GraphBuilder::buildBlockInputs(const GraphView& view, Frame& frame) {
  for (const ValueInfoView& input : view.inputs) {
    const std::string where = frame.path + std::string(input.name);
    if (frame.scope->values.contains(input.name)) {
      problems_.add(
          Status(ErrorCode::kBadGraph, "an input of a nested graph is also an initializer, or given twice")
              .expected("a name of its own for each")
              .found("'" + std::string(input.name) + "'"),
          where);
      continue;
    }
    // What the operator passes in decides the shape; the declared one is a claim.
    const auto declared = inputType(input, where, problems_);
    ir::Type type;
    if (declared) type = {declared->kind, declared->dtype, ir::Shape::unknown(), declared->elementIsSequence};
    bind(frame, input.name, {frame.graph->addInput(std::string(input.name), type), false}, where);
  }
}

void GraphBuilder::buildOutputs(const GraphView& view, Frame& frame) {
  std::unordered_set<std::string_view> seen;
  const bool isMain = frame.graph->parent() == nullptr;
  for (const ValueInfoView& output : view.outputs) {
    const std::string where = frame.path + std::string(output.name);
    const Bound* bound = find(*frame.scope, output.name);
    if (output.name.empty() || bound == nullptr) {
      problems_.add(Status(ErrorCode::kBadGraph, "an output of the graph is never computed")
                        .expected("the output of a node, an input or an initializer")
                        .found("no value '" + std::string(output.name) + "'"),
                    where);
      continue;
    }
    if (isMain && !seen.insert(output.name).second) {
      problems_.add(Status(ErrorCode::kBadGraph, "two outputs of the model have the same name")
                        .expected("names of their own"),
                    where);
      continue;
    }
    if (bound->value == nullptr) continue;
    frame.graph->addOutput(bound->value);
    frame.graph->outputNames().emplace_back(output.name);
  }
  if (isMain && view.outputs.empty()) {
    problems_.add(
        Status(ErrorCode::kModelInvalid, "the model has no outputs").expected("at least one output"),
        "the model");
  }
}

void GraphBuilder::buildNodes(const std::vector<NodeView>& nodes, Frame& frame) {
  const NodeOrder order = orderNodes(nodes);
  if (!order.cycle.empty()) {
    std::string names;
    for (std::size_t i = 0; i < order.cycle.size() && i < 8; ++i)
      names += placeOf(nodes[order.cycle[i]], frame) + " -> ";
    if (order.cycle.size() > 8) names += "... -> ";
    names += nodeName(nodes[order.cycle.front()]);
    problems_.add(Status(ErrorCode::kBadGraph, "nodes use each other's results in a cycle")
                      .expected("an order without cycles")
                      .found(names),
                  placeOf(nodes[order.cycle.front()], frame));
    // So that nodes behind the cycle are not reported as using undefined values.
    for (const std::uint32_t stuck : order.stuck) breakOutputs(nodes[stuck], frame);
  }
  for (const std::uint32_t i : order.order) {
    if (isExhausted_) return;
    buildNode(nodes[i], frame);
  }
}

std::unique_ptr<ir::Graph> GraphBuilder::buildBlock(const BoundAttribute& attribute, std::string_view name,
                                                    Frame& frame, const std::string& node) {
  const GraphView& view = *attribute.view->graph;
  auto block = std::make_unique<ir::Graph>(*frame.graph);
  block->name = view.name;
  Scope scope;
  scope.parent = attribute.frame->scope;
  Frame inner;
  inner.graph = block.get();
  inner.scope = &scope;
  inner.opsets = attribute.frame->opsets;
  inner.bindings = attribute.frame->bindings;
  inner.caller = &frame;
  inner.path = frame.path + node + "/" + std::string(name) + "/";
  inner.depth = frame.depth + 1;
  if (inner.depth > kMaxDepth) {
    problems_.add(Status(ErrorCode::kModelTooDeep, "graphs and functions are nested too deep")
                      .expected("at most " + std::to_string(kMaxDepth) + " levels"),
                  inner.path);
    return block;
  }
  buildInitializers(view, inner);
  buildBlockInputs(view, inner);
  buildNodes(view.nodes, inner);
  buildOutputs(view, inner);
  return block;
}

}  // namespace rota::onnx
