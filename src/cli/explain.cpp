// SPDX-License-Identifier: Apache-2.0
// `rota explain CODE`: what an error code means.
#include <charconv>
#include <cstdio>

#include "cli/cli.h"
#include "core/error_table.h"

namespace rota::cli {
namespace {

int runExplain(std::string code, bool all) {
  if (all) {
    for (const ErrorInfo& row : errorTable())
      std::printf("%s  exit %d  %s\n", errorCodeText(row.code).c_str(), row.exitCode, row.title);
    return 0;
  }
  if (!code.empty() && (code[0] == 'R' || code[0] == 'r')) code.erase(0, 1);
  int number = 0;
  const auto [end, error] = std::from_chars(code.data(), code.data() + code.size(), number);
  const ErrorInfo* row = error == std::errc() && end == code.data() + code.size()
                             ? findErrorInfo(static_cast<ErrorCode>(number))
                             : nullptr;
  if (row == nullptr)
    return fail(Status(ErrorCode::kUsage, "there is no such error code")
                    .found(code)
                    .fix("`rota explain --all` lists them"));
  std::printf("%s  %s\nexit code %d\n\n%s\n", errorCodeText(row->code).c_str(), row->title, row->exitCode,
              row->explanation);
  return 0;
}

}  // namespace

void addExplain(CLI::App& app, Invocation& invocation) {
  struct Arguments {
    std::string code;
    bool all = false;
  };
  auto a = std::make_shared<Arguments>();
  CLI::App* sub = app.add_subcommand("explain", "What an error code means");
  CLI::Option* code = sub->add_option("CODE", a->code, "For example R1204");
  sub->add_flag("--all", a->all, "List all codes")->excludes(code);
  sub->footer("Example: rota explain R1204");
  sub->callback([a, &invocation] {
    if (a->code.empty() && !a->all) throw CLI::RequiredError("CODE or --all");
    invocation.exitCode = runExplain(a->code, a->all);
  });
}

}  // namespace rota::cli
