// SPDX-License-Identifier: Apache-2.0
#include "engine/inspect.h"

#include <algorithm>
#include <limits>

#include "runtime/prepared.h"

namespace rota::engine {

namespace {

using runtime::kNone;
using runtime::Program;
using runtime::SizeValues;
using runtime::Storage;
using runtime::ValueInfo;

/// Sizes at the optimum of the first profile; 1, or what is nearest to it, for dims that no profile gives.
SizeValues sizesToShow(const runtime::ProgramIndex& index) {
  const Program& program = index.program();
  SizeValues sizes(index.sizes());
  for (std::size_t s = 0; s < program.symbols.size(); ++s) {
    const runtime::SymbolInfo& symbol = program.symbols[s];
    if (symbol.origin != SymbolOrigin::kInputDim) continue;
    std::int64_t value = std::clamp<std::int64_t>(1, symbol.range.lo, symbol.range.hi);
    if (!program.profiles.empty())
      for (const runtime::ProfileInput& in : program.profiles[0].inputs)
        if (in.value == symbol.value && symbol.position < in.opt.size()) value = in.opt[symbol.position];
    sizes.setSymbol(static_cast<SymbolId>(s), value);
  }
  sizes.evaluate();
  return sizes;
}

std::string layoutText(const runtime::Layout& layout) {
  std::string text;
  if (!layout.order.empty()) {
    text += " order ";
    for (std::size_t i = 0; i < layout.order.size(); ++i)
      text += (i == 0 ? "" : ",") + std::to_string(layout.order[i]);
  }
  if (!layout.blocks.empty()) {
    text += " blocks ";
    for (std::size_t i = 0; i < layout.blocks.size(); ++i)
      text += (i == 0 ? "" : ",") + std::to_string(layout.blocks[i].axis) + ":" +
              std::to_string(layout.blocks[i].size);
  }
  return text;
}

class Inspector {
 public:
  explicit Inspector(const EngineFile& engine)
      : engine_(engine),
        p_(*engine.program),
        index_(p_),
        sizes_(sizesToShow(index_)) {
    for (std::size_t v = 0; v < p_.values.size(); ++v)
      bytes_.push_back(bytesOf(static_cast<std::int32_t>(v)));
    planMemory();
  }

  Inspection run() {
    Inspection out;
    out.file = engine_.file->path();
    out.writer = engine_.container.header.writer.data();
    out.formatVersion = engine_.container.header.formatVersion;
    out.fileBytes = engine_.file->size();
    if (const Section* plan = engine_.container.find(SectionKind::kPlan)) out.planBytes = plan->size;
    const Section* weights = engine_.container.find(SectionKind::kWeights);
    out.weightsBytes = weights == nullptr ? 0 : weights->size;
    out.externalWeights = weights != nullptr && (weights->flags & kSectionExternal) != 0;
    for (const Place& p : engine_.places.constants)
      out.placedBytes += engine_.program->constants[p.constant].bytes;
    for (const Places::File& f : engine_.places.files) out.placedFiles.push_back(f.name);
    out.target = engine_.target;
    out.manifest = std::string(engine_.manifest);
    for (std::size_t i = 0; i < p_.inputNames.size(); ++i)
      out.inputs.push_back(ends(p_.blocks[0].params[i], p_.inputNames[i]));
    for (std::size_t i = 0; i < p_.outputNames.size(); ++i)
      out.outputs.push_back(ends(p_.blocks[0].results[i], p_.outputNames[i]));
    for (const runtime::Profile& profile : p_.profiles) out.profiles.push_back(profileText(profile));
    addSteps(0, 0, out.steps);
    addSyncPoints(out.syncPoints);
    addFound(out.foundSizes);
    for (const runtime::Guard& g : p_.guards)
      out.guards.push_back({g.node,
                            "'" + runtime::sizeText(p_, g.a) + "' = '" + runtime::sizeText(p_, g.b) + "'" +
                                (g.kind == runtime::Guard::Kind::kBroadcast ? ", or one of them 1" : ""),
                            g.block == 0 ? "" : p_.blocks[g.block].name});
    out.arenaBytes = plan_.bytes;
    out.largestLiveSet = plan_.largestLiveSet;
    for (std::size_t v = 0; v < p_.values.size(); ++v)
      out.growingValues += index_.value(static_cast<std::int32_t>(v)).growing ? 1 : 0;
    for (const runtime::ConstantInfo& c : p_.constants)
      out.weights.push_back(
          {c.recipe, std::string(info(c.dtype).name) + " " + runtime::dimsText(c.dims) + layoutText(c.layout),
           c.offset, c.bytes, c.hash.toHex()});
    return out;
  }

