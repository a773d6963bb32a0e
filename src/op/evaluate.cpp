// SPDX-License-Identifier: Apache-2.0
// The evaluator. For each node it infers shapes once more, on a scratch copy whose inputs are the tensors at hand, as constants. So sizes
// are numbers, whatever the graph around says about them, and the kernel finds its outputs allocated; only outputs whose size the
// kernel finds are allocated on demand. Tensors share their bytes, so a scratch copy costs no weights. Values die after their last use.
// Control flow (If, Loop, Scan) runs the blocks of the node here, with the values of the graphs around them in reach.
// Tested by src/op/evaluate_test.cpp.
#include "op/evaluate.h"

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "core/check.h"
#include "ir/walk.h"
#include "op/definition.h"
#include "op/describe.h"
#include "op/stack_tensors.h"

namespace rota::op {
namespace {

using EvaluatedValues = std::vector<EvaluatedValue>;
using UseCounts = std::unordered_map<const ir::Value*, std::size_t>;

constexpr std::size_t kMaxScratchSymbols = 64;

/// Values of one run of a graph; those of the graphs around it are found through `parent`.
struct Environment {
  const Environment* parent = nullptr;
  std::unordered_map<const ir::Value*, EvaluatedValue> values;

  const EvaluatedValue* find(const ir::Value* value) const {
    for (const Environment* at = this; at != nullptr; at = at->parent) {
      const auto found = at->values.find(value);
      if (found != at->values.end()) return &found->second;
    }
    return nullptr;
  }
};

/// What one kernel call runs in.
class EvaluationHost : public ref::KernelHost {
 public:
  EvaluationHost(std::span<const EvaluatedValue> inputs, std::span<const ir::Value> outputs,
                 ThreadPool& threads)
      : inputs_(inputs),
        outputTypes_(outputs),
        threads_(threads),
        results_(outputs.size()),
        views_(outputs.size()) {}

  /// Allocates what is known; `wanted[i]` is false for outputs that nobody asked for.
  Status prepare(const std::vector<bool>& wanted);
  std::span<const MutableTensorView> views() const { return views_; }
  EvaluatedValues take() { return std::move(results_); }

  Result<MutableTensorView> allocateOutput(std::size_t index, Dims dims) override;
  Result<void*> scratch(std::size_t bytes) override;
  ThreadPool& threads() override { return threads_; }
  const ref::Sequence* inputSequence(std::size_t index) override {
    return index < inputs_.size() && inputs_[index].sequence ? &*inputs_[index].sequence : nullptr;
  }
  ref::Sequence* outputSequence(std::size_t index) override {
    return index < results_.size() && results_[index].sequence ? &*results_[index].sequence : nullptr;
  }

