// SPDX-License-Identifier: Apache-2.0
#include "engine/writer_plan.h"

#include "engine/container.h"
#include "engine/plan_numbers.h"
#include "engine/schema/plan_generated.h"
#include "engine/schema/recipes_generated.h"

namespace rota::engine {

namespace {

using flatbuffers::Offset;
using flatbuffers::String;
using flatbuffers::Vector;

class PlanWriter {
 public:
  std::string write(const runtime::Program& program, const Target& target);

 private:
  // Empty texts and lists are left out; the reader takes them as empty.
  Offset<String> text(const std::string& s) {
    return s.empty() ? Offset<String>() : builder_.CreateString(s);
  }
  /// Repeated texts (kernel names, libraries) are stored once.
  Offset<String> shared(const std::string& s) {
    return s.empty() ? Offset<String>() : builder_.CreateSharedString(s);
  }
  template <typename T> Offset<Vector<T>> list(const std::vector<T>& v) {
    return v.empty() ? Offset<Vector<T>>() : builder_.CreateVector(v);
  }
  Offset<Vector<Offset<String>>> texts(const std::vector<std::string>& v) {
    return v.empty() ? Offset<Vector<Offset<String>>>() : builder_.CreateVectorOfStrings(v);
  }
  template <typename T, typename F> auto tables(const std::vector<T>& v, const F& convert) {
    std::vector<decltype(convert(v.front()))> offsets;
    offsets.reserve(v.size());
    for (const T& item : v) offsets.push_back(convert(item));
    return builder_.CreateVector(offsets);
  }
  template <typename E> static std::uint8_t number(E e) { return static_cast<std::uint8_t>(e); }
  static std::uint8_t dtype(DType d) { return static_cast<std::uint8_t>(info(d).onnx); }

  Offset<schema::Layout> layout(const runtime::Layout& layout);
  Offset<schema::TensorData> tensor(const Tensor& tensor);
  Offset<schema::Attribute> attribute(const Attributes::Entry& entry);
  Offset<schema::Value> value(const runtime::ValueInfo& v);
  Offset<schema::Step> step(const runtime::Step& s);
  Offset<schema::Block> block(const runtime::Block& b);
  Offset<schema::Profile> profile(const runtime::Profile& p);
  Offset<schema::Constant> constant(const runtime::ConstantInfo& c);
  Offset<schema::Target> target(const Target& t);

