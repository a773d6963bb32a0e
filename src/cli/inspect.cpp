// SPDX-License-Identifier: Apache-2.0
// `rota inspect`: what is in an engine. Safe on any bytes; nothing of the file is run.
#include "engine/inspect.h"

#include <iostream>

#include "cli/cli.h"

namespace rota::cli {
namespace {

int runInspect(const Invocation& invocation, const std::string& path, const std::string& jsonFile,
               bool full) {
  auto engine = engine::readEngine(path, {.verifyWeights = full, .checkTarget = false});
  if (!engine) return fail(engine.status());
  const engine::Inspection inspection = engine::inspect(**engine);
  if (jsonFile.empty()) {
    std::cout << engine::inspectText(inspection) << std::flush;
    return 0;
  }
  auto json = jsonResult(invocation, "inspect");
  json["verdict"] = "sound";
  json.update(nlohmann::ordered_json::parse(engine::inspectJson(inspection)));
  const Status s = writeJson(jsonFile, json);
  return s.isOk() ? 0 : fail(s);
}

}  // namespace

void addInspect(CLI::App& app, Invocation& invocation) {
  struct Arguments {
    std::string path, json, verify = "quick";
  };
  auto a = std::make_shared<Arguments>();
  CLI::App* sub =
      app.add_subcommand("inspect", "Show manifest, plan, memory and weights of an engine, by source node");
  sub->add_option("ENGINE", a->path, "An engine")->required();
  sub->add_option("--verify", a->verify, "quick, or full to hash the weights too")
      ->check(CLI::IsMember({"quick", "full"}));
  addJsonOption(*sub, a->json);
  sub->footer("Example: rota inspect model.rota");
  sub->callback([a, &invocation] {
    invocation.exitCode = runInspect(invocation, a->path, a->json, a->verify == "full");
  });
}

}  // namespace rota::cli
