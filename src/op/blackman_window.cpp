// SPDX-License-Identifier: Apache-2.0
// BlackmanWindow. Tested by src/op/signal_test.cpp and the node cases of tests/conformance.
#include "op/signal_common.h"

namespace rota::op {
namespace {

const Register kRegisterBlackmanWindow(
    signalWindowDefinition("BlackmanWindow",
                           "The Blackman window of a given size, 0.42 - 0.5 cos(2 pi n / N) + 0.08 cos(4 pi "
                           "n / N), periodic or symmetric."));

}  // namespace
}  // namespace rota::op
