// SPDX-License-Identifier: Apache-2.0
// `rota knobs [NAME]`: the knob database; JSON in the shape of the tuner's contract.
#include <cstdio>

#include "cli/cli.h"
#include "core/check.h"
#include "knob/knob.h"

namespace rota::cli {
namespace {

void printKnob(const knob::Knob& k) {
  std::string values;
  for (std::string_view v : k.allowed()) values += (values.empty() ? "" : "|") + std::string(v);
  std::printf("-%.*s=[%s]  default %.*s  %s, %.*s, %s\n    %.*s\n", static_cast<int>(k.name.size()),
              k.name.data(), values.c_str(), static_cast<int>(k.defaultValue().size()),
              k.defaultValue().data(), toString(k.numerics), static_cast<int>(k.backend.size()),
              k.backend.data(), toString(k.stage), static_cast<int>(k.doc.size()), k.doc.data());
}

Result<int> runKnobs(const Invocation& invocation, const std::string& name) {
  const knob::Knob* only = nullptr;
  if (!name.empty()) {
    only = knob::findKnob(name.starts_with("-") ? name.substr(1) : name);
    if (only == nullptr) {
      knob::KnobSet unknown;
      return unknown.set(name, "");
    }
  }
  if (!invocation.json.empty()) {
    auto out = jsonResult(invocation, "knobs");
    out["verdict"] = "listed";
    out.update(nlohmann::ordered_json::parse(knob::knobsToJson(ROTA_VERSION)));
    auto& rows = out["tuner_options"];
    std::erase_if(rows.get_ref<nlohmann::ordered_json::array_t&>(), [only](const auto& row) {
      return only != nullptr && row["option"] != "-" + std::string(only->name);
    });
    ROTA_RETURN_IF_ERROR(writeJson(invocation, out));
    return 0;
  }
  for (const knob::Knob* k : knob::allKnobs()) {
    if (only == nullptr || k == only) printKnob(*k);
  }
  return 0;
}

}  // namespace

void addKnobs(CLI::App& app, Invocation& invocation) {
  auto name = std::make_shared<std::string>();
  CLI::App* sub = app.add_subcommand("knobs", "List the knobs of the compiler");
  sub->add_option("NAME", *name, "Only this one");
  addJsonOption(*sub, invocation);
  sub->footer("Example: rota knobs fuse:epilogue");
  onChosen(*sub, invocation, [name, &invocation] { return runKnobs(invocation, *name); });
}

}  // namespace rota::cli