 private:
  std::span<const EvaluatedValue> inputs_;
  std::span<const ir::Value> outputTypes_;
  ThreadPool& threads_;
  EvaluatedValues results_;
  std::vector<MutableTensorView> views_;
  std::vector<std::shared_ptr<Buffer>> scratch_;
};

Status EvaluationHost::prepare(const std::vector<bool>& wanted) {
  for (std::size_t i = 0; i < results_.size(); ++i) {
    if (!wanted[i]) continue;
    const ir::Type& type = outputTypes_[i].type;
    if (type.kind == ir::TypeKind::kSequence || type.kind == ir::TypeKind::kOptional) {
      results_[i].sequence.emplace();
      results_[i].sequence->dtype = type.dtype;
      results_[i].sequence->isOptional = type.kind == ir::TypeKind::kOptional;
      continue;
    }
    views_[i].dtype = type.dtype;
    if (!type.shape.isStatic()) continue;
    std::vector<std::int64_t> dims;
    for (Size dim : type.shape.dims) dims.push_back(*dim.constant());
    auto tensor = Tensor::allocate(type.dtype, std::move(dims));
    if (!tensor) return tensor.status();
    results_[i].tensor = std::move(*tensor);
    views_[i] = results_[i].tensor.mutableView();
  }
  return Status::ok();
}

Result<MutableTensorView> EvaluationHost::allocateOutput(std::size_t index, Dims dims) {
  CHECK(index < results_.size());
  const ir::Shape& shape = outputTypes_[index].type.shape;
  bool fits = !shape.known || shape.rank() == dims.size();
  for (std::size_t d = 0; fits && shape.known && d < dims.size(); ++d) {
    fits = !shape.dims[d].isConstant() || shape.dims[d].is(dims[d]);
  }
  if (!fits) {
    std::string found;
    for (std::int64_t dim : dims) found += (found.empty() ? "[" : ", ") + std::to_string(dim);
    return Status(ErrorCode::kInternal, "a reference kernel found another shape for output " +
                                            std::to_string(index) + " than inference")
        .found(found.empty() ? "[]" : found + "]");
  }
  if (!results_[index].tensor.isGiven()) {
    auto tensor = Tensor::allocate(outputTypes_[index].type.dtype, {dims.begin(), dims.end()});
    if (!tensor) return tensor.status();
    results_[index].tensor = std::move(*tensor);
  }
  return results_[index].tensor.mutableView();
}

Result<void*> EvaluationHost::scratch(std::size_t bytes) {
  auto buffer = Buffer::allocate(std::max<std::size_t>(bytes, 1));
  if (!buffer) return buffer.status();
  scratch_.push_back(std::move(*buffer));
  return static_cast<void*>(scratch_.back()->mutableData());
}

ir::Type typeOfEvaluated(const EvaluatedValue& value, const ir::Value& original) {
  if (!value.sequence) {
    std::vector<Size> dims(value.tensor.dims().begin(), value.tensor.dims().end());
    return {.dtype = value.tensor.dtype(), .shape = ir::Shape::of(std::move(dims))};
  }
  ir::Type type = original.type;
  type.kind = value.sequence->isOptional ? ir::TypeKind::kOptional : ir::TypeKind::kSequence;
  type.dtype = value.sequence->dtype;
  type.shape = ir::Shape::unknown();
  return type;
}

class Evaluator {
 public:
  Evaluator(ThreadPool& threads, const EvaluationObserver& observer)
      : threads_(threads),
        observer_(observer) {}

  Result<EvaluatedValues> runGraph(const ir::Graph& graph, std::span<const EvaluatedValue> inputs,
                                   const Environment* parent, int depth);
  Result<EvaluatedValues> runNode(const ir::Node& node, std::span<const EvaluatedValue> inputs,
                                  const Environment* around, int depth);

 private:
  Result<EvaluatedValues> runKernel(const ir::Node& node, std::span<const EvaluatedValue> inputs);
  Result<EvaluatedValues> runIf(const ir::Node& node, std::span<const EvaluatedValue> inputs,
                                const Environment* around, int depth);
  Result<EvaluatedValues> runLoop(const ir::Node& node, std::span<const EvaluatedValue> inputs,
                                  const Environment* around, int depth);
  Result<EvaluatedValues> runScan(const ir::Node& node, std::span<const EvaluatedValue> inputs,
                                  const Environment* around, int depth);
  Result<const ir::Graph*> blockOf(const ir::Node& node, std::string_view name, std::size_t inputs,
                                   std::size_t outputs);
  const UseCounts& usesOf(const ir::Graph& graph);
  ir::Graph& scratchGraph();

