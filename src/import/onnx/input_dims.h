// SPDX-License-Identifier: Apache-2.0
// Sizes of the graph's inputs: constants, or symbols with ranges from the options. Equal names are one symbol; a name or dim that the
// options fix becomes a constant everywhere. A symbol is at least 1 unless a range says otherwise.
// Tested by src/import/onnx/reader_test.cpp.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "import/onnx/model_view.h"
#include "import/onnx/problems.h"
#include "import/onnx/reader.h"

namespace rota::onnx {

class InputDims {
 public:
  InputDims(const ImportOptions& options, SizeContext& sizes, Problems& problems)
      : options_(options),
        sizes_(sizes),
        problems_(problems) {}

  /// First all inputs are noted, then their shapes are asked for.
  void note(const std::string& input, const TypeView& type);
  /// Checks that every option named something.
  void finish();
  ir::Shape shapeOf(const std::string& input, const TypeView& type);

 private:
  struct Range {
    std::int64_t lo = -1;  ///< -1: nothing said.
    std::int64_t hi = -1;
    std::string from;
  };
  using Key =
      std::pair<std::string,
                std::size_t>;  ///< (name of the dim, 0), or ("\n" + input, axis) for a dim without name.

  static Key keyOf(const std::string& input, const TypeView& type, std::size_t axis);
  void restrict(const Key& key, const DimRange& range, const std::string& from);
  void noteStatic(const std::string& input, std::size_t axis, std::int64_t value, const DimRange& range);
  Size sizeOf(const std::string& input, const Key& key);

  const ImportOptions& options_;
  SizeContext& sizes_;
  Problems& problems_;
  std::map<Key, Range> ranges_;
  std::map<Key, Size> made_;
  std::vector<std::string> inputs_;
};

}  // namespace rota::onnx
