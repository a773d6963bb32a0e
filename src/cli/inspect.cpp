// SPDX-License-Identifier: Apache-2.0
// `rota inspect`: what is in an engine. Safe on any bytes; nothing of the file is run.
#include "engine/inspect.h"

#include <iostream>

#include "cli/cli.h"
#include "core/check.h"

namespace rota::cli {
namespace {

Result<int> runInspect(const Invocation& invocation, const std::string& path, bool full) {
  auto engine =
      engine::readEngine(path, {.verifyWeights = full, .checkTarget = false, .attachWeights = full});
  if (!engine) return engine.status();
  const engine::Inspection inspection = engine::inspect(**engine);
  if (invocation.json.empty()) {
    std::cout << engine::inspectText(inspection) << std::flush;
    return 0;
  }
  auto json = jsonResult(invocation, "inspect");
  json["verdict"] = "sound";
  json.update(nlohmann::ordered_json::parse(engine::inspectJson(inspection)));
  ROTA_RETURN_IF_ERROR(writeJson(invocation, json));
  return 0;
}

}  // namespace

void addInspect(CLI::App& app, Invocation& invocation) {
  struct Arguments {
    std::string path, verify = "quick";
  };
  auto a = std::make_shared<Arguments>();
  CLI::App* sub =
      app.add_subcommand("inspect", "Show manifest, plan, memory and weights of an engine, by source node");
  sub->add_option("ENGINE", a->path, "An engine")->required();
  sub->add_option("--verify", a->verify, "quick, or full to hash the weights too")
      ->check(CLI::IsMember({"quick", "full"}));
  addJsonOption(*sub, invocation);
  sub->footer("Example: rota inspect model.rota");
  onChosen(*sub, invocation,
           [a, &invocation] { return runInspect(invocation, a->path, a->verify == "full"); });
}

}  // namespace rota::cli