  ThreadPool& threads_;
  const EvaluationObserver& observer_;
  std::unique_ptr<ir::Graph> scratch_;
  std::unordered_map<const ir::Graph*, UseCounts> uses_;
};

/// How often the nodes of `graph` (with what is nested in them) use each of its values; a use as output keeps it to the end.
const UseCounts& Evaluator::usesOf(const ir::Graph& graph) {
  const auto [entry, isNew] = uses_.try_emplace(&graph);
  if (isNew) {
    const auto count = [&](const ir::Value* value) {
      if (value->owner == &graph) ++entry->second[value];
    };
    for (const auto& node : graph.nodes()) ir::forEachUse(*node, count);
    for (const ir::Value* output : graph.outputs()) count(output);
  }
  return entry->second;
}

/// Owner of scratch nodes. Symbols of data-dependent sizes gather in it, so it is replaced now and then.
ir::Graph& Evaluator::scratchGraph() {
  if (scratch_ == nullptr || scratch_->sizes().symbols().size() > kMaxScratchSymbols)
    scratch_ = std::make_unique<ir::Graph>();
  return *scratch_;
}

Result<EvaluatedValues> Evaluator::runKernel(const ir::Node& node, std::span<const EvaluatedValue> inputs) {
  ir::Graph& owner = scratchGraph();
  std::vector<ir::Value> inputValues(node.inputs.size());
  std::vector<ir::Value> outputValues(node.outputs.size());
  std::vector<bool> wanted(node.outputs.size());
  ir::Node copy;
  copy.name = node.name;
  copy.domain = node.domain;
  copy.opType = node.opType;
  copy.version = node.version;
  copy.definition = node.definition;
  copy.attributes = node.attributes;
  copy.owner = &owner;
  std::vector<TensorView> inputViews(node.inputs.size());
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == nullptr) {
      copy.inputs.push_back(nullptr);
      continue;
    }
    ir::Value& value = inputValues[i];
    value.name = node.inputs[i]->name;
    value.owner = &owner;
    value.type = typeOfEvaluated(inputs[i], *node.inputs[i]);
    if (!inputs[i].sequence) {
      value.constant = inputs[i].tensor;
      value.contents = ir::constantContents(value.constant);
      inputViews[i] = inputs[i].tensor.view();
    }
    copy.inputs.push_back(&value);
  }
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    wanted[i] = node.outputs[i] != nullptr;
    if (wanted[i]) outputValues[i].name = node.outputs[i]->name;
    outputValues[i].owner = &owner;
    copy.outputs.push_back(wanted[i] ? &outputValues[i] : nullptr);
  }
  ROTA_RETURN_IF_ERROR(inferNode(copy));
  const ref::Kernel kernel = ref::findKernel(node.domain, node.opType);
  if (kernel == nullptr) {
    return Status(ErrorCode::kUnsupportedOperator, "the operator has no reference kernel").found(node.opType);
  }
  EvaluationHost host(inputs, outputValues, threads_);
  ROTA_RETURN_IF_ERROR(host.prepare(wanted));
  ref::KernelContext context(host, copy.attributes, node.version, inputViews, host.views());
  ROTA_RETURN_IF_ERROR(kernel(context));
  EvaluatedValues results = host.take();
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (wanted[i] && !results[i].sequence && !results[i].tensor.isGiven()) {
      return Status(ErrorCode::kInternal, "the reference kernel did not write output " + std::to_string(i));
    }
  }
  return results;
}

Result<const ir::Graph*> Evaluator::blockOf(const ir::Node& node, std::string_view name, std::size_t inputs,
                                            std::size_t outputs) {
  const ir::Graph* block = node.block(name);
  if (block == nullptr)
    return Status(ErrorCode::kBadAttribute, "a control-flow node has no block")
        .expected(std::string(name))
        .found("none");
  if (block->inputs().size() != inputs || block->outputs().size() < outputs) {
    return Status(ErrorCode::kBadGraph, "a block does not fit the node that runs it")
        .expected(std::to_string(inputs) + " inputs and at least " + std::to_string(outputs) +
                  " outputs of '" + std::string(name) + "'")
        .found(std::to_string(block->inputs().size()) + " inputs and " +
               std::to_string(block->outputs().size()) + " outputs");
  }
  return block;
}

Result<bool> conditionOf(const EvaluatedValue& value) {
  const Tensor& tensor = value.tensor;
  if (!tensor.isGiven() || tensor.dtype() != DType::kBool || tensor.count() != 1) {
    return Status(ErrorCode::kTypeMismatch, "a condition must be one bool");
  }
  return intAt(tensor.view(), 0) != 0;
}

EvaluatedValue scalarOf(DType dtype, std::int64_t value) {
  auto tensor = Tensor::allocate(dtype, {});
  CHECK(tensor.isOk());
  if (dtype == DType::kBool) {
    *reinterpret_cast<std::uint8_t*>(tensor->mutableData()) = value != 0 ? 1 : 0;
  } else {
    CHECK(dtype == DType::kInt64);
    *reinterpret_cast<std::int64_t*>(tensor->mutableData()) = value;
  }
  return {.tensor = std::move(*tensor), .sequence = {}};
}

Result<EvaluatedValues> Evaluator::runIf(const ir::Node& node, std::span<const EvaluatedValue> inputs,
                                         const Environment* around, int depth) {
  auto condition = conditionOf(inputs.empty() ? EvaluatedValue{} : inputs[0]);
  if (!condition) return condition.status();
  auto block = blockOf(node, *condition ? "then_branch" : "else_branch", 0, node.outputs.size());
  if (!block) return block.status();
  return runGraph(**block, {}, around, depth + 1);
}

