// SPDX-License-Identifier: Apache-2.0
// Mutates protobuf messages field by field and writes all lengths anew, so that what comes out is still a message: bytes changed blindly
// rarely get past a parser. No schema is needed: a length-delimited field is taken as a message when it parses as one.
// Idea: structure-aware fuzzing as in libprotobuf-mutator, on the wire format alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "driver/fuzz.h"

namespace rota::fuzz {

struct Field {
  std::uint32_t number = 0;
  std::uint32_t wireType = 0;  ///< 0 varint, 1 eight bytes, 2 length-delimited, 5 four bytes.
  std::uint64_t value = 0;     ///< Of wire types 0, 1 and 5.
  std::string bytes;           ///< Of wire type 2, when it is no message.
  std::vector<Field> fields;   ///< Of wire type 2, when it is one.
  bool isMessage = false;
};

/// Nothing when the bytes are not a protobuf message.
bool parseMessage(std::string_view bytes, std::vector<Field>& fields, int depth = 0);
void writeMessage(const std::vector<Field>& fields, std::string& out);

/// One random change: a field removed, repeated, moved, taken from elsewhere in the message, or its value changed. `words` are texts to put in.
void mutateMessage(std::vector<Field>& fields, Random& random, const std::vector<std::string>& words);

}  // namespace rota::fuzz
