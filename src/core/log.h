// SPDX-License-Identifier: Apache-2.0
// Log lines go to standard error (results go to standard output), each as `rota: level: message`. The sink is
// process-wide; level and color are set once by the program. Any thread may log. Tested by src/core/log_test.cpp.
#pragma once

#include <string>
#include <string_view>

#include <rota/status.h>

namespace rota {

enum class LogLevel { kError, kWarning, kInfo, kVerbose };

/// Lines above this level are dropped; kWarning at the start.
void setLogLevel(LogLevel level);
LogLevel logLevel();
/// Whether the level may be colored when standard error is a terminal (the program passes what NO_COLOR says).
void setLogColor(bool allowed);
void log(LogLevel level, std::string_view message);
/// Lines also go to the end of this file, with the time. Call it once, before other threads log.
Status setLogFile(const std::string& path);
/// Only to that file, if there is one: for what has its own way to the terminal.
void logToFile(LogLevel level, std::string_view message);

}  // namespace rota
