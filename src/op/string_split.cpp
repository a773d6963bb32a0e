// SPDX-License-Identifier: Apache-2.0
// StringSplit: known, and refused, for Rota does not compute with strings.
// Tested by src/op/sequence_test.cpp.
#include "op/string_common.h"

namespace rota::op {
namespace {

const Register kRegisterStringSplit(Definition{
    .name = "StringSplit",
    .versions = {20},
    .doc = "Splits strings at a delimiter. Rota refuses it: strings belong into the application, in front of "
           "the network.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "X"}},
    .outputs = {{.name = "Y"}, {.name = "Z"}},
    .attributes = {{.name = "delimiter", .type = AttributeType::kString},
                   {.name = "maxsplit", .type = AttributeType::kInt}},
    .infer = inferRefusedStrings,
});

}  // namespace
}  // namespace rota::op
