// SPDX-License-Identifier: Apache-2.0
// What a file that is no engine seems to be, in words, for messages. Tested by src/engine/writer_damage_test.cpp.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace rota::engine {

/// "an ONNX model", "a zip archive", "text", … Looks at the first bytes only.
std::string recognize(std::span<const std::byte> bytes);

}  // namespace rota::engine
