// SPDX-License-Identifier: Apache-2.0
// Log lines go to standard error (results go to standard output). The sink is process-wide; the level is set once by the program.
#pragma once

#include <string_view>

namespace rota {

enum class LogLevel { kError, kWarning, kInfo, kVerbose };

void setLogLevel(LogLevel level);
LogLevel logLevel();
void log(LogLevel level, std::string_view message);

}  // namespace rota
