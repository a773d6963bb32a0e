// SPDX-License-Identifier: Apache-2.0
// The second level of engine validation: every index, rank and cross reference of a program, and that each value is defined before it is
// used, so that running code can trust a program without looking twice.
//
// The first broken rule is reported as kEngineDamaged; for a program that was just built, that is a bug of the plan builder, and the text says
// which entry broke which rule either way. Work and memory are linear in the size of the program; nesting is bounded.
// Tested by src/runtime/program_test.cpp.
#include <algorithm>
#include <array>
#include <climits>

#include "core/check.h"
#include "core/checked.h"
#include "runtime/program.h"

namespace rota::runtime {

namespace {

constexpr int kMaxBlockDepth = 64;
constexpr std::uint64_t kConstantAlignment = 64;

Status broken(const std::string& where, const std::string& rule) {
  return Status(ErrorCode::kEngineDamaged, "The program breaks a rule: " + rule)
      .at(where)
      .fix("build the engine again");
}

class Validator {
 public:
  explicit Validator(const Program& program) : p_(program) {}

  Status all();

 private:
  bool isSize(std::uint32_t entry) const { return entry < p_.sizes.size(); }
  bool isValue(std::int32_t value) const {
    return value >= 0 && static_cast<std::size_t>(value) < p_.values.size();
  }
  const ValueInfo& value(std::int32_t id) const { return p_.values[static_cast<std::size_t>(id)]; }
  std::string nameOf(std::int32_t id) const {
    return "value " + std::to_string(id) + " '" + value(id).name + "'";
  }

  Status sizes() const;
  Status symbols() const;
  Status guards() const;
  Status layout(const Layout& layout, std::size_t rank, const std::string& where) const;
  Status oneValue(std::int32_t id) const;
  Status aliases() const;
  Status constants() const;
  Status interface() const;
  Status profiles() const;
  Status states() const;
  Status block(std::uint32_t id, int depth);
  Status step(const Step& step, const std::string& where, int depth);
  Status handOver(std::int32_t from, std::int32_t to, const std::string& where) const;
  Status stacks(std::int32_t element, std::int32_t whole, const std::string& where) const;
  Status controlFlow(const Step& step, const std::string& where) const;
  Status loopValues(const Step& step, std::size_t firstInput, std::size_t firstResult, std::size_t carried,
                    const std::string& where) const;
  Status define(std::int32_t id, const std::string& where);
  Status use(std::int32_t id, const std::string& where) const;

