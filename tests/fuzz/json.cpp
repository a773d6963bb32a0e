// SPDX-License-Identifier: Apache-2.0
// Fuzzes JSON files as inputs of a run: one for all inputs, and one for an input of each class of element type.
#include "core/check.h"
#include "data/forms.h"
#include "data/inputs.h"
#include "driver/fuzz.h"

namespace {

rota::TensorInfo input(const char* name, rota::DType dtype, std::vector<std::int64_t> dims) {
  rota::TensorInfo info;
  info.name = name;
  info.dtype = dtype;
  info.dims = std::move(dims);
  info.dimNames.resize(info.dims.size());
  return info;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rota;
  static fuzz::MemoryFile file;
  static const std::vector<TensorInfo> inputs = {
      input("x", DType::kFloat32, {-1, 2}), input("ids", DType::kInt64, {-1}),
      input("mask", DType::kBool, {}), input("q", DType::kUInt8, {2}), input("h", DType::kFloat16, {-1, -1})};
  file.set({data, size});
  const std::string path = file.path(".json");
  const auto together = data::readTogether(path, inputs);
  fuzz::expect(together.isOk() || !together.status().toString().empty(), "an error has a text");
  for (const TensorInfo& info : inputs) {
    const auto one = data::readForm(path, info, info.dims);
    if (!one) continue;
    fuzz::expect(one->dtype() == info.dtype, "a JSON input has the type of the input");
    fuzz::expect(one->count() <= static_cast<std::int64_t>(size),
                 "a JSON input has no more elements than bytes");
  }
  return 0;
}
