// SPDX-License-Identifier: Apache-2.0
// What the schemas of ONNX say of inputs, so that inference and kernels need not ask: an index that is no integer, a condition that is no
// boolean, or an input that was an attribute once and is left out, is refused before anything looks at it. Tested by src/op/infer_test.cpp.
#pragma once

#include <cstdint>
#include <string_view>

namespace rota::op {

/// Bit N: element type N of TensorProto.DataType is allowed. All bits for inputs without a rule. Variadic inputs have the rule of the first.
std::uint32_t allowedInputTypes(std::string_view opType, std::size_t input);

/// Inputs that must be given in this version of the operator, where versions differ in that; else 0.
std::size_t requiredInputs(std::string_view opType, int version);

}  // namespace rota::op
