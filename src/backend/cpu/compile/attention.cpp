// SPDX-License-Identifier: Apache-2.0
// Attention of float32 with heads apart, as steps: [cache joined], scores = Q K' by oneDNN, scale and mask in one pass, softmax, times V by oneDNN.
//
// Groups of query heads that share a key head are one more batch axis, along which K and V broadcast. A causal mask becomes a constant, so it needs
// known lengths. Windows, soft caps, valid lengths and the scores as an output are left to the reference. Tested by attention_test.cpp.
#include <cmath>
#include <limits>

#include "backend/cpu/compile/kernel_tactic.h"
#include "backend/cpu/run/pointwise_op.h"

namespace rota::tactic {
namespace {

using simd::PointwiseOp;

constexpr knob::Knob kEnabled =
    kernelToggle("tactic:cpu.attention", "Lets attention run as products, softmax and masks.");
const knob::RegisterKnob kRegisterEnabled(kEnabled);

constexpr std::int64_t kMaxCausalElements = std::int64_t{1} << 24;

struct AttentionShape {
  Size batch, queries, keys, headSize, valueSize;
  std::int64_t kvHeads = 0;
  std::int64_t group = 0;  ///< Query heads of one key head.
  bool hasPast = false;
};

/// An operand of the mask as it broadcasts to the scores; false when it does not.
bool maskFits(const Problem& problem, const ir::Value& mask, const AttentionShape& s) {
  const auto& dims = mask.type.shape.dims;
  const DType d = mask.type.dtype;
  if ((d != DType::kFloat32 && d != DType::kBool) || dims.empty() || dims.size() > 4) return false;
  const Size wanted[4] = {s.batch, Size(s.kvHeads * s.group), s.queries, s.keys};
  if (!problem.sizes.provablyEqual(dims.back(), s.keys)) return false;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const Size w = wanted[4 - dims.size() + i];
    if (!dims[i].is(1) && !problem.sizes.provablyEqual(dims[i], w)) return false;
  }
  return true;
}

Support readAttention(const Problem& problem, AttentionShape& s) {
  const ir::Node* node = onlyNode(problem, "Attention");
  if (node == nullptr) return Support::no("the region is no attention");
  if (Support allowed = kernelsAllowed(problem, kEnabled); !allowed.yes) return allowed;
  if (!shapesKnown(problem, *node)) return Support::no("the shapes are not known before the run");
  for (std::size_t i : {0, 1, 2, 4, 5})
    if (node->input(i) != nullptr && node->input(i)->type.dtype != DType::kFloat32)
      return Support::no("the type is not float32");
  const ir::Shape& q = node->inputs[0]->type.shape;
  const ir::Shape& k = node->inputs[1]->type.shape;
  const ir::Shape& v = node->inputs[2]->type.shape;
  if (q.rank() != 4) return Support::no("heads are not apart");
  const Attributes& a = node->attributes;
  if (a.getFloat("softcap") != 0 || a.getInt("left_window_size", -1) >= 0 ||
      a.getInt("right_window_size", -1) >= 0)
    return Support::no("a cap or a window is wanted");
  if (node->input(6) != nullptr || node->output(3) != nullptr)
    return Support::no("valid lengths or the scores are wanted");
  s.hasPast = node->input(4) != nullptr;
  if (!s.hasPast && (node->output(1) != nullptr || node->output(2) != nullptr))
    return Support::no("the cache has no past");
  const auto heads = q.dims[1].constant();
  const auto kvHeads = k.dims[1].constant();
  if (!heads || !kvHeads || *kvHeads < 1 || *heads % *kvHeads != 0)
    return Support::no("the numbers of heads are not known before the run");
  s.kvHeads = *kvHeads;
  s.group = *heads / *kvHeads;
  s.batch = q.dims[0];
  s.queries = q.dims[2];
  s.headSize = q.dims[3];
  s.valueSize = v.dims[3];
  s.keys = s.hasPast ? node->inputs[4]->type.shape.dims[2] + k.dims[2] : k.dims[2];
  if (!node->attributes.has("scale") && !s.headSize.constant())
    return Support::no("the head size is not known before the run");
  if (problem.sizes.range(s.headSize).lo < 1 || problem.sizes.range(s.keys).lo < 1)
    return Support::no("there may be no keys");
  if (node->input(3) != nullptr && !maskFits(problem, *node->inputs[3], s))
    return Support::no("the mask has another form");
  if (a.getInt("is_causal") != 0) {
    const auto queries = s.queries.constant();
    const auto keys = s.keys.constant();
    if (!queries || !keys || *queries * *keys > kMaxCausalElements)
      return Support::no("the causal mask is not known before the run");
    if (node->input(3) != nullptr) return Support::no("there are two masks");
  }
  return Support::ok();
}

Support supportsAttention(const Problem& problem) {
  AttentionShape s;
  return readAttention(problem, s);
}

double predictAttentionUs(const Problem& problem) {
  AttentionShape s;
  readAttention(problem, s);
  ir::Value scores;
  scores.type.shape = ir::Shape::of({s.batch, Size(s.kvHeads * s.group), s.queries, s.keys});
  ir::Value head;
  head.type.shape = ir::Shape::of({s.headSize + s.valueSize});
  const double n = static_cast<double>(typicalElements(problem, scores));
  return 10 +
         n * static_cast<double>(typicalElements(problem, head)) * 2 /
             (4000.0 * problem.target.vectorLanes()) +
         0.003 * n;
}

/// Emits the steps; ids of program values go from one to the next.
class AttentionEmitter {
 public:
  AttentionEmitter(const ir::Node& node, const AttentionShape& s, Emitter& emitter)
      : node_(node),
        s_(s),
        emitter_(emitter) {}

