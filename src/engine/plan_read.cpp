// SPDX-License-Identifier: Apache-2.0
#include "engine/plan_read.h"

#include <cstring>

#include "core/check.h"
#include "engine/container.h"
#include "engine/plan_numbers.h"
#include "engine/schema/plan_generated.h"
#include "engine/schema/recipes_generated.h"

namespace rota::engine {

namespace {

using runtime::Program;

/// Copies tables into plain data. The first problem is kept; everything after it is skipped.
class PlanReader {
 public:
  PlanReader(std::size_t sectionBytes, Program& program)
      : budget_(16 * static_cast<std::uint64_t>(sectionBytes) + (1 << 16)),
        program_(program) {}

  const char* problem() const { return problem_; }
  void read(const schema::Plan& plan);
  Target target(const schema::Target* target);

 private:
  bool spend(std::uint64_t bytes) {
    if (problem_ == nullptr && bytes > budget_) problem_ = "its plan repeats itself without end";
    if (problem_ != nullptr) return false;
    budget_ -= bytes;
    return true;
  }
  void fail(const char* what) {
    if (problem_ == nullptr) problem_ = what;
  }

  std::string text(const flatbuffers::String* s) {
    if (s == nullptr || !spend(s->size() + sizeof(std::string))) return {};
    return s->str();
  }
  /// The verifier knows that the elements are inside the section, not that they are aligned for T: they are copied as bytes.
  template <typename T> std::vector<T> list(const flatbuffers::Vector<T>* v) {
    if (v == nullptr || !spend(v->size() * sizeof(T))) return {};
    std::vector<T> all(v->size());
    if (!all.empty()) std::memcpy(all.data(), v->Data(), all.size() * sizeof(T));
    return all;
  }
  std::vector<std::string> texts(const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>* v) {
    std::vector<std::string> all;
    if (v == nullptr) return all;
    for (const flatbuffers::String* s : *v) {
      all.push_back(text(s));
      if (problem_ != nullptr) break;
    }
    return all;
  }
  /// Every element of a vector of tables through `convert`.
  template <typename T, typename F>
  auto tables(const flatbuffers::Vector<flatbuffers::Offset<T>>* v, const F& convert)
      -> std::vector<decltype(convert(std::declval<const T&>()))> {
    using Out = decltype(convert(std::declval<const T&>()));
    std::vector<Out> all;
    if (v == nullptr || !spend(v->size() * sizeof(Out))) return all;
    all.reserve(v->size());
    for (const T* t : *v) {
      if (problem_ != nullptr) break;
      all.push_back(convert(*t));
    }
    return all;
  }
  template <typename E> E enumerator(std::uint8_t number, E last) {
    if (number <= static_cast<std::uint8_t>(last)) return static_cast<E>(number);
    fail("its plan has an unknown enumerator");
    return E{};
  }
  DType dtype(std::uint8_t number) {
    if (number == 0) return DType::kUndefined;
    const DType d = dtypeFromOnnx(number);
    if (d == DType::kUndefined) fail("its plan has an unknown element type");
    return d;
  }

  runtime::Layout layout(const schema::Layout* layout);
  Tensor tensor(const schema::TensorData* data);
  void attribute(const schema::Attribute& in, Attributes& out);
  runtime::ValueInfo value(const schema::Value& v);
  runtime::Step step(const schema::Step& s);
  runtime::ConstantInfo constant(const schema::Constant& c);
  runtime::Profile profile(const schema::Profile& p);

