// SPDX-License-Identifier: Apache-2.0
// The handler only touches one lock-free atomic and async-signal-safe calls. SA_RESTART is left out: a blocked read or
// wait returns with EINTR, so that work notices the flag soon; the file layer repeats its calls by itself.
// Tested by src/core/interrupt_test.cpp.
#include "core/interrupt.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <signal.h>
#include <unistd.h>

namespace rota {
namespace {

std::atomic<bool> flag{false};
static_assert(std::atomic<bool>::is_always_lock_free, "used in a signal handler");

/// Seconds between the first signal and the forced end.
constexpr unsigned kGrace = 4;

/// Unfinished files. A slot is taken (1), then filled (2), then free again (0); the handler reads only filled ones.
struct Slot {
  std::atomic<int> state{0};
  char path[1024] = {};
};
Slot slots[16];

void removeUnfinished() {
  for (Slot& s : slots)
    if (s.state.load() == 2) unlink(s.path);
  for (Slot& s : slots)
    if (s.state.load() == 2) rmdir(s.path);  // folders, which are empty now
}

void onAlarm(int) {
  removeUnfinished();
  constexpr char kText[] = "error: R1602: the job was interrupted and did not stop in time; it was ended\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, kText, sizeof kText - 1);
  _exit(5);
}

void onSignal(int number) {
  const int before = errno;
  if (flag.exchange(true)) {
    removeUnfinished();
    // The second one: end as the signal would have ended us, so that the parent sees the true cause.
    struct sigaction byDefault{};
    byDefault.sa_handler = SIG_DFL;
    sigaction(number, &byDefault, nullptr);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &set, nullptr);
  }
  alarm(kGrace);
  errno = before;
}

}  // namespace

void removeWhenForced(const std::string& path) {
  if (path.size() >= sizeof Slot::path) return;
  for (Slot& s : slots) {
    int free = 0;
    if (!s.state.compare_exchange_strong(free, 1)) continue;
    std::memcpy(s.path, path.c_str(), path.size() + 1);
    s.state.store(2);
    return;
  }
}

void keepWhenForced(const std::string& path) {
  for (Slot& s : slots)
    if (s.state.load() == 2 && path == s.path) s.state.store(0);
}

void installInterruptHandlers() {
  struct sigaction atAlarm{};
  atAlarm.sa_handler = onAlarm;
  sigemptyset(&atAlarm.sa_mask);
  sigaction(SIGALRM, &atAlarm, nullptr);
  // A write beyond a limit of file size is an error like a full disk, not the end of the process.
  struct sigaction ignored{};
  ignored.sa_handler = SIG_IGN;
  sigaction(SIGXFSZ, &ignored, nullptr);
  for (const int number : {SIGINT, SIGTERM}) {
    struct sigaction current{};
    if (sigaction(number, nullptr, &current) != 0 || current.sa_handler == SIG_IGN) continue;
    struct sigaction ours{};
    ours.sa_handler = onSignal;
    sigemptyset(&ours.sa_mask);
    sigaction(number, &ours, nullptr);
  }
}

bool interrupted() { return flag.load(std::memory_order_relaxed); }

Status checkInterrupted() {
  if (!interrupted()) return Status::ok();
  return Status(ErrorCode::kInterrupted, "the job was interrupted");
}

void setInterrupted(bool value) { flag.store(value); }

}  // namespace rota
