// SPDX-License-Identifier: Apache-2.0
// RNN. Tested by src/op/recurrent_test.cpp and the node cases of tests/conformance.
#include "op/recurrent_common.h"

namespace rota::op {
namespace {

const Register kRegisterRNN(Definition{
    .domain = "",
    .name = "RNN",
    .versions = {7, 14, 22},
    .doc = "A plain recurrent layer, h = f(x W' + h R' + b), over one or both directions of a batch of "
           "sequences of their own lengths.",
    .kind = Kind::kScan,
    .inputs = recurrentInputs(false),
    .outputs = recurrentOutputs(false),
    .attributes = recurrentAttributes(),
    .infer = [](InferContext& ctx) { return inferRecurrent(ctx, 1); },
    .expand = [](ir::Graph& graph,
                 const ir::Node& node) { return expandRecurrent(graph, node, RecurrentCell::kRnn); },
});

}  // namespace
}  // namespace rota::op
