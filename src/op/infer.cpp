// SPDX-License-Identifier: Apache-2.0
// The driver of shape inference: checks a node against its schema, shows it to the inference function of its operator with all
// facts applied, and stores what that finds.
//
// Facts (equal symbols) that are learnt inside a branch or a loop body hold only there: a block is inferred in a scope of the size context,
// and types of captured values are put back afterwards. Inferring a graph again finds the same symbols again.
// Tested by src/op/infer_test.cpp.
#include <algorithm>

#include "core/check.h"
#include "core/checked.h"
#include "ir/walk.h"
#include "op/check_formals.h"
#include "op/definition.h"
#include "op/describe.h"

namespace rota::op {
namespace {

void resolveShape(ir::Shape& shape, const SizeContext& sizes) {
  for (Size& dim : shape.dims) dim = sizes.resolve(dim);
}

class NodeInference : public InferContext {
 public:
  explicit NodeInference(ir::Node& node)
      : node_(node),
        sizes_(node.owner->sizes()),
        isSet_(node.outputs.size(), false) {}

  Status run();

  const ir::Node& node() const override { return node_; }
  SizeContext& sizes() override { return sizes_; }

  const Tensor* constant(std::size_t i) const override {
    const ir::Value* value = node_.input(i);
    return value != nullptr && value->isConstant() ? &value->constant : nullptr;
  }

  std::optional<std::vector<Size>> contents(std::size_t i) const override {
    const ir::Value* value = node_.input(i);
    if (value == nullptr || !value->contents) return std::nullopt;
    std::vector<Size> contents;
    for (Size element : *value->contents) {
      if (!element.isValid()) return std::nullopt;
      contents.push_back(sizes_.resolve(element));
    }
    return contents;
  }

  std::optional<std::vector<Size>> contentsOrResolve(std::size_t i, SizeRange range) override;
  Size dataDependent(std::string_view name, SizeRange range) override;

  bool hasOutput(std::size_t i) const override { return node_.output(i) != nullptr; }
  void setOutput(std::size_t i, DType dtype, ir::Shape shape) override {
    setOutputType(i, ir::Type{.dtype = dtype, .shape = std::move(shape)});
  }
  void setOutputType(std::size_t i, ir::Type type) override {
    ir::Value* output = node_.output(i);
    if (output == nullptr) return;
    output->type = std::move(type);
    isSet_[i] = true;
  }
  void setContents(std::size_t i, std::vector<Size> contents) override {
    ir::Value* output = node_.output(i);
    if (output == nullptr || contents.size() > static_cast<std::size_t>(ir::kMaxContents)) return;
    output->contents = std::move(contents);
  }

  Status requireEqual(Size a, Size b, std::string reason) override {
    return sizes_.requireEqual(a, b, describeNode(node_), std::move(reason));
  }
  Result<std::vector<Size>> broadcast(std::span<const std::vector<Size>> shapes) override;
  Status inferBlock(ir::Graph& block) override;

 private:
  Status checkResults();
  std::string inputTypes() const;

