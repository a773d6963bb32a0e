// SPDX-License-Identifier: Apache-2.0
// The program `rota`: one subcommand a file.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <iostream>

#include "cli/cli.h"
#include "core/env.h"
#include "core/file.h"
#include "core/interrupt.h"
#include "core/log.h"
#include "knob/knob.h"

namespace rota::cli {
namespace {

void addCommands(CLI::App& app, Invocation& invocation) {
  addCheck(app, invocation);
  addBuild(app, invocation);
  addRun(app, invocation);
  addBench(app, invocation);
  addInspect(app, invocation);
  addDevices(app, invocation);
  addKnobs(app, invocation);
  addVersion(app, invocation);
  addExplain(app, invocation);
}

void addGlobalOptions(CLI::App& app, Invocation& invocation) {
  app.add_flag("--quiet,-q", invocation.quiet, "Only errors on standard error");
  app.add_flag("--verbose,-v", invocation.verbose, "More about what happens");
  app.add_option("--config", invocation.config,
                 "A file of `option = value` lines, for one command below [command]; flags and ROTA_<OPTION> "
                 "count more");
  app.add_option("--log-level", invocation.logLevel, "What is logged: error, warning, info, verbose")
      ->check(CLI::IsMember({"error", "warning", "info", "verbose"}));
  app.add_option("--log-file", invocation.logFile, "Log lines also go to the end of this file");
}

void startLog(const Invocation& invocation) {
  setLogColor(!environmentSwitch("NO_COLOR"));
  if (invocation.logLevel == "error" || invocation.quiet)
    setLogLevel(LogLevel::kError);
  else if (invocation.logLevel == "verbose" || invocation.verbose)
    setLogLevel(LogLevel::kVerbose);
  else if (invocation.logLevel == "info")
    setLogLevel(LogLevel::kInfo);
}

/// The error of a command line that does not parse.
Status usageError(CLI::App& app, const Invocation& invocation, const std::string& message) {
  std::vector<std::string> commands;
  for (const CLI::App* sub : app.get_subcommands([](CLI::App*) { return true; }))
    commands.push_back(sub->get_name());
  for (std::size_t i = 1; i < invocation.arguments.size(); ++i) {
    const std::string& word = invocation.arguments[i];
    if (word.starts_with("-")) continue;
    if (std::find(commands.begin(), commands.end(), word) != commands.end())
      return Status(ErrorCode::kUsage, message).fix("`rota " + word + " --help` lists the options");
    std::string near;
    for (const std::string& n : knob::nearestNames(word, commands))
      near += (near.empty() ? "did you mean " : ", ") + n;
    return Status(ErrorCode::kUsage, "there is no such command")
        .found(word)
        .fix(near.empty() ? "`rota --help` lists the commands" : near + "?");
  }
  return Status(ErrorCode::kUsage, invocation.arguments.size() < 2 ? "a command is missing" : message)
      .fix("`rota --help` lists the commands");
}

int runProgram(Invocation& invocation) {
  CLI::App app{
      "Rota compiles trained networks into fast engines and runs them. Running an engine is trusting its "
      "code; checking and inspecting are "
      "safe on any file.",
      "rota"};
  app.require_subcommand(1);
  app.fallthrough();
  app.footer("Example: rota build model.onnx -o model.rota");
  addGlobalOptions(app, invocation);
  addCommands(app, invocation);
  auto line = completeCommandLine(app, invocation);
  if (!line) return fail(line.status());
  std::reverse(line->begin(), line->end());
  app.parse_complete_callback([&invocation] {
    startLog(invocation);
    if (invocation.logFile.empty()) return;
    if (const Status s = setLogFile(invocation.logFile); !s.isOk()) {
      invocation.exitCode = fail(s);
      throw CLI::RuntimeError(invocation.exitCode);
    }
  });
  try {
    app.parse(std::move(*line));
  } catch (const CLI::RuntimeError& e) {
    return e.get_exit_code();
  } catch (const CLI::Success& e) {
    app.exit(e, std::cout, std::cerr);  // --help
    return 0;
  } catch (const CLI::ParseError& e) {
    return fail(usageError(app, invocation, e.what()));
  }
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.flush();
  if (!written && invocation.exitCode == 0) return fail(writeFileError("standard output", errno));
  return invocation.exitCode;
}

}  // namespace
}  // namespace rota::cli

int main(int argc, char** argv) {
  rota::installInterruptHandlers();
  rota::cli::Invocation invocation;
  invocation.arguments.assign(argv, argv + argc);
  try {
    return rota::cli::runProgram(invocation);
  } catch (const std::bad_alloc&) {
    return rota::cli::fail(rota::Status(rota::ErrorCode::kOutOfMemory, "there is not enough memory"));
  }
}