/// The tensors of one scan output; without iterations an empty tensor of the block's type.
Result<EvaluatedValue> stackScanOutput(const std::vector<Tensor>& parts, const ir::Value& blockOutput,
                                       std::int64_t axis, bool reverse) {
  std::vector<std::int64_t> emptyDims;
  if (parts.empty()) {
    // Dims that only a run would tell are 0; the tensor has no elements in any case.
    for (Size dim : blockOutput.type.shape.dims) emptyDims.push_back(dim.constant().value_or(0));
  }
  auto stacked = stackTensors(parts, axis, reverse, blockOutput.type.dtype, emptyDims);
  if (!stacked) return stacked.status();
  return EvaluatedValue{.tensor = std::move(*stacked), .sequence = {}};
}

Result<EvaluatedValues> Evaluator::runLoop(const ir::Node& node, std::span<const EvaluatedValue> inputs,
                                           const Environment* around, int depth) {
  const std::size_t carriedCount = inputs.size() < 2 ? 0 : inputs.size() - 2;
  auto block = blockOf(node, "body", carriedCount + 2, carriedCount + 1);
  if (!block) return block.status();
  const ir::Graph& body = **block;
  std::int64_t trips = std::numeric_limits<std::int64_t>::max();
  if (node.input(0) != nullptr) {
    if (inputs[0].tensor.dtype() != DType::kInt64 || inputs[0].tensor.count() != 1) {
      return Status(ErrorCode::kTypeMismatch, "the trip count of a Loop must be one int64");
    }
    trips = intAt(inputs[0].tensor.view(), 0);
  }
  bool goesOn = true;
  if (node.input(1) != nullptr) {
    auto condition = conditionOf(inputs[1]);
    if (!condition) return condition.status();
    goesOn = *condition;
  }
  EvaluatedValues carried(
      inputs.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(2, inputs.size())), inputs.end());
  const std::size_t scanCount = body.outputs().size() - 1 - carriedCount;
  std::vector<std::vector<Tensor>> parts(scanCount);
  for (std::int64_t trip = 0; goesOn && trip < trips; ++trip) {
    EvaluatedValues bodyInputs{scalarOf(DType::kInt64, trip), scalarOf(DType::kBool, 1)};
    bodyInputs.insert(bodyInputs.end(), std::make_move_iterator(carried.begin()),
                      std::make_move_iterator(carried.end()));
    auto results = runGraph(body, bodyInputs, around, depth + 1);
    if (!results) return results.status();
    auto condition = conditionOf((*results)[0]);
    if (!condition) return condition.status();
    goesOn = *condition;
    const auto firstCarried = results->begin() + 1;
    const auto firstScan = firstCarried + static_cast<std::ptrdiff_t>(carriedCount);
    carried.assign(std::make_move_iterator(firstCarried), std::make_move_iterator(firstScan));
    for (std::size_t k = 0; k < scanCount; ++k)
      parts[k].push_back((firstScan + static_cast<std::ptrdiff_t>(k))->tensor);
  }
  EvaluatedValues outputs = std::move(carried);
  for (std::size_t k = 0; k < scanCount; ++k) {
    auto stacked = stackScanOutput(parts[k], *body.outputs()[1 + carriedCount + k], 0, false);
    if (!stacked) return stacked.status();
    outputs.push_back(std::move(*stacked));
  }
  return outputs;
}

/// Entry `k` of a list attribute that may be shorter or absent.
std::int64_t listEntry(const ir::Node& node, std::string_view name, std::size_t k) {
  const auto* list = node.attributes.getInts(name);
  return list != nullptr && k < list->size() ? (*list)[k] : 0;
}