  ir::Node& node_;
  SizeContext& sizes_;
  std::vector<bool> isSet_;
};

std::optional<std::vector<Size>> NodeInference::contentsOrResolve(std::size_t i, SizeRange range) {
  ir::Value* value = node_.input(i);
  if (value == nullptr) return std::nullopt;
  const ir::Shape& shape = value->type.shape;
  if (!value->contents) {
    if (!shape.isStatic() || !(isInteger(value->type.dtype) || value->type.dtype == DType::kBool))
      return std::nullopt;
    Size count = product(shape.dims);
    if (!count.isConstant() || *count.constant() > ir::kMaxContents) return std::nullopt;
    value->contents.emplace(static_cast<std::size_t>(*count.constant()), Size::invalid());
  }
  for (std::size_t k = 0; k < value->contents->size(); ++k) {
    Size& element = (*value->contents)[k];
    if (element.isValid()) continue;
    const auto element32 = static_cast<std::uint32_t>(k);
    const auto known = std::find_if(value->resolvedHere.begin(), value->resolvedHere.end(),
                                    [element32](const auto& entry) { return entry.first == element32; });
    if (known != value->resolvedHere.end()) {
      element = sizes_.symbol(known->second);
      continue;
    }
    element =
        sizes_.newSymbol(value->name + "[" + std::to_string(k) + "]", range, SymbolOrigin::kHostResolved);
    value->resolvedHere.emplace_back(element32, *sizes_.asSymbol(element));
  }
  return contents(i);
}

Size NodeInference::dataDependent(std::string_view name, SizeRange range) {
  for (const auto& [known, symbol] : node_.foundSizes) {
    if (known != name) continue;
    if (sizes_.symbols()[symbol].range != range) sizes_.setRange(symbol, range);
    return sizes_.resolve(sizes_.symbol(symbol));
  }
  const Size size =
      sizes_.newSymbol(node_.name + "." + std::string(name), range, SymbolOrigin::kDataDependent);
  node_.foundSizes.emplace_back(name, *sizes_.asSymbol(size));
  return size;
}

Result<std::vector<Size>> NodeInference::broadcast(std::span<const std::vector<Size>> shapes) {
  std::size_t rank = 0;
  for (const auto& shape : shapes) rank = std::max(rank, shape.size());
  std::vector<Size> result(rank, Size(1));
  for (const auto& shape : shapes) {
    const std::size_t offset = rank - shape.size();
    for (std::size_t d = 0; d < shape.size(); ++d) {
      Size& dim = result[offset + d];
      if (shape[d].is(1) || shape[d] == dim) continue;
      std::string reason = "dims are broadcast, shapes";
      for (const auto& each : shapes) reason += " " + describeShape(ir::Shape::of(each), sizes_);
      auto both = sizes_.broadcast(dim, shape[d], describeNode(node_), std::move(reason));
      if (!both) return both.status();
      dim = *both;
    }
  }
  return result;
}

Status NodeInference::inferBlock(ir::Graph& block) {
  sizes_.pushScope(block.scope);
  Status status = inferGraph(block);
  sizes_.popScope();
  return status;
}

/// For messages: the types of the inputs, cut off where they run long.
std::string NodeInference::inputTypes() const {
  constexpr std::size_t kMaxText = 300;
  std::string text = "inputs";
  for (const ir::Value* input : node_.inputs) {
    if (input != nullptr && text.size() < kMaxText) text += " " + describeType(input->type, sizes_);
  }
  return text.size() < kMaxText ? text : text.substr(0, kMaxText) + " ...";
}

Status NodeInference::checkResults() {
  for (std::size_t i = 0; i < node_.outputs.size(); ++i) {
    ir::Value* output = node_.outputs[i];
    if (output == nullptr) continue;
    if (!isSet_[i] || output->type.dtype == DType::kUndefined) {
      return error(ErrorCode::kInternal, "inference found no type for output " + std::to_string(i), "a type",
                   "none");
    }
    if (output->type.dtype == DType::kString) {
      return error(ErrorCode::kUnsupportedType, "string tensors are not supported",
                   "a numeric or boolean result", "string");
    }
    if (!output->type.shape.known) output->type.shape.dims.clear();
    resolveShape(output->type.shape, sizes_);
    for (Size dim : output->type.shape.dims) {
      if (!dim.isValid()) {
        return error(ErrorCode::kModelTooLarge,
                     "a dim of output " + std::to_string(i) + " is too large to compute with",
                     "sizes within 64 bits and expressions of moderate length", inputTypes());
      }
      if (sizes_.range(dim).hi < 0) {
        return error(ErrorCode::kShapeMismatch, "a dim of output " + std::to_string(i) + " would be negative",
                     "dims of at least 0", describeType(output->type, sizes_));
      }
      sizes_.assumeNonNegative(dim);
    }
    if (output->type.kind == ir::TypeKind::kTensor && output->type.shape.isStatic()) {
      std::vector<std::int64_t> dims;
      for (Size dim : output->type.shape.dims) dims.push_back(*dim.constant());
      if (!checkedBytes(output->type.dtype, dims)) {
        return error(ErrorCode::kModelTooLarge,
                     "output " + std::to_string(i) + " has more bytes than can be addressed",
                     "fewer than 2^63 bytes", describeType(output->type, sizes_));
      }
    }
  }
  return Status::ok();
}

Status NodeInference::run() {
  if (node_.definition == nullptr) node_.definition = find(node_.domain, node_.opType);
  if (node_.definition == nullptr || node_.definition->infer == nullptr) {
    return error(ErrorCode::kUnsupportedOperator, "the operator cannot be inferred", "a supported operator",
                 (node_.domain.empty() ? "" : node_.domain + ".") + node_.opType);
  }
  ROTA_RETURN_IF_ERROR(checkFormals(node_, *node_.definition));
  std::vector<std::pair<ir::Value*, ir::Type>> captured;
  for (ir::Value* input : node_.inputs) {
    if (input == nullptr) continue;
    // What is known in this block must not leak into a value of the graph around it.
    if (input->owner != node_.owner) captured.emplace_back(input, input->type);
    resolveShape(input->type.shape, sizes_);
  }
  for (ir::Value* output : node_.outputs) {
    if (output != nullptr) output->contents.reset();
  }
  Status status = node_.definition->infer(*this);
  if (status.isOk()) status = checkResults();
  // In reverse: of a value captured twice, the first entry is the original.
  for (auto entry = captured.rbegin(); entry != captured.rend(); ++entry)
    entry->first->type = std::move(entry->second);
  return status;
}

void resolveValues(ir::Graph& graph) {
  const SizeContext& sizes = graph.sizes();
  ir::forEachGraph(graph, [&sizes](ir::Graph& each) {
    for (const auto& value : each.values()) {
      resolveShape(value->type.shape, sizes);
      if (!value->contents) continue;
      for (Size& element : *value->contents) element = sizes.resolve(element);
    }
  });
}

int depthOfGraph(const ir::Graph& graph) {
  int depth = 0;
  for (const ir::Graph* at = graph.parent(); at != nullptr; at = at->parent()) ++depth;
  return depth;
}

}  // namespace

Status InferContext::error(ErrorCode code, std::string message, std::string expected,
                           std::string found) const {
  return Status(code, std::move(message))
      .at(describeNode(node()))
      .expected(std::move(expected))
      .found(std::move(found));
}

Status inferNode(ir::Node& node) { return NodeInference(node).run(); }

Status inferGraph(ir::Graph& graph) {
  if (depthOfGraph(graph) > ir::kMaxGraphDepth) {
    return Status(ErrorCode::kModelTooDeep, "graphs are nested too deep")
        .at(graph.name)
        .expected("at most " + std::to_string(ir::kMaxGraphDepth) + " levels of If, Loop and Scan");
  }
  for (const auto& node : graph.nodes()) {
    ROTA_RETURN_IF_ERROR(inferNode(*node));
    learnValues(*node);
  }
  // What later nodes require is also true of earlier values.
  resolveValues(graph);
  return Status::ok();
}

}  // namespace rota::op
