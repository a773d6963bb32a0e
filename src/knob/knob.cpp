// SPDX-License-Identifier: Apache-2.0
// The registry of knobs, values with scoped overrides, and their JSON form (the shape of the tuner's contract).
#include "knob/knob.h"

#include <algorithm>
#include <charconv>

#include <nlohmann/json.hpp>

#include "core/check.h"

namespace rota::knob {
namespace {

std::vector<const Knob*>& registry() {
  static std::vector<const Knob*> knobs;
  return knobs;
}

std::size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string joined(std::span<const std::string_view> values, std::string_view separator) {
  std::string text;
  for (std::string_view v : values) {
    if (!text.empty()) text += separator;
    text += v;
  }
  return text;
}

}  // namespace

const char* toString(Numerics numerics) {
  switch (numerics) {
    case Numerics::kExact: return "exact";
    case Numerics::kReassociating: return "reassociating";
    case Numerics::kReduced: return "reduced";
  }
  return "exact";
}

const char* toString(Stage stage) {
  switch (stage) {
    case Stage::kGraph: return "graph";
    case Stage::kRegion: return "region";
    case Stage::kCodegen: return "codegen";
    case Stage::kSchedule: return "schedule";
    case Stage::kRuntime: return "runtime";
  }
  return "graph";
}

RegisterKnob::RegisterKnob(const Knob& knob) {
  auto& knobs = registry();
  const auto at = std::lower_bound(knobs.begin(), knobs.end(), knob.name,
                                   [](const Knob* k, std::string_view n) { return k->name < n; });
  CHECK(at == knobs.end() || (*at)->name != knob.name);
  knobs.insert(at, &knob);
}

std::vector<const Knob*> allKnobs() { return registry(); }

const Knob* findKnob(std::string_view name) {
  for (const Knob* k : registry())
    if (k->name == name) return k;
  return nullptr;
}

bool globMatch(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t]) && pattern[p] != '*') {
      ++p, ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::vector<std::string> nearestNames(std::string_view name, std::span<const std::string> candidates) {
  std::vector<std::pair<std::size_t, std::string>> scored;
  for (const std::string& c : candidates) {
    const std::size_t d = editDistance(name, c);
    if (d <= std::max<std::size_t>(2, name.size() / 3)) scored.emplace_back(d, c);
  }
  std::sort(scored.begin(), scored.end());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < scored.size() && i < 3; ++i) names.push_back(scored[i].second);
  return names;
}

std::string_view KnobSet::get(const Knob& knob, std::string_view scope) const {
  const auto it = entries_.find(knob.name);
  if (it == entries_.end()) return knob.defaultValue();
  for (auto s = it->second.scoped.rbegin(); s != it->second.scoped.rend(); ++s) {
    // The glob may match any of the source names.
    std::size_t begin = 0;
    while (begin <= scope.size()) {
      const std::size_t end = std::min(scope.find('\n', begin), scope.size());
      if (globMatch(s->glob, scope.substr(begin, end - begin))) return s->value;
      begin = end + 1;
    }
  }
  return it->second.value.empty() ? knob.defaultValue() : std::string_view(it->second.value);
}

std::int64_t KnobSet::number(const Knob& knob, std::string_view scope) const {
  const std::string_view text = get(knob, scope);
  std::int64_t n = 0;
  std::from_chars(text.data(), text.data() + text.size(), n);
  return n;
}

Status KnobSet::set(std::string_view name, std::string_view value, std::string_view scopeGlob) {
  const Knob* knob = findKnob(name);
  if (knob == nullptr) {
    std::vector<std::string> names;
    for (const Knob* k : registry()) names.emplace_back(k->name);
    std::string near;
    for (const std::string& n : nearestNames(name, names)) near += (near.empty() ? "" : ", ") + n;
    return Status(ErrorCode::kUnknownKnob, "there is no knob '" + std::string(name) + "'")
        .fix(near.empty() ? "`rota knobs` lists all knobs"
                          : "did you mean " + near + "? `rota knobs` lists all knobs");
  }
  const auto allowed = knob->allowed();
  if (std::find(allowed.begin(), allowed.end(), value) == allowed.end()) {
    return Status(ErrorCode::kBadRoute, "value not allowed for knob '" + std::string(name) + "'")
        .expected("one of " + joined(allowed, ", "))
        .found(std::string(value));
  }
  Entry& entry = entries_[std::string(name)];
  if (scopeGlob.empty()) {
    entry.value = value;
  } else {
    entry.scoped.push_back({std::string(scopeGlob), std::string(value)});
  }
  return Status::ok();
}

std::string KnobSet::toRoute() const {
  std::string route;
  const auto token = [&route](std::string_view text) {
    route += (route.empty() ? "-" : " -") + std::string(text);
  };
  for (const auto& [name, entry] : entries_) {
    const Knob* knob = findKnob(name);
    if (!entry.value.empty() && knob != nullptr && entry.value != knob->defaultValue())
      token(name + "=" + entry.value);
    for (const Scoped& s : entry.scoped) token(name + "@" + s.glob + "=" + s.value);
  }
  return route;
}

std::string knobsToJson(std::string_view rotaVersion) {
  nlohmann::ordered_json root;
  root["schema_version"] = 1;
  root["tuner_version"] = std::string(rotaVersion);
  root["tuner_options"] = nlohmann::ordered_json::array();
  for (const Knob* k : registry()) {
    nlohmann::ordered_json row;
    const std::string option = "-" + std::string(k->name);
    row["option"] = option;
    row["allowed_values"] = option + "=[" + joined(k->allowed(), "|") + "]";
    row["default_value"] = std::string(k->defaultValue());
    row["help"] = std::string(k->doc);
    row["numerics"] = toString(k->numerics);
    row["backend"] = std::string(k->backend);
    row["stage"] = toString(k->stage);
    row["domain"] = std::string(k->domain);
    row["requires"] = std::string(k->dependsOn);
    root["tuner_options"].push_back(std::move(row));
  }
  return root.dump(2);
}

}  // namespace rota::knob
