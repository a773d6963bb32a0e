// SPDX-License-Identifier: Apache-2.0
// An owned or mapped tensor: initializers, constants, results of the evaluator.
//
// The bytes lie in a shared immutable Buffer: heap memory, or a region of a mapped file that is kept alive by it. Copying
// a Tensor copies a pointer. A tensor under construction is written through `mutableData` while it is the only owner.
// Tested by src/core/tensor_test.cpp.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <rota/status.h>
#include <rota/tensor_view.h>

namespace rota {

/// Immutable bytes that something keeps alive.
class Buffer {
 public:
  /// `size` zeroed bytes, 64-byte aligned; kOutOfMemory when they cannot be had.
  static Result<std::shared_ptr<Buffer>> allocate(std::size_t size);
  /// Bytes owned by `keeper` (a mapped file, say).
  static std::shared_ptr<Buffer> wrap(const void* data, std::size_t size, std::shared_ptr<const void> keeper);

  const std::byte* data() const { return data_; }
  std::byte* mutableData() { return writable_; }
  std::size_t size() const { return size_; }

 private:
  const std::byte* data_ = nullptr;
  std::byte* writable_ = nullptr;  // nullptr for wrapped bytes
  std::size_t size_ = 0;
  std::shared_ptr<const void> keeper_;
};

class Tensor {
 public:
  Tensor() = default;
  /// A zeroed tensor; refuses negative dims, overflowing sizes and strings.
  static Result<Tensor> allocate(DType dtype, std::vector<std::int64_t> dims);
  /// A tensor over existing bytes; refuses a buffer that is too small at `offset`.
  static Result<Tensor> over(DType dtype, std::vector<std::int64_t> dims, std::shared_ptr<Buffer> buffer,
                             std::size_t offset = 0);
  /// Convenience for tests and passes: copies of values.
  static Tensor ofInt64(std::vector<std::int64_t> values, std::vector<std::int64_t> dims);
  static Tensor ofFloat(std::vector<float> values, std::vector<std::int64_t> dims);

  bool isGiven() const { return dtype_ != DType::kUndefined; }
  DType dtype() const { return dtype_; }
  const std::vector<std::int64_t>& dims() const { return dims_; }
  std::int64_t count() const { return elementCount(dims_); }
  std::size_t bytes() const { return view().bytes(); }
  const std::byte* data() const { return buffer_ ? buffer_->data() + offset_ : nullptr; }
  /// Only for tensors made by `allocate`.
  std::byte* mutableData() { return buffer_ ? buffer_->mutableData() + offset_ : nullptr; }
  TensorView view() const { return {dtype_, dims_, data()}; }
  MutableTensorView mutableView() { return {dtype_, dims_, mutableData()}; }

 private:
  DType dtype_ = DType::kUndefined;
  std::vector<std::int64_t> dims_;
  std::shared_ptr<Buffer> buffer_;
  std::size_t offset_ = 0;
};

/// Element `i` of an integer or boolean tensor as int64 (uint64 beyond the range saturates); i < count.
std::int64_t intAt(const TensorView& view, std::int64_t i);
/// Element `i` of any real tensor as double.
double realAt(const TensorView& view, std::int64_t i);
/// All elements of an integer tensor.
std::vector<std::int64_t> intsOf(const TensorView& view);

}  // namespace rota
