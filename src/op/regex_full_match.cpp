// SPDX-License-Identifier: Apache-2.0
// RegexFullMatch: known, and refused, for Rota does not compute with strings.
// Tested by src/op/sequence_test.cpp.
#include "op/string_common.h"

namespace rota::op {
namespace {

const Register kRegisterRegexFullMatch(Definition{
    .name = "RegexFullMatch",
    .versions = {20},
    .doc = "Whether strings match a regular expression. Rota refuses it: strings belong into the "
           "application, in front of the network.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "X"}},
    .outputs = {{.name = "Y"}},
    .attributes = {{.name = "pattern", .type = AttributeType::kString}},
    .infer = inferRefusedStrings,
});

}  // namespace
}  // namespace rota::op
