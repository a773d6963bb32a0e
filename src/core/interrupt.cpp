// SPDX-License-Identifier: Apache-2.0
// The handler only touches one lock-free atomic and async-signal-safe calls. SA_RESTART is left out: a blocked read or
// wait returns with EINTR, so that work notices the flag soon; the file layer repeats its calls by itself.
// Tested by src/core/interrupt_test.cpp.
#include "core/interrupt.h"

#include <atomic>
#include <cerrno>
#include <signal.h>

namespace rota {
namespace {

std::atomic<bool> flag{false};
static_assert(std::atomic<bool>::is_always_lock_free, "used in a signal handler");

void onSignal(int number) {
  const int before = errno;
  if (flag.exchange(true)) {
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
  errno = before;
}

}  // namespace

void installInterruptHandlers() {
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
