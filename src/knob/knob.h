// SPDX-License-Identifier: Apache-2.0
// Knobs: every choice of the compiler that a user or the tuner may make.
//
// A knob is declared once, as a constant beside the code that reads it; the consteval factories refuse a bad default, an empty domain
// or an empty sentence, so a wrong declaration does not compile. A `RegisterKnob` beside it makes the knob visible to `rota knobs`, routes and
// documentation. Values travel in a KnobSet by const reference; nothing else reads them.
// Tested by src/knob/knob_test.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <rota/status.h>

namespace rota::knob {

enum class Numerics : std::uint8_t { kExact, kReassociating, kReduced };
enum class Stage : std::uint8_t { kGraph, kRegion, kCodegen, kSchedule, kRuntime };

const char* toString(Numerics numerics);
const char* toString(Stage stage);

inline constexpr std::size_t kMaxKnobValues = 16;

/// One knob. Every knob has a finite list of allowed values, kept as text.
struct Knob {
  std::string_view name;  ///< "fuse:epilogue".
  std::array<std::string_view, kMaxKnobValues> values{};
  std::size_t valueCount = 0;
  std::size_t defaultIndex = 0;
  std::string_view doc;  ///< One sentence.
  std::string_view backend = "any";
  Numerics numerics = Numerics::kExact;
  Stage stage = Stage::kGraph;
  std::string_view domain;     ///< Where it has a meaning ("models with convolutions"); "" = everywhere.
  std::string_view dependsOn;  ///< "knob=value" that must be in force for it to be read; "" = none.

  std::span<const std::string_view> allowed() const { return {values.data(), valueCount}; }
  std::string_view defaultValue() const { return values[defaultIndex]; }
};

struct KnobFacts {
  std::string_view backend = "any";
  Numerics numerics = Numerics::kExact;
  Stage stage = Stage::kGraph;
  std::string_view domain = "";
  std::string_view dependsOn = "";
};

/// A knob with these values; the default must be one of them.
template <std::size_t N>
consteval Knob choice(std::string_view name, const std::string_view (&values)[N],
                      std::string_view defaultValue, std::string_view doc, KnobFacts facts = {}) {
  static_assert(N >= 2 && N <= kMaxKnobValues, "a knob has 2 to 16 values");
  Knob k{.name = name,
         .doc = doc,
         .backend = facts.backend,
         .numerics = facts.numerics,
         .stage = facts.stage,
         .domain = facts.domain,
         .dependsOn = facts.dependsOn};
  if (name.empty() || doc.empty()) throw "a knob needs a name and a sentence";
  if (doc.back() != '.') throw "the sentence of a knob ends with a full stop";
  bool found = false;
  for (std::size_t i = 0; i < N; ++i) {
    k.values[i] = values[i];
    for (std::size_t j = 0; j < i; ++j)
      if (values[i] == values[j]) throw "a value stands twice";
    if (values[i] == defaultValue) {
      k.defaultIndex = i;
      found = true;
    }
  }
  if (!found) throw "the default is not an allowed value";
  k.valueCount = N;
  return k;
}

/// A knob with the values on and off.
consteval Knob toggle(std::string_view name, bool defaultOn, std::string_view doc, KnobFacts facts = {}) {
  return choice(name, {"on", "off"}, defaultOn ? "on" : "off", doc, facts);
}

class RegisterKnob {
 public:
  explicit RegisterKnob(const Knob& knob);
};

/// All registered knobs, sorted by name.
std::vector<const Knob*> allKnobs();
const Knob* findKnob(std::string_view name);

/// Values of knobs, with scoped overrides; knobs not set have their default.
class KnobSet {
 public:
  /// The value; `scope` is the newline-joined names of the region's source nodes, matched against scoped tokens.
  std::string_view get(const Knob& knob, std::string_view scope = {}) const;
  bool on(const Knob& knob, std::string_view scope = {}) const { return get(knob, scope) == "on"; }
  std::int64_t number(const Knob& knob, std::string_view scope = {}) const;

  /// Errors: unknown knob (with the nearest names), value not allowed.
  Status set(std::string_view name, std::string_view value, std::string_view scopeGlob = {});

  /// A route: `-knob=value` or `-knob@glob=value`, separated by white space or newlines. Errors name token and column.
  static Result<KnobSet> parseRoute(std::string_view route);
  /// The canonical route: every knob that differs from its default, sorted by name.
  std::string toRoute() const;

 private:
  struct Scoped {
    std::string glob;
    std::string value;
  };
  struct Entry {
    std::string value;  // "" = default
    std::vector<Scoped> scoped;
  };
  std::map<std::string, Entry, std::less<>> entries_;
};

/// The knob database in the shape of tuner.md.
std::string knobsToJson(std::string_view rotaVersion);

/// "*" and "?" matching, case-sensitive.
bool globMatch(std::string_view pattern, std::string_view text);
/// Up to three names closest to `name` by edit distance.
std::vector<std::string> nearestNames(std::string_view name, std::span<const std::string> candidates);

}  // namespace rota::knob
