// SPDX-License-Identifier: Apache-2.0
// `rota build`: a model in, an engine file out.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>

#include "cli/cli.h"

namespace rota::cli {
namespace {

struct BuildArguments {
  ModelArguments model;
  std::string output;
  std::string json;
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
  json["build_s"] = report.seconds;
  for (const PhaseTime& p : report.phases) json["phases"][p.name] = p.seconds;
  json["regions"] = nlohmann::ordered_json::array();
  for (const TacticChoice& c : report.choices)
    json["regions"].push_back(
        {{"sources", c.sources}, {"tactic", c.tactic}, {"predicted_us", c.predictedUs}});
  return json;
}

int runBuild(const BuildArguments& a, const Invocation& invocation) {
  auto isEngine = isEngineFile(a.model.path);
  if (!isEngine) return fail(isEngine.status());
  if (*isEngine)
    return fail(Status(ErrorCode::kNotAModel, "an engine cannot be built again")
                    .at(a.model.path)
                    .expected("an ONNX model")
                    .found("a Rota engine"));
  auto report = buildModel(a.model, invocation, a.output);
  if (!report) return fail(report.status());
  if (!a.json.empty()) {
    const Status s = writeJson(a.json, toJson(invocation, a, *report));
    return s.isOk() ? 0 : fail(s);
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
  addJsonOption(*sub, arguments->json);
  sub->footer("Example: rota build model.onnx -o model.rota --profile ids=1x16:8x128:32x512");
  sub->callback([arguments, &invocation] { invocation.exitCode = runBuild(*arguments, invocation); });
}

}  // namespace rota::cli
