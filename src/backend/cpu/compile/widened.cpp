// SPDX-License-Identifier: Apache-2.0
// Regions of float16 or bfloat16 by a float32 tactic: operands are widened when they are loaded, results are rounded once at the end.
//
// The region is copied with float32 values into a graph of its own, the best tactic of that region is asked to emit, and an emitter in between
// converts at the edges. So every float32 kernel serves the narrow types, sums run in float32, and no narrow form of any kernel is needed.
// Constants are stored widened. Tested by src/backend/cpu/compile/widened_test.cpp.
#include <algorithm>
#include <map>

#include "backend/cpu/compile/kernel_tactic.h"
#include "backend/cpu/run/pointwise_op.h"
#include "core/element_access.h"
#include "tactic/pack.h"

namespace rota::tactic {
namespace {

constexpr knob::Knob kEnabled =
    kernelToggle("tactic:cpu.widened", "Lets float16 and bfloat16 regions run in float32.");
const knob::RegisterKnob kRegisterEnabled(kEnabled);

bool isNarrow(DType d) { return d == DType::kFloat16 || d == DType::kBFloat16; }

Result<Tensor> widened(const Tensor& narrow) {
  auto wide = Tensor::allocate(DType::kFloat32, narrow.dims());
  if (!wide) return wide;
  constexpr std::int64_t kBlock = 1024;
  double values[kBlock];
  for (std::int64_t i = 0; i < narrow.count(); i += kBlock) {
    const std::int64_t n = std::min(kBlock, narrow.count() - i);
    loadAsDouble(narrow.view(), i, n, values);
    storeFromDouble(wide->mutableView(), i, n, values);
  }
  return wide;
}

/// The region with float32 in place of the narrow types.
class WideRegion {
 public:
  /// Without `withData` large constants hold zeros: enough to ask tactics, at no cost.
  static Result<std::unique_ptr<WideRegion>> make(const Region& narrow, bool withData) {
    auto wide = std::make_unique<WideRegion>(*narrow.nodes[0]->owner);
    for (ir::Value* in : narrow.inputs) {
      if (Status s = wide->addInput(in, withData); !s.isOk()) return s;
    }
    for (const ir::Node* node : narrow.nodes) wide->addNode(*node);
    wide->region.root = narrow.root == nullptr ? nullptr : wide->region.nodes[0];
    wide->region.scope = narrow.scope;
    for (ir::Value* in : narrow.inputs) wide->region.inputs.push_back(wide->wideOf(in));
    for (ir::Value* out : narrow.outputs) wide->region.outputs.push_back(wide->wideOf(out));
    return wide;
  }
  explicit WideRegion(ir::Graph& owner) : graph_(owner) {}

  Region region;
  ir::Value* wideOf(const ir::Value* narrow) const { return narrow == nullptr ? nullptr : wide_.at(narrow); }
  /// The value of the model behind a value of this graph.
  ir::Value* narrowOf(const ir::Value* wide) const { return narrow_.at(wide); }

 private:
  Status addInput(ir::Value* in, bool withData) {
    ir::Value* wide = nullptr;
    if (in->isConstant()) {
      Tensor tensor = in->constant;
      if (isNarrow(tensor.dtype())) {
        auto converted = withData || tensor.count() <= 64 ? widened(tensor)
                                                          : Tensor::allocate(DType::kFloat32, tensor.dims());
        if (!converted) return converted.status();
        tensor = std::move(*converted);
      }
      wide = graph_.addConstant(in->name, std::move(tensor), in->recipe + " | to float32", in->provenance);
    } else {
      wide = graph_.addInput(in->name, widenedType(in->type));
      wide->contents = in->contents;
      wide->provenance = in->provenance;
    }
    connect(in, wide);
    return Status::ok();
  }