  void emit() {
    const std::int32_t k = joined(4, 1, 1);
    const std::int32_t v = joined(5, 2, 2);
    std::vector<Size> qDims = batchDims(s_.group);
    qDims.insert(qDims.end(), {s_.queries, s_.headSize});
    const std::int32_t q =
        isGrouped() ? emitter_.view(node_.inputs[0], qDims) : emitter_.operand(node_.inputs[0]);
    std::vector<Size> scoreDims = batchDims(s_.group);
    scoreDims.insert(scoreDims.end(), {s_.queries, s_.keys});
    const std::int32_t scores = emitter_.temporary(DType::kFloat32, scoreDims);
    product(q, grouped(k, s_.headSize), true, scores);
    const std::int32_t masked = emitter_.temporary(DType::kFloat32, scoreDims);
    scaleAndMask(scores, masked);
    const std::int32_t weights = emitter_.temporary(DType::kFloat32, scoreDims);
    softmax(masked, weights, scoreDims.size() - 1);
    ir::Value* y = node_.outputs[0];
    if (!isGrouped()) {
      product(weights, v, false, emitter_.define(y));
      return;
    }
    std::vector<Size> outDims = batchDims(s_.group);
    outDims.insert(outDims.end(), {s_.queries, s_.valueSize});
    const std::int32_t out = emitter_.temporary(DType::kFloat32, outDims);
    product(weights, grouped(v, s_.valueSize), false, out);
    emitter_.alias(y, out);
  }

 private:
  bool isGrouped() const { return s_.group != 1; }
  std::vector<Size> batchDims(std::int64_t group) const {
    if (!isGrouped()) return {s_.batch, Size(s_.kvHeads)};
    return {s_.batch, Size(s_.kvHeads), Size(group)};
  }
  std::int32_t grouped(std::int32_t value, Size size) {
    if (!isGrouped()) return value;
    std::vector<Size> dims = batchDims(1);
    dims.insert(dims.end(), {s_.keys, size});
    return emitter_.view(value, dims);
  }

  /// Past and new keys (or values), one after the other.
  std::int32_t joined(std::size_t past, std::size_t now, std::size_t output) {
    if (!s_.hasPast) return emitter_.operand(node_.inputs[now]);
    runtime::Step step;
    step.kernel = "cpu.strided_copy";
    step.parameters.set("kind", std::string("concat"));
    step.parameters.set("axis", std::int64_t{2});
    step.inputs = {emitter_.operand(node_.inputs[past]), emitter_.operand(node_.inputs[now])};
    const Size size = node_.inputs[now]->type.shape.dims[3];
    const std::int32_t all =
        node_.output(output) != nullptr
            ? emitter_.define(node_.outputs[output])
            : emitter_.temporary(DType::kFloat32, {s_.batch, Size(s_.kvHeads), s_.keys, size});
    step.outputs = {all};
    emitter_.step(std::move(step));
    return all;
  }

  void product(std::int32_t a, std::int32_t b, bool transposeB, std::int32_t c) {
    runtime::Step step;
    step.kernel = "onednn.matmul";
    step.library = "onednn";
    if (transposeB) step.parameters.set("transpose_b", std::int64_t{1});
    step.inputs = {a, b, runtime::kNone};
    step.outputs = {c};
    emitter_.step(std::move(step));
  }

