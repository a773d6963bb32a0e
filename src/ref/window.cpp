// SPDX-License-Identifier: Apache-2.0
// Sliding windows; see window.h. Tested by src/ref/conv_test.cpp and src/ref/pool_test.cpp.
#include "ref/window.h"

#include <algorithm>
#include <string>

namespace rota::ref {

namespace {

Status readPerAxis(const Attributes& attributes, const char* name, std::size_t rank,
                   std::array<std::int64_t, kMaxSpatial>& values) {
  values.fill(1);
  const auto* given = attributes.getInts(name);
  if (given == nullptr || given->empty()) return Status::ok();
  if (given->size() != rank || *std::min_element(given->begin(), given->end()) < 1) {
    return Status(ErrorCode::kBadAttribute, "Attribute '" + std::string(name) + "' does not fit the tensor")
        .expected(std::to_string(rank) + " values of at least 1");
  }
  std::copy(given->begin(), given->end(), values.begin());
  return Status::ok();
}

}  // namespace

Result<Window> windowOf(const Attributes& attributes, Dims in, Dims kernel, Dims out) {
  Window w;
  w.rank = in.size();
  if (w.rank > kMaxSpatial || kernel.size() != w.rank || out.size() != w.rank) {
    return Status(ErrorCode::kShapeMismatch, "The window does not fit the tensor")
        .expected("as many kernel sizes as spatial axes, at most " + std::to_string(kMaxSpatial));
  }
  std::copy(in.begin(), in.end(), w.in.begin());
  std::copy(kernel.begin(), kernel.end(), w.kernel.begin());
  std::copy(out.begin(), out.end(), w.out.begin());
  ROTA_RETURN_IF_ERROR(readPerAxis(attributes, "strides", w.rank, w.stride));
  ROTA_RETURN_IF_ERROR(readPerAxis(attributes, "dilations", w.rank, w.dilation));

  const std::string_view autoPad = attributes.getString("auto_pad", "NOTSET");
  if (autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER") {
    for (std::size_t d = 0; d < w.rank; ++d) {
      const std::int64_t total =
          std::max<std::int64_t>(0, (w.out[d] - 1) * w.stride[d] + w.extent(d) - w.in[d]);
      w.padBegin[d] = autoPad == "SAME_UPPER" ? total / 2 : total - total / 2;
      w.padEnd[d] = total - w.padBegin[d];
    }
    return w;
  }
  const auto* pads = attributes.getInts("pads");
  if (autoPad == "VALID" || pads == nullptr || pads->empty()) return w;
  if (pads->size() != 2 * w.rank || *std::min_element(pads->begin(), pads->end()) < 0) {
    return Status(ErrorCode::kBadAttribute, "Attribute 'pads' does not fit the tensor")
        .expected(std::to_string(2 * w.rank) + " values of at least 0");
  }
  for (std::size_t d = 0; d < w.rank; ++d) {
    w.padBegin[d] = (*pads)[d];
    w.padEnd[d] = (*pads)[w.rank + d];
  }
  return w;
}

}  // namespace rota::ref
