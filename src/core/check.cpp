// SPDX-License-Identifier: Apache-2.0
// The end of the process when an internal invariant does not hold. It writes with plain stdio, because a broken
// invariant may mean that nothing of ours can be trusted any more, and aborts so that a core file can be had.
// Tested by src/core/check_test.cpp.
#include "core/check.h"

#include <cstdio>
#include <cstdlib>

namespace rota {

void checkFailed(const char* condition, const char* file, int line) {
  std::fprintf(stderr,
               "rota: internal error R1901: %s:%d: the condition '%s' does not hold; please report this\n",
               file, line, condition);
  std::fflush(stderr);
  std::abort();
}

}  // namespace rota
