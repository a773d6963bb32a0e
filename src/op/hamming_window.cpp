// SPDX-License-Identifier: Apache-2.0
// HammingWindow. Tested by src/op/signal_test.cpp and the node cases of tests/conformance.
#include "op/signal_common.h"

namespace rota::op {
namespace {

const Register kRegisterHammingWindow(signalWindowDefinition(
    "HammingWindow",
    "The Hamming window of a given size, 25/46 - 21/46 cos(2 pi n / N), periodic or symmetric."));

}  // namespace
}  // namespace rota::op
