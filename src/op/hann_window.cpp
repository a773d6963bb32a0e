// SPDX-License-Identifier: Apache-2.0
// HannWindow. Tested by src/op/signal_test.cpp and the node cases of tests/conformance.
#include "op/signal_common.h"

namespace rota::op {
namespace {

const Register kRegisterHannWindow(signalWindowDefinition(
    "HannWindow", "The Hann window of a given size, 0.5 - 0.5 cos(2 pi n / N), periodic or symmetric."));

}  // namespace
}  // namespace rota::op