Result<EvaluatedValues> Evaluator::runScan(const ir::Node& node, std::span<const EvaluatedValue> inputs,
                                           const Environment* around, int depth) {
  const std::int64_t scanInputs64 = node.attributes.getInt("num_scan_inputs");
  if (scanInputs64 < 1 || static_cast<std::size_t>(scanInputs64) > inputs.size()) {
    return Status(ErrorCode::kBadAttribute, "num_scan_inputs does not fit the inputs")
        .expected("1 to " + std::to_string(inputs.size()))
        .found(std::to_string(scanInputs64));
  }
  const auto scanInputs = static_cast<std::size_t>(scanInputs64);
  const std::size_t stateCount = inputs.size() - scanInputs;
  auto block = blockOf(node, "body", inputs.size(), stateCount);
  if (!block) return block.status();
  const ir::Graph& body = **block;

  std::optional<std::int64_t> length;
  std::vector<std::int64_t> axes;
  for (std::size_t k = 0; k < scanInputs; ++k) {
    const Tensor& tensor = inputs[stateCount + k].tensor;
    const auto rank = static_cast<std::int64_t>(tensor.dims().size());
    const std::int64_t axis = listEntry(node, "scan_input_axes", k);
    if (axis < -rank || axis >= rank) {
      return Status(ErrorCode::kBadAttribute, "a scan axis is outside its tensor")
          .expected("rank above the axis")
          .found(std::to_string(axis));
    }
    axes.push_back(axis < 0 ? axis + rank : axis);
    const std::int64_t dim = tensor.dims()[static_cast<std::size_t>(axes.back())];
    if (length && *length != dim) {
      return Status(ErrorCode::kShapeMismatch, "scan inputs have different lengths")
          .expected(std::to_string(*length))
          .found(std::to_string(dim));
    }
    length = dim;
  }

  EvaluatedValues state(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(stateCount));
  const std::size_t scanCount = body.outputs().size() - stateCount;
  std::vector<std::vector<Tensor>> parts(scanCount);
  for (std::int64_t step = 0; step < *length; ++step) {
    EvaluatedValues bodyInputs = std::move(state);
    for (std::size_t k = 0; k < scanInputs; ++k) {
      const bool isBackward = listEntry(node, "scan_input_directions", k) != 0;
      auto slice =
          sliceTensor(inputs[stateCount + k].tensor, axes[k], isBackward ? *length - 1 - step : step);
      if (!slice) return slice.status();
      bodyInputs.push_back({.tensor = std::move(*slice), .sequence = {}});
    }
    auto results = runGraph(body, bodyInputs, around, depth + 1);
    if (!results) return results.status();
    const auto firstScan = results->begin() + static_cast<std::ptrdiff_t>(stateCount);
    state.assign(std::make_move_iterator(results->begin()), std::make_move_iterator(firstScan));
    for (std::size_t k = 0; k < scanCount; ++k)
      parts[k].push_back((firstScan + static_cast<std::ptrdiff_t>(k))->tensor);
  }
  EvaluatedValues outputs = std::move(state);
  for (std::size_t k = 0; k < scanCount; ++k) {
    auto stacked =
        stackScanOutput(parts[k], *body.outputs()[stateCount + k], listEntry(node, "scan_output_axes", k),
                        listEntry(node, "scan_output_directions", k) != 0);
    if (!stacked) return stacked.status();
    outputs.push_back(std::move(*stacked));
  }
  return outputs;
}

Result<EvaluatedValues> Evaluator::runNode(const ir::Node& node, std::span<const EvaluatedValue> inputs,
                                           const Environment* around, int depth) {
  const bool isControlFlow = node.domain.empty() && !node.blocks.empty();
  Result<EvaluatedValues> results = !isControlFlow          ? runKernel(node, inputs)
                                    : node.opType == "If"   ? runIf(node, inputs, around, depth)
                                    : node.opType == "Loop" ? runLoop(node, inputs, around, depth)
                                    : node.opType == "Scan" ? runScan(node, inputs, around, depth)
                                                            : runKernel(node, inputs);
  // Errors of inner nodes keep their place.
  if (!results && results.status().detail().node.empty()) return results.status().at(describeNode(node));
  if (!results && !isControlFlow) return results.status().at(describeNode(node));
  if (results && results->size() < node.outputs.size()) {
    return Status(ErrorCode::kBadGraph, "a node has more outputs than its block")
        .at(describeNode(node))
        .expected("at most " + std::to_string(results->size()) + " outputs")
        .found(std::to_string(node.outputs.size()));
  }
  return results;
}

