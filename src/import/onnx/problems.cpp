// SPDX-License-Identifier: Apache-2.0
// See problems.h.
#include "import/onnx/problems.h"

namespace rota::onnx {
namespace {

constexpr std::size_t kMaxProblems = 1000;
constexpr std::size_t kMaxPlaces = 5;

}  // namespace

void Problems::add(const Status& status, std::string_view where) {
  const ErrorDetail& detail = status.detail();
  const std::string_view place = where.empty() ? std::string_view(detail.node) : where;
  std::string key = std::to_string(static_cast<int>(detail.code));
  for (const std::string* text : {&detail.message, &detail.expected, &detail.found, &detail.fix})
    key += '\n' + *text;
  auto [found, isNew] = byText_.try_emplace(std::move(key), entries_.size());
  if (isNew) {
    if (entries_.size() >= kMaxProblems) {
      byText_.erase(found);
      ++dropped_;
      return;
    }
    entries_.push_back({detail, {}, 0});
  }
  Entry& entry = entries_[found->second];
  ++entry.count;
  if (entry.places.size() < kMaxPlaces) entry.places.emplace_back(place);
}

std::vector<Status> Problems::take() {
  std::vector<Status> result;
  for (Entry& entry : entries_) {
    std::string where;
    for (const std::string& place : entry.places) where += (where.empty() ? "" : ", ") + place;
    if (entry.count > entry.places.size())
      where += " and " + std::to_string(entry.count - entry.places.size()) + " more";
    entry.detail.node = std::move(where);
    if (entry.count > 1) entry.detail.message += " (" + std::to_string(entry.count) + " times)";
    result.push_back(Status(std::move(entry.detail)));
  }
  if (dropped_ != 0) {
    result.push_back(
        Status(ErrorCode::kModelInvalid, std::to_string(dropped_) + " further problems are not listed"));
  }
  entries_.clear();
  byText_.clear();
  dropped_ = 0;
  return result;
}

}  // namespace rota::onnx
