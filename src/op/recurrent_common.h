// SPDX-License-Identifier: Apache-2.0
// What RNN, GRU and LSTM share. Tested by src/op/recurrent_test.cpp.
#pragma once

#include "op/common.h"

namespace rota::op {

/// Inference of a recurrent layer with `gates` gates: Y, Y_h and, for LSTM, Y_c.
Status inferRecurrent(InferContext& ctx, std::int64_t gates);
enum class RecurrentCell : std::uint8_t { kRnn, kGru, kLstm };
/// The expansion of a recurrent layer into products and a Scan (recurrent_expansion.cpp).
Result<std::vector<ir::Value*>> expandRecurrent(ir::Graph& graph, const ir::Node& node, RecurrentCell cell);
/// Formals and attributes; `more` are those of one operator only.
std::vector<Formal> recurrentInputs(bool lstm);
std::vector<Formal> recurrentOutputs(bool lstm);
std::vector<AttributeFormal> recurrentAttributes(std::vector<AttributeFormal> more = {});

}  // namespace rota::op
