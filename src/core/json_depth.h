// SPDX-License-Identifier: Apache-2.0
// How deep JSON text is nested, before it is parsed: what prints, copies and frees parsed values recurses, so text from outside is refused
// beyond a limit. Tested by src/core/json_depth_test.cpp.
#pragma once

#include <cstddef>
#include <string_view>

namespace rota {

/// More than anything of ours needs.
inline constexpr std::size_t kMaxJsonDepth = 64;

/// The most lists and objects that lie in each other, whatever else is wrong with the text.
std::size_t jsonDepth(std::string_view text);

}  // namespace rota
