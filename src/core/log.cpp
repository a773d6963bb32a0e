// SPDX-License-Identifier: Apache-2.0
// Log lines through spdlog, which is named in this file only: one logger on standard error, synchronous, so that the
// last line before a crash is not lost.
// Tested by src/core/log_test.cpp.
#include "core/log.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <memory>

#include <spdlog/sinks/ansicolor_sink.h>
#include <spdlog/spdlog.h>

#include "core/file.h"

namespace rota {
namespace {

std::atomic<LogLevel> currentLevel{LogLevel::kWarning};

struct Sink {
  std::shared_ptr<spdlog::sinks::ansicolor_stderr_sink_mt> sink;
  spdlog::logger logger;

  Sink() : sink(std::make_shared<spdlog::sinks::ansicolor_stderr_sink_mt>()), logger("rota", sink) {
    logger.set_level(spdlog::level::trace);  // the level is checked before
    logger.set_pattern("rota: %^%l%$: %v");
    logger.flush_on(spdlog::level::trace);
  }
};

Sink& sink() {
  static auto* const instance =
      std::make_unique<Sink>().release();  // never destroyed: lines from static destructors still arrive
  return *instance;
}

std::FILE* logFile = nullptr;

const char* nameOf(LogLevel level) {
  switch (level) {
    case LogLevel::kError: return "error";
    case LogLevel::kWarning: return "warning";
    case LogLevel::kInfo: return "info";
    case LogLevel::kVerbose: return "verbose";
  }
  return "info";
}

spdlog::level::level_enum levelOf(LogLevel level) {
  switch (level) {
    case LogLevel::kError: return spdlog::level::err;
    case LogLevel::kWarning: return spdlog::level::warn;
    case LogLevel::kInfo: return spdlog::level::info;
    case LogLevel::kVerbose: return spdlog::level::debug;
  }
  return spdlog::level::info;
}

}  // namespace

void setLogLevel(LogLevel level) { currentLevel.store(level, std::memory_order_relaxed); }

LogLevel logLevel() { return currentLevel.load(std::memory_order_relaxed); }

void setLogColor(bool allowed) {
  sink().sink->set_color_mode(allowed ? spdlog::color_mode::automatic : spdlog::color_mode::never);
}

Status setLogFile(const std::string& path) {
  logFile = std::fopen(path.c_str(), "ae");
  return logFile != nullptr ? Status::ok() : writeFileError(path, errno);
}

void logToFile(LogLevel level, std::string_view message) {
  if (logFile == nullptr) return;
  char time[32];
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  std::strftime(time, sizeof time, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &parts));
  // One call a line: lines of several threads do not mix.
  std::fprintf(logFile, "%s %s: %.*s\n", time, nameOf(level), static_cast<int>(message.size()),
               message.data());
  std::fflush(logFile);
}

void log(LogLevel level, std::string_view message) {
  logToFile(level, message);
  if (level > logLevel()) return;
  sink().logger.log(levelOf(level), spdlog::string_view_t(message.data(), message.size()));
}

}  // namespace rota
