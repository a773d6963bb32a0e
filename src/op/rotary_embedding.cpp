// SPDX-License-Identifier: Apache-2.0
// RotaryEmbedding of the default domain and of com.microsoft. Tested by src/op/attention_test.cpp and the node cases of tests/conformance.
#include "op/common.h"

namespace rota::op {
namespace {

const Register kRegisterRotaryEmbedding(Definition{
    .domain = "",
    .name = "RotaryEmbedding",
    .versions = {23},
    .doc = "Rotates pairs of the elements of every head by angles that depend on the position of the token; "
           "cosines and sines come from caches, by position "
           "when position_ids are given. rotary_embedding_dim limits the rotation to the first elements.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "X", .typeVariable = "T"},
               {.name = "cos_cache", .typeVariable = "T"},
               {.name = "sin_cache", .typeVariable = "T"},
               {.name = "position_ids", .option = FormalOption::kOptional}},
    .outputs = {{.name = "Y", .typeVariable = "T"}},
    .attributes = {{.name = "interleaved", .type = AttributeType::kInt},
                   {.name = "num_heads", .type = AttributeType::kInt},
                   {.name = "rotary_embedding_dim", .type = AttributeType::kInt}},
    .infer = inferSameAsFirst,
});

const Register kRegisterRotaryEmbeddingMicrosoft(Definition{
    .domain = "com.microsoft",
    .name = "RotaryEmbedding",
    .versions = {1},
    .doc = "Rotates pairs of the elements of every head by angles that depend on the position of the token. "
           "One position id is where every sequence starts; "
           "else there is one for each token.",
    .kind = Kind::kOpaque,
    .inputs = {{.name = "input", .typeVariable = "T"},
               {.name = "position_ids"},
               {.name = "cos_cache", .typeVariable = "T"},
               {.name = "sin_cache", .typeVariable = "T"}},
    .outputs = {{.name = "output", .typeVariable = "T"}},
    .attributes = {{.name = "interleaved", .type = AttributeType::kInt},
                   {.name = "is_packed_batching", .type = AttributeType::kInt},
                   {.name = "num_heads", .type = AttributeType::kInt},
                   {.name = "rotary_embedding_dim", .type = AttributeType::kInt},
                   {.name = "scale", .type = AttributeType::kFloat}},
    .infer = inferSameAsFirst,
});

}  // namespace
}  // namespace rota::op
