// SPDX-License-Identifier: Apache-2.0
// Status and Result: how every call of Rota reports failure.
//
// Nothing throws across the public API. An error carries a stable code (`R1042`, explained by `rota explain`),
// the source node it is about, what was expected, what was found and what to do about it.
// A Status without an error costs one pointer and no allocation.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <rota/error_code.h>

namespace rota {

/// What is known about one error; every field but `message` may be empty.
struct ErrorDetail {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;   ///< One sentence: what went wrong.
  std::string node;      ///< The user's node, value, input or file the message is about.
  std::string expected;  ///< What would have been right.
  std::string found;     ///< What was there instead.
  std::string fix;       ///< What the user can do.
};

/// Success, or one error. Must be used.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(ErrorCode code, std::string message);
  explicit Status(ErrorDetail detail);

  static Status ok() { return Status(); }
  bool isOk() const { return detail_ == nullptr; }
  explicit operator bool() const { return isOk(); }

  ErrorCode code() const;
  /// The error; only when !isOk().
  const ErrorDetail& detail() const { return *detail_; }

  /// Fluent setters for the parts of an error: `return Status(code, "…").at(node).expected("…").fix("…");`
  Status&& at(std::string node) &&;
  Status&& expected(std::string text) &&;
  Status&& found(std::string text) &&;
  Status&& fix(std::string text) &&;

  /// `R1042 at 'conv1': message; expected …; found …; do this: …` on one line.
  std::string toString() const;

 private:
  std::shared_ptr<ErrorDetail> detail_;
};

/// A value, or the error that kept it from being made. Must be used.
template <typename T> class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}         // NOLINT(google-explicit-constructor)
  Result(Status status) : state_(std::move(status)) {}  // NOLINT(google-explicit-constructor)

  bool isOk() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return isOk(); }
  Status status() const { return isOk() ? Status() : std::get<Status>(state_); }

  /// The value; only when isOk().
  T& value() & { return std::get<T>(state_); }
  const T& value() const& { return std::get<T>(state_); }
  T&& value() && { return std::get<T>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<T, Status> state_;
};

/// The text of `code` as users see it, for example "R1101".
std::string errorCodeText(ErrorCode code);

}  // namespace rota
