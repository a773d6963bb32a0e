// SPDX-License-Identifier: Apache-2.0
// Fuzzes build routes as they stand on a command line: what parses has a canonical form that parses to itself again.
#include "core/check.h"
#include "driver/fuzz.h"
#include "knob/knob.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rota;
  const auto knobs = knob::KnobSet::parseRoute(fuzz::textOf(data, size));
  if (!knobs) {
    fuzz::expect(!knobs.status().toString().empty(), "an error has a text");
    return 0;
  }
  const std::string route = knobs->toRoute();
  const auto again = knob::KnobSet::parseRoute(route);
  fuzz::expect(again.isOk(), "a canonical route parses");
  fuzz::expect(again->toRoute() == route, "a canonical route is its own canonical form");
  for (const knob::Knob* knob : knob::allKnobs())
    fuzz::expect(again->get(*knob, "conv1\nrelu1") == knobs->get(*knob, "conv1\nrelu1"),
                 "a route and its canonical form mean the same");
  return 0;
}
