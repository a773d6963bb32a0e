// SPDX-License-Identifier: Apache-2.0
// Status: the error part. The detail is shared between copies and copied when one of several owners changes it, so
// passing a Status up through many frames is a pointer copy.
// Tested by src/core/status_test.cpp.
#include <rota/status.h>

#include "core/check.h"

namespace rota {
namespace {

/// The detail of one owner, ready to be changed.
ErrorDetail& writable(std::shared_ptr<ErrorDetail>& detail) {
  CHECK(detail != nullptr);
  if (detail.use_count() > 1) detail = std::make_shared<ErrorDetail>(*detail);
  return *detail;
}

void appendPart(std::string& text, std::string_view label, const std::string& part) {
  if (part.empty()) return;
  text.append("; ").append(label).append(part);
}

}  // namespace

Status::Status(ErrorCode code, std::string message) : detail_(std::make_shared<ErrorDetail>()) {
  CHECK(code != ErrorCode::kOk);
  detail_->code = code;
  detail_->message = std::move(message);
}

Status::Status(ErrorDetail detail) : detail_(std::make_shared<ErrorDetail>(std::move(detail))) {
  CHECK(detail_->code != ErrorCode::kOk);
}

ErrorCode Status::code() const { return detail_ ? detail_->code : ErrorCode::kOk; }

Status&& Status::at(std::string node) && {
  writable(detail_).node = std::move(node);
  return std::move(*this);
}

Status&& Status::expected(std::string text) && {
  writable(detail_).expected = std::move(text);
  return std::move(*this);
}

Status&& Status::found(std::string text) && {
  writable(detail_).found = std::move(text);
  return std::move(*this);
}

Status&& Status::fix(std::string text) && {
  writable(detail_).fix = std::move(text);
  return std::move(*this);
}

std::string Status::toString() const {
  if (isOk()) return "ok";
  std::string text = errorCodeText(detail_->code);
  // "input 'x'" says by itself what is the name.
  const char* quote = detail_->node.find('\'') == std::string::npos ? "'" : "";
  if (!detail_->node.empty()) text.append(" at ").append(quote).append(detail_->node).append(quote);
  text.append(": ").append(detail_->message);
  appendPart(text, "expected ", detail_->expected);
  appendPart(text, "found ", detail_->found);
  appendPart(text, "do this: ", detail_->fix);
  return text;
}

std::string errorCodeText(ErrorCode code) {
  return code == ErrorCode::kOk ? std::string("ok") : "R" + std::to_string(static_cast<unsigned>(code));
}

}  // namespace rota
