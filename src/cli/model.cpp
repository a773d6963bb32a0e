// SPDX-License-Identifier: Apache-2.0
// Models and engines as operands: told apart by content; a model is built at level 0 for the occasion and loaded from a file that is removed at once.
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <unistd.h>

#include "cli/cli.h"
#include "core/check.h"
#include "core/file.h"
#include "core/interrupt.h"
#include "engine/container.h"
#include "import/onnx/inputs.h"

namespace rota::cli {
namespace {

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The names are needed to read the options, and the options to read the model: a first look takes only the inputs.
Result<Ranges> rangesFor(const ModelArguments& arguments) {
  if (arguments.shapes.empty() && arguments.profiles.empty() && arguments.dims.empty()) return Ranges{};
  auto inputs = onnx::readInputs(arguments.path);
  if (!inputs) return inputs.status();
  std::vector<NamedRank> names;
  for (const auto& i : *inputs) names.push_back({i.name, i.rank});
  return parseRanges(arguments, names);
}

Result<BuildReport> buildWith(const ModelArguments& arguments, const Invocation& invocation,
                              const Ranges& ranges, const std::string& engine) {
  ModelOptions options;
  options.inputDims = ranges.inputs;
  options.symbols = ranges.symbols;
  auto network = Network::fromOnnx(arguments.path, options);
  if (!network) return network.status();
  BuilderConfig config;
  ROTA_RETURN_IF_ERROR(config.setBuildRoute(arguments.route));
  config.device = arguments.device;
  config.cpu = arguments.cpu;
  config.level = arguments.level;
  config.threads = arguments.threads;
  config.genericOnly = arguments.noNativeCode;
  config.weights = arguments.weights == "external"   ? WeightsPlace::kExternal
                   : arguments.weights == "stripped" ? WeightsPlace::kStripped
                                                     : WeightsPlace::kInside;
  Progress progress(invocation, "build");
  config.progress = [&invocation, &progress](const BuildProgress& p) {
    progress.set(p.phase, static_cast<double>(p.done), static_cast<double>(p.total));
    if (invocation.verbose)
      note(invocation,
           "build: " + std::string(p.phase) + " " + std::to_string(p.done) + "/" + std::to_string(p.total));
    return !interrupted();
  };
  config.dims = ranges.symbols;
  for (const ProfileSpec& given : ranges.profiles) {
    ProfileSpec profile = given;
    // What --shape fixes holds in every profile.
    for (const auto& [name, dims] : ranges.inputs) {
      const bool inSome =
          std::any_of(ranges.profiles.begin(), ranges.profiles.end(),
                      [&, &key = name](const ProfileSpec& p) { return p.inputs.contains(key); });
      if (!inSome) profile.inputs.emplace(name, dims);
    }
    config.profiles.push_back(std::move(profile));
  }
  return rota::buildEngine(*network, config, engine);
}

/// An engine that lives only until it is loaded, in a folder of its own: a name in a folder that others write to could be taken by them.
class TemporaryEngine {
 public:
  TemporaryEngine() {
    std::error_code ignored;
    const auto root = std::filesystem::temp_directory_path(ignored);
    std::string folder = (root.empty() ? std::string("/tmp") : root.string()) + "/rota-XXXXXX";
    if (mkdtemp(folder.data()) == nullptr) {
      error_ = errno;
      folder.back() = '?';
    } else {
      folder_ = folder;
    }
    path_ = folder + "/engine.rota";
    removeWhenForced(path_);
    removeWhenForced(folder_);
  }
  ~TemporaryEngine() {
    unlink(path_.c_str());
    if (!folder_.empty()) rmdir(folder_.c_str());
    keepWhenForced(path_);
    keepWhenForced(folder_);
  }
  TemporaryEngine(const TemporaryEngine&) = delete;
  TemporaryEngine& operator=(const TemporaryEngine&) = delete;
  const std::string& path() const { return path_; }
  Status status() const { return folder_.empty() ? writeFileError(path_, error_) : Status::ok(); }

