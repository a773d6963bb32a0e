// SPDX-License-Identifier: Apache-2.0
// `rota version`: version, build, backends, libraries.
#include <cstdio>

#include <rota/version.h>

#include "cli/cli.h"
#include "core/check.h"
#include "runtime/step_kernel.h"

namespace rota::cli {
namespace {

Result<int> runVersion(const Invocation& invocation) {
  const bool onednn = runtime::loadKernelModule("onednn").isOk();
  const std::string library = onednn ? runtime::kernelModuleVersion("onednn") : "";
  if (!invocation.json.empty()) {
    auto out = jsonResult(invocation, "version");
    out["verdict"] = "known";
    out["version"] = version();
    out["build_type"] = ROTA_BUILD_TYPE;
    out["compiler"] = __VERSION__;
    out["backends"] = {"cpu"};
    out["libraries"]["onednn"] = onednn ? nlohmann::ordered_json(library) : nlohmann::ordered_json(nullptr);
    ROTA_RETURN_IF_ERROR(writeJson(invocation, out));
    return 0;
  }
  std::printf("rota %s (%s, %s)\nbackends   cpu\nlibraries  oneDNN %s\n", version(), ROTA_BUILD_TYPE,
              __VERSION__, onednn ? library.c_str() : "not found");
  return 0;
}

}  // namespace

void addVersion(CLI::App& app, Invocation& invocation) {
  CLI::App* sub = app.add_subcommand("version", "Version, build, backends and libraries");
  addJsonOption(*sub, invocation);
  sub->footer("Example: rota version");
  onChosen(*sub, invocation, [&invocation] { return runVersion(invocation); });
}

}  // namespace rota::cli
