// SPDX-License-Identifier: Apache-2.0
// Progress on standard error: on a terminal a bar after the first second, elsewhere one plain line every 10 s; nothing with --quiet.
// A thread of its own draws, so that the time goes on while a phase is busy.
#include <algorithm>
#include <cstdio>
#include <string>
#include <unistd.h>

#include "cli/cli.h"

namespace rota::cli {

Progress::Progress(const Invocation& invocation, std::string what)
    : what_(std::move(what)),
      terminal_(isatty(STDERR_FILENO) == 1) {
  if (!invocation.quiet) thread_ = std::thread([this] { draw(); });
}

Progress::~Progress() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Progress::set(std::string_view phase, double done, double total) {
  const std::lock_guard lock(mutex_);
  phase_ = phase;
  done_ = done;
  total_ = total;
  timed_ = false;
}

void Progress::setTimed(std::string_view phase, double seconds) {
  set(phase, 0, seconds);
  const std::lock_guard lock(mutex_);
  timed_ = true;
  phaseStart_ = std::chrono::steady_clock::now();
}

void Progress::draw() {
  std::unique_lock lock(mutex_);
  bool drawn = false;
  while (!wake_.wait_for(lock, std::chrono::milliseconds(terminal_ ? (drawn ? 200 : 1000) : 10000),
                         [this] { return ended_; })) {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    if (timed_)
      done_ = std::min(total_,
                       std::chrono::duration<double>(std::chrono::steady_clock::now() - phaseStart_).count());
    const double share = total_ > 0 ? std::clamp(done_ / total_, 0.0, 1.0) : 0.0;
    if (terminal_) {
      constexpr int kWidth = 30;
      const int filled = static_cast<int>(share * kWidth);
      std::fprintf(stderr, "\r\x1b[K%s [%s%s] %s %.3g/%.3g  %.1f s", what_.c_str(),
                   std::string(static_cast<std::size_t>(filled), '#').c_str(),
                   std::string(static_cast<std::size_t>(kWidth - filled), '-').c_str(), phase_.c_str(), done_,
                   total_, seconds);
      std::fflush(stderr);
      drawn = true;
    } else {
      std::fprintf(stderr, "%s: %s %.3g/%.3g, %.0f s\n", what_.c_str(), phase_.c_str(), done_, total_,
                   seconds);
    }
  }
  if (drawn) std::fputs("\r\x1b[K", stderr);
}

}  // namespace rota::cli