  void softmax(std::int32_t from, std::int32_t to, std::size_t axis) {
    runtime::Step step;
    step.kernel = "cpu.softmax";
    step.parameters.set("axis", static_cast<std::int64_t>(axis));
    // A query that may see no key gives zeros.
    if (node_.input(3) != nullptr || isCausal()) step.parameters.set("form", std::string("masked"));
    step.inputs = {from};
    step.outputs = {to};
    emitter_.step(std::move(step));
  }

  bool isCausal() const { return node_.attributes.getInt("is_causal") != 0; }

  /// The mask, seen with the axis of groups where there is one; kNone when there is no mask.
  std::int32_t maskOperand(bool& isBool) {
    isBool = false;
    if (isCausal()) return emitter_.constant(causalMask(), "causal mask");
    ir::Value* mask = node_.input(3);
    if (mask == nullptr) return runtime::kNone;
    isBool = mask->type.dtype == DType::kBool;
    const auto& dims = mask->type.shape.dims;
    if (!isGrouped() || dims.size() < 3) return emitter_.operand(mask);
    std::vector<Size> seen(dims.begin(), dims.end() - 3);
    const bool isShared = dims[dims.size() - 3].is(1);
    seen.insert(seen.end(), {Size(isShared ? 1 : s_.kvHeads), Size(isShared ? 1 : s_.group),
                             dims[dims.size() - 2], dims.back()});
    return emitter_.view(mask, seen);
  }

  Tensor causalMask() const {
    const std::int64_t queries = *s_.queries.constant();
    const std::int64_t keys = *s_.keys.constant();
    const std::int64_t past = s_.hasPast ? *node_.inputs[4]->type.shape.dims[2].constant() : 0;
    std::vector<float> mask(static_cast<std::size_t>(queries * keys), 0.0F);
    for (std::int64_t i = 0; i < queries; ++i)
      for (std::int64_t j = i + past + 1; j < keys; ++j)
        mask[static_cast<std::size_t>(i * keys + j)] = -std::numeric_limits<float>::infinity();
    return Tensor::ofFloat(std::move(mask), {queries, keys});
  }

  void scaleAndMask(std::int32_t scores, std::int32_t to) {
    const ir::Node& node = node_;
    const auto head = s_.headSize.constant();
    const float scale = node.attributes.has("scale")
                            ? node.attributes.getFloat("scale")
                            : static_cast<float>(1.0 / std::sqrt(static_cast<double>(*head)));
    bool isBool = false;
    const std::int32_t mask = maskOperand(isBool);
    runtime::Step step;
    step.kernel = "cpu.pointwise";
    const auto op = [](PointwiseOp o) { return static_cast<std::int64_t>(o); };
    step.inputs = {scores};
    if (mask == runtime::kNone) {
      // Slots: scores, scale, result.
      step.parameters.set("code", std::vector<std::int64_t>{op(PointwiseOp::kMul), 2, 0, 1, 0});
      step.parameters.set("constants", std::vector<float>{scale});
    } else {
      step.inputs.push_back(mask);
      step.parameters.set("registers", std::int64_t{1});
      if (isBool) {
        // Slots: register, scores, mask, scale, minus infinity, result.
        step.parameters.set("code", std::vector<std::int64_t>{op(PointwiseOp::kMul), 0, 1, 3, 1,
                                                              op(PointwiseOp::kSelect), 5, 2, 0, 4});
        step.parameters.set("constants", std::vector<float>{scale, -std::numeric_limits<float>::infinity()});
      } else {
        step.parameters.set("code", std::vector<std::int64_t>{op(PointwiseOp::kMul), 0, 1, 3, 1,
                                                              op(PointwiseOp::kAdd), 4, 0, 2, 0});
        step.parameters.set("constants", std::vector<float>{scale});
      }
    }
    step.outputs = {to};
    emitter_.step(std::move(step));
  }

  const ir::Node& node_;
  const AttentionShape& s_;
  Emitter& emitter_;
};

Status emitAttention(const Problem& problem, Emitter& emitter) {
  AttentionShape s;
  if (const Support support = readAttention(problem, s); !support.yes)
    return Status(ErrorCode::kInternal, "cpu.attention was asked for a region that it refuses")
        .found(support.reason);
  AttentionEmitter(*problem.region.nodes[0], s, emitter).emit();
  return Status::ok();
}

constexpr Tactic kAttention{.name = "cpu.attention",
                            .numerics = knob::Numerics::kReassociating,
                            .doc = "Attention as two products, a masked scaling and a softmax.",
                            .supports = supportsAttention,
                            .predictUs = predictAttentionUs,
                            .emit = emitAttention};
const RegisterTactic kRegisterAttention(kAttention);

}  // namespace
}  // namespace rota::tactic
