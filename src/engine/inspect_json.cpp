// SPDX-License-Identifier: Apache-2.0
// The JSON form of what `inspect.h` reads from an engine; the only source of this folder that knows a JSON library.
// Tested by src/engine/inspect_test.cpp.
#include <nlohmann/json.hpp>

#include "engine/inspect.h"

namespace rota::engine {

namespace {

using Json = nlohmann::ordered_json;

Json valueJson(const InspectedValue& v) {
  Json out = {{"name", v.name}, {"type", v.type}, {"place", v.place}, {"bytes", v.bytes}};
  if (v.offset >= 0) out["offset"] = v.offset;
  return out;
}

Json valuesJson(const std::vector<InspectedValue>& values) {
  Json out = Json::array();
  for (const InspectedValue& v : values) out.push_back(valueJson(v));
  return out;
}

Json stepJson(const InspectedStep& s) {
  return {{"sources", s.sources},
          {"block", s.block},
          {"depth", s.depth},
          {"kernel", s.kernel},
          {"tactic", s.tactic},
          {"library", s.library},
          {"predicted_us", s.predictedUs},
          {"live_bytes", s.liveBytes},
          {"inputs", valuesJson(s.inputs)},
          {"outputs", valuesJson(s.outputs)}};
}

}  // namespace

std::string inspectJson(const Inspection& in) {
  Json out;
  out["schema_version"] = 1;
  out["file"] = in.file;
  out["writer"] = in.writer;
  out["format_version"] = in.formatVersion;
  out["file_bytes"] = in.fileBytes;
  out["plan_bytes"] = in.planBytes;
  out["weights_bytes"] = in.weightsBytes;
  out["external_weights"] = in.externalWeights;
  out["placed_bytes"] = in.placedBytes;
  out["placed_files"] = in.placedFiles;
  Json libraries = Json::object();
  for (const LibraryVersion& l : in.target.libraries) libraries[l.name] = l.version;
  out["target"] = {{"device", in.target.device},
                   {"isa", in.target.isa},
                   {"rota_version", in.target.rotaVersion},
                   {"libraries", libraries}};
  Json manifest = Json::parse(in.manifest, nullptr, false);
  out["manifest"] = manifest.is_discarded() ? Json(in.manifest) : std::move(manifest);
  out["inputs"] = valuesJson(in.inputs);
  out["outputs"] = valuesJson(in.outputs);
  out["profiles"] = in.profiles;
  out["memory"] = {{"arena_bytes", in.arenaBytes},
                   {"largest_live_set_bytes", in.largestLiveSet},
                   {"growing_values", in.growingValues}};
  out["sync_points"] = Json::array();
  for (const InspectedSync& s : in.syncPoints)
    out["sync_points"].push_back({{"sources", s.sources}, {"value", s.value}, {"symbols", s.symbols}});
  out["found_sizes"] = Json::array();
  for (const InspectedFound& f : in.foundSizes) {
    Json row = {{"sources", f.sources}, {"value", f.name}, {"type", f.type}, {"bounded", f.bounded}};
    if (f.bounded) row["most_bytes"] = f.mostBytes;
    out["found_sizes"].push_back(std::move(row));
  }
  out["guards"] = Json::array();
  for (const InspectedGuard& g : in.guards)
    out["guards"].push_back({{"node", g.node}, {"guard", g.text}, {"block", g.block}});
  out["steps"] = Json::array();
  for (const InspectedStep& s : in.steps) out["steps"].push_back(stepJson(s));
  out["weights"] = Json::array();
  for (const Inspection::Weight& w : in.weights)
    out["weights"].push_back(
        {{"recipe", w.recipe}, {"type", w.type}, {"offset", w.offset}, {"bytes", w.bytes}, {"hash", w.hash}});
  // Names come from models and need not be valid UTF-8.
  return out.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace rota::engine
