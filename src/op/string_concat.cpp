// SPDX-License-Identifier: Apache-2.0
// StringConcat: known, and refused, for Rota does not compute with strings.
// Tested by src/op/sequence_test.cpp.
#include "op/string_common.h"

namespace rota::op {
namespace {

const Register kRegisterStringConcat(Definition{
    .name = "StringConcat",
    .versions = {20},
    .doc = "Joins strings element by element. Rota refuses it: strings belong into the application, in front "
           "of the network.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "X"}, {.name = "Y"}},
    .outputs = {{.name = "Z"}},
    .attributes = {},
    .infer = inferRefusedStrings,
});

}  // namespace
}  // namespace rota::op
