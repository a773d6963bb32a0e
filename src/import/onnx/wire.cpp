// SPDX-License-Identifier: Apache-2.0
// Packed and unpacked repeated numbers, UTF-8. Tested by src/import/onnx/tensor_proto_test.cpp and reader_test.cpp.
#include "import/onnx/wire.h"

#include <limits>

#include "import/onnx/fields.h"

namespace rota::onnx {

void Fields::checkLength() const {
  const auto rest = reader_.data();
  const char* at = rest.data();
  const char* const end = at + rest.size();
  const std::uint64_t length = protozero::decode_varint(&at, end);
  if (length > static_cast<std::uint64_t>(end - at)) throw protozero::end_of_buffer_exception();
  if (length > std::numeric_limits<protozero::pbf_length_type>::max())
    fail(ErrorCode::kModelTooLarge,
         "a field is longer than 4 GiB; weights of this size belong into external data");
}

std::string_view Fields::text() {
  const std::string_view view = bytes();
  if (!isUtf8(view)) fail(ErrorCode::kModelInvalid, "a string is not UTF-8 text");
  return view;
}

std::string_view Fields::name() {
  constexpr std::size_t kMaxName = 4096;
  const std::string_view view = text();
  if (view.size() > kMaxName) fail(ErrorCode::kModelTooLarge, "a name is longer than 4096 bytes");
  return view;
}

void Fields::append(std::vector<std::int64_t>& values) {
  if (reader_.wire_type() == protozero::pbf_wire_type::length_delimited) {
    for (const std::int64_t value : reader_.get_packed_int64()) values.push_back(value);
  } else {
    values.push_back(integer());
  }
}

void Fields::append(std::vector<float>& values) {
  if (reader_.wire_type() == protozero::pbf_wire_type::length_delimited) {
    for (const float value : reader_.get_packed_float()) values.push_back(value);
  } else {
    values.push_back(real());
  }
}

void Fields::append(std::vector<double>& values) {
  if (reader_.wire_type() == protozero::pbf_wire_type::length_delimited) {
    for (const double value : reader_.get_packed_double()) values.push_back(value);
  } else {
    expect(protozero::pbf_wire_type::fixed64);
    values.push_back(reader_.get_double());
  }
}

bool isUtf8(std::string_view text) {
  std::size_t i = 0;
  const auto byteAt = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  while (i < text.size()) {
    const unsigned char lead = byteAt(i);
    if (lead < 0x80) {
      ++i;
      continue;
    }
    std::size_t length = 0;
    std::uint32_t point = 0;
    if (lead >= 0xC2 && lead <= 0xDF) {
      length = 2;
      point = lead & 0x1Fu;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
      length = 3;
      point = lead & 0x0Fu;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
      length = 4;
      point = lead & 0x07u;
    } else {
      return false;
    }
    if (text.size() - i < length) return false;
    for (std::size_t k = 1; k < length; ++k) {
      const unsigned char next = byteAt(i + k);
      if ((next & 0xC0u) != 0x80u) return false;
      point = (point << 6) | (next & 0x3Fu);
    }
    const bool overlong = (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
    if (overlong || (point >= 0xD800 && point <= 0xDFFF) || point > 0x10FFFF) return false;
    i += length;
  }
  return true;
}

const char* attributeKindName(AttributeKind kind) {
  switch (kind) {
    case AttributeKind::kUndefined: return "undefined";
    case AttributeKind::kFloat: return "float";
    case AttributeKind::kInt: return "int";
    case AttributeKind::kString: return "string";
    case AttributeKind::kTensor: return "tensor";
    case AttributeKind::kGraph: return "graph";
    case AttributeKind::kFloats: return "list of floats";
    case AttributeKind::kInts: return "list of ints";
    case AttributeKind::kStrings: return "list of strings";
    case AttributeKind::kTensors: return "list of tensors";
    case AttributeKind::kGraphs: return "list of graphs";
    case AttributeKind::kSparseTensor: return "sparse tensor";
    case AttributeKind::kSparseTensors: return "list of sparse tensors";
    case AttributeKind::kTypeProto: return "type";
    case AttributeKind::kTypeProtos: return "list of types";
  }
  return "unknown";
}

}  // namespace rota::onnx
