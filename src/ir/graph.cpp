// SPDX-License-Identifier: Apache-2.0
// Graph surgery: building, replacing uses, erasing, sorting. Uses are found by walking the nodes, nested graphs included; a name index
// makes lookups by name cheap. Tested by src/ir/graph_test.cpp.
#include "ir/graph.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <unordered_map>
#include <unordered_set>

#include "core/check.h"
#include "ir/walk.h"

namespace rota::ir {

struct Graph::Index {
  std::unordered_map<std::string, Value*> valuesByName;
  std::unordered_map<std::string, std::uint32_t> nextSuffix;
  std::unordered_set<std::string> nodeNames;
};

namespace {

/// `name`, or with the first free suffix; remembers the last one tried, so that many equal names stay cheap.
template <typename Taken>
std::string uniqueName(std::string name, std::unordered_map<std::string, std::uint32_t>& nextSuffix,
                       const Taken& isTaken) {
  if (!isTaken(name)) return name;
  std::uint32_t& suffix = nextSuffix[name];
  for (;;) {
    std::string candidate = name + "_" + std::to_string(++suffix);
    if (!isTaken(candidate)) return candidate;
  }
}

}  // namespace

bool Shape::isStatic() const {
  return known && std::all_of(dims.begin(), dims.end(), [](Size dim) { return dim.isConstant(); });
}

void Provenance::merge(const Provenance& other) {
  std::vector<std::uint32_t> merged;
  std::set_union(sources.begin(), sources.end(), other.sources.begin(), other.sources.end(),
                 std::back_inserter(merged));
  sources = std::move(merged);
}

std::uint32_t SourceTable::add(SourceNode node) {
  nodes_.push_back(std::move(node));
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

std::string SourceTable::describe(const Provenance& provenance) const {
  constexpr std::size_t kShown = 3;
  std::string text;
  const std::size_t count = provenance.sources.size();
  for (std::size_t i = 0; i < std::min(count, kShown); ++i) {
    const SourceNode& node = at(provenance.sources[i]);
    text += (i == 0 ? "" : ", ") + node.scope + node.name + " (" + node.opType + ")";
  }
  if (count > kShown) text += " and " + std::to_string(count - kShown) + " more";
  return text;
}

Graph* Node::block(std::string_view blockName) const {
  for (std::size_t i = 0; i < blockNames.size(); ++i) {
    if (blockNames[i] == blockName) return blocks[i].get();
  }
  return nullptr;
}

Graph::Graph()
    : sizes_(std::make_shared<SizeContext>()),
      sources_(std::make_shared<SourceTable>()),
      nextId_(std::make_shared<std::uint32_t>(0)),
      nextScope_(std::make_shared<std::uint32_t>(0)),
      index_(std::make_unique<Index>()) {}

Graph::Graph(Graph& parent)
    : scope(++*parent.nextScope_),
      parent_(&parent),
      sizes_(parent.sizes_),
      sources_(parent.sources_),
      nextId_(parent.nextId_),
      nextScope_(parent.nextScope_),
      index_(std::make_unique<Index>()) {}

Graph::~Graph() = default;

std::string Graph::uniqueValueName(std::string valueName) {
  if (valueName.empty()) valueName = "v" + std::to_string(*nextId_);
  return uniqueName(std::move(valueName), index_->nextSuffix, [this](const std::string& candidate) {
    return index_->valuesByName.contains(candidate);
  });
}

Value* Graph::newValue(std::string valueName) {
  auto value = std::make_unique<Value>();
  value->name = uniqueValueName(std::move(valueName));
  value->id = (*nextId_)++;
  value->owner = this;
  index_->valuesByName.emplace(value->name, value.get());
  values_.push_back(std::move(value));
  return values_.back().get();
}

Value* Graph::addInput(std::string inputName, Type type) {
  Value* value = newValue(std::move(inputName));
  value->type = std::move(type);
  value->declared = value->type.shape;
  inputs_.push_back(value);
  return value;
}

Value* Graph::addConstant(std::string constantName, Tensor tensor, std::string recipe,
                          Provenance provenance) {
  Value* value = newValue(std::move(constantName));
  value->type.dtype = tensor.dtype();
  value->type.shape.known = true;
  for (std::int64_t dim : tensor.dims()) value->type.shape.dims.emplace_back(dim);
  value->contents = constantContents(tensor);
  value->constant = std::move(tensor);
  value->recipe = std::move(recipe);
  value->provenance = std::move(provenance);
  return value;
}

Node* Graph::addNode(std::string nodeName, std::string domain, std::string opType, int version,
                     std::vector<Value*> inputs, const std::vector<std::string>& outputNames,
                     Provenance provenance, const Node* before) {
  auto node = std::make_unique<Node>();
  if (nodeName.empty()) nodeName = opType + "_" + std::to_string(*nextId_);
  node->name = uniqueName(std::move(nodeName), index_->nextSuffix, [this](const std::string& candidate) {
    return index_->nodeNames.contains(candidate);
  });
  index_->nodeNames.insert(node->name);
  node->id = (*nextId_)++;
  node->domain = std::move(domain);
  node->opType = std::move(opType);
  node->version = version;
  node->inputs = std::move(inputs);
  node->owner = this;
  node->provenance = std::move(provenance);
  for (std::size_t i = 0; i < outputNames.size(); ++i) {
    if (outputNames[i].empty()) {
      node->outputs.push_back(nullptr);
      continue;
    }
    Value* output = newValue(outputNames[i]);
    output->producer = node.get();
    output->producerOutput = i;
    output->provenance = node->provenance;
    node->outputs.push_back(output);
  }
  auto position = nodes_.end();
  if (before != nullptr) {
    position = std::find_if(nodes_.begin(), nodes_.end(),
                            [before](const auto& other) { return other.get() == before; });
    CHECK(position != nodes_.end());
  }
  return nodes_.insert(position, std::move(node))->get();
}

Value* Graph::findValue(std::string_view valueName) const {
  const auto found = index_->valuesByName.find(std::string(valueName));
  return found == index_->valuesByName.end() ? nullptr : found->second;
}

void Graph::replaceUses(Value* from, Value* to) {
  forEachGraph(*this, [from, to](Graph& graph) {
    for (const auto& node : graph.nodes_) std::replace(node->inputs.begin(), node->inputs.end(), from, to);
    std::replace(graph.outputs_.begin(), graph.outputs_.end(), from, to);
  });
}

std::vector<Node*> Graph::usersOf(const Value* value) const {
  std::vector<Node*> users;
  forEachGraph(*this, [&](const Graph& graph) {
    for (const auto& node : graph.nodes_) {
      const bool uses = std::find(node->inputs.begin(), node->inputs.end(), value) != node->inputs.end();
      if (uses) users.push_back(node.get());
    }
  });
  return users;
}

bool Graph::isGraphOutput(const Value* value) const {
  bool isOutput = false;
  forEachGraph(*this, [&](const Graph& graph) {
    isOutput =
        isOutput || std::find(graph.outputs_.begin(), graph.outputs_.end(), value) != graph.outputs_.end();
  });
  return isOutput;
}

void Graph::eraseNode(Node* node) {
  const auto position =
      std::find_if(nodes_.begin(), nodes_.end(), [node](const auto& other) { return other.get() == node; });
  CHECK(position != nodes_.end());
  std::unordered_set<const Value*> dead;
  for (const Value* output : node->outputs) {
    if (output != nullptr) dead.insert(output);
  }
  for (const Value* output : dead) index_->valuesByName.erase(output->name);
  std::erase_if(values_, [&dead](const auto& value) { return dead.contains(value.get()); });
  index_->nodeNames.erase(node->name);
  nodes_.erase(position);
}

void Graph::eraseUnusedValues() {
  std::unordered_set<const Value*> used;
  forEachGraph(*this, [&used](const Graph& graph) {
    for (const auto& node : graph.nodes_) {
      used.insert(node->inputs.begin(), node->inputs.end());
      used.insert(node->outputs.begin(), node->outputs.end());
    }
    used.insert(graph.inputs_.begin(), graph.inputs_.end());
    used.insert(graph.outputs_.begin(), graph.outputs_.end());
  });
  forEachGraph(*this, [&used](Graph& graph) {
    for (const auto& value : graph.values_) {
      if (!used.contains(value.get())) graph.index_->valuesByName.erase(value->name);
    }
    std::erase_if(graph.values_, [&used](const auto& value) { return !used.contains(value.get()); });
  });
}

Status Graph::sortNodes() {
  // Kahn's algorithm; the ready node that came first in the old order goes next, which keeps a sorted graph as it is.
  std::unordered_map<const Node*, std::size_t> position;
  for (std::size_t i = 0; i < nodes_.size(); ++i) position.emplace(nodes_[i].get(), i);
  std::vector<std::size_t> waiting(nodes_.size(), 0);
  std::vector<std::vector<std::size_t>> users(nodes_.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    std::unordered_set<std::size_t> needed;
    forEachUse(*nodes_[i], [&](const Value* value) {
      const auto found = value->producer == nullptr ? position.end() : position.find(value->producer);
      if (found != position.end()) needed.insert(found->second);
    });
    waiting[i] = needed.size();
    for (std::size_t producer : needed) users[producer].push_back(i);
  }
  std::vector<std::size_t> ready;  // a heap, least index first
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    if (waiting[i] == 0) ready.push_back(i);
  }
  std::make_heap(ready.begin(), ready.end(), std::greater<>());
  std::vector<std::size_t> order;
  while (!ready.empty()) {
    std::pop_heap(ready.begin(), ready.end(), std::greater<>());
    const std::size_t next = ready.back();
    ready.pop_back();
    order.push_back(next);
    for (std::size_t user : users[next]) {
      if (--waiting[user] != 0) continue;
      ready.push_back(user);
      std::push_heap(ready.begin(), ready.end(), std::greater<>());
    }
  }
  if (order.size() != nodes_.size()) {
    // Of the nodes that never became ready, one that lies on a cycle: walk back through unready producers until one repeats.
    std::size_t at = 0;
    while (waiting[at] == 0) ++at;
    std::vector<bool> seen(nodes_.size(), false);
    while (!seen[at]) {
      seen[at] = true;
      std::size_t previous = at;
      forEachUse(*nodes_[at], [&](const Value* value) {
        const auto found = value->producer == nullptr ? position.end() : position.find(value->producer);
        if (found != position.end() && waiting[found->second] != 0) previous = found->second;
      });
      at = previous;
    }
    return Status(ErrorCode::kBadGraph, "the graph has a cycle")
        .at(nodes_[at]->name)
        .expected("nodes that use only results of other nodes before them")
        .found("node '" + nodes_[at]->name + "' (" + nodes_[at]->opType + ") needs its own result")
        .fix("correct the model: ONNX graphs must be acyclic");
  }
  std::vector<std::unique_ptr<Node>> sorted;
  sorted.reserve(nodes_.size());
  for (std::size_t i : order) sorted.push_back(std::move(nodes_[i]));
  nodes_ = std::move(sorted);
  return Status::ok();
}

std::optional<std::vector<Size>> constantContents(const Tensor& tensor) {
  if (!tensor.isGiven()) return std::nullopt;
  const DTypeInfo& row = info(tensor.dtype());
  const bool isInt = row.dtypeClass == DTypeClass::kSigned || row.dtypeClass == DTypeClass::kUnsigned ||
                     row.dtypeClass == DTypeClass::kBool;
  if (!isInt || tensor.count() > kMaxContents) return std::nullopt;
  std::vector<Size> contents;
  for (std::int64_t value : intsOf(tensor.view())) {
    // Beyond the range of int64 the value is not known exactly.
    if (tensor.dtype() == DType::kUInt64 && value == std::numeric_limits<std::int64_t>::max())
      return std::nullopt;
    contents.emplace_back(value);
  }
  return contents;
}

}  // namespace rota::ir
