// SPDX-License-Identifier: Apache-2.0
// What an engine was built for and with, and whether that fits this machine. Tested by src/engine/writer_damage_test.cpp.
#pragma once

#include <string>
#include <vector>

#include <rota/status.h>

namespace rota::engine {

struct LibraryVersion {
  std::string name;     ///< As in Step::library: "onednn".
  std::string version;  ///< "3.0.0".
};

struct Target {
  std::string device = "cpu";
  std::string isa = "generic";  ///< "generic" runs everywhere; else a level name as in core/cpu_info.h.
  std::string rotaVersion;      ///< Filled in by the writer.
  std::vector<LibraryVersion> libraries;
};

/// kEngineTarget, with what was built for, what is here, and what to do; opens the libraries to learn their versions.
Status checkTarget(const Target& target, const std::string& file);

}  // namespace rota::engine