  std::uint64_t budget_;
  const char* problem_ = nullptr;
  Program& program_;
};

runtime::Layout PlanReader::layout(const schema::Layout* in) {
  runtime::Layout out;
  if (in == nullptr) return out;
  out.order = list(in->order());
  const auto axes = list(in->block_axes());
  const auto sizes = list(in->block_sizes());
  if (axes.size() != sizes.size()) fail("its plan has a layout block without a size");
  for (std::size_t i = 0; i < axes.size() && i < sizes.size(); ++i) out.blocks.push_back({axes[i], sizes[i]});
  return out;
}

Tensor PlanReader::tensor(const schema::TensorData* in) {
  if (in == nullptr) {
    fail("its plan has an attribute without its tensor");
    return {};
  }
  auto dims = list(in->dims());
  const auto bytes = list(in->data());
  if (problem_ != nullptr) return {};
  const DType type = dtype(in->dtype());
  // Allocated only when the data is there: the dims alone must not choose how much.
  auto size = runtime::layoutBytes(type, dims, {});
  if (type == DType::kUndefined || type == DType::kString || !size || *size != bytes.size()) {
    fail("its plan has a tensor whose bytes and dims disagree");
    return {};
  }
  auto out = Tensor::allocate(type, std::move(dims));
  if (!out) {
    fail("its plan has a tensor that cannot be made");
    return {};
  }
  if (!bytes.empty()) std::memcpy(out->mutableData(), bytes.data(), bytes.size());
  return std::move(*out);
}

void PlanReader::attribute(const schema::Attribute& in, Attributes& out) {
  Attribute a;
  switch (enumerator(in.kind(), AttributeKind::kTensors)) {
    case AttributeKind::kInt: a = in.i(); break;
    case AttributeKind::kFloat: a = in.f(); break;
    case AttributeKind::kString: a = text(in.s()); break;
    case AttributeKind::kTensor: a = tensor(in.t()); break;
    case AttributeKind::kInts: a = list(in.ints()); break;
    case AttributeKind::kFloats: a = list(in.floats()); break;
    case AttributeKind::kStrings: a = texts(in.strings()); break;
    case AttributeKind::kTensors:
      a = tables(in.tensors(), [&](const schema::TensorData& t) { return tensor(&t); });
      break;
  }
  out.set(text(in.name()), std::move(a));
}

runtime::ValueInfo PlanReader::value(const schema::Value& v) {
  runtime::ValueInfo out;
  out.name = text(v.name());
  out.kind = enumerator(v.kind(), ValueKind::kState);
  out.dtype = dtype(v.dtype());
  out.rankKnown = !v.rank_unknown();
  out.dims = list(v.dims());
  out.storage = enumerator(v.storage(), Storage::kBlockParam);
  out.constant = v.constant();
  out.aliasOf = v.alias_of();
  out.aliasOffset = v.alias_offset();
  out.layout = layout(v.layout());
  out.device = v.device();
  out.space = enumerator(v.space(), MemorySpace::kPinned);
  out.sources = list(v.sources());
  return out;
}

runtime::Step PlanReader::step(const schema::Step& s) {
  runtime::Step out;
  out.kernel = text(s.kernel());
  out.library = text(s.library());
  if (s.parameters() != nullptr)
    for (const schema::Attribute* a : *s.parameters()) {
      if (problem_ != nullptr || !spend(sizeof(Attributes::Entry))) break;
      attribute(*a, out.parameters);
    }
  out.version = s.version();
  out.shapeRule = enumerator(s.shape_rule(), ShapeRule::kBroadcast);
  out.inputs = list(s.inputs());
  out.outputs = list(s.outputs());
  out.blocks = list(s.blocks());
  out.device = s.device();
  out.stream = s.stream();
  out.waits = list(s.waits());
  out.signals = list(s.signals());
  const auto opaque = list(s.opaque());
  out.opaque.assign(opaque.begin(), opaque.end());
  out.tactic = text(s.tactic());
  out.predictedUs = s.predicted_us();
  out.sources = list(s.sources());
  return out;
}

runtime::ConstantInfo PlanReader::constant(const schema::Constant& c) {
  runtime::ConstantInfo out;
  out.dtype = dtype(c.dtype());
  out.dims = list(c.dims());
  out.layout = layout(c.layout());
  out.offset = c.offset();
  out.bytes = c.bytes();
  if (c.hash() != nullptr) out.hash = {c.hash()->lo(), c.hash()->hi()};
  return out;
}

runtime::Profile PlanReader::profile(const schema::Profile& p) {
  return {text(p.name()), tables(p.inputs(), [&](const schema::ProfileInput& in) -> runtime::ProfileInput {
            return {in.value(), list(in.min()), list(in.opt()), list(in.max())};
          })};
}

Target PlanReader::target(const schema::Target* in) {
  Target out;
  if (in == nullptr) {
    fail("its plan does not say what it was built for");
    return out;
  }
  out.device = text(in->device());
  out.isa = text(in->isa());
  out.rotaVersion = text(in->rota_version());
  out.libraries = tables(in->libraries(), [&](const schema::Library& l) -> LibraryVersion {
    return {text(l.name()), text(l.version())};
  });
  return out;
}

void PlanReader::read(const schema::Plan& plan) {
  Program& p = program_;
  if (plan.sizes() != nullptr && spend(plan.sizes()->size() * sizeof(SizeContext::FlatOp)))
    for (std::size_t i = 0; i < plan.sizes()->size(); ++i) {
      schema::SizeOp op;
      std::memcpy(static_cast<void*>(&op), plan.sizes()->Data() + i * sizeof(op), sizeof(op));
      p.sizes.push_back({enumerator(op.op(), SizeContext::Op::kMax), op.immediate(), op.a(), op.b()});
    }
  p.symbols = tables(plan.symbols(), [&](const schema::Symbol& s) -> runtime::SymbolInfo {
    return {text(s.name()),
            enumerator(s.origin(), SymbolOrigin::kDataDependent),
            {s.lo(), s.hi()},
            s.value(),
            s.position()};
  });
  p.guards = tables(plan.guards(), [&](const schema::Guard& g) -> Guard {
    return {enumerator(g.kind(), Guard::Kind::kBroadcast),
            g.a(),
            g.b(),
            text(g.node()),
            text(g.reason()),
            g.block()};
  });
  p.values = tables(plan.values(), [&](const schema::Value& v) { return value(v); });
  p.blocks = tables(plan.blocks(), [&](const schema::Block& b) -> runtime::Block {
    return {text(b.name()), list(b.params()), list(b.results()),
            tables(b.steps(), [&](const schema::Step& s) { return step(s); })};
  });
  p.constants = tables(plan.constants(), [&](const schema::Constant& c) { return constant(c); });
  p.profiles = tables(plan.profiles(), [&](const schema::Profile& q) { return profile(q); });
  p.sources = tables(plan.sources(), [&](const schema::Source& s) -> runtime::SourceInfo {
    return {text(s.scope()), text(s.name()), text(s.op_type())};
  });
  p.states = tables(plan.states(), [&](const schema::State& s) -> runtime::StateInfo {
    return {text(s.name()), s.input(), s.output()};
  });
  p.inputNames = texts(plan.input_names());
  p.outputNames = texts(plan.output_names());
  p.streams = plan.streams();
  p.events = plan.events();
  p.devices = texts(plan.devices());
}

flatbuffers::Verifier verifierOf(std::span<const std::byte> bytes) {
  constexpr flatbuffers::uoffset_t kDepth = 32;
  // No honest plan has more tables than one for each 4 bytes; a plan that shares tables to look larger runs into this.
  const auto tables = static_cast<flatbuffers::uoffset_t>(bytes.size() / 4 + 64);
  return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(), kDepth, tables};
}

Status readRecipes(std::span<const std::byte> bytes, Program& program, const std::string& name) {
  if (bytes.empty()) return Status::ok();
  flatbuffers::Verifier verifier = verifierOf(bytes);
  if (bytes.size() >= kPlanLimit || !schema::VerifyRecipesBuffer(verifier))
    return damaged(name, "its recipes section is not what it should be");
  const auto* recipes = schema::GetRecipes(bytes.data())->recipes();
  if ((recipes == nullptr ? 0 : recipes->size()) != program.constants.size())
    return damaged(name, "its recipes do not belong to its constants");
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < program.constants.size(); ++i) {
    const flatbuffers::String* recipe = recipes->Get(static_cast<flatbuffers::uoffset_t>(i));
    total += recipe->size();
    if (total > 16 * static_cast<std::uint64_t>(bytes.size()))
      return damaged(name, "its recipes repeat themselves without end");
    program.constants[i].recipe = recipe->str();
  }
  return Status::ok();
}

}  // namespace

Result<ReadPlan> readPlan(std::span<const std::byte> plan, std::span<const std::byte> recipes,
                          const std::string& name) {
  if (plan.size() >= kPlanLimit) return damaged(name, "its plan is larger than 1 GiB");
  flatbuffers::Verifier verifier = verifierOf(plan);
  if (!schema::VerifyPlanBuffer(verifier)) return damaged(name, "its plan section is not what it should be");
  ReadPlan out;
  out.program = std::make_shared<Program>();
  out.program->devices.clear();
  PlanReader reader(plan.size(), *out.program);
  const schema::Plan* root = schema::GetPlan(plan.data());
  reader.read(*root);
  out.target = reader.target(root->target());
  if (reader.problem() != nullptr) return damaged(name, reader.problem());
  ROTA_RETURN_IF_ERROR(readRecipes(recipes, *out.program, name));
  return out;
}

}  // namespace rota::engine
