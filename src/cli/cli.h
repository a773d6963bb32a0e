// SPDX-License-Identifier: Apache-2.0
// What the subcommands share: options, names and shapes on the command line, results and errors, exit codes.
//
// Results go to standard output, the rest to standard error. `--json[=FILE]` prints one object instead of text, with schema_version and the command
// line. Exit codes come from the error table (core/error_table.h).
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <rota/builder.h>
#include <rota/engine.h>

#include "core/tensor.h"
#include "data/inputs.h"

namespace rota::cli {

/// Everything a subcommand needs to know of the invocation.
struct Invocation {
  std::vector<std::string> arguments;  ///< The command line, program name first.
  bool quiet = false;
  bool verbose = false;
  std::string config;                 ///< --config FILE; read by completeCommandLine.
  std::vector<std::string> settings;  ///< What variables and configuration set, for `rota devices`.
  std::string json;  ///< Where --json writes: a file, "-" for standard output, empty without it.
  std::string logLevel = "warning";
  std::string logFile;
  int exitCode = 0;  ///< Set by the subcommand that ran.
};

/// Options of commands that read a model or an engine.
struct ModelArguments {
  std::string path;
  std::string device = "cpu";
  std::vector<std::string> shapes;    ///< NAME=1x3x224x224
  std::vector<std::string> profiles;  ///< [PROFILE:]NAME=MIN:OPT:MAX[,…]
  std::string useProfile;             ///< The profile that shapes must lie in; "": any.
  std::vector<std::string> dims;      ///< SYMBOL=N or SYMBOL=MIN:OPT:MAX
  std::string route;
  std::string cpu = "native";
  int level = 3;
  int threads = 0;
  bool noNativeCode = false;
  std::string verify = "quick";
  std::string weights = "inside";
  std::string weightsFrom;
};

/// The arguments without the program's name, in normal form, completed from ROTA_<OPTION> and the configuration file.
Result<std::vector<std::string>> completeCommandLine(CLI::App& app, Invocation& invocation);

/// A number between the limits; NaN is refused.
CLI::Validator numberIn(double low, double high);
/// Seconds from "2", "2s", "200ms", "1m", "1h"; a number alone is in `unit` seconds.
Result<double> parseTime(const std::string& text, double unit);
/// An option that takes a time. `factor`: of a second, for numbers alone and for `value`.
CLI::Option* addTimeOption(CLI::App& app, const char* name, double& value, double factor, const char* help);

/// Draws how far a job is, until it is destroyed. `set` may be called from any thread.
class Progress {
 public:
  Progress(const Invocation& invocation, std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void set(std::string_view phase, double done, double total);
  /// A phase whose end is known: it is as far as its time.
  void setTimed(std::string_view phase, double seconds);

 private:
  void draw();

  std::string what_, phase_ = "start";
  double done_ = 0, total_ = 0;
  bool terminal_ = false, ended_ = false, timed_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now(), phaseStart_ = start_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread thread_;
};

void addModelOptions(CLI::App& app, ModelArguments& arguments);
void addJsonOption(CLI::App& app, Invocation& invocation);

/// Runs `job` when the command line names this subcommand; sets the exit code to its value. An error goes to standard error, and with --json also
/// becomes the JSON result, with verdict "failed".
void onChosen(CLI::App& sub, Invocation& invocation, std::function<Result<int>()> job);

/// Prints the error on standard error and returns its exit code.
int fail(const Status& status);
/// The fields of an error.
nlohmann::ordered_json errorJson(const Status& status);

/// The start of every JSON result.
nlohmann::ordered_json jsonResult(const Invocation& invocation, const char* command);
/// To where --json says.
Status writeJson(const Invocation& invocation, const nlohmann::ordered_json& json);

/// One progress line on standard error, unless quiet.
void note(const Invocation& invocation, const std::string& line);

/// "1x3x224x224", "scalar" or "" to dims.
Result<std::vector<std::int64_t>> parseDims(const std::string& text);

/// Ranges by input name and by symbol from --shape, --profile and --dim. `names`: the model's inputs with their ranks.
struct NamedRank {
  std::string name;
  std::size_t rank = 0;
};
struct Ranges {
  std::map<std::string, std::vector<DimRange>> inputs;
  std::map<std::string, DimRange> symbols;
  /// What --profile gave; `inputs` holds the hull of these and of --shape.
  std::vector<ProfileSpec> profiles;
};
Result<Ranges> parseRanges(const ModelArguments& arguments, const std::vector<NamedRank>& names);

/// Splits NAME=VALUE at the last '=' whose left side is a known name; single quotes around the name are taken off.
Result<std::pair<std::string, std::string>> splitName(const std::string& text,
                                                      const std::vector<std::string>& names,
                                                      const char* option);

/// An engine ready to run, from an engine file or from a model that was built for the occasion.
struct OpenedEngine {
  std::shared_ptr<Engine> engine;
  bool wasBuilt = false;
  double buildSeconds = 0;
  double loadMs = 0;
  std::uint64_t engineBytes = 0;
  std::uint64_t weightsBytes = 0;
  /// Sizes that --shape or --dim fixed, by input.
  std::map<std::string, std::vector<DimRange>> ranges;
};
Result<OpenedEngine> openEngine(const ModelArguments& arguments, const Invocation& invocation);
/// What is known of the inputs: sizes from the options, tables from the engine, ranges from --range.
Result<data::InputRequest> inputRequest(const OpenedEngine& opened, const std::vector<std::string>& ranges);
/// --inputs and --range.
void addInputOptions(CLI::App& app, std::vector<std::string>& inputs, std::vector<std::string>& ranges);
/// Builds `arguments.path` into `engine`.
Result<BuildReport> buildModel(const ModelArguments& arguments, const Invocation& invocation,
                               const std::string& engine);

/// True for an engine file, false for anything else; by content.
Result<bool> isEngineFile(const std::string& path);

// One a file.
void addCheck(CLI::App& app, Invocation& invocation);
void addBuild(CLI::App& app, Invocation& invocation);
void addRun(CLI::App& app, Invocation& invocation);
void addBench(CLI::App& app, Invocation& invocation);
void addInspect(CLI::App& app, Invocation& invocation);
void addDevices(CLI::App& app, Invocation& invocation);
void addKnobs(CLI::App& app, Invocation& invocation);
void addVersion(CLI::App& app, Invocation& invocation);
void addExplain(CLI::App& app, Invocation& invocation);

}  // namespace rota::cli
