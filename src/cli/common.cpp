// SPDX-License-Identifier: Apache-2.0
// Options, errors, JSON results and progress lines that all subcommands share.
#include <cstdio>
#include <iostream>

#include "cli/cli.h"
#include "core/check.h"
#include "core/error_table.h"
#include "core/file.h"

namespace rota::cli {

void addModelOptions(CLI::App& app, ModelArguments& a) {
  app.add_option("MODEL", a.path, "An ONNX model or an engine")->required();
  app.add_option("--device", a.device, "cpu")->capture_default_str();
  app.add_option("--shape", a.shapes, "Fix an input: NAME=1x3x224x224 (repeatable; NAME=scalar for rank 0)")->take_all();
  app.add_option("--profile", a.profiles, "Range of an input: NAME=MIN:OPT:MAX, for example ids=1x16:8x128:32x512 (repeatable, or separated by commas)")->take_all();
  app.add_option("--dim", a.dims, "Fix or bound a named dim: SYMBOL=N or SYMBOL=MIN:OPT:MAX (repeatable)")->take_all();
  app.add_option("--route", a.route, "A build route: -knob=value tokens (see rota knobs)");
  app.add_option("--cpu", a.cpu, "Target: native, x86-64, x86-64-v2, x86-64-v3, x86-64-v4")->capture_default_str();
  app.add_option("--level", a.level, "How much is measured: 0 predicted only, 3 default, 5 everything")->check(CLI::Range(0, 5));
  app.add_option("--threads", a.threads, "CPU threads; default: what the CPU set and quota of this process give")->check(CLI::Range(0, 4096));
  app.add_flag("--no-native-code", a.noNativeCode, "Only the generic target: reference kernels");
  app.add_option("--verify", a.verify, "What is verified when an engine is loaded: quick or full")->check(CLI::IsMember({"quick", "full"}));
}

void addJsonOption(CLI::App& app, std::string& jsonFile) {
  app.add_option("--json", jsonFile, "One JSON object on standard output, or into a file with --json=FILE")->expected(0, 1)->default_str("-")->force_callback(false);
}

int fail(const Status& status) {
  std::cerr << "error: " << status.toString() << "\n";
  return exitCodeOf(status.code());
}

nlohmann::ordered_json jsonResult(const Invocation& invocation, const char* command) {
  nlohmann::ordered_json json;
  json["schema_version"] = 1;
  json["command"] = command;
  json["command_line"] = invocation.arguments;
  json["rota_version"] = ROTA_VERSION;
  return json;
}

Status writeJson(const std::string& file, const nlohmann::ordered_json& json) {
  const std::string text = json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  if (file != "-") return writeFile(file, text);
  std::cout << text << std::flush;
  return std::cout ? Status::ok() : Status(ErrorCode::kFileWrite, "standard output cannot be written");
}

void note(const Invocation& invocation, const std::string& line) {
  if (!invocation.quiet) std::cerr << line << "\n";
}

}  // namespace rota::cli
