// SPDX-License-Identifier: Apache-2.0
// The command line as it is parsed: what the user typed, completed from the environment and a configuration file.
//
// An option that the line does not give is taken from ROTA_<OPTION> (ROTA_THREADS for --threads), else from `--config FILE` (or ROTA_CONFIG): `option = value`
// lines for every command that has the option, or below `[command]` for one; a line below a command counts more. The table of options is CLI11's own. Values
// are appended as --option=value, so they are checked, and refused, like typed ones.
#include <algorithm>
#include <cctype>
#include <sstream>

#include "cli/cli.h"
#include "core/check.h"
#include "core/env.h"
#include "core/file.h"
#include "knob/knob.h"

namespace rota::cli {
namespace {

using Values = std::vector<std::string>;

std::string variableOf(const std::string& option) {
  std::string name = "ROTA_";
  for (const char c : option)
    name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

/// Options that a variable or a file may set: those with a long name, apart from the ones that ask for something else than a job.
bool canBeSet(const CLI::Option& option) {
  if (option.get_lnames().empty()) return false;
  const std::string& name = option.get_lnames()[0];
  return name != "help" && name != "config" && name != "all" && name != "profile-steps";
}

bool isGiven(const CLI::Option& option, const Values& line) {
  for (const std::string& token : line) {
    if (token == "--") return false;
    for (const std::string& n : option.get_lnames())
      if (token == "--" + n || token.starts_with("--" + n + "=")) return true;
    for (const std::string& n : option.get_snames())
      if (token.starts_with("-" + n) && !token.starts_with("--")) return true;
  }
  return false;
}

/// "x=1x16:2x16:4x16" has the form of a range; a file name hardly does.
bool looksLikeRange(const std::string& token) {
  const std::size_t equals = token.rfind('=');
  if (token.starts_with("-") || equals == std::string::npos) return false;
  return token.find_first_not_of("0123456789x:,", equals + 1) == std::string::npos;
}

/// `--json` takes its file only after '=', and `--profile` of bench without a range asks for the table of steps.
Values normalised(const Values& typed, bool isBench) {
  Values line;
  bool options = true;
  for (std::size_t i = 0; i < typed.size(); ++i) {
    options = options && typed[i] != "--";
    if (options && typed[i] == "--json")
      line.push_back("--json=-");
    else if (options && isBench && typed[i] == "--profile" &&
             (i + 1 == typed.size() || !looksLikeRange(typed[i + 1])))
      line.push_back("--profile-steps");
    else
      line.push_back(typed[i]);
  }
  return line;
}

struct Configuration {
  std::string file;
  std::map<std::string, std::map<std::string, Values>> byCommand;  // "" for all
};

Status knows(CLI::App& app, const std::string& command, const std::string& option, const std::string& where) {
  std::vector<std::string> commands, options;
  for (CLI::App* sub : app.get_subcommands([](CLI::App*) { return true; })) {
    commands.push_back(sub->get_name());
    if (!command.empty() && sub->get_name() != command) continue;
    for (const CLI::Option* o : sub->get_options())
      if (canBeSet(*o)) options.push_back(o->get_lnames()[0]);
  }
  for (const CLI::Option* o : app.get_options())
    if (canBeSet(*o)) options.push_back(o->get_lnames()[0]);
  if (!command.empty() && std::find(commands.begin(), commands.end(), command) == commands.end()) {
    return Status(ErrorCode::kUsage, "the configuration has a section of no command")
        .at(where)
        .found("[" + command + "]")
        .fix("sections are names of commands");
  }
  if (std::find(options.begin(), options.end(), option) != options.end()) return Status::ok();
  std::sort(options.begin(), options.end());
  options.erase(std::unique(options.begin(), options.end()), options.end());
  std::string near;
  for (const std::string& n : knob::nearestNames(option, options))
    near += (near.empty() ? "did you mean " : ", ") + n;
  return Status(ErrorCode::kUsage, "the configuration sets an option that does not exist")
      .at(where)
      .found(option)
      .fix(near.empty() ? "`rota COMMAND --help` lists the options" : near + "?");
}

Result<Configuration> readConfiguration(CLI::App& app, const Values& line) {
  Configuration c;
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (line[i] == "--config" && i + 1 < line.size()) c.file = line[i + 1];
    if (line[i].starts_with("--config=")) c.file = line[i].substr(9);
  }
  if (c.file.empty()) c.file = environmentVariable("ROTA_CONFIG").value_or("");
  if (c.file.empty()) return c;
  auto text = readTextFile(c.file);
  if (!text) return text.status();
  std::istringstream stream(*text);
  std::vector<CLI::ConfigItem> items;
  try {
    items = CLI::ConfigBase().from_config(stream);
  } catch (const CLI::Error& e) {
    return Status(ErrorCode::kUsage, "the configuration does not parse").at(c.file).found(e.what());
  }
  for (CLI::ConfigItem& item : items) {
    if (item.name == "++" || item.name == "--") continue;  // begin and end of a section
    std::string command;
    for (const std::string& p : item.parents) command += (command.empty() ? "" : ".") + p;
    std::replace(item.name.begin(), item.name.end(), '_', '-');
    ROTA_RETURN_IF_ERROR(knows(app, command, item.name, c.file));
    Values& values = c.byCommand[command][item.name];
    values.insert(values.end(), item.inputs.begin(), item.inputs.end());
  }
  return c;
}

void append(Values& line, const CLI::Option& option, const Values& values) {
  const std::string name = "--" + option.get_lnames()[0];
  const auto end = std::find(line.begin(), line.end(), "--");
  Values tokens;
  for (const std::string& v : values) tokens.push_back(name + "=" + v);
  line.insert(end, tokens.begin(), tokens.end());
}

}  // namespace

Result<std::vector<std::string>> completeCommandLine(CLI::App& app, Invocation& invocation) {
  CLI::App* command = nullptr;
  for (std::size_t i = 1; i < invocation.arguments.size() && command == nullptr; ++i) {
    for (CLI::App* sub : app.get_subcommands([](CLI::App*) { return true; }))
      if (sub->get_name() == invocation.arguments[i]) command = sub;
  }
  Values line = normalised(invocation.arguments, command != nullptr && command->get_name() == "bench");
  auto configuration = readConfiguration(app, line);
  if (!configuration) return configuration.status();
  if (!configuration->file.empty()) invocation.settings.push_back("--config " + configuration->file);
  for (CLI::App* owner : {&app, command}) {
    if (owner == nullptr || owner->get_name() == "explain") continue;
    for (const CLI::Option* option : owner->get_options()) {
      if (!canBeSet(*option) || isGiven(*option, line)) continue;
      const std::string& name = option->get_lnames()[0];
      if (const auto value = environmentVariable(variableOf(name).c_str()); value && !value->empty()) {
        append(line, *option, {*value});
        continue;
      }
      for (const std::string& section :
           {owner == &app || command == nullptr ? std::string() : command->get_name(), std::string()}) {
        const auto& table = configuration->byCommand[section];
        if (const auto it = table.find(name); it != table.end()) {
          append(line, *option, it->second);
          break;
        }
      }
    }
  }
  // What is in force for any command, for `rota devices`.
  std::map<std::string, std::string> force;
  for (CLI::App* owner : app.get_subcommands([](CLI::App*) { return true; })) {
    for (const CLI::Option* option : owner->get_options()) {
      if (!canBeSet(*option)) continue;
      const std::string variable = variableOf(option->get_lnames()[0]);
      if (const auto value = environmentVariable(variable.c_str()); value && !value->empty())
        force[variable] = *value;
    }
  }
  for (const auto& [section, table] : configuration->byCommand)
    for (const auto& [name, values] : table)
      for (const std::string& v : values)
        force[configuration->file + (section.empty() ? "" : " [" + section + "]") + ": " + name] = v;
  for (const auto& [what, value] : force) invocation.settings.push_back(what + "=" + value);
  line.erase(line.begin());
  return line;
}

}  // namespace rota::cli
