// SPDX-License-Identifier: Apache-2.0
// `rota build`: a model in, an engine file out.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>

#include "cli/cli.h"
#include "core/check.h"

namespace rota::cli {
namespace {

struct BuildArguments {
  ModelArguments model;
  std::string output;
};

void printText(const BuildReport& report, const std::string& output) {
  std::map<std::string, int> byTactic;
  for (const TacticChoice& c : report.choices) ++byTactic[c.tactic];
  std::printf("engine   %s  (%.1f MB, weights %.1f MB)\n", output.c_str(),
              static_cast<double>(report.engineBytes) / 1e6, static_cast<double>(report.weightsBytes) / 1e6);
  std::printf("time     %.2f s", report.seconds);
  for (const PhaseTime& p : report.phases) std::printf("  %s %.2f", p.name.c_str(), p.seconds);
  std::printf("\nregions  %zu:", report.choices.size());
  for (const auto& [tactic, count] : byTactic) std::printf("  %s %d", tactic.c_str(), count);
  std::printf("\n");
}

nlohmann::ordered_json toJson(const Invocation& invocation, const BuildArguments& a,
                              const BuildReport& report) {
  auto json = jsonResult(invocation, "build");
  json["verdict"] = "built";
  json["engine"] = a.output;
  json["engine_bytes"] = report.engineBytes;
  json["weights_bytes"] = report.weightsBytes;
  json["placed_bytes"] = report.placedBytes;
  json["build_s"] = report.seconds;
  for (const PhaseTime& p : report.phases) json["phases"][p.name] = p.seconds;
  json["regions"] = nlohmann::ordered_json::array();
  for (const TacticChoice& c : report.choices)
    json["regions"].push_back(
        {{"sources", c.sources}, {"tactic", c.tactic}, {"predicted_us", c.predictedUs}});
  return json;
}

Result<int> runBuild(const BuildArguments& a, const Invocation& invocation) {
  auto isEngine = isEngineFile(a.model.path);
  if (!isEngine) return isEngine.status();
  if (*isEngine)
    return Status(ErrorCode::kNotAModel, "an engine cannot be built again")
        .at(a.model.path)
        .expected("an ONNX model")
        .found("a Rota engine");
  auto report = buildModel(a.model, invocation, a.output);
  if (!report) return report.status();
  if (!invocation.json.empty()) {
    ROTA_RETURN_IF_ERROR(writeJson(invocation, toJson(invocation, a, *report)));
    return 0;
  }
  if (!invocation.quiet) printText(*report, a.output);
  return 0;
}

}  // namespace

void addBuild(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<BuildArguments>();
  CLI::App* sub = app.add_subcommand("build", "Compile a model into an engine");
  addModelOptions(*sub, arguments->model);
  sub->add_option("-o,--output", arguments->output, "The engine file to write")->required();
  sub->add_option("--weights", arguments->model.weights,
                  "Where the weights live: inside the engine, external (unchanged ones stay in the model's "
                  "files, the rest "
                  "in ENGINE.HASH.weights), or stripped (given by --weights-from when the engine is loaded)")
      ->check(CLI::IsMember({"inside", "external", "stripped"}))
      ->capture_default_str();
  addJsonOption(*sub, invocation);
  sub->footer("Example: rota build model.onnx -o model.rota --profile ids=1x16:8x128:32x512");
  onChosen(*sub, invocation, [arguments, &invocation] { return runBuild(*arguments, invocation); });
}

}  // namespace rota::cli