  flatbuffers::FlatBufferBuilder builder_{1 << 16};
};

Offset<schema::Layout> PlanWriter::layout(const runtime::Layout& in) {
  if (in.isPlain()) return {};
  std::vector<std::uint8_t> axes;
  std::vector<std::int32_t> sizes;
  for (const runtime::Layout::Block& b : in.blocks) {
    axes.push_back(b.axis);
    sizes.push_back(b.size);
  }
  const auto order = list(in.order);
  const auto blockAxes = list(axes);
  const auto blockSizes = list(sizes);
  return schema::CreateLayout(builder_, order, blockAxes, blockSizes);
}

Offset<schema::TensorData> PlanWriter::tensor(const Tensor& in) {
  const auto dims = list(in.dims());
  const auto data = builder_.CreateVector(reinterpret_cast<const std::uint8_t*>(in.data()), in.bytes());
  return schema::CreateTensorData(builder_, dtype(in.dtype()), dims, data);
}

Offset<schema::Attribute> PlanWriter::attribute(const Attributes::Entry& entry) {
  const auto name = shared(entry.name);
  const auto kind = static_cast<AttributeKind>(entry.value.index());
  Offset<String> s;
  Offset<schema::TensorData> t;
  Offset<Vector<std::int64_t>> ints;
  Offset<Vector<float>> floats;
  Offset<Vector<Offset<String>>> strings;
  Offset<Vector<Offset<schema::TensorData>>> tensors;
  if (const auto* v = std::get_if<std::string>(&entry.value)) s = text(*v);
  if (const auto* v = std::get_if<Tensor>(&entry.value)) t = tensor(*v);
  if (const auto* v = std::get_if<std::vector<std::int64_t>>(&entry.value)) ints = list(*v);
  if (const auto* v = std::get_if<std::vector<float>>(&entry.value)) floats = list(*v);
  if (const auto* v = std::get_if<std::vector<std::string>>(&entry.value)) strings = texts(*v);
  if (const auto* v = std::get_if<std::vector<Tensor>>(&entry.value))
    tensors = tables(*v, [&](const Tensor& each) { return tensor(each); });
  schema::AttributeBuilder out(builder_);
  out.add_name(name);
  out.add_kind(number(kind));
  if (const auto* v = std::get_if<std::int64_t>(&entry.value)) out.add_i(*v);
  if (const auto* v = std::get_if<float>(&entry.value)) out.add_f(*v);
  out.add_s(s);
  out.add_t(t);
  out.add_ints(ints);
  out.add_floats(floats);
  out.add_strings(strings);
  out.add_tensors(tensors);
  return out.Finish();
}

Offset<schema::Value> PlanWriter::value(const runtime::ValueInfo& v) {
  const auto name = text(v.name);
  const auto dims = list(v.dims);
  const auto order = layout(v.layout);
  const auto sources = list(v.sources);
  return schema::CreateValue(builder_, name, number(v.kind), dtype(v.dtype), !v.rankKnown, dims,
                             number(v.storage), v.constant, v.aliasOf, v.aliasOffset, order, v.device,
                             number(v.space), sources);
}

Offset<schema::Step> PlanWriter::step(const runtime::Step& s) {
  const auto kernel = shared(s.kernel);
  const auto library = shared(s.library);
  Offset<Vector<Offset<schema::Attribute>>> parameters;
  if (!s.parameters.empty())
    parameters = tables(s.parameters.entries(), [&](const Attributes::Entry& e) { return attribute(e); });
  const auto inputs = list(s.inputs);
  const auto outputs = list(s.outputs);
  const auto blocks = list(s.blocks);
  const auto waits = list(s.waits);
  const auto signals = list(s.signals);
  Offset<Vector<std::uint8_t>> opaque;
  if (!s.opaque.empty())
    opaque = builder_.CreateVector(reinterpret_cast<const std::uint8_t*>(s.opaque.data()), s.opaque.size());
  const auto tactic = shared(s.tactic);
  const auto sources = list(s.sources);
  return schema::CreateStep(builder_, kernel, library, parameters, s.version, number(s.shapeRule), inputs,
                            outputs, blocks, s.device, s.stream, waits, signals, opaque, tactic,
                            s.predictedUs, sources);
}

Offset<schema::Block> PlanWriter::block(const runtime::Block& b) {
  const auto name = text(b.name);
  const auto params = list(b.params);
  const auto results = list(b.results);
  const auto steps = tables(b.steps, [&](const runtime::Step& s) { return step(s); });
  return schema::CreateBlock(builder_, name, params, results, steps);
}

Offset<schema::Profile> PlanWriter::profile(const runtime::Profile& p) {
  const auto name = text(p.name);
  const auto inputs = tables(p.inputs, [&](const runtime::ProfileInput& in) {
    const auto min = list(in.min);
    const auto opt = list(in.opt);
    const auto max = list(in.max);
    return schema::CreateProfileInput(builder_, in.value, min, opt, max);
  });
  return schema::CreateProfile(builder_, name, inputs);
}

Offset<schema::Constant> PlanWriter::constant(const runtime::ConstantInfo& c) {
  const auto dims = list(c.dims);
  const auto order = layout(c.layout);
  const schema::Hash hash(c.hash.lo, c.hash.hi);
  return schema::CreateConstant(builder_, dtype(c.dtype), dims, order, c.offset, c.bytes, &hash);
}

Offset<schema::Target> PlanWriter::target(const Target& t) {
  const auto device = text(t.device);
  const auto isa = text(t.isa);
  const auto version = text(t.rotaVersion);
  const auto libraries = tables(t.libraries, [&](const LibraryVersion& l) {
    const auto name = text(l.name);
    const auto libraryVersion = text(l.version);
    return schema::CreateLibrary(builder_, name, libraryVersion);
  });
  return schema::CreateTarget(builder_, device, isa, version, libraries);
}

std::string PlanWriter::write(const runtime::Program& p, const Target& builtFor) {
  std::vector<schema::SizeOp> ops;
  ops.reserve(p.sizes.size());
  for (const SizeContext::FlatOp& op : p.sizes) ops.emplace_back(op.immediate, op.a, op.b, number(op.op));
  const auto sizes = builder_.CreateVectorOfStructs(ops);
  const auto symbols = tables(p.symbols, [&](const runtime::SymbolInfo& s) {
    return schema::CreateSymbol(builder_, text(s.name), number(s.origin), s.range.lo, s.range.hi, s.value,
                                s.position);
  });
  const auto guards = tables(p.guards, [&](const Guard& g) {
    const auto node = text(g.node);
    const auto reason = text(g.reason);
    return schema::CreateGuard(builder_, number(g.kind), g.a, g.b, node, reason, g.block);
  });
  const auto values = tables(p.values, [&](const runtime::ValueInfo& v) { return value(v); });
  const auto blocks = tables(p.blocks, [&](const runtime::Block& b) { return block(b); });
  const auto constants = tables(p.constants, [&](const runtime::ConstantInfo& c) { return constant(c); });
  const auto profiles = tables(p.profiles, [&](const runtime::Profile& q) { return profile(q); });
  const auto sources = tables(p.sources, [&](const runtime::SourceInfo& s) {
    const auto scope = shared(s.scope);
    const auto name = text(s.name);
    const auto opType = shared(s.opType);
    return schema::CreateSource(builder_, scope, name, opType);
  });
  const auto states = tables(p.states, [&](const runtime::StateInfo& s) {
    return schema::CreateState(builder_, text(s.name), s.input, s.output);
  });
  const auto inputNames = texts(p.inputNames);
  const auto outputNames = texts(p.outputNames);
  const auto devices = texts(p.devices);
  const auto built = target(builtFor);
  schema::FinishPlanBuffer(builder_, schema::CreatePlan(builder_, sizes, symbols, guards, values, blocks,
                                                        constants, profiles, sources, states, inputNames,
                                                        outputNames, p.streams, p.events, devices, built));
  return {reinterpret_cast<const char*>(builder_.GetBufferPointer()), builder_.GetSize()};
}

/// A generous upper estimate of the packed size: the builder itself must not be driven over 2 GiB.
std::uint64_t estimate(const runtime::Program& p) {
  std::uint64_t bytes = p.sizes.size() * 24 + p.values.size() * 256 + p.constants.size() * 128;
  for (const runtime::Block& block : p.blocks)
    for (const runtime::Step& step : block.steps) {
      bytes +=
          256 + step.opaque.size() + 4 * (step.inputs.size() + step.outputs.size() + step.sources.size());
      for (const Attributes::Entry& entry : step.parameters.entries()) {
        bytes += 128;
        if (const auto* t = std::get_if<Tensor>(&entry.value)) bytes += t->bytes();
        if (const auto* s = std::get_if<std::string>(&entry.value)) bytes += s->size();
        if (const auto* v = std::get_if<std::vector<std::int64_t>>(&entry.value)) bytes += 8 * v->size();
        if (const auto* v = std::get_if<std::vector<float>>(&entry.value)) bytes += 4 * v->size();
        if (const auto* v = std::get_if<std::vector<Tensor>>(&entry.value))
          for (const Tensor& each : *v) bytes += each.bytes();
      }
    }
  return bytes;
}

}  // namespace

Result<std::string> packPlan(const runtime::Program& program, const Target& target) {
  const auto tooLarge = [](std::uint64_t bytes) {
    return Status(ErrorCode::kModelTooLarge, "The plan of this model does not fit an engine file")
        .expected("less than 1 GiB beside the weights")
        .found(std::to_string(bytes) + " bytes");
  };
  const std::uint64_t estimated = estimate(program);
  if (estimated >= kPlanLimit) return tooLarge(estimated);
  std::string plan = PlanWriter().write(program, target);
  if (plan.size() >= kPlanLimit) return tooLarge(plan.size());
  return plan;
}

std::string packRecipes(const runtime::Program& program) {
  flatbuffers::FlatBufferBuilder builder(1 << 12);
  std::vector<std::string> recipes;
  recipes.reserve(program.constants.size());
  for (const runtime::ConstantInfo& c : program.constants) recipes.push_back(c.recipe);
  const auto all = builder.CreateVectorOfStrings(recipes);
  schema::FinishRecipesBuffer(builder, schema::CreateRecipes(builder, all));
  return {reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()};
}

}  // namespace rota::engine
