// SPDX-License-Identifier: Apache-2.0
#include "engine/recognize.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace rota::engine {

namespace {

struct Signature {
  std::size_t offset;
  std::string_view bytes;
  const char* what;
};

constexpr Signature kSignatures[] = {
    {0, std::string_view("ROTAWGT\0", 8), "the weights file of an engine; name the engine instead"},
    {0, "PK\x03\x04", "a zip archive (a PyTorch or Keras file, perhaps)"},
    {0, "\x1f\x8b", "a gzip archive"},
    {0,
     "\x7f"
     "ELF",
     "a program or library"},
    {0, "\x89HDF", "an HDF5 file"},
    {0, "\x93NUMPY", "a numpy array"},
    {0, "\x89PNG", "a PNG image"},
    {0, "\xff\xd8\xff", "a JPEG image"},
    {0, "GGUF", "a GGUF file"},
    {0, "version https://git-lfs", "a Git LFS pointer, not the file itself"},
    {4, "TFL3", "a TensorFlow Lite model"},
    {4, "ORTM", "an ONNX Runtime model"},
};

/// ModelProto starts with its IR version (field 1) as a rule, followed by the producer, opsets or the graph.
bool looksLikeOnnx(std::string_view text) {
  if (text.size() < 4) return false;
  constexpr std::string_view kNextFields = "\x12\x1a\x22\x28\x32\x3a\x42\x72";
  if (text[0] == '\x08')
    return text[1] >= 1 && text[1] < 64 && kNextFields.find(text[2]) != std::string_view::npos;
  return text[0] == '\x3a' && text.find('\x12') != std::string_view::npos &&
         text.find('\x0a') != std::string_view::npos;
}

bool isText(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto b = static_cast<unsigned char>(c);
    return b >= 0x20 || c == '\n' || c == '\r' || c == '\t' || c == '\f';
  });
}

}  // namespace

std::string recognize(std::span<const std::byte> bytes) {
  if (bytes.empty()) return "an empty file";
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                              std::min<std::size_t>(bytes.size(), 256));
  for (const Signature& s : kSignatures)
    if (text.size() >= s.offset + s.bytes.size() && text.substr(s.offset, s.bytes.size()) == s.bytes)
      return s.what;
  if (looksLikeOnnx(text)) return "an ONNX model, it seems";
  if (isText(text)) return text.front() == '{' || text.front() == '[' ? "JSON text" : "text";
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex = "unknown bytes";
  for (std::size_t i = 0; i < text.size() && i < 8; ++i) {
    const auto b = static_cast<unsigned char>(text[i]);
    hex += ' ';
    hex += kDigits[b >> 4];
    hex += kDigits[b & 15];
  }
  return hex;
}

}  // namespace rota::engine
