// SPDX-License-Identifier: Apache-2.0
// What the printer and the parser of graphs share.
#pragma once

#include <string>
#include <string_view>

#include "core/size.h"

namespace rota::ir {

/// "input", "host" or "data".
const char* symbolOriginName(SymbolOrigin origin);
/// Characters of names that stand without quotes.
bool isPlainNameChar(char c);
bool isPlainName(std::string_view name);
/// Letters, digits and underscores, not starting with a digit.
bool isIdentifier(std::string_view name);
/// In quotes, with \" \\ and \xHH.
std::string quote(const std::string& text);

}  // namespace rota::ir