  void addNode(const ir::Node& node) {
    std::vector<ir::Value*> inputs;
    for (const ir::Value* in : node.inputs) inputs.push_back(wideOf(in));
    std::vector<std::string> names;
    for (const ir::Value* out : node.outputs) names.push_back(out == nullptr ? "" : out->name);
    ir::Node* copy = graph_.addNode(node.name, node.domain, node.opType, node.version, std::move(inputs),
                                    names, node.provenance);
    copy->definition = node.definition;
    copy->attributes = node.attributes;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == nullptr) continue;
      copy->outputs[i]->type = widenedType(node.outputs[i]->type);
      connect(node.outputs[i], copy->outputs[i]);
    }
    region.nodes.push_back(copy);
  }

  void connect(ir::Value* narrow, ir::Value* wide) {
    wide_[narrow] = wide;
    narrow_[wide] = narrow;
  }
  static ir::Type widenedType(ir::Type type) {
    if (isNarrow(type.dtype)) type.dtype = DType::kFloat32;
    return type;
  }

  ir::Graph graph_;
  std::map<const ir::Value*, ir::Value*> wide_;
  std::map<const ir::Value*, ir::Value*> narrow_;
};

/// Stands between a float32 tactic and the plan builder: values of the wide region become program values, converted where they are narrow.
class ConvertingEmitter final : public Emitter {
 public:
  ConvertingEmitter(const WideRegion& wide, Emitter& inner) : wide_(wide), inner_(inner) {}

  SizeContext& sizes() override { return inner_.sizes(); }
  const Target& target() const override { return inner_.target(); }
  const knob::KnobSet& knobs() const override { return inner_.knobs(); }
  std::uint32_t entry(Size size) override { return inner_.entry(size); }
  std::int32_t operand(ir::Value* value) override { return operand(value, {}); }
  std::int32_t operand(ir::Value* value, const runtime::Layout& wanted) override {
    if (value == nullptr) return runtime::kNone;
    ir::Value* narrow = wide_.narrowOf(value);
    if (!isNarrow(narrow->type.dtype)) return inner_.operand(narrow, wanted);
    for (const Placed& p : placed_)
      if (p.value == value && p.layout == wanted) return p.id;
    std::int32_t id = runtime::kNone;
    if (value->isConstant() && wanted.isPlain()) {
      id = inner_.constant(value->constant, value->recipe);
    } else {
      id = inner_.temporary(DType::kFloat32, value->type.shape.dims, wanted);
      convert(inner_.operand(narrow, wanted), id);
    }
    placed_.push_back({value, wanted, id});
    return id;
  }
  runtime::Layout currentLayout(const ir::Value* value) const override {
    return inner_.currentLayout(wide_.narrowOf(value));
  }
  std::int32_t define(ir::Value* value, const runtime::Layout& layout) override {
    if (value == nullptr) return runtime::kNone;
    ir::Value* narrow = wide_.narrowOf(value);
    if (!isNarrow(narrow->type.dtype)) return inner_.define(narrow, layout);
    const std::int32_t id = inner_.temporary(DType::kFloat32, value->type.shape.dims, layout);
    results_.push_back({narrow, layout, id});
    return id;
  }
  void alias(ir::Value* value, ir::Value* of, Size) override { alias(value, operand(of)); }
  void alias(ir::Value* value, std::int32_t of) override {
    ir::Value* narrow = wide_.narrowOf(value);
    if (!isNarrow(narrow->type.dtype)) return inner_.alias(narrow, of);
    results_.push_back({narrow, {}, inner_.view(of, value->type.shape.dims)});
  }
  std::int32_t constant(const Tensor& tensor, std::string recipe) override {
    return inner_.constant(tensor, std::move(recipe));
  }
  std::int32_t packedConstant(const Tensor& packed, std::vector<std::int64_t> dims, std::string recipe,
                              const runtime::Layout& layout) override {
    return inner_.packedConstant(packed, std::move(dims), std::move(recipe), layout);
  }
  std::int32_t view(ir::Value* value, std::vector<Size> dims) override {
    return inner_.view(operand(value), std::move(dims));
  }
  std::int32_t view(std::int32_t of, std::vector<Size> dims) override {
    return inner_.view(of, std::move(dims));
  }
  std::int32_t temporary(DType dtype, std::vector<Size> dims, const runtime::Layout& layout) override {
    return inner_.temporary(dtype, std::move(dims), layout);
  }
  void step(runtime::Step step) override { inner_.step(std::move(step)); }

