// SPDX-License-Identifier: Apache-2.0
// Building: a network and a configuration in, one engine file out.
//
//   rota::BuilderConfig config;
//   config.setBuildRoute("-fuse:epilogue=off");
//   auto report = rota::buildEngine(network, config, "model.rota");
//
// At level 0 nothing is measured, and equal input gives equal bytes. The file appears whole or not at all.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <rota/network.h>
#include <rota/status.h>

namespace rota {

struct BuildProgress {
  std::string_view phase;  ///< "passes", "plan", "write".
  std::int64_t done = 0;
  std::int64_t total = 0;
};

/// One optimization profile: ranges of every dynamic input dim.
struct ProfileSpec {
  std::string name;
  std::map<std::string, std::vector<DimRange>> inputs;
};

/// Where the bytes of the weights live.
enum class WeightsPlace : std::uint8_t {
  kInside,    ///< In the engine.
  kExternal,  ///< Unchanged weights stay in the model's files, found by their hashes; the rest is in "<engine>.<hash>.weights".
  kStripped,  ///< Nowhere: only hashes are kept; LoadOptions::weightsFrom gives the bytes.
};

class BuilderConfig {
 public:
  /// `-knob=value` tokens; the error names token and column.
  Status setBuildRoute(std::string_view route);
  /// The canonical route: every knob that differs from its default.
  const std::string& getBuildRoute() const { return route_; }
  /// The knob database as JSON.
  static std::string getAllBuildRoutes();

  std::string device = "cpu";
  std::string cpu = "native";  ///< native, x86-64, x86-64-v2, x86-64-v3, x86-64-v4.
  int level = 3;             ///< 0: predicted only. Higher levels measure; today all levels use predictions.
  bool genericOnly = false;  ///< Reference kernels only (`--no-native-code`).
  WeightsPlace weights = WeightsPlace::kInside;
  int threads = 0;  ///< Of the build; 0: what CPU set and quota give.
  std::vector<ProfileSpec> profiles;
  /// Ranges of named dims. Without `profiles` they make one, "dims", when they cover every open dim of the inputs.
  std::map<std::string, DimRange> dims;
  /// Called between steps of the build; returning false cancels it (kInterrupted), and no file is written.
  std::function<bool(const BuildProgress&)> progress;

 private:
  std::string route_;
};

struct PhaseTime {
  std::string name;
  double seconds = 0;
};

/// How one part of the model runs, and why other ways were refused.
struct TacticChoice {
  std::string sources;  ///< Newline-joined node names.
  std::string tactic;
  double predictedUs = 0;
  std::vector<std::pair<std::string, std::string>> refused;  ///< Tactic and reason.
};

struct BuildReport {
  std::vector<PhaseTime> phases;
  double seconds = 0;
  std::uint64_t engineBytes = 0;
  std::uint64_t weightsBytes = 0;
  std::uint64_t placedBytes = 0;  ///< Of weights that stay in the model's files.
  std::vector<TacticChoice> choices;
};

Result<BuildReport> buildEngine(Network& network, const BuilderConfig& config, const std::string& path);

}  // namespace rota
