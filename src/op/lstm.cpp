// SPDX-License-Identifier: Apache-2.0
// LSTM. Tested by src/op/recurrent_test.cpp and the node cases of tests/conformance.
#include "op/recurrent_common.h"

namespace rota::op {
namespace {

const Register kRegisterLSTM(Definition{
    .domain = "",
    .name = "LSTM",
    .versions = {7, 14, 22},
    .doc = "A long short-term memory layer with gates i, o, f and cell candidate c, optional peephole "
           "weights and coupled input and forget gates.",
    .kind = Kind::kScan,
    .inputs = recurrentInputs(true),
    .outputs = recurrentOutputs(true),
    .attributes = recurrentAttributes({{.name = "input_forget", .type = AttributeType::kInt}}),
    .infer = [](InferContext& ctx) { return inferRecurrent(ctx, 4); },
    .expand = [](ir::Graph& graph,
                 const ir::Node& node) { return expandRecurrent(graph, node, RecurrentCell::kLstm); },
});

}  // namespace
}  // namespace rota::op
