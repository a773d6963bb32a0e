// SPDX-License-Identifier: Apache-2.0
#include "plan/build.h"

#include <chrono>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "core/check.h"
#include "core/cpu_info.h"
#include "engine/writer.h"
#include "plan/input_bounds.h"
#include "runtime/step_kernel.h"

namespace rota::plan {
namespace {

class Timer {
 public:
  explicit Timer(std::vector<Phase>& phases) : phases_(phases) {}
  void done(std::string name) {
    const auto now = std::chrono::steady_clock::now();
    phases_.push_back({std::move(name), std::chrono::duration<double>(now - start_).count()});
    start_ = now;
  }

 private:
  std::vector<Phase>& phases_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

Status report(const BuildOptions& options, std::string_view phase, std::int64_t done, std::int64_t total) {
  if (options.progress && !options.progress(phase, done, total)) {
    return Status(ErrorCode::kInterrupted, "the build was interrupted; no engine was written")
        .fix("build again");
  }
  return Status::ok();
}

nlohmann::ordered_json tensorsJson(const std::vector<ir::Value*>& values,
                                   const std::vector<std::string>* names, SizeContext& sizes) {
  auto rows = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < values.size(); ++i) {
    nlohmann::ordered_json row;
    row["name"] = names != nullptr ? (*names)[i] : values[i]->name;
    row["dtype"] = info(values[i]->type.dtype).name;
    if (values[i]->type.shape.known) {
      row["dims"] = nlohmann::ordered_json::array();
      for (Size d : values[i]->type.shape.dims) {
        if (const auto c = d.constant())
          row["dims"].push_back(*c);
        else
          row["dims"].push_back(sizes.toString(sizes.resolve(d)));
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

/// What people and scripts read; nothing in it depends on time, place or the machine that built.
std::string manifestOf(ir::Graph& graph, const BuildOptions& options, const BuiltProgram& built,
                       const std::vector<pass::PassRecord>& passes,
                       const std::map<std::string, std::int64_t>& bounds) {
  nlohmann::ordered_json m;
  m["schema_version"] = 1;
  m["rota_version"] = ROTA_VERSION;
  m["target"] = {{"device", options.target.device},
                 {"cpu", options.target.generic ? "x86-64" : options.target.cpu},
                 {"generic", options.target.generic}};
  m["level"] = options.level;
  m["build_route"] = options.knobs.toRoute();
  m["inputs"] = tensorsJson(graph.inputs(), nullptr, graph.sizes());
  m["outputs"] = tensorsJson(graph.outputs(), &graph.outputNames(), graph.sizes());
  // Entries of the table that an integer input indexes: its values lie below.
  if (!bounds.empty()) m["input_bounds"] = bounds;
  std::map<std::string, int> tactics;
  for (const auto& block : built.program.blocks)
    for (const auto& step : block.steps) ++tactics[step.tactic];
  m["steps_by_tactic"] = tactics;
  m["passes"] = nlohmann::ordered_json::array();
  for (const auto& p : passes) m["passes"].push_back({{"name", p.name}, {"changed", p.changed}});
  // Why each region runs as it does.
  m["choices"] = nlohmann::ordered_json::array();
  for (const Choice& c : built.choices) {
    nlohmann::ordered_json row = {{"sources", c.scope}, {"tactic", c.tactic}};
    for (const auto& [tactic, reason] : c.refused) row["refused"][tactic] = reason;
    m["choices"].push_back(std::move(row));
  }
  return m.dump(1);
}

/// What the engine needs of the machine it runs on: the instruction set, and the libraries that its steps name.
engine::Target engineTarget(const tactic::Target& target, const runtime::Program& program) {
  engine::Target t;
  t.device = target.device;
  t.isa = target.generic ? "generic" : target.cpu;
  std::set<std::string> libraries;
  for (const auto& block : program.blocks) {
    for (const auto& step : block.steps)
      if (!step.library.empty()) libraries.insert(step.library);
  }
  for (const std::string& name : libraries) {
    // A module that cannot be opened here leaves its version empty; loading the engine then says what is missing.
    const Status opened = runtime::loadKernelModule(name);
    t.libraries.push_back({name, opened.isOk() ? runtime::kernelModuleVersion(name) : ""});
  }
  return t;
}

}  // namespace

std::string nativeCpu() { return std::string(isaLevelName(cpuInfo().level)); }

Result<BuildSummary> buildEngine(ir::Graph& graph, const BuildOptions& options, const std::string& path) {
  BuildSummary summary;
  Timer timer(summary.phases);
  const auto bounds =
      inputBounds(graph);  // of the model as it came: passes may fuse the nodes that it looks for
  ROTA_RETURN_IF_ERROR(report(options, "passes", 0, 3));
  auto passes = pass::runPipeline(graph, {options.knobs, options.threads});
  if (!passes) return passes.status();
  summary.passes = std::move(*passes);
  timer.done("passes");

  ROTA_RETURN_IF_ERROR(report(options, "plan", 1, 3));
  auto built = buildProgram(graph, {options.target, options.knobs, options.profiles});
  if (!built) return built.status();
  ROTA_RETURN_IF_ERROR(runtime::validate(built->program));
  timer.done("plan");

  ROTA_RETURN_IF_ERROR(report(options, "write", 2, 3));
  const std::string manifest = manifestOf(graph, options, *built, summary.passes, bounds);
  engine::WriteOptions write;
  write.target = engineTarget(options.target, built->program);
  write.manifest = manifest;
  write.weights = options.weights;
  const auto bytesOf = [&built](std::size_t i) -> Result<std::span<const std::byte>> {
    return std::span<const std::byte>(built->constants[i].data(), built->constants[i].bytes());
  };
  auto written = engine::writeEngine(path, built->program, bytesOf, write);
  if (!written) return written.status();
  summary.engineBytes = written->fileBytes;
  summary.weightsBytes = written->weightsBytes;
  summary.placedBytes = written->placedBytes;
  summary.choices = std::move(built->choices);
  timer.done("write");
  static_cast<void>(report(options, "done", 3, 3));  // the engine is there: too late to cancel
  return summary;
}

}  // namespace rota::plan
