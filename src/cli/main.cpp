// SPDX-License-Identifier: Apache-2.0
// The program `rota`: one subcommand a file.
#include <iostream>

#include "cli/cli.h"
#include "core/interrupt.h"

int main(int argc, char** argv) {
  rota::installInterruptHandlers();
  rota::cli::Invocation invocation;
  invocation.arguments.assign(argv, argv + argc);
  CLI::App app{"Rota compiles trained networks into fast engines and runs them. Running an engine is trusting its code; checking and inspecting are "
               "safe on any file."};
  app.require_subcommand(1);
  app.fallthrough();
  app.add_flag("--quiet,-q", invocation.quiet, "Only errors on standard error");
  app.add_flag("--verbose,-v", invocation.verbose, "More about what happens");
  rota::cli::addCheck(app, invocation);
  rota::cli::addBuild(app, invocation);
  rota::cli::addRun(app, invocation);
  rota::cli::addBench(app, invocation);
  rota::cli::addInspect(app, invocation);
  rota::cli::addDevices(app, invocation);
  rota::cli::addKnobs(app, invocation);
  rota::cli::addVersion(app, invocation);
  rota::cli::addExplain(app, invocation);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    const int code = app.exit(e, std::cout, std::cerr);
    return code == 0 ? 0 : 2;  // --help is no error; everything else is wrong usage
  } catch (const std::bad_alloc&) {
    return rota::cli::fail(rota::Status(rota::ErrorCode::kOutOfMemory, "there is not enough memory"));
  }
  return invocation.exitCode;
}
