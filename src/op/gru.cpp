// SPDX-License-Identifier: Apache-2.0
// GRU. Tested by src/op/recurrent_test.cpp and the node cases of tests/conformance.
#include "op/recurrent_common.h"

namespace rota::op {
namespace {

const Register kRegisterGRU(Definition{
    .domain = "",
    .name = "GRU",
    .versions = {7, 14, 22},
    .doc = "A gated recurrent layer with update gate z, reset gate r and candidate h. linear_before_reset "
           "says whether the reset gate is applied "
           "before or after the product with the recurrent weights.",
    .kind = Kind::kScan,
    .inputs = recurrentInputs(false),
    .outputs = recurrentOutputs(false),
    .attributes = recurrentAttributes({{.name = "linear_before_reset", .type = AttributeType::kInt}}),
    .infer = [](InferContext& ctx) { return inferRecurrent(ctx, 3); },
    .expand = [](ir::Graph& graph,
                 const ir::Node& node) { return expandRecurrent(graph, node, RecurrentCell::kGru); },
});

}  // namespace
}  // namespace rota::op
