// SPDX-License-Identifier: Apache-2.0
// `rota devices`: what this machine has, which libraries were found, what is in force.
#include <cstdio>

#include "cli/cli.h"
#include "core/check.h"
#include "core/cpu_info.h"
#include "core/thread_pool.h"
#include "runtime/step_kernel.h"

namespace rota::cli {
namespace {

Result<int> runDevices(const Invocation& invocation) {
  const CpuInfo& cpu = cpuInfo();
  const Status onednn = runtime::loadKernelModule("onednn");
  const std::string library = onednn.isOk() ? runtime::kernelModuleVersion("onednn") : "";
  if (!invocation.json.empty()) {
    auto out = jsonResult(invocation, "devices");
    out["verdict"] = "found";
    out["devices"] = nlohmann::ordered_json::array();
    out["devices"].push_back({{"device", "cpu"},
                              {"model", cpu.model},
                              {"isa", isaLevelName(cpu.level)},
                              {"physical_cores", cpu.physicalCores},
                              {"logical_cores", cpu.logicalCores},
                              {"threads", ThreadPool::defaultThreads()},
                              {"l1d_bytes", cpu.l1dBytes},
                              {"l2_bytes", cpu.l2Bytes},
                              {"l3_bytes", cpu.l3Bytes}});
    out["libraries"]["onednn"] =
        onednn.isOk() ? nlohmann::ordered_json(library) : nlohmann::ordered_json(nullptr);
    out["settings"] = invocation.settings;
    ROTA_RETURN_IF_ERROR(writeJson(invocation, out));
    return 0;
  }
  std::printf("cpu        %s\n", cpu.model.empty() ? "unknown" : cpu.model.c_str());
  std::printf("           %s%s%s%s%s\n", std::string(isaLevelName(cpu.level)).c_str(),
              cpu.features.avx512Vnni ? ", avx512-vnni" : "", cpu.features.avxVnni ? ", avx-vnni" : "",
              cpu.features.avx512Bf16 ? ", avx512-bf16" : "", cpu.features.amxTile ? ", amx" : "");
  std::printf("           %d cores, %d hardware threads; %d for this process (CPU set and quota)\n",
              cpu.physicalCores, cpu.logicalCores, ThreadPool::defaultThreads());
  std::printf("           L1d %zu KB, L2 %zu KB, L3 %zu KB\n", cpu.l1dBytes >> 10, cpu.l2Bytes >> 10,
              cpu.l3Bytes >> 10);
  std::printf("oneDNN     %s\n",
              onednn.isOk() ? library.c_str() : ("not found: " + onednn.toString()).c_str());
  for (const std::string& line : invocation.settings) std::printf("in force   %s\n", line.c_str());
  return 0;
}

}  // namespace

void addDevices(CLI::App& app, Invocation& invocation) {
  CLI::App* sub = app.add_subcommand("devices", "What this machine has and which libraries were found");
  addJsonOption(*sub, invocation);
  sub->footer("Example: rota devices");
  onChosen(*sub, invocation, [&invocation] { return runDevices(invocation); });
}

}  // namespace rota::cli
