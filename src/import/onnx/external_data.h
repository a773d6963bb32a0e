// SPDX-License-Identifier: Apache-2.0
// External data of initializers: which files may be opened, and the arithmetic of offset and length.
//
// A location is relative to the model's folder, without parent folders. After links are followed the file must lie inside the folder of
// the model, the folder where the model really lies when it is itself a link (as model hubs lay out their caches), or a root that the
// caller allows. Files are mapped once each; nothing is read or allocated before all checks have passed.
// Tested by src/import/onnx/external_data_test.cpp.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor.h"

namespace rota::onnx {

/// The string pairs of TensorProto.external_data.
struct ExternalEntry {
  std::string_view key;
  std::string_view value;
};

/// A run of bytes inside a mapped file.
struct ExternalRange {
  std::shared_ptr<Buffer> buffer;
  std::size_t offset = 0;
};

class ExternalData {
 public:
  /// `folder` is where locations start ("" when there is none: then only `buffers` are known); `roots` are further folders in which files
  /// may really lie. Bytes in `buffers` stand for files of that location and must be kept by their Buffer.
  ExternalData(std::string folder, const std::vector<std::string>& roots,
               std::map<std::string, std::shared_ptr<Buffer>> buffers);

  /// The bytes that `entries` describe; `bytes` is the size that the tensor's type and dims need. The error says which rule was broken.
  Result<ExternalRange> find(std::span<const ExternalEntry> entries, std::size_t bytes);

 private:
  Result<std::shared_ptr<Buffer>> open(const std::string& location);

  std::string folder_;
  std::vector<std::string> roots_;
  std::map<std::string, std::shared_ptr<Buffer>> buffers_;
  std::map<std::string, Status> failures_;
};

/// Folders in which the files of the model at `path` may lie: its own, and the one where it really lies.
std::vector<std::string> modelRoots(const std::string& path);
/// The folder part of `path` ("." when there is none).
std::string folderOf(const std::string& path);

}  // namespace rota::onnx
