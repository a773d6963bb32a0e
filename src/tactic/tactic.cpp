// SPDX-License-Identifier: Apache-2.0
// The registry of tactics and the enumeration of candidates for a region.
#include "tactic/tactic.h"

#include <algorithm>

#include "core/check.h"

namespace rota::tactic {
namespace {

std::vector<const Tactic*>& registry() {
  static std::vector<const Tactic*> tactics;
  return tactics;
}

}  // namespace

RegisterTactic::RegisterTactic(const Tactic& tactic) {
  CHECK(tactic.supports != nullptr && tactic.predictUs != nullptr && tactic.emit != nullptr);
  auto& all = registry();
  const auto at = std::lower_bound(all.begin(), all.end(), tactic.name,
                                   [](const Tactic* t, std::string_view n) { return t->name < n; });
  CHECK(at == all.end() || (*at)->name != tactic.name);
  all.insert(at, &tactic);
}

std::vector<const Tactic*> allTactics() { return registry(); }

Candidates enumerate(const Problem& problem) {
  Candidates candidates;
  for (const Tactic* t : registry()) {
    if (t->backend != problem.target.device && t->backend != "any") continue;
    const Support support = t->supports(problem);
    if (support.yes) {
      candidates.usable.push_back({t, t->predictUs(problem)});
    } else {
      candidates.refused.push_back({t, support.reason});
    }
  }
  std::stable_sort(candidates.usable.begin(), candidates.usable.end(),
                   [](const Candidate& a, const Candidate& b) { return a.predictedUs < b.predictedUs; });
  return candidates;
}

std::int64_t typicalElements(const Problem& problem, const ir::Value& value) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  std::int64_t n = 1;
  for (Size d : value.type.shape.dims) {
    std::int64_t dim = 0;
    if (const auto c = d.constant()) {
      dim = *c;
    } else {
      // Without a measured distribution a symbolic dim counts as the top of its range, or 64 where it has none.
      const SizeRange r = problem.sizes.range(d);
      dim = r.hi < (std::int64_t{1} << 20) ? r.hi : std::max<std::int64_t>(r.lo, 64);
    }
    dim = std::clamp<std::int64_t>(dim, 1, kMost);
    if (n > kMost / dim) return kMost;
    n *= dim;
  }
  return n;
}

}  // namespace rota::tactic
