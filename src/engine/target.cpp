// SPDX-License-Identifier: Apache-2.0
#include "engine/target.h"

#include "core/check.h"
#include "core/cpu_info.h"
#include "runtime/step_kernel.h"

namespace rota::engine {

namespace {

/// The part of "3.1.2" that must agree: layouts of packed weights may change with a minor version.
std::string majorMinor(const std::string& version) {
  const std::size_t first = version.find('.');
  return version.substr(0, first == std::string::npos ? first : version.find('.', first + 1));
}

Status misfit(const std::string& file, std::string built, std::string here, std::string fix) {
  return Status(ErrorCode::kEngineTarget, "This engine was built for another machine")
      .at(file)
      .expected(std::move(built))
      .found(std::move(here))
      .fix(std::move(fix));
}

}  // namespace

Status checkTarget(const Target& target, const std::string& file) {
  if (target.device != "cpu")
    return misfit(file, "device '" + target.device + "'", "a runtime for device 'cpu'",
                  "run it where this device is, or build it again with --device cpu");
  const IsaLevel needed = isaLevelFromName(target.isa);
  const IsaLevel here = cpuInfo().level;
  if (target.isa != isaLevelName(IsaLevel::kNone) && (needed == IsaLevel::kNone || needed > here))
    return misfit(file, "a processor with " + target.isa,
                  std::string(isaLevelName(here)) + " (" + cpuInfo().model + ")",
                  "build the engine on this machine, or with --cpu " + std::string(isaLevelName(here)));
  for (const LibraryVersion& library : target.libraries) {
    ROTA_RETURN_IF_ERROR(runtime::loadKernelModule(library.name));
    const std::string version = runtime::kernelModuleVersion(library.name);
    if (!version.empty() && !library.version.empty() && majorMinor(version) != majorMinor(library.version))
      return misfit(file, library.name + " " + library.version, library.name + " " + version,
                    "build the engine again with the library that is installed here");
  }
  return Status::ok();
}

}  // namespace rota::engine