  /// Rounds the results to their types, once.
  void finish() {
    for (const Placed& r : results_) convert(r.id, inner_.define(r.value, r.layout));
  }

 private:
  struct Placed {
    ir::Value* value;
    runtime::Layout layout;
    std::int32_t id;
  };

  void convert(std::int32_t from, std::int32_t to) {
    runtime::Step step;
    step.kernel = "cpu.pointwise";
    step.parameters.set(
        "code", std::vector<std::int64_t>{static_cast<std::int64_t>(simd::PointwiseOp::kCopy), 1, 0, 0, 0});
    step.inputs = {from};
    step.outputs = {to};
    inner_.step(std::move(step));
  }

  const WideRegion& wide_;
  Emitter& inner_;
  std::vector<Placed> placed_;
  std::vector<Placed> results_;
};

/// The best float32 tactic of the wide region.
const Candidate* bestOf(const Candidates& candidates) {
  for (const Candidate& c : candidates.usable)
    if (c.tactic->name != "reference" && c.tactic->name != "view") return &c;
  return nullptr;
}

Support supportsWidened(const Problem& problem) {
  const Region& region = problem.region;
  if (region.root == nullptr || region.root->definition->kind == op::Kind::kMovement ||
      !region.root->blocks.empty())
    return Support::no("nothing is computed in float");
  const auto isNarrowValue = [](const ir::Value* v) {
    return v->type.kind == ir::TypeKind::kTensor && isNarrow(v->type.dtype);
  };
  if (std::none_of(region.inputs.begin(), region.inputs.end(), isNarrowValue))
    return Support::no("no operand is float16 or bfloat16");
  if (Support s = kernelsAllowed(problem, kEnabled); !s.yes) return s;
  const auto isTensor = [](const ir::Value* v) {
    return v->type.kind == ir::TypeKind::kTensor && v->type.shape.known;
  };
  if (!std::all_of(region.inputs.begin(), region.inputs.end(), isTensor) ||
      !std::all_of(region.outputs.begin(), region.outputs.end(), isTensor))
    return Support::no("the shapes are not known before the run");
  const auto wide = WideRegion::make(region, false);
  if (!wide) return Support::no("the constants do not fit into memory");
  const Candidates candidates = enumerate({(*wide)->region, problem.target, problem.knobs, problem.sizes});
  return bestOf(candidates) != nullptr ? Support::ok() : Support::no("no float32 tactic takes the region");
}

double predictWidenedUs(const Problem& problem) {
  const auto wide = WideRegion::make(problem.region, false);
  if (!wide) return 1e12;
  const Candidates candidates = enumerate({(*wide)->region, problem.target, problem.knobs, problem.sizes});
  double bytes = 0;
  for (const auto* list : {&problem.region.inputs, &problem.region.outputs})
    for (const ir::Value* v : *list)
      if (!v->isConstant()) bytes += 3 * typicalBytes(problem, *v);
  return 0.5 + bestOf(candidates)->predictedUs + bytes / kBytesPerUs;
}

Status emitWidened(const Problem& problem, Emitter& emitter) {
  const auto wide = WideRegion::make(problem.region, true);
  if (!wide) return wide.status();
  const Problem wideProblem{(*wide)->region, problem.target, problem.knobs, problem.sizes};
  const Candidates candidates = enumerate(wideProblem);
  ConvertingEmitter converting(**wide, emitter);
  if (Status s = bestOf(candidates)->tactic->emit(wideProblem, converting); !s.isOk()) return s;
  converting.finish();
  return Status::ok();
}

constexpr Tactic kWidened{.name = "cpu.widened",
                          .numerics = knob::Numerics::kReassociating,
                          .doc = "float16 and bfloat16 by the float32 tactic, converted at the edges.",
                          .supports = supportsWidened,
                          .predictUs = predictWidenedUs,
                          .emit = emitWidened};
const RegisterTactic kRegisterWidened(kWidened);

}  // namespace
}  // namespace rota::tactic
