// SPDX-License-Identifier: Apache-2.0
// Options, errors, JSON results and progress lines that all subcommands share.
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <iostream>

#include "cli/cli.h"
#include "core/check.h"
#include "core/error_table.h"
#include "core/file.h"
#include "core/log.h"

namespace rota::cli {

void addModelOptions(CLI::App& app, ModelArguments& a) {
  app.add_option("MODEL", a.path, "An ONNX model or an engine")->required();
  app.add_option("--device", a.device, "cpu")->capture_default_str();
  app.add_option("--shape", a.shapes, "Fix an input: NAME=1x3x224x224 (repeatable; NAME=scalar for rank 0)")
      ->take_all();
  app.add_option(
         "--profile", a.profiles,
         "Range of an input: [PROFILE:]NAME=MIN:OPT:MAX, for example ids=1x16:8x128:32x512 (repeatable, or "
         "separated by commas; an input given again begins another profile)")
      ->take_all();
  app.add_option("--dim", a.dims, "Fix or bound a named dim: SYMBOL=N or SYMBOL=MIN:OPT:MAX (repeatable)")
      ->take_all();
  app.add_option("--route", a.route, "A build route: -knob=value tokens (see rota knobs)");
  app.add_option("--cpu", a.cpu, "Target: native, x86-64, x86-64-v2, x86-64-v3, x86-64-v4")
      ->capture_default_str();
  app.add_option("--level", a.level, "How much is measured: 0 predicted only, 3 default, 5 everything")
      ->check(CLI::Range(0, 5));
  app.add_option("--threads", a.threads,
                 "CPU threads; default: what the CPU set and quota of this process give")
      ->check(CLI::Range(0, 4096));
  app.add_flag("--no-native-code", a.noNativeCode,
               "Build for, or load, the generic target only: reference kernels, and kernels that are "
               "compiled into Rota");
  app.add_option("--verify", a.verify, "What is verified when an engine is loaded: quick or full")
      ->check(CLI::IsMember({"quick", "full"}));
  app.add_option("--weights-from", a.weightsFrom,
                 "For engines built with --weights external or stripped: a weights file, an engine of the "
                 "same model, or "
                 "the folder of its data files");
}

void addInputOptions(CLI::App& app, std::vector<std::string>& inputs, std::vector<std::string>& ranges) {
  app.add_option("--inputs", inputs,
                 "A folder of NAME.npy (or .pb, .bin, .json), NAME=FILE …, one .npz or .json for all, or "
                 "random[:SEED] (default)")
      ->expected(1, -1)
      ->take_all();
  app.add_option("--range", ranges, "Values of a random input: NAME=LO:HI (repeatable)")->take_all();
}

void addJsonOption(CLI::App& app, Invocation& invocation) {
  app.add_option("--json", invocation.json,
                 "One JSON object on standard output, or into a file with --json=FILE")
      ->expected(0, 1)
      ->default_str("-")
      ->force_callback(false);
}

CLI::Validator numberIn(double low, double high) {
  return CLI::Validator(
      [low, high](std::string& text) {
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error == std::errc() && end == text.data() + text.size() && value >= low && value <= high)
          return std::string();
        char message[160];
        std::snprintf(message, sizeof message, "expected a number from %g to %g, found '%.60s'", low, high,
                      text.c_str());
        return std::string(message);
      },
      "NUMBER");
}

Result<double> parseTime(const std::string& text, double unit) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string suffix(end, text.data() + text.size());
  if (suffix == "ms")
    unit = 1e-3;
  else if (suffix == "s")
    unit = 1;
  else if (suffix == "m")
    unit = 60;
  else if (suffix == "h")
    unit = 3600;
  else if (!suffix.empty())
    unit = -1;
  if (error != std::errc() || unit < 0 || !(value >= 0 && value * unit <= 1e9)) {
    return Status(ErrorCode::kUsage, "a time is a number with or without s, ms, m, h")
        .expected("for example 3, 500ms or 2m")
        .found(text);
  }
  return value * unit;
}

CLI::Option* addTimeOption(CLI::App& app, const char* name, double& value, double factor, const char* help) {
  return app
      .add_option_function<std::string>(
          name,
          [&value, factor, name](const std::string& text) {
            const auto seconds = parseTime(text, factor);
            if (!seconds)
              throw CLI::ValidationError(name,
                                         "expected a time such as 3, 500ms or 2m, found '" + text + "'");
            value = *seconds / factor;
          },
          help)
      ->type_name("TIME");
}

int fail(const Status& status) {
  logToFile(LogLevel::kError, status.toString());
  std::cerr << "error: " << status.toString() << "\n";
  return exitCodeOf(status.code());
}

nlohmann::ordered_json errorJson(const Status& status) {
  const ErrorDetail& d = status.detail();
  return {{"code", errorCodeText(d.code)}, {"node", d.node},   {"message", d.message},
          {"expected", d.expected},        {"found", d.found}, {"fix", d.fix}};
}

void onChosen(CLI::App& sub, Invocation& invocation, std::function<Result<int>()> job) {
  sub.callback([&sub, &invocation, job = std::move(job)] {
    const Result<int> done = job();
    if (done) {
      invocation.exitCode = *done;
      return;
    }
    invocation.exitCode = fail(done.status());
    if (invocation.json.empty()) return;
    auto json = jsonResult(invocation, sub.get_name().c_str());
    json["verdict"] = "failed";
    json["exit_code"] = invocation.exitCode;
    json["error"] = errorJson(done.status());
    if (const Status s = writeJson(invocation, json); !s.isOk()) fail(s);
  });
}

nlohmann::ordered_json jsonResult(const Invocation& invocation, const char* command) {
  nlohmann::ordered_json json;
  json["schema_version"] = 1;
  json["command"] = command;
  json["command_line"] = invocation.arguments;
  json["rota_version"] = ROTA_VERSION;
  return json;
}

Status writeJson(const Invocation& invocation, const nlohmann::ordered_json& json) {
  const std::string text = json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  if (invocation.json != "-") return writeFile(invocation.json, text);
  std::cout << text << std::flush;
  return std::cout ? Status::ok() : writeFileError("standard output", errno);
}

void note(const Invocation& invocation, const std::string& line) {
  logToFile(LogLevel::kInfo, line);
  if (!invocation.quiet) std::cerr << line << "\n";
}

}  // namespace rota::cli