 private:
  const ValueInfo& value(std::int32_t id) const { return p_.values[static_cast<std::size_t>(id)]; }

  std::size_t bytesOf(std::int32_t id) const {
    const ValueInfo& v = value(id);
    if (v.kind != runtime::ValueKind::kTensor || !v.rankKnown) return 0;
    std::vector<std::int64_t> dims;
    for (std::uint32_t d : v.dims) {
      if (!sizes_.isKnown(d)) return 0;
      dims.push_back(sizes_.value(d));
    }
    return runtime::layoutBytes(v.dtype, dims, v.layout).value_or(0);
  }

  void planMemory() {
    std::vector<std::vector<std::size_t>> workspace;
    for (const runtime::Block& b : p_.blocks) workspace.emplace_back(b.steps.size(), 0);
    const auto requests = runtime::arenaRequests(index_, bytes_, workspace);
    std::vector<runtime::BufferRequest> buffers;
    for (const auto& r : requests) buffers.push_back(r.buffer);
    plan_ = runtime::planMemory(buffers);
    offsets_.assign(p_.values.size(), -1);
    for (std::size_t i = 0; i < requests.size(); ++i)
      if (requests[i].value != kNone)
        offsets_[static_cast<std::size_t>(requests[i].value)] = static_cast<std::int64_t>(plan_.offsets[i]);
    // Bytes that arrive at and leave after each position give the bytes in use.
    std::uint32_t last = 0;
    for (const auto& b : buffers) last = std::max(last, b.last);
    std::vector<std::int64_t> change(std::size_t{last} + 2, 0);
    for (const auto& b : buffers) {
      change[b.first] += static_cast<std::int64_t>(b.bytes);
      change[std::size_t{b.last} + 1] -= static_cast<std::int64_t>(b.bytes);
    }
    std::int64_t live = 0;
    for (std::int64_t c : change) live_.push_back(static_cast<std::size_t>(live += c));
  }

  std::string typeText(std::int32_t id) const {
    const ValueInfo& v = value(id);
    std::string text;
    if (v.kind == runtime::ValueKind::kSequence) text = "sequence of ";
    if (v.kind == runtime::ValueKind::kOptional) text = "optional ";
    if (v.kind == runtime::ValueKind::kState) text = "state ";
    text += info(v.dtype).name;
    if (!v.rankKnown) return text + " of any rank";
    text += " [";
    for (std::size_t d = 0; d < v.dims.size(); ++d) {
      text += d == 0 ? "" : ", ";
      text += sizes_.isKnown(v.dims[d]) ? std::to_string(sizes_.value(v.dims[d]))
                                        : runtime::sizeText(p_, v.dims[d]);
    }
    return text + "]" + layoutText(v.layout);
  }

  /// An input or output, with the symbols of its open dims.
  InspectedValue ends(std::int32_t id, const std::string& name) const {
    InspectedValue out = describe(id);
    out.name = name;
    const ValueInfo& v = value(id);
    std::string open;
    for (std::size_t d = 0; d < v.dims.size(); ++d)
      open += (d == 0 ? "" : ", ") + runtime::sizeText(p_, v.dims[d]);
    if (v.rankKnown) out.type = std::string(info(v.dtype).name) + " [" + open + "]" + layoutText(v.layout);
    return out;
  }

