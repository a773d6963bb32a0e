// SPDX-License-Identifier: Apache-2.0
// Routes: `-knob=value` tokens separated by white space. Errors name the token and its column, in the order a reader meets them.
// Lists of values (`-knob=[a|b]`) are an expression for the tuner, not a route: said so, by token. Tested by src/knob/knob_test.cpp.
#include <set>

#include "knob/knob.h"

namespace rota::knob {
namespace {

Status routeError(std::string_view token, std::size_t column, std::string message) {
  return Status(ErrorCode::kBadRoute, std::move(message))
      .at("token '" + std::string(token) + "' at column " + std::to_string(column + 1));
}

bool isSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

}  // namespace

Result<KnobSet> KnobSet::parseRoute(std::string_view route) {
  KnobSet set;
  std::set<std::string, std::less<>> seen;
  std::size_t at = 0;
  while (at < route.size()) {
    if (isSpace(route[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < route.size() && !isSpace(route[end])) ++end;
    const std::string_view token = route.substr(at, end - at);
    const std::size_t equals = token.rfind('=');
    if (token.front() != '-') return routeError(token, at, "a token starts with '-'").expected("-knob=value");
    if (equals == std::string_view::npos)
      return routeError(token, at, "a token has no '='").expected("-knob=value");
    std::string_view name = token.substr(1, equals - 1);
    const std::string_view value = token.substr(equals + 1);
    if (name.empty()) return routeError(token, at, "a token has no knob name").expected("-knob=value");
    if (value.empty()) return routeError(token, at + equals, "a token has no value").expected("-knob=value");
    if (value.front() == '[') {
      return routeError(token, at + equals + 1,
                        "a list of values is an expression, and a route takes one value a knob")
          .fix("choose one value, or give the expression to `rota tune`");
    }
    if (!seen.emplace(name).second) return routeError(token, at, "a knob is set twice");
    std::string_view glob;
    if (const std::size_t scope = name.find('@'); scope != std::string_view::npos) {
      glob = name.substr(scope + 1);
      name = name.substr(0, scope);
      if (glob.empty())
        return routeError(token, at + scope + 1, "nothing stands after '@'")
            .expected("-knob@layer_glob=value");
    }
    if (Status s = set.set(name, value, glob); !s.isOk()) {
      return std::move(s).at("token '" + std::string(token) + "' at column " + std::to_string(at + 1));
    }
    at = end;
  }
  return set;
}

}  // namespace rota::knob
