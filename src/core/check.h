// SPDX-License-Identifier: Apache-2.0
// The two macros of the project: CHECK for bugs (it ends the process with file, line and condition) and
// ROTA_RETURN_IF_ERROR for early return of an error. User errors never go through CHECK.
#pragma once

namespace rota {

[[noreturn]] void checkFailed(const char* condition, const char* file, int line);

}  // namespace rota

#define CHECK(condition) \
  (static_cast<bool>(condition) ? static_cast<void>(0) : ::rota::checkFailed(#condition, __FILE__, __LINE__))

#define ROTA_RETURN_IF_ERROR(expression)                                          \
  do {                                                                            \
    if (auto rotaStatus_ = (expression); !rotaStatus_.isOk()) return rotaStatus_; \
  } while (false)
