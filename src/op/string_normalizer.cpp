// SPDX-License-Identifier: Apache-2.0
// StringNormalizer: known, and refused, for Rota does not compute with strings.
// Tested by src/op/sequence_test.cpp.
#include "op/string_common.h"

namespace rota::op {
namespace {

const Register kRegisterStringNormalizer(Definition{
    .name = "StringNormalizer",
    .versions = {10},
    .doc = "Removes stop words and changes case. Rota refuses it: strings belong into the application, in "
           "front of the network.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "X"}},
    .outputs = {{.name = "Y"}},
    .attributes = {{.name = "case_change_action", .type = AttributeType::kString},
                   {.name = "is_case_sensitive", .type = AttributeType::kInt},
                   {.name = "locale", .type = AttributeType::kString},
                   {.name = "stopwords", .type = AttributeType::kStrings}},
    .infer = inferRefusedStrings,
});

}  // namespace
}  // namespace rota::op
