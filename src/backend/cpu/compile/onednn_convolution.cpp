// SPDX-License-Identifier: Apache-2.0
// Convolution by oneDNN, float32, constant weights, with the post-operations after it.
//
// Channel counts that are multiples of the vector length run in blocked layout (n, c/8, spatial, 8): weights are packed at build. A first
// layer of 1 or 3 channels reads plain data and writes blocked. The rest runs plain. Kernel: backend/cpu/onednn/convolution.cpp.
#include <algorithm>

#include "backend/cpu/compile/epilogue.h"
#include "op/definition.h"
#include "tactic/pack.h"

namespace rota::tactic {
namespace {

constexpr knob::Knob kBlocked = knob::toggle(
    "conv:blocked_layout", true, "Lets convolutions keep channels in blocks of the vector length.",
    {.backend = "cpu", .numerics = knob::Numerics::kReassociating, .stage = knob::Stage::kRegion});
constexpr knob::Knob kEnabled = knob::toggle(
    "tactic:onednn.convolution", true, "Lets oneDNN run convolutions.",
    {.backend = "cpu", .numerics = knob::Numerics::kReassociating, .stage = knob::Stage::kRegion});
const knob::RegisterKnob kRegisterBlocked(kBlocked);
const knob::RegisterKnob kRegisterEnabled(kEnabled);

/// Static facts of a Conv node; spatial sizes may be symbolic.
struct Geometry {
  std::size_t spatial = 0;
  std::int64_t groups = 1, in = 0, out = 0;
  std::vector<std::int64_t> strides, dilations, begin, end;
};

std::vector<std::int64_t> intsOr(const Attributes& a, const char* name, std::size_t count,
                                 std::int64_t fallback) {
  const auto* v = a.getInts(name);
  return v != nullptr ? *v : std::vector<std::int64_t>(count, fallback);
}

/// SAME padding wants static spatial sizes.
bool samePads(const ir::Node& node, bool upper, Geometry& g) {
  const auto& dims = node.inputs[0]->type.shape.dims;
  const auto& kernel = node.inputs[1]->type.shape.dims;
  for (std::size_t i = 0; i < g.spatial; ++i) {
    const auto size = dims[i + 2].constant();
    if (!size) return false;
    const std::int64_t extent = (*kernel[i + 2].constant() - 1) * g.dilations[i] + 1;
    const std::int64_t outputs = (*size + g.strides[i] - 1) / g.strides[i];
    const std::int64_t total = std::max<std::int64_t>(0, (outputs - 1) * g.strides[i] + extent - *size);
    g.begin[i] = upper ? total / 2 : total - total / 2;
    g.end[i] = total - g.begin[i];
  }
  return true;
}

bool readGeometry(const ir::Node& node, Geometry& g) {
  const auto& x = node.inputs[0]->type.shape;
  const auto& w = node.inputs[1]->constant.dims();
  g.spatial = x.rank() - 2;
  g.groups = node.attributes.getInt("group", 1);
  g.out = w[0];
  g.in = w[1] * g.groups;
  g.strides = intsOr(node.attributes, "strides", g.spatial, 1);
  g.dilations = intsOr(node.attributes, "dilations", g.spatial, 1);
  const auto pads = intsOr(node.attributes, "pads", 2 * g.spatial, 0);
  if (g.strides.size() != g.spatial || g.dilations.size() != g.spatial || pads.size() != 2 * g.spatial)
    return false;
  g.begin.assign(pads.begin(), pads.begin() + static_cast<long>(g.spatial));
  g.end.assign(pads.begin() + static_cast<long>(g.spatial), pads.end());
  const std::string_view automatic = node.attributes.getString("auto_pad", "NOTSET");
  if (automatic == "VALID") {
    g.begin.assign(g.spatial, 0);
    g.end.assign(g.spatial, 0);
  } else if (automatic != "NOTSET" && !automatic.empty()) {
    return samePads(node, automatic == "SAME_UPPER", g);
  }
  return true;
}

/// Layouts of source, weights and destination; weights are seen as [g, o, i, k…] when grouped.
struct Layouts {
  runtime::Layout source, weights, destination;
};

Layouts chooseLayouts(const Problem& problem, const Geometry& g) {
  Layouts l;
  const std::int32_t v = problem.target.vectorLanes();
  if (v < 8 || !problem.knobs.on(kBlocked, problem.region.scope)) return l;
  const runtime::Layout blocked{.order = {}, .blocks = {{1, v}}};
  const auto grouped = static_cast<std::uint8_t>(g.groups > 1 ? 1 : 0);
  const std::int64_t inGroup = g.in / g.groups, outGroup = g.out / g.groups;
  if (g.groups == g.in && g.groups == g.out && g.in % v == 0) {
    l.source = l.destination = blocked;
    l.weights.blocks = {{0, v}};
  } else if (inGroup % v == 0 && outGroup % v == 0) {
    l.source = l.destination = blocked;
    l.weights.blocks = {{static_cast<std::uint8_t>(1 + grouped), v}, {grouped, v}};
  } else if (g.groups == 1 && (g.in == 1 || g.in == 3) && g.out % v == 0) {
    l.destination = blocked;
    l.weights.order = {0};  // o, spatial…, i with o blocked: Ohwi8o
    for (std::size_t i = 0; i < g.spatial; ++i) l.weights.order.push_back(static_cast<std::uint8_t>(i + 2));
    l.weights.order.push_back(1);
    l.weights.blocks = {{0, v}};
  }
  return l;
}

/// A second operand is the result's shape, or one value a channel.
bool operandFits(const ir::Value& operand, const ir::Shape& out) {
  const auto& dims = operand.type.shape.dims;
  if (operand.type.shape == out) return true;
  if (dims.size() > out.rank()) return false;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::size_t axis = out.rank() - dims.size() + i;
    if (!(dims[i].is(1) || (axis == 1 && dims[i] == out.dims[1]))) return false;
  }
  return true;
}

Support supportsConvolution(const Problem& problem) {
  const Region& region = problem.region;
  if (region.root == nullptr || region.root->opType != "Conv" || !region.root->domain.empty())
    return Support::no("the root is no convolution");
  if (problem.target.generic || !problem.knobs.on(kEnabled, region.scope))
    return Support::no("libraries are switched off");
  const ir::Node& node = *region.root;
  const auto isFloat = [](const ir::Value* v) { return v == nullptr || v->type.dtype == DType::kFloat32; };
  if (!isFloat(node.input(0)) || !isFloat(node.input(1)) || !isFloat(node.input(2)))
    return Support::no("the type is not float32");
  if (!node.inputs[1]->isConstant()) return Support::no("the weights are not constant");
  const ir::Shape& x = node.inputs[0]->type.shape;
  if (!x.known || x.rank() < 3 || x.rank() > 5) return Support::no("the rank is not 3 to 5");
  if (node.inputs[1]->constant.count() == 0) return Support::no("the weights are empty");
  Geometry g;
  if (!readGeometry(node, g)) return Support::no("padding depends on sizes that are not static");
  for (std::size_t i = 0; i < g.spatial; ++i)
    if (g.begin[i] < 0 || g.end[i] < 0) return Support::no("padding is negative");
  const Epilogue epilogue = readEpilogue(region);
  if (!epilogue.supported) return Support::no(epilogue.reason);
  for (const PostOperation& op : epilogue.operations) {
    if (op.operand != nullptr && !operandFits(*op.operand, node.outputs[0]->type.shape))
      return Support::no("an operand of the epilogue has another shape");
  }
  if (std::count_if(epilogue.operations.begin(), epilogue.operations.end(),
                    [](const PostOperation& o) { return o.operand != nullptr; }) > 8)
    return Support::no("the epilogue has too many operands");
  return Support::ok();
}

double predictConvolutionUs(const Problem& problem) {
  const ir::Node& node = *problem.region.root;
  const double outputs = static_cast<double>(typicalElements(problem, *node.outputs[0]));
  const auto& w = node.inputs[1]->constant;
  const double macs = outputs * static_cast<double>(w.count()) / static_cast<double>(w.dims()[0]);
  return 2.0 + macs * 2.0 / (6000.0 * problem.target.vectorLanes());
}

Status emitConvolution(const Problem& problem, Emitter& emitter) {
  ir::Node& node = *problem.region.root;
  Geometry g;
  readGeometry(node, g);
  const Layouts layouts = chooseLayouts(problem, g);
  Tensor weights = node.inputs[1]->constant;
  std::vector<std::int64_t> dims = weights.dims();
  if (g.groups > 1) {
    dims[0] /= g.groups;
    dims.insert(dims.begin(), g.groups);
  }
  auto shaped = Tensor::over(weights.dtype(), dims,
                             std::shared_ptr<Buffer>(Buffer::wrap(weights.data(), weights.bytes(),
                                                                  std::make_shared<Tensor>(weights))));
  if (!shaped) return shaped.status();
  std::string recipe = node.inputs[1]->recipe;
  Tensor stored = *shaped;
  if (!layouts.weights.isPlain()) {
    auto packed = packTensor(*shaped, layouts.weights);
    if (!packed) return packed.status();
    stored = std::move(*packed);
    recipe += " | " + describeLayout(layouts.weights);
  }
  const Epilogue epilogue = readEpilogue(problem.region);
  runtime::Step step;
  step.kernel = "onednn.convolution";
  step.library = "onednn";
  step.parameters.set("strides", g.strides);
  step.parameters.set("dilations", g.dilations);
  step.parameters.set("pads_begin", g.begin);
  step.parameters.set("pads_end", g.end);
  setPostParameters(epilogue.operations, step.parameters);
  step.inputs = {emitter.operand(node.inputs[0], layouts.source),
                 emitter.packedConstant(stored, dims, recipe, layouts.weights),
                 node.input(2) != nullptr ? emitter.operand(node.inputs[2]) : runtime::kNone};
  const ir::Shape& out = node.outputs[0]->type.shape;
  for (const PostOperation& op : epilogue.operations) {
    if (op.operand == nullptr) continue;
    if (op.operand->type.shape == out) {
      step.inputs.push_back(emitter.operand(op.operand, layouts.destination));
    } else {
      // One value a channel: seen as [1, c, 1, …].
      std::vector<Size> shape(out.rank(), Size(1));
      if (op.operand->type.shape.rank() + 1 >= out.rank() && out.rank() >= 2) {
        const std::size_t shift = out.rank() - op.operand->type.shape.rank();
        shape[1] = shift <= 1 ? op.operand->type.shape.dims[1 - shift] : Size(1);
      }
      step.inputs.push_back(emitter.view(op.operand, std::move(shape)));
    }
  }
  step.outputs = {emitter.define(problem.region.outputs[0], layouts.destination)};
  emitter.step(std::move(step));
  return Status::ok();
}

constexpr Tactic kConvolution{.name = "onednn.convolution",
                              .numerics = knob::Numerics::kReassociating,
                              .doc = "Convolution by oneDNN, channels in blocks where their number allows.",
                              .supports = supportsConvolution,
                              .predictUs = predictConvolutionUs,
                              .emit = emitConvolution};
const RegisterTactic kRegisterConvolution(kConvolution);

}  // namespace
}  // namespace rota::tactic
