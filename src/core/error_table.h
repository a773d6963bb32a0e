// SPDX-License-Identifier: Apache-2.0
// What each error code means: the exit code of the program and the text of `rota explain`.
#pragma once

#include <span>

#include <rota/error_code.h>

namespace rota {

struct ErrorInfo {
  ErrorCode code;
  int exitCode;  ///< 1 failed, 2 usage, 3 accuracy, 4 engine mismatch, 5 interrupted, 6 unsupported, 7 memory/disk, 8 time.
  const char* title;        ///< A few words.
  const char* explanation;  ///< A paragraph: what it means, usual causes, what to do.
};

/// All codes, sorted by number.
std::span<const ErrorInfo> errorTable();

/// The row of `code`, or nullptr.
const ErrorInfo* findErrorInfo(ErrorCode code);

/// The process exit code that `code` maps to (1 when unknown).
int exitCodeOf(ErrorCode code);

}  // namespace rota
