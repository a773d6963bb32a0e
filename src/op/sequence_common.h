// SPDX-License-Identifier: Apache-2.0
// Types of sequences and optionals. A sequence has one element type; its shape is known when all elements have the same one.
// Tested by src/op/sequence_test.cpp.
#pragma once

#include "op/movement_common.h"

namespace rota::op {

ir::Type sequenceOf(DType dtype, ir::Shape element);
/// The shape of elements of two shapes: theirs when they are the same, else unknown.
ir::Shape commonElementShape(const ir::Shape& a, const ir::Shape& b);
/// An error unless input `i` is a sequence.
Status requireSequence(InferContext& ctx, std::size_t i);
/// The type that the text of a type attribute names, such as "float32[2,?]" or "sequence(float32)"; shapes in it are not used.
Result<ir::Type> typeFromText(InferContext& ctx, std::string_view text);

}  // namespace rota::op
