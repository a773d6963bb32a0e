// SPDX-License-Identifier: Apache-2.0
// Buffers and tensors. Large buffers are anonymous mappings: the kernel hands out zeroed pages when they are touched, and
// a size that cannot be had is an error here instead of a process that is killed later.
// Tested by src/core/tensor_test.cpp.
#include "core/tensor.h"

#include <cstdlib>
#include <cstring>
#include <limits>
#include <sys/mman.h>

#include "core/check.h"
#include "core/checked.h"
#include "core/element_access.h"

namespace rota {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kMappedFrom = std::size_t{1} << 20;

Status noMemory(std::size_t size) {
  return Status(ErrorCode::kOutOfMemory, "no memory for a tensor of " + std::to_string(size) + " bytes");
}

/// `size` zeroed bytes with what frees them, or nullptr.
std::shared_ptr<void> zeroedBytes(std::size_t size) {
  if (size > std::numeric_limits<std::size_t>::max() / 2) return nullptr;
  if (size >= kMappedFrom) {
    void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    return {memory, [size](void* p) { munmap(p, size); }};
  }
  const std::size_t rounded = (size + kAlignment) / kAlignment * kAlignment;  // never zero
  void* memory = std::aligned_alloc(kAlignment, rounded);
  if (memory == nullptr) return nullptr;
  std::memset(memory, 0, rounded);
  return {memory, [](void* p) { std::free(p); }};
}

std::string dimsText(const std::vector<std::int64_t>& dims) {
  std::string text = "[";
  for (std::size_t i = 0; i < dims.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(dims[i]);
  return text + "]";
}

/// Bytes of a tensor of this type and these dims, or why there can be none.
Result<std::size_t> bytesOf(DType dtype, const std::vector<std::int64_t>& dims) {
  if (info(dtype).bits == 0) {
    return Status(ErrorCode::kUnsupportedType,
                  std::string("a tensor of type ") + info(dtype).name + " has no byte form");
  }
  const std::optional<std::size_t> bytes = checkedBytes(dtype, dims);
  if (!bytes) {
    return Status(ErrorCode::kModelTooLarge,
                  "the dims of a tensor are negative or their product is too large")
        .found(dimsText(dims));
  }
  return *bytes;
}

}  // namespace

Result<std::shared_ptr<Buffer>> Buffer::allocate(std::size_t size) {
  std::shared_ptr<void> memory = zeroedBytes(size);
  if (memory == nullptr) return noMemory(size);
  auto buffer = std::make_shared<Buffer>();
  buffer->writable_ = static_cast<std::byte*>(memory.get());
  buffer->data_ = buffer->writable_;
  buffer->size_ = size;
  buffer->keeper_ = std::move(memory);
  return buffer;
}

std::shared_ptr<Buffer> Buffer::wrap(const void* data, std::size_t size, std::shared_ptr<const void> keeper) {
  auto buffer = std::make_shared<Buffer>();
  buffer->data_ = static_cast<const std::byte*>(data);
  buffer->size_ = size;
  buffer->keeper_ = std::move(keeper);
  return buffer;
}

Result<Tensor> Tensor::allocate(DType dtype, std::vector<std::int64_t> dims) {
  auto bytes = bytesOf(dtype, dims);
  if (!bytes) return bytes.status();
  auto buffer = Buffer::allocate(*bytes);
  if (!buffer) return buffer.status();
  Tensor tensor;
  tensor.dtype_ = dtype;
  tensor.dims_ = std::move(dims);
  tensor.buffer_ = std::move(*buffer);
  return tensor;
}

Result<Tensor> Tensor::over(DType dtype, std::vector<std::int64_t> dims, std::shared_ptr<Buffer> buffer,
                            std::size_t offset) {
  auto bytes = bytesOf(dtype, dims);
  if (!bytes) return bytes.status();
  CHECK(buffer != nullptr);
  if (offset > buffer->size() || *bytes > buffer->size() - offset) {
    return Status(ErrorCode::kModelInvalid, "the data of a tensor is shorter than its type and dims say")
        .expected(std::to_string(*bytes) + " bytes for " + info(dtype).name + dimsText(dims))
        .found(std::to_string(offset > buffer->size() ? 0 : buffer->size() - offset) + " bytes");
  }
  Tensor tensor;
  tensor.dtype_ = dtype;
  tensor.dims_ = std::move(dims);
  tensor.buffer_ = std::move(buffer);
  tensor.offset_ = offset;
  return tensor;
}

Tensor Tensor::ofInt64(std::vector<std::int64_t> values, std::vector<std::int64_t> dims) {
  auto tensor = allocate(DType::kInt64, std::move(dims));
  CHECK(tensor.isOk() && tensor->count() == static_cast<std::int64_t>(values.size()));
  if (!values.empty())
    std::memcpy(tensor->mutableData(), values.data(), values.size() * sizeof(std::int64_t));
  return std::move(tensor).value();
}

Tensor Tensor::ofFloat(std::vector<float> values, std::vector<std::int64_t> dims) {
  auto tensor = allocate(DType::kFloat32, std::move(dims));
  CHECK(tensor.isOk() && tensor->count() == static_cast<std::int64_t>(values.size()));
  if (!values.empty()) std::memcpy(tensor->mutableData(), values.data(), values.size() * sizeof(float));
  return std::move(tensor).value();
}

std::int64_t intAt(const TensorView& view, std::int64_t i) {
  CHECK(isInteger(view.dtype) || view.dtype == DType::kBool);
  CHECK(i >= 0 && i < view.count());
  if (view.dtype == DType::kUInt64) {
    std::uint64_t value = 0;
    loadAsUInt64(view, i, 1, &value);
    constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
    return value > static_cast<std::uint64_t>(kMax) ? kMax : static_cast<std::int64_t>(value);
  }
  std::int64_t value = 0;
  loadAsInt64(view, i, 1, &value);
  return value;
}

double realAt(const TensorView& view, std::int64_t i) {
  const ComputeType compute = info(view.dtype).compute;
  CHECK(compute != ComputeType::kNone && compute != ComputeType::kComplex);
  CHECK(i >= 0 && i < view.count());
  double value = 0;
  loadAsDouble(view, i, 1, &value);
  return value;
}

std::vector<std::int64_t> intsOf(const TensorView& view) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(view.count()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = intAt(view, static_cast<std::int64_t>(i));
  return values;
}

}  // namespace rota
