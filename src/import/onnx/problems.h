// SPDX-License-Identifier: Apache-2.0
// The problems of one import, equal ones grouped: an operator that 40 nodes use is one problem that names some of them and the count.
// Tested by src/import/onnx/reader_test.cpp.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <rota/status.h>

namespace rota::onnx {

class Problems {
 public:
  /// One more problem at `where` (a node, value or input). Problems with the same code and texts are one. After 1000 different ones, others are
  /// only counted.
  void add(const Status& status, std::string_view where);
  bool empty() const { return entries_.empty(); }
  /// All of them in the order of their first appearance.
  std::vector<Status> take();

 private:
  struct Entry {
    ErrorDetail detail;
    std::vector<std::string> places;
    std::size_t count = 0;
  };
  std::vector<Entry> entries_;
  std::map<std::string, std::size_t> byText_;
  std::size_t dropped_ = 0;
};

}  // namespace rota::onnx