 private:
  std::string folder_;
  std::string path_;
  int error_ = 0;
};

}  // namespace

Result<bool> isEngineFile(const std::string& path) {
  auto file = MappedFile::open(path);
  if (!file) return file.status();
  const auto bytes = (*file)->bytes();
  if (bytes.size() < engine::kEngineMagic.size()) return false;
  for (std::size_t i = 0; i < engine::kEngineMagic.size(); ++i)
    if (static_cast<char>(bytes[i]) != engine::kEngineMagic[i]) return false;
  return true;
}

Result<BuildReport> buildModel(const ModelArguments& arguments, const Invocation& invocation,
                               const std::string& engine) {
  auto ranges = rangesFor(arguments);
  if (!ranges) return ranges.status();
  return buildWith(arguments, invocation, *ranges, engine);
}

Result<OpenedEngine> openEngine(const ModelArguments& arguments, const Invocation& invocation) {
  OpenedEngine opened;
  std::optional<TemporaryEngine> temporary;  // the mapping keeps the bytes
  auto isEngine = isEngineFile(arguments.path);
  if (!isEngine) return isEngine.status();
  std::string path = arguments.path;
  if (!*isEngine) {
    const auto start = std::chrono::steady_clock::now();
    auto ranges = rangesFor(arguments);
    if (!ranges) return ranges.status();
    opened.ranges = ranges->inputs;
    temporary.emplace();
    ROTA_RETURN_IF_ERROR(temporary->status());
    path = temporary->path();
    auto report = buildWith(arguments, invocation, *ranges, path);
    if (!report) return report.status();
    opened.wasBuilt = true;
    opened.buildSeconds = secondsSince(start);
  }
  const auto start = std::chrono::steady_clock::now();
  const LoadOptions options{.verifyWeights = arguments.verify == "full",
                            .nativeCode = !arguments.noNativeCode,
                            .weightsFrom = arguments.weightsFrom};
  auto engine = Engine::load(path, options);
  opened.loadMs = secondsSince(start) * 1e3;
  std::error_code ignored;
  opened.engineBytes = std::filesystem::file_size(path, ignored);
  if (!engine) return engine.status();
  opened.engine = std::move(*engine);
  opened.weightsBytes = opened.engine->weightsBytes();
  if (!opened.wasBuilt) {
    std::vector<NamedRank> names;
    for (const TensorInfo& t : opened.engine->inputs()) names.push_back({t.name, t.dims.size()});
    auto ranges = parseRanges(arguments, names);
    if (!ranges) return ranges.status();
    opened.ranges = ranges->inputs;
  }
  return opened;
}

Result<data::InputRequest> inputRequest(const OpenedEngine& opened, const std::vector<std::string>& ranges) {
  data::InputRequest request{opened.engine->inputs(), {}};
  std::vector<std::string> names;
  for (const TensorInfo& t : request.inputs) names.push_back(t.name);
  for (const auto& [name, sizes] : opened.ranges)
    for (const DimRange& r : sizes) request.sizes[name].push_back(r.opt);
  const auto manifest = nlohmann::json::parse(opened.engine->manifest(), nullptr, false);
  if (manifest.is_object() && manifest.contains("input_bounds") && manifest["input_bounds"].is_object()) {
    for (const auto& [name, size] : manifest["input_bounds"].items())
      if (size.is_number_integer()) request.tables[name] = size.get<std::int64_t>();
  }
  for (const std::string& text : ranges) {
    auto split = splitName(text, names, "--range");
    if (!split) return split.status();
    const std::string& value = split->second;
    data::ValueRange range;
    const char* end = value.data() + value.size();
    const auto low = std::from_chars(value.data(), end, range.low);
    const bool colon = low.ec == std::errc() && low.ptr != end && *low.ptr == ':';
    const auto high = colon ? std::from_chars(low.ptr + 1, end, range.high) : low;
    if (!colon || high.ec != std::errc() || high.ptr != end || !std::isfinite(range.low) ||
        !std::isfinite(range.high) || range.low > range.high) {
      return Status(ErrorCode::kUsage, "--range has the form NAME=LO:HI")
          .expected("two numbers, LO <= HI")
          .found(text);
    }
    request.ranges[split->first] = range;
  }
  return request;
}

}  // namespace rota::cli