Result<EvaluatedValues> Evaluator::runGraph(const ir::Graph& graph, std::span<const EvaluatedValue> inputs,
                                            const Environment* parent, int depth) {
  if (depth > ir::kMaxGraphDepth)
    return Status(ErrorCode::kModelTooDeep, "graphs are nested too deep").at(graph.name);
  Environment environment{parent, {}};
  for (std::size_t i = 0; i < graph.inputs().size(); ++i) environment.values[graph.inputs()[i]] = inputs[i];
  UseCounts uses = usesOf(graph);
  const auto release = [&](const ir::Value* value) {
    const auto found = uses.find(value);
    if (found != uses.end() && --found->second == 0) environment.values.erase(value);
  };
  const auto valueOf = [&](const ir::Value* value) -> Result<EvaluatedValue> {
    if (value->isConstant()) return EvaluatedValue{.tensor = value->constant, .sequence = {}};
    if (const EvaluatedValue* found = environment.find(value)) return *found;
    return Status(ErrorCode::kBadGraph, "a value is used that nothing has computed").at(value->name);
  };
  for (const auto& node : graph.nodes()) {
    EvaluatedValues nodeInputs(node->inputs.size());
    for (std::size_t i = 0; i < node->inputs.size(); ++i) {
      if (node->inputs[i] == nullptr) continue;
      auto value = valueOf(node->inputs[i]);
      if (!value) return value.status();
      nodeInputs[i] = std::move(*value);
    }
    auto results = runNode(*node, nodeInputs, &environment, depth);
    if (!results) return results.status();
    for (std::size_t i = 0; i < node->outputs.size(); ++i) {
      const ir::Value* output = node->outputs[i];
      if (output == nullptr) continue;
      if (observer_) observer_(*output, (*results)[i]);
      if (uses.contains(output)) environment.values[output] = std::move((*results)[i]);
    }
    ir::forEachUse(*node, release);
  }
  EvaluatedValues outputs;
  for (const ir::Value* output : graph.outputs()) {
    auto value = valueOf(output);
    if (!value) return value.status();
    outputs.push_back(std::move(*value));
  }
  return outputs;
}

Status checkGraphInputs(const ir::Graph& graph, std::span<const EvaluatedValue> inputs) {
  if (inputs.size() != graph.inputs().size()) {
    return Status(ErrorCode::kInputMissing, "the number of inputs is wrong")
        .at(graph.name)
        .expected(std::to_string(graph.inputs().size()))
        .found(std::to_string(inputs.size()));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const ir::Value& value = *graph.inputs()[i];
    const ir::Type found = typeOfEvaluated(inputs[i], value);
    const auto problem = [&](ErrorCode code, const char* message) {
      return Status(code, message)
          .at(value.name)
          .expected(describeType(value.type, graph.sizes()))
          .found(describeType(found, graph.sizes()));
    };
    if (found.dtype != value.type.dtype || found.kind != value.type.kind)
      return problem(ErrorCode::kInputType, "an input has the wrong type");
    if (!value.type.shape.known || inputs[i].sequence) continue;
    bool fits = found.shape.rank() == value.type.shape.rank();
    for (std::size_t d = 0; fits && d < found.shape.rank(); ++d) {
      const Size expected = value.type.shape.dims[d];
      fits = !expected.isConstant() || expected == found.shape.dims[d];
    }
    if (!fits) return problem(ErrorCode::kInputShape, "an input has the wrong shape");
  }
  return Status::ok();
}

}  // namespace

Result<std::vector<EvaluatedValue>> evaluateNode(const ir::Node& node, std::span<const EvaluatedValue> inputs,
                                                 ThreadPool& threads) {
  const EvaluationObserver nobody;
  EvaluatedValues all(inputs.begin(), inputs.end());
  all.resize(node.inputs.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (node.inputs[i] == nullptr || all[i].sequence || all[i].tensor.isGiven()) continue;
    return Status(ErrorCode::kInputMissing, "an input of the node is not given")
        .at(describeNode(node))
        .found("'" + node.inputs[i]->name + "'");
  }
  return Evaluator(threads, nobody).runNode(node, all, nullptr, 0);
}

Result<std::vector<EvaluatedValue>> evaluateGraph(const ir::Graph& graph,
                                                  std::span<const EvaluatedValue> inputs, ThreadPool& threads,
                                                  const EvaluationObserver& observer) {
  ROTA_RETURN_IF_ERROR(checkGraphInputs(graph, inputs));
  return Evaluator(threads, observer).runGraph(graph, inputs, nullptr, 0);
}

}  // namespace rota::op
