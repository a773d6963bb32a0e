// SPDX-License-Identifier: Apache-2.0
// The network under construction: a graph, and a handle for each value that the caller has seen.
#include <algorithm>
#include <cstring>

#include <rota/network.h>

#include "core/check.h"
#include "import/onnx/reader.h"
#include "knob/knob.h"
#include "op/definition.h"

namespace rota {
namespace {

/// New nodes are written in the newest version of an operator.

int newestVersion(const op::Definition& definition) {
  return definition.versions.empty() ? 1 : definition.versions.back();
}

}  // namespace

struct Network::Impl {
  std::unique_ptr<ir::Graph> graph = std::make_unique<ir::Graph>();
  std::vector<ir::Value*> values;  // by NetworkValue::id

  NetworkValue handle(ir::Value* value) {
    values.push_back(value);
    return {static_cast<std::uint32_t>(values.size() - 1)};
  }
};

Network::Network() : impl_(std::make_unique<Impl>()) {}
Network::~Network() = default;
Network::Network(Network&&) noexcept = default;
Network& Network::operator=(Network&&) noexcept = default;

ir::Graph& Network::graph() { return *impl_->graph; }

Result<Network> Network::fromOnnx(const std::string& path, const ModelOptions& options) {
  onnx::ImportOptions import;
  for (const auto& [name, ranges] : options.inputDims) {
    for (const DimRange& r : ranges) import.inputDims[name].push_back({r.min, r.opt, r.max});
  }
  for (const auto& [name, r] : options.symbols) import.symbols[name] = {r.min, r.opt, r.max};
  auto result = onnx::importOnnx(path, import);
  if (!result) return result.status();
  if (!result->problems.empty()) return onnx::summariseProblems(result->problems);
  Network network;
  network.impl_->graph = std::move(result->graph);
  return network;
}

Result<NetworkValue> Network::addInput(std::string name, DType dtype, const std::vector<Dim>& dims) {
  if (impl_->graph->findValue(name) != nullptr)
    return Status(ErrorCode::kUsage, "two values have the same name").at("input '" + name + "'");
  ir::Type type;
  type.dtype = dtype;
  type.shape.known = true;
  SizeContext& sizes = impl_->graph->sizes();
  for (const Dim& d : dims) {
    if (!d.isSymbol()) {
      if (d.value() < 0)
        return Status(ErrorCode::kUsage, "a dim is negative")
            .at("input '" + name + "'")
            .found(std::to_string(d.value()));
      type.shape.dims.emplace_back(d.value());
    } else if (const auto known = sizes.findSymbol(d.symbol())) {
      type.shape.dims.push_back(sizes.symbol(*known));
    } else {
      type.shape.dims.push_back(sizes.newSymbol(d.symbol(), {.lo = 1}, SymbolOrigin::kInputDim));
    }
  }
  return impl_->handle(impl_->graph->addInput(std::move(name), std::move(type)));
}

Result<NetworkValue> Network::addConstant(std::string name, const TensorView& value) {
  auto tensor = Tensor::allocate(value.dtype, {value.dims.begin(), value.dims.end()});
  if (!tensor) return tensor.status();
  if (value.bytes() > 0) std::memcpy(tensor->mutableData(), value.data, value.bytes());
  const std::string recipe = "initializer " + name;
  return impl_->handle(impl_->graph->addConstant(std::move(name), std::move(*tensor), recipe));
}

Result<std::vector<NetworkValue>> Network::addMany(
    std::string_view opType, const std::vector<NetworkValue>& inputs, std::size_t outputs,
    std::initializer_list<std::pair<std::string_view, AttributeValue>> attributes, const std::string& name) {
  const op::Definition* definition = op::find("", opType);
  if (definition == nullptr) {
    std::vector<std::string> names;
    for (const op::Definition* d : op::all())
      if (d->domain.empty()) names.push_back(d->name);
    std::string near;
    for (const std::string& n : knob::nearestNames(opType, names)) near += (near.empty() ? "" : ", ") + n;
    Status error(ErrorCode::kUnsupportedOperator, "there is no operator '" + std::string(opType) + "'");
    return near.empty() ? error : std::move(error).fix("did you mean " + near + "?");
  }
  std::vector<ir::Value*> operands;
  for (NetworkValue v : inputs) {
    if (v.id == kNotGiven.id) {
      operands.push_back(nullptr);
      continue;
    }
    if (v.id >= impl_->values.size())
      return Status(ErrorCode::kUsage, "an operand does not belong to this network").at(std::string(opType));
    operands.push_back(impl_->values[v.id]);
  }
  ir::Graph& graph = *impl_->graph;
  const std::uint32_t source =
      graph.sources().add({"", name.empty() ? std::string(opType) : name, std::string(opType)});
  std::vector<std::string> outputNames(outputs);
  for (std::size_t i = 0; i < outputs; ++i)
    outputNames[i] = (name.empty() ? std::string(opType) : name) + (i == 0 ? "" : ":" + std::to_string(i));
  ir::Node* node = graph.addNode(name, "", std::string(opType), newestVersion(*definition), operands,
                                 outputNames, {{source}});
  node->definition = definition;
  for (const auto& [key, value] : attributes) {
    std::visit([&](const auto& v) { node->attributes.set(std::string(key), Attribute(v)); }, value);
  }
  if (Status s = op::inferNode(*node); !s.isOk()) {
    graph.eraseNode(node);
    return s;
  }
  std::vector<NetworkValue> handles;
  handles.reserve(node->outputs.size());
  for (ir::Value* out : node->outputs) handles.push_back(impl_->handle(out));
  return handles;
}

Result<NetworkValue> Network::add(
    std::string_view opType, const std::vector<NetworkValue>& inputs,
    std::initializer_list<std::pair<std::string_view, AttributeValue>> attributes, const std::string& name) {
  auto all = addMany(opType, inputs, 1, attributes, name);
  if (!all) return all.status();
  return all->front();
}

Status Network::markOutput(NetworkValue value, std::string name) {
  if (value.id >= impl_->values.size())
    return Status(ErrorCode::kUsage, "a value does not belong to this network").at("output '" + name + "'");
  auto& names = impl_->graph->outputNames();
  if (std::find(names.begin(), names.end(), name) != names.end())
    return Status(ErrorCode::kUsage, "two outputs have the same name").at("output '" + name + "'");
  impl_->graph->addOutput(impl_->values[value.id]);
  names.push_back(std::move(name));
  return Status::ok();
}

std::string Network::describe(NetworkValue value) const {
  if (value.id >= impl_->values.size()) return "not a value of this network";
  const ir::Type& type = impl_->values[value.id]->type;
  std::string text = info(type.dtype).name;
  if (!type.shape.known) return text + "[?]";
  text += "[";
  for (std::size_t i = 0; i < type.shape.dims.size(); ++i) {
    if (i > 0) text += ", ";
    text += impl_->graph->sizes().toString(type.shape.dims[i]);
  }
  return text + "]";
}

}  // namespace rota
