// SPDX-License-Identifier: Apache-2.0
// TensorProto, SparseTensorProto, SequenceProto and OptionalProto to tensors.
//
// Raw data stays where it is (a view that keeps the mapping alive) when it is aligned for its type, else it is copied; typed data fields
// are decoded. Sizes are checked against the bytes that are there before anything is allocated, so a small file cannot ask for much
// memory. String tensors are refused. Tested by src/import/onnx/tensor_proto_test.cpp.
#pragma once

#include <string>
#include <string_view>

#include "import/onnx/external_data.h"
#include "op/evaluate.h"

namespace rota::onnx {

/// Where the bytes of a message lie, and where external data may be.
struct TensorSource {
  std::shared_ptr<Buffer> file;      ///< Holds the message; nullptr: raw data are always copied.
  ExternalData* external = nullptr;  ///< nullptr: external data are refused.
};

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

/// A TensorProto. Errors name the tensor.
Result<NamedTensor> readTensorProto(std::string_view message, const TensorSource& source);
/// A SparseTensorProto, expanded. Its name is the name of its values.
Result<NamedTensor> readSparseTensorProto(std::string_view message, const TensorSource& source);

struct NamedValue {
  std::string name;
  op::EvaluatedValue value;
};

/// A file that holds one value of this kind (the input_0.pb of the ONNX test data).
Result<NamedValue> readValueFile(const std::string& path, ir::TypeKind kind);

}  // namespace rota::onnx