  const Program& p_;
  std::vector<std::uint8_t> visible_;  // per value: defined in the block being checked or around it
  std::vector<std::uint8_t> everDefined_;
  std::vector<std::uint8_t> blockSeen_;
};

Status Validator::sizes() const {
  for (std::size_t i = 0; i < p_.sizes.size(); ++i) {
    const SizeContext::FlatOp& op = p_.sizes[i];
    const std::string where = "size entry " + std::to_string(i);
    switch (op.op) {
      case SizeContext::Op::kConstant: break;
      case SizeContext::Op::kSymbol:
        if (op.immediate < 0 || static_cast<std::uint64_t>(op.immediate) >= p_.symbols.size())
          return broken(where, "its symbol exists");
        break;
      case SizeContext::Op::kAdd:
      case SizeContext::Op::kMul:
      case SizeContext::Op::kFloorDiv:
      case SizeContext::Op::kMod:
      case SizeContext::Op::kMin:
      case SizeContext::Op::kMax:
        if (op.a >= i || op.b >= i) return broken(where, "operands are earlier entries");
        break;
      default: return broken(where, "its operation is known");
    }
  }
  return Status::ok();
}

Status Validator::symbols() const {
  for (std::size_t i = 0; i < p_.symbols.size(); ++i) {
    const SymbolInfo& s = p_.symbols[i];
    const std::string where = "symbol " + std::to_string(i) + " '" + s.name + "'";
    if (s.origin > SymbolOrigin::kDataDependent) return broken(where, "its origin is known");
    if (s.range.lo > s.range.hi) return broken(where, "its range is not empty");
    if (s.value == kNone) continue;  // a symbol that nothing needs any more
    if (!isValue(s.value)) return broken(where, "the value that binds it exists");
    const ValueInfo& v = value(s.value);
    if (v.kind != ValueKind::kTensor) return broken(where, "a tensor binds it");
    if (s.origin != SymbolOrigin::kHostResolved && v.rankKnown && s.position >= v.dims.size())
      return broken(where, "the dim that binds it exists");
    if (s.origin == SymbolOrigin::kHostResolved && info(v.dtype).compute != ComputeType::kInt64 &&
        info(v.dtype).compute != ComputeType::kUInt64)
      return broken(where, "an integer tensor binds it");
    if (s.origin == SymbolOrigin::kInputDim && v.storage != Storage::kInput)
      return broken(where, "an input binds it");
  }
  return Status::ok();
}

Status Validator::guards() const {
  for (std::size_t i = 0; i < p_.guards.size(); ++i) {
    const Guard& g = p_.guards[i];
    const std::string where = "guard " + std::to_string(i);
    if (!isSize(g.a) || !isSize(g.b)) return broken(where, "its sizes exist");
    if (g.kind > Guard::Kind::kBroadcast) return broken(where, "its kind is known");
    if (g.block >= p_.blocks.size()) return broken(where, "the block that it belongs to exists");
  }
  return Status::ok();
}

Status Validator::layout(const Layout& layout, std::size_t rank, const std::string& where) const {
  if (!layout.order.empty()) {
    if (layout.order.size() != rank) return broken(where, "the layout orders every dim");
    std::array<bool, kMaxRank> seen{};
    for (std::uint8_t axis : layout.order) {
      if (axis >= rank || seen[axis]) return broken(where, "the layout's order is a permutation");
      seen[axis] = true;
    }
  }
  if (layout.blocks.size() > kMaxRank) return broken(where, "the layout has few blocks");
  for (const Layout::Block& b : layout.blocks)
    if (b.axis >= rank || b.size < 1) return broken(where, "a layout block has an axis and a size");
  return Status::ok();
}

Status Validator::oneValue(std::int32_t id) const {
  const ValueInfo& v = value(id);
  const std::string where = nameOf(id);
  if (v.kind > ValueKind::kState) return broken(where, "its kind is known");
  if (v.storage > Storage::kBlockParam) return broken(where, "its storage is known");
  if (v.space > MemorySpace::kPinned) return broken(where, "its memory space is known");
  if (v.device >= p_.devices.size()) return broken(where, "its device exists");
  if (v.dtype >= DType::kCount) return broken(where, "its element type is known");
  if (v.kind == ValueKind::kTensor && (v.dtype == DType::kUndefined || v.dtype == DType::kString))
    return broken(where, "a tensor has a numeric element type");
  if (v.dims.size() > kMaxRank) return broken(where, "its rank is at most 16");
  if (!v.rankKnown && (!v.dims.empty() || !v.layout.isPlain()))
    return broken(where, "a value of unknown rank has no dims and a plain layout");
  for (std::uint32_t d : v.dims)
    if (!isSize(d)) return broken(where, "its dims exist");
  ROTA_RETURN_IF_ERROR(layout(v.layout, v.dims.size(), where));
  for (std::uint32_t s : v.sources)
    if (s >= p_.sources.size()) return broken(where, "its sources exist");
  if (v.storage == Storage::kConstant) {
    if (v.constant < 0 || static_cast<std::size_t>(v.constant) >= p_.constants.size())
      return broken(where, "its constant exists");
    const ConstantInfo& c = p_.constants[static_cast<std::size_t>(v.constant)];
    if (c.dtype != v.dtype || c.dims.size() != v.dims.size() || !v.rankKnown || !(c.layout == v.layout))
      return broken(where, "it has the type and layout of its constant");
    for (std::size_t i = 0; i < c.dims.size(); ++i) {
      const SizeContext::FlatOp& op = p_.sizes[v.dims[i]];
      if (op.op != SizeContext::Op::kConstant || op.immediate != c.dims[i])
        return broken(where, "it has the dims of its constant");
    }
  }
  if (v.kind != ValueKind::kTensor && v.storage == Storage::kConstant)
    return broken(where, "only tensors are constants");
  return Status::ok();
}

Status Validator::aliases() const {
  // Every chain of aliases ends: a value is settled when its root is known; a chain longer than the values is a cycle.
  std::vector<std::uint8_t> settled(p_.values.size(), 0);
  for (std::size_t i = 0; i < p_.values.size(); ++i) {
    std::vector<std::int32_t> chain;
    auto at = static_cast<std::int32_t>(i);
    while (value(at).storage == Storage::kAlias && settled[static_cast<std::size_t>(at)] == 0) {
      const ValueInfo& v = value(at);
      const std::string where = nameOf(at);
      if (!isValue(v.aliasOf)) return broken(where, "the value it aliases exists");
      if (!isSize(v.aliasOffset)) return broken(where, "its offset exists");
      if (v.kind != ValueKind::kTensor || value(v.aliasOf).kind != ValueKind::kTensor)
        return broken(where, "only tensors are aliases");
      settled[static_cast<std::size_t>(at)] = 2;  // on the chain being followed
      chain.push_back(at);
      at = v.aliasOf;
      if (settled[static_cast<std::size_t>(at)] == 2) return broken(where, "aliases form no cycle");
    }
    for (std::int32_t v : chain) settled[static_cast<std::size_t>(v)] = 1;
  }
  return Status::ok();
}

Status Validator::constants() const {
  for (std::size_t i = 0; i < p_.constants.size(); ++i) {
    const ConstantInfo& c = p_.constants[i];
    const std::string where = "constant " + std::to_string(i) + " (" + c.recipe + ")";
    if (c.dtype == DType::kUndefined || c.dtype >= DType::kCount || c.dtype == DType::kString)
      return broken(where, "it has a numeric element type");
    if (c.dims.size() > kMaxRank) return broken(where, "its rank is at most 16");
    ROTA_RETURN_IF_ERROR(layout(c.layout, c.dims.size(), where));
    const auto bytes = layoutBytes(c.dtype, c.dims, c.layout);
    if (!bytes || *bytes != c.bytes) return broken(where, "its bytes are those of its dims");
    if (c.offset % kConstantAlignment != 0) return broken(where, "its bytes are aligned");
    if (c.offset + c.bytes < c.offset) return broken(where, "its place can be expressed");
  }
  return Status::ok();
}

Status Validator::interface() const {
  const Block& main = p_.blocks[0];
  if (main.params.size() != p_.inputNames.size()) return broken("main block", "every input has a name");
  if (main.results.size() != p_.outputNames.size()) return broken("main block", "every output has a name");
  for (std::int32_t v : main.params)
    if (!isValue(v) || value(v).storage != Storage::kInput)
      return broken("main block", "its parameters are inputs");
  if (p_.devices.empty()) return broken("program", "there is a device");
  return Status::ok();
}

Status Validator::profiles() const {
  for (const Profile& profile : p_.profiles) {
    const std::string where = "profile '" + profile.name + "'";
    for (const ProfileInput& in : profile.inputs) {
      if (!isValue(in.value) || value(in.value).storage != Storage::kInput)
        return broken(where, "its values are inputs");
      const std::size_t rank = value(in.value).dims.size();
      if (in.min.size() != rank || in.opt.size() != rank || in.max.size() != rank)
        return broken(where, "it gives every dim");
      for (std::size_t d = 0; d < rank; ++d)
        if (in.min[d] < 0 || in.min[d] > in.opt[d] || in.opt[d] > in.max[d])
          return broken(where, "minimum, optimum and maximum are in order");
    }
  }
  return Status::ok();
}

Status Validator::states() const {
  for (const StateInfo& s : p_.states)
    if (!isValue(s.input) || !isValue(s.output)) return broken("state '" + s.name + "'", "its values exist");
  return Status::ok();
}

Status Validator::define(std::int32_t id, const std::string& where) {
  if (!isValue(id)) return broken(where, "what it defines exists");
  const auto i = static_cast<std::size_t>(id);
  if (p_.values[i].storage == Storage::kConstant || p_.values[i].storage == Storage::kAlias)
    return broken(where, "it defines neither constants nor aliases (" + nameOf(id) + ")");
  if (everDefined_[i] != 0) return broken(where, nameOf(id) + " is defined once");
  everDefined_[i] = 1;
  visible_[i] = 1;
  return Status::ok();
}

Status Validator::use(std::int32_t id, const std::string& where) const {
  if (!isValue(id)) return broken(where, "what it uses exists");
  const std::int32_t root = rootOf(p_, id);
  if (value(root).storage != Storage::kConstant && visible_[static_cast<std::size_t>(root)] == 0)
    return broken(where, nameOf(id) + " is defined before it is used");
  return Status::ok();
}

Status Validator::handOver(std::int32_t from, std::int32_t to, const std::string& where) const {
  if (from == kNone || to == kNone) return Status::ok();
  if (!isValue(from) || !isValue(to)) return broken(where, "what it hands over exists");
  const ValueInfo& a = value(from);
  const ValueInfo& b = value(to);
  if (a.kind != b.kind || a.dtype != b.dtype || !(a.layout == b.layout))
    return broken(where, nameOf(from) + " and " + nameOf(to) + " have the same type and layout");
  return Status::ok();
}

Status Validator::stacks(std::int32_t element, std::int32_t whole, const std::string& where) const {
  if (element == kNone || whole == kNone) return Status::ok();
  if (!isValue(element) || !isValue(whole)) return broken(where, "what it hands over exists");
  const ValueInfo& a = value(element);
  const ValueInfo& b = value(whole);
  if (a.kind != ValueKind::kTensor || b.kind != ValueKind::kTensor || a.dtype != b.dtype ||
      !a.layout.isPlain() || !b.layout.isPlain() ||
      (a.rankKnown && b.rankKnown && a.dims.size() + 1 != b.dims.size()))
    return broken(where, nameOf(element) + " is a slice of " + nameOf(whole));
  return Status::ok();
}

Status Validator::controlFlow(const Step& step, const std::string& where) const {
  const auto count = [&](std::size_t i) -> const Block& { return p_.blocks[step.blocks[i]]; };
  if (step.kernel == "flow.if") {
    if (step.blocks.size() != 2 || step.inputs.size() != 1 || step.inputs[0] == kNone)
      return broken(where, "an If has a condition and two branches");
    if (value(step.inputs[0]).dtype != DType::kBool) return broken(where, "an If's condition is boolean");
    for (std::size_t i = 0; i < 2; ++i)
      if (!count(i).params.empty() || count(i).results.size() != step.outputs.size())
        return broken(where, "a branch gives every output");
    for (std::uint32_t b : step.blocks)
      for (std::size_t i = 0; i < step.outputs.size(); ++i)
        ROTA_RETURN_IF_ERROR(handOver(p_.blocks[b].results[i], step.outputs[i], where));
    return Status::ok();
  }
  if (step.blocks.size() != 1) return broken(where, "a loop has one body");
  const Block& body = count(0);
  if (step.kernel == "flow.loop") {
    if (step.inputs.size() < 2 || body.params.size() != step.inputs.size())
      return broken(where, "a Loop's body has a parameter for iteration, condition and every carried value");
    const std::size_t carried = step.inputs.size() - 2;
    if (!isValue(body.params[0]) || value(body.params[0]).dtype != DType::kInt64 ||
        !isValue(body.params[1]) || value(body.params[1]).dtype != DType::kBool)
      return broken(where, "a Loop's body counts in int64 and has a boolean condition");
    if (body.results.size() < carried + 1 || step.outputs.size() != body.results.size() - 1)
      return broken(where, "a Loop's body gives condition and outputs");
    if (!isValue(body.results[0]) || value(body.results[0]).dtype != DType::kBool)
      return broken(where, "a Loop's condition is boolean");
    for (std::size_t i = 0; i < carried; ++i)
      if (step.inputs[i + 2] == kNone) return broken(where, "carried values are given");
    return loopValues(step, 2, 1, carried, where);
  }
  const std::int64_t scanned = step.parameters.getInt("num_scan_inputs");
  if (scanned < 1 || static_cast<std::uint64_t>(scanned) > step.inputs.size() ||
      body.params.size() != step.inputs.size())
    return broken(where, "a Scan's body has a parameter for every input");
  const std::size_t carried = step.inputs.size() - static_cast<std::size_t>(scanned);
  if (body.results.size() < carried || body.results.size() != step.outputs.size())
    return broken(where, "a Scan's body gives every output");
  for (std::int32_t v : step.inputs)
    if (v == kNone) return broken(where, "a Scan's inputs are given");
  for (const char* name : {"scan_input_axes", "scan_input_directions"})
    if (const auto* list = step.parameters.getInts(name);
        list != nullptr && list->size() != static_cast<std::size_t>(scanned))
      return broken(where, std::string(name) + " has an entry for every scanned input");
  for (const char* name : {"scan_output_axes", "scan_output_directions"})
    if (const auto* list = step.parameters.getInts(name);
        list != nullptr && list->size() != body.results.size() - carried)
      return broken(where, std::string(name) + " has an entry for every stacked output");
  for (std::size_t i = carried; i < step.inputs.size(); ++i)
    ROTA_RETURN_IF_ERROR(stacks(body.params[i], step.inputs[i], where));
  return loopValues(step, 0, 0, carried, where);
}

Status Validator::loopValues(const Step& step, std::size_t firstInput, std::size_t firstResult,
                             std::size_t carried, const std::string& where) const {
  const Block& body = p_.blocks[step.blocks[0]];
  for (std::size_t i = 0; i < carried; ++i) {
    ROTA_RETURN_IF_ERROR(handOver(step.inputs[firstInput + i], body.params[firstInput + i], where));
    ROTA_RETURN_IF_ERROR(handOver(body.results[firstResult + i], body.params[firstInput + i], where));
    ROTA_RETURN_IF_ERROR(handOver(body.params[firstInput + i], step.outputs[i], where));
  }
  for (std::size_t i = carried; i < step.outputs.size(); ++i)
    ROTA_RETURN_IF_ERROR(stacks(body.results[firstResult + i], step.outputs[i], where));
  return Status::ok();
}

Status Validator::step(const Step& step, const std::string& where, int depth) {
  if (step.kernel.empty()) return broken(where, "its kernel has a name");
  if (step.shapeRule > ShapeRule::kBroadcast) return broken(where, "its shape rule is known");
  if (step.device >= p_.devices.size()) return broken(where, "its device exists");
  if (step.stream >= p_.streams) return broken(where, "its stream exists");
  for (const auto* events : {&step.waits, &step.signals})
    for (std::uint32_t e : *events)
      if (e >= p_.events) return broken(where, "its events exist");
  for (std::uint32_t s : step.sources)
    if (s >= p_.sources.size()) return broken(where, "its sources exist");
  for (std::int32_t v : step.inputs) {
    if (v != kNone) ROTA_RETURN_IF_ERROR(use(v, where));
  }

  const bool isFlow = step.kernel == "flow.if" || step.kernel == "flow.loop" || step.kernel == "flow.scan";
  if (isFlow == step.blocks.empty()) return broken(where, "control flow, and only that, has blocks");
  for (std::uint32_t b : step.blocks)
    if (b == 0 || b >= p_.blocks.size()) return broken(where, "its blocks exist");
  if (isFlow) {
    ROTA_RETURN_IF_ERROR(controlFlow(step, where));
    for (std::uint32_t b : step.blocks) ROTA_RETURN_IF_ERROR(block(b, depth + 1));
  }
  for (std::int32_t v : step.outputs) {
    if (v == kNone) continue;
    ROTA_RETURN_IF_ERROR(define(v, where));
    if (value(v).storage == Storage::kInput || value(v).storage == Storage::kBlockParam)
      return broken(where, nameOf(v) + " has memory of its own");
  }
  if (step.kernel.starts_with("ref:"))
    for (const auto* list : {&step.inputs, &step.outputs})
      for (std::int32_t v : *list)
        if (v != kNone && !value(v).layout.isPlain())
          return broken(where, "reference kernels see plain layouts");
  return Status::ok();
}

Status Validator::block(std::uint32_t id, int depth) {
  const Block& block = p_.blocks[id];
  const std::string name = "block " + std::to_string(id) + " '" + block.name + "'";
  if (depth > kMaxBlockDepth) return broken(name, "blocks are nested at most 64 deep");
  if (blockSeen_[id] != 0) return broken(name, "a block belongs to one step");
  blockSeen_[id] = 1;
  for (std::int32_t v : block.params) {
    ROTA_RETURN_IF_ERROR(define(v, name));
    if (id != 0 && value(v).storage != Storage::kBlockParam)
      return broken(name, nameOf(v) + " is stored as a block parameter");
  }
  for (std::size_t i = 0; i < block.steps.size(); ++i) {
    const Step& s = block.steps[i];
    std::string where = describeSources(p_, s.sources);
    if (where.empty()) where = name + " step " + std::to_string(i) + " '" + s.kernel + "'";
    ROTA_RETURN_IF_ERROR(step(s, where, depth));
  }
  for (std::int32_t v : block.results) ROTA_RETURN_IF_ERROR(use(v, name));
  if (id == 0) {
    for (std::int32_t v : block.results)
      if (!value(v).layout.isPlain()) return broken(name, "outputs have plain layouts");
    return Status::ok();
  }
  // What the block defined is not visible around it.
  for (std::int32_t v : block.params) visible_[static_cast<std::size_t>(v)] = 0;
  for (const Step& s : block.steps)
    for (std::int32_t v : s.outputs)
      if (v != kNone) visible_[static_cast<std::size_t>(v)] = 0;
  return Status::ok();
}

Status Validator::all() {
  if (p_.blocks.empty()) return broken("program", "there is a main block");
  if (p_.values.size() > static_cast<std::size_t>(INT32_MAX))
    return broken("program", "values can be numbered");
  visible_.assign(p_.values.size(), 0);
  everDefined_.assign(p_.values.size(), 0);
  blockSeen_.assign(p_.blocks.size(), 0);
  ROTA_RETURN_IF_ERROR(sizes());
  for (std::size_t i = 0; i < p_.values.size(); ++i)
    ROTA_RETURN_IF_ERROR(oneValue(static_cast<std::int32_t>(i)));
  ROTA_RETURN_IF_ERROR(aliases());
  ROTA_RETURN_IF_ERROR(constants());
  ROTA_RETURN_IF_ERROR(symbols());
  ROTA_RETURN_IF_ERROR(guards());
  ROTA_RETURN_IF_ERROR(interface());
  ROTA_RETURN_IF_ERROR(profiles());
  ROTA_RETURN_IF_ERROR(states());
  ROTA_RETURN_IF_ERROR(block(0, 0));
  for (std::size_t i = 0; i < blockSeen_.size(); ++i)
    if (blockSeen_[i] == 0) return broken("block " + std::to_string(i), "every block belongs to a step");
  return Status::ok();
}

}  // namespace

Status validate(const Program& program) { return Validator(program).all(); }

}  // namespace rota::runtime