  InspectedValue describe(std::int32_t id) const {
    const ValueInfo& v = value(id);
    InspectedValue out;
    out.name = v.name;
    out.type = typeText(id);
    out.bytes = bytes_[static_cast<std::size_t>(id)];
    out.offset = offsets_[static_cast<std::size_t>(id)];
    switch (v.storage) {
      case Storage::kInput: out.place = "input"; break;
      case Storage::kOutput: out.place = "output"; break;
      case Storage::kConstant:
        out.place = "weights";
        out.offset = static_cast<std::int64_t>(p_.constants[static_cast<std::size_t>(v.constant)].offset);
        break;
      case Storage::kArena: out.place = index_.value(id).growing ? "grows while running" : "arena"; break;
      case Storage::kGrowing: out.place = "grows while running"; break;
      case Storage::kBlockParam: out.place = "given by the loop"; break;
      case Storage::kAlias: out.place = "view of '" + value(index_.value(id).root).name + "'"; break;
    }
    return out;
  }

  std::string profileText(const runtime::Profile& profile) const {
    const auto by = [](const std::vector<std::int64_t>& dims) {
      std::string text;
      for (std::size_t d = 0; d < dims.size(); ++d) text += (d == 0 ? "" : "x") + std::to_string(dims[d]);
      return text.empty() ? "scalar" : text;
    };
    std::string text = profile.name + ":";
    for (const runtime::ProfileInput& in : profile.inputs)
      text += " " + value(in.value).name + " " + by(in.min) + ":" + by(in.opt) + ":" + by(in.max);
    return text;
  }

  void addSteps(std::uint32_t blockId, int depth, std::vector<InspectedStep>& steps) const {
    const runtime::Block& block = p_.blocks[blockId];
    for (std::size_t i = 0; i < block.steps.size(); ++i) {
      const runtime::Step& s = block.steps[i];
      InspectedStep out;
      out.depth = depth;
      out.block = block.name;
      out.sources = runtime::describeSources(p_, s.sources);
      out.kernel = s.kernel;
      out.tactic = s.tactic;
      out.library = s.library;
      out.predictedUs = s.predictedUs;
      for (std::int32_t v : s.inputs)
        if (v != kNone) out.inputs.push_back(describe(v));
      for (std::int32_t v : s.outputs)
        if (v != kNone) out.outputs.push_back(describe(v));
      const std::uint32_t at = index_.block(blockId).steps[i].range.first;
      out.liveBytes = at < live_.size() ? live_[at] : 0;
      steps.push_back(std::move(out));
      for (std::uint32_t nested : s.blocks) addSteps(nested, depth + 1, steps);
    }
  }

  void addSyncPoints(std::vector<InspectedSync>& points) const {
    for (const runtime::Block& block : p_.blocks)
      for (const runtime::Step& step : block.steps) {
        if (step.kernel != "host.read_sizes") continue;
        for (std::int32_t v : step.inputs) {
          if (v == kNone) continue;
          InspectedSync point{runtime::describeSources(p_, value(v).sources), value(v).name, {}};
          for (const runtime::SymbolInfo& s : p_.symbols)
            if (s.origin == SymbolOrigin::kHostResolved && s.value == v)
              point.symbols.push_back(s.name + " = element " + std::to_string(s.position) + ", " +
                                      rangeText(s.range));
          points.push_back(std::move(point));
        }
      }
  }

  static std::string rangeText(const SizeRange& range) {
    constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    if (range.lo == kLeast && range.hi == kMost) return "any number";
    if (range.hi == kMost) return std::to_string(range.lo) + " or more";
    if (range.lo == kLeast) return std::to_string(range.hi) + " or less";
    return std::to_string(range.lo) + " to " + std::to_string(range.hi);
  }

  /// Input dims range over all profiles.
  std::vector<SizeRange> bounds() const {
    std::vector<SizeRange> symbols;
    for (const runtime::SymbolInfo& s : p_.symbols) {
      SizeRange range = s.range;
      bool isFirst = true;
      for (const runtime::Profile& profile : p_.profiles)
        for (const runtime::ProfileInput& in : profile.inputs) {
          if (s.origin != SymbolOrigin::kInputDim || in.value != s.value || s.position >= in.max.size())
            continue;
          range.lo = isFirst ? in.min[s.position] : std::min(range.lo, in.min[s.position]);
          range.hi = isFirst ? in.max[s.position] : std::max(range.hi, in.max[s.position]);
          isFirst = false;
        }
      symbols.push_back(range);
    }
    return runtime::entryBounds(p_, symbols);
  }

