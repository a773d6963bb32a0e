// SPDX-License-Identifier: Apache-2.0
// Fuzzes the binary forms of inputs: .npy, .npz, .pb (a TensorProto, sequence or optional) and raw bytes. The first byte chooses the form.
#include <algorithm>

#include "core/check.h"
#include "data/forms.h"
#include "driver/fuzz.h"
#include "driver/protobuf_mutator.h"
#include "import/onnx/tensor_proto.h"

namespace {

using namespace rota;

/// What a reader gave can be read to its last byte.
void touch(const Result<Tensor>& tensor) {
  if (!tensor) {
    fuzz::expect(!tensor.status().toString().empty(), "an error has a text");
    return;
  }
  const std::size_t bytes = tensor->bytes();
  unsigned sum = 0;
  for (std::size_t i = 0; i < bytes; ++i) sum += std::to_integer<unsigned>(tensor->data()[i]);
  fuzz::expect(sum != 1u << 31 || bytes > 0, "sums are of bytes");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static fuzz::MemoryFile file;
  static const char* const kEndings[] = {".npy", ".npz", ".pb", ".bin"};
  const std::string ending = kEndings[data[0] % 4];
  file.set({data + 1, size - 1});
  TensorInfo info;
  info.name = "x";
  info.dtype = DType::kFloat32;
  info.dims = {-1, 2};
  touch(data::readForm(file.path(ending), info, info.dims));
  if (ending != ".pb") return 0;
  for (const ir::TypeKind kind : {ir::TypeKind::kSequence, ir::TypeKind::kOptional}) {
    const auto value = onnx::readValueFile(file.path(ending), kind);
    if (!value || !value->value.sequence) continue;
    for (const Tensor& element : value->value.sequence->elements) touch(element);
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t maxSize,
                                               unsigned int seed) {
  fuzz::Random random(seed);
  std::vector<fuzz::Field> fields;
  if (size < 2 || data[0] % 4 != 2 || random.oneIn(4) ||
      !fuzz::parseMessage(fuzz::textOf(data + 1, size - 1), fields))
    return LLVMFuzzerMutate(data, size, maxSize);
  fuzz::mutateMessage(fields, random, {"x", "location", "offset", "length", "../x", "/etc/passwd"});
  std::string out;
  fuzz::writeMessage(fields, out);
  if (out.size() + 1 > maxSize) return size;
  std::copy(out.begin(), out.end(), data + 1);
  return out.size() + 1;
}
