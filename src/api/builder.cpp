// SPDX-License-Identifier: Apache-2.0
#include <rota/builder.h>

#include "core/check.h"
#include "core/thread_pool.h"
#include "ir/graph.h"
#include "knob/knob.h"
#include "plan/build.h"

namespace rota {
namespace {

Result<tactic::Target> targetOf(const BuilderConfig& config) {
  tactic::Target target;
  if (config.device != "cpu") {
    return Status(ErrorCode::kBadDevice, "this build of Rota has no such device")
        .expected("cpu")
        .found(config.device);
  }
  target.cpu = config.cpu == "native" ? plan::nativeCpu() : config.cpu;
  for (const char* known : {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    if (target.cpu == known) {
      target.generic = config.genericOnly;
      return target;
    }
  }
  return Status(ErrorCode::kUsage, "unknown CPU target")
      .expected("native, x86-64, x86-64-v2, x86-64-v3 or x86-64-v4")
      .found(config.cpu);
}

engine::WeightsPlace placeOf(WeightsPlace place) {
  switch (place) {
    case WeightsPlace::kInside: break;
    case WeightsPlace::kExternal: return engine::WeightsPlace::kInPlace;
    case WeightsPlace::kStripped: return engine::WeightsPlace::kStripped;
  }
  return engine::WeightsPlace::kInside;
}

/// Profiles by input position; names are checked against the network.
Result<std::vector<runtime::Profile>> profilesOf(const ir::Graph& graph,
                                                 const std::vector<ProfileSpec>& specs) {
  std::vector<runtime::Profile> profiles;
  for (const ProfileSpec& spec : specs) {
    runtime::Profile profile;
    profile.name = spec.name;
    for (const auto& [name, ranges] : spec.inputs) {
      runtime::ProfileInput input;
      for (std::size_t i = 0; i < graph.inputs().size(); ++i)
        if (graph.inputs()[i]->name == name) input.value = static_cast<std::int32_t>(i);
      if (input.value == runtime::kNone)
        return Status(ErrorCode::kUnknownName, "a profile names an input that the model does not have")
            .at("input '" + name + "'");
      const std::size_t rank = graph.inputs()[static_cast<std::size_t>(input.value)]->type.shape.rank();
      if (ranges.size() != rank) {
        return Status(ErrorCode::kUsage, "a profile has another number of dims than the input")
            .at("input '" + name + "'")
            .expected(std::to_string(rank))
            .found(std::to_string(ranges.size()));
      }
      for (const DimRange& r : ranges) {
        if (r.min < 0 || r.min > r.opt || r.opt > r.max) {
          return Status(ErrorCode::kUsage, "a profile range is not min <= opt <= max")
              .at("input '" + name + "'")
              .found(std::to_string(r.min) + ":" + std::to_string(r.opt) + ":" + std::to_string(r.max));
        }
        input.min.push_back(r.min);
        input.opt.push_back(r.opt);
        input.max.push_back(r.max);
      }
      profile.inputs.push_back(std::move(input));
    }
    profiles.push_back(std::move(profile));
  }
  return profiles;
}

/// A profile from ranges of symbols; none when some dim of an input stays without a range.
std::vector<runtime::Profile> profileOfDims(const ir::Graph& graph,
                                            const std::map<std::string, DimRange>& dims) {
  runtime::Profile profile;
  profile.name = "dims";
  const SizeContext& sizes = graph.sizes();
  for (std::size_t i = 0; i < graph.inputs().size(); ++i) {
    const ir::Value& value = *graph.inputs()[i];
    if (value.type.kind != ir::TypeKind::kTensor) continue;
    const ir::Shape& shape = value.declared.known ? value.declared : value.type.shape;
    if (!shape.known) return {};
    runtime::ProfileInput input;
    input.value = static_cast<std::int32_t>(i);
    for (Size dim : shape.dims) {
      DimRange range;
      if (const auto constant = dim.constant()) {
        range = {*constant, *constant, *constant};
      } else {
        const auto symbol = sizes.asSymbol(dim);
        const auto known = symbol ? dims.find(sizes.symbols()[*symbol].name) : dims.end();
        if (known == dims.end()) return {};
        range = known->second;
      }
      input.min.push_back(range.min);
      input.opt.push_back(range.opt);
      input.max.push_back(range.max);
    }
    profile.inputs.push_back(std::move(input));
  }
  return {std::move(profile)};
}

}  // namespace

Status BuilderConfig::setBuildRoute(std::string_view route) {
  auto knobs = knob::KnobSet::parseRoute(route);
  if (!knobs) return knobs.status();
  route_ = knobs->toRoute();
  return Status::ok();
}

std::string BuilderConfig::getAllBuildRoutes() { return knob::knobsToJson(ROTA_VERSION); }

Result<BuildReport> buildEngine(Network& network, const BuilderConfig& config, const std::string& path) {
  auto target = targetOf(config);
  if (!target) return target.status();
  auto knobs = knob::KnobSet::parseRoute(config.getBuildRoute());
  if (!knobs) return knobs.status();
  auto profiles = profilesOf(network.graph(), config.profiles);
  if (!profiles) return profiles.status();
  if (profiles->empty() && !config.dims.empty()) *profiles = profileOfDims(network.graph(), config.dims);
  ThreadPool threads(config.threads > 0 ? config.threads : ThreadPool::defaultThreads());
  plan::BuildOptions options{.target = *target,
                             .knobs = *knobs,
                             .level = config.level,
                             .profiles = std::move(*profiles),
                             .threads = threads,
                             .weights = placeOf(config.weights),
                             .progress = {}};
  if (config.progress) {
    options.progress = [&config](std::string_view phase, std::int64_t done, std::int64_t total) {
      return config.progress({phase, done, total});
    };
  }
  auto summary = plan::buildEngine(network.graph(), options, path);
  if (!summary) return summary.status();
  BuildReport report;
  for (const plan::Phase& p : summary->phases) {
    report.phases.push_back({p.name, p.seconds});
    report.seconds += p.seconds;
  }
  report.engineBytes = summary->engineBytes;
  report.weightsBytes = summary->weightsBytes;
  report.placedBytes = summary->placedBytes;
  for (plan::Choice& c : summary->choices)
    report.choices.push_back({std::move(c.scope), std::move(c.tactic), c.predictedUs, std::move(c.refused)});
  return report;
}

}  // namespace rota