  void addFound(std::vector<InspectedFound>& found) const {
    const std::vector<SizeRange> most = bounds();
    for (std::size_t i = 0; i < p_.values.size(); ++i) {
      const auto id = static_cast<std::int32_t>(i);
      const ValueInfo& v = p_.values[i];
      const bool owns = index_.value(id).growing || v.storage == Storage::kOutput;
      if (v.kind != runtime::ValueKind::kTensor || !index_.value(id).dynamicDims || !owns) continue;
      InspectedFound out{runtime::describeSources(p_, v.sources), v.name, typeText(id), v.rankKnown, 0};
      std::vector<std::int64_t> dims;
      for (std::uint32_t d : v.dims) {
        dims.push_back(std::max<std::int64_t>(0, most[d].hi));
        out.bounded = out.bounded && most[d].hi != std::numeric_limits<std::int64_t>::max();
      }
      const auto bytes = out.bounded ? runtime::layoutBytes(v.dtype, dims, v.layout) : std::nullopt;
      out.bounded = bytes.has_value();
      out.mostBytes = bytes.value_or(0);
      found.push_back(std::move(out));
    }
  }

  const EngineFile& engine_;
  const Program& p_;
  runtime::ProgramIndex index_;
  SizeValues sizes_;
  std::vector<std::size_t> bytes_;
  std::vector<std::int64_t> offsets_;
  std::vector<std::size_t> live_;
  runtime::MemoryPlan plan_;
};

std::string bytesText(std::uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  std::uint64_t tenths = bytes * 10;
  while (tenths >= 10240 && unit + 1 < std::size(kUnits)) {
    tenths = (tenths + 512) / 1024;
    ++unit;
  }
  std::string text = std::to_string(tenths / 10);
  if (unit != 0) text += "." + std::to_string(tenths % 10);
  return text + " " + kUnits[unit];
}

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

std::string indented(const std::string& text, const std::string& indent) {
  std::string out = indent;
  for (std::size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    if (text[i] == '\n' && i + 1 < text.size()) out += indent;
  }
  if (!out.empty() && out.back() != '\n') out += '\n';
  return out;
}

void addEnds(std::string& out, const char* title, const std::vector<InspectedValue>& values) {
  out += title;
  out += '\n';
  std::size_t width = 0;
  for (const InspectedValue& v : values) width = std::max(width, v.name.size());
  for (const InspectedValue& v : values) out += "  " + padded(v.name, width) + "  " + v.type + "\n";
}

std::string placeText(const InspectedValue& v) {
  std::string text = v.place;
  if (v.offset >= 0) text += " +" + std::to_string(v.offset);
  if (v.bytes != 0) text += ", " + bytesText(v.bytes);
  return text;
}

void addSteps(std::string& out, const std::vector<InspectedStep>& steps) {
  out += "Steps\n";
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const InspectedStep& s = steps[i];
    const std::string indent(static_cast<std::size_t>(s.depth) * 2, ' ');
    out +=
        "  " + padded(std::to_string(i), 5) + indent + (s.sources.empty() ? "(no source node)" : s.sources);
    if (s.depth > 0) out += "  in " + s.block;
    out += "\n         " + indent + s.kernel;
    if (!s.tactic.empty()) out += "  tactic " + s.tactic;
    if (!s.library.empty()) out += "  library " + s.library;
    out += '\n';
    for (const InspectedValue& v : s.outputs)
      out += "         " + indent + "-> " + v.name + "  " + v.type + "  (" + placeText(v) + ")\n";
  }
}

/// Bytes in use over the steps, as bars; neighbouring steps share a line when there are many.
void addTimeline(std::string& out, const Inspection& inspection) {
  constexpr std::size_t kLines = 32;
  constexpr std::size_t kBar = 50;
  const auto& steps = inspection.steps;
  out += "Memory\n  arena " + bytesText(inspection.arenaBytes) + " (largest live set " +
         bytesText(inspection.largestLiveSet) + ")";
  if (inspection.growingValues != 0)
    out += ", " + std::to_string(inspection.growingValues) + " values that grow while running";
  out += ", without the workspace of kernels\n";
  if (inspection.largestLiveSet == 0 || steps.empty()) return;
  const std::size_t each = (steps.size() + kLines - 1) / kLines;
  for (std::size_t first = 0; first < steps.size(); first += each) {
    const std::size_t last = std::min(first + each, steps.size()) - 1;
    std::size_t live = 0;
    for (std::size_t i = first; i <= last; ++i) live = std::max(live, steps[i].liveBytes);
    const std::string range =
        first == last ? std::to_string(first) : std::to_string(first) + "-" + std::to_string(last);
    const auto length = static_cast<std::size_t>(static_cast<double>(live) /
                                                 static_cast<double>(inspection.largestLiveSet) * kBar);
    out += "  " + padded("steps " + range, 18) + padded(std::string(std::min(length, kBar), '#'), kBar) +
           "  " + bytesText(live) + "\n";
  }
}

void addSizesFoundLate(std::string& out, const Inspection& in) {
  if (!in.syncPoints.empty()) {
    out += "Sync points (sizes that are read from a tensor while running)\n";
    for (const InspectedSync& s : in.syncPoints) {
      out += "  " + (s.sources.empty() ? "(no source node)" : s.sources) + "  value " + s.value;
      for (const std::string& symbol : s.symbols) out += "  " + symbol;
      out += '\n';
    }
  }
  if (!in.foundSizes.empty()) {
    out += "Values whose size only the data tells\n";
    for (const InspectedFound& f : in.foundSizes)
      out += "  " + (f.sources.empty() ? "(no source node)" : f.sources) + "  value " + f.name + "  " +
             f.type + (f.bounded ? "  at most " + bytesText(f.mostBytes) : "  unbounded") + "\n";
  }
  if (!in.guards.empty()) {
    out += "Guards\n";
    for (const InspectedGuard& g : in.guards)
      out +=
          "  " + g.text + "  for " + g.node + (g.block.empty() ? "" : "  when '" + g.block + "' runs") + "\n";
  }
}

}  // namespace

Inspection inspect(const EngineFile& engine) { return Inspector(engine).run(); }

std::string inspectText(const Inspection& in) {
  std::string out = "Engine " + in.file + "\n";
  out += "  built with " + in.writer + ", format version " + std::to_string(in.formatVersion) + ", for " +
         in.target.device + " " + in.target.isa;
  for (const LibraryVersion& l : in.target.libraries) out += ", " + l.name + " " + l.version;
  out += "\n  file " + bytesText(in.fileBytes) + ", plan " + bytesText(in.planBytes) + ", weights " +
         bytesText(in.weightsBytes) + (in.externalWeights ? " outside of the engine" : "") + "\n";
  for (const std::string& f : in.placedFiles)
    out += "  " + bytesText(in.placedBytes) + " of weights stay in " + f + "\n";
  if (!in.manifest.empty()) out += "Manifest\n" + indented(in.manifest, "  ");
  addEnds(out, "Inputs", in.inputs);
  addEnds(out, "Outputs", in.outputs);
  if (!in.profiles.empty()) {
    out += "Profiles\n";
    for (const std::string& p : in.profiles) out += "  " + p + "\n";
  }
  addSteps(out, in.steps);
  addSizesFoundLate(out, in);
  addTimeline(out, in);
  out += "Weights\n";
  for (const Inspection::Weight& w : in.weights)
    out += "  " + w.recipe + "  " + w.type + "  " + bytesText(w.bytes) + " at +" + std::to_string(w.offset) +
           "  " + w.hash.substr(0, 8) + "\n";
  return out;
}

}  // namespace rota::engine
