// SPDX-License-Identifier: Apache-2.0
// Writes ONNX messages for tests: enough to build small models, right and wrong ones, without any other library.
// Only included by tests.
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <protozero/pbf_writer.hpp>

#include "core/check.h"
#include "core/tensor.h"
#include "import/onnx/fields.h"
#include "import/onnx/reader.h"

namespace rota::onnx::test {

using Names = std::vector<std::string>;

/// One message under construction: `Message().add(1, "text").add(2, 5)`.
class Message {
 public:
  Message() : writer_(bytes_) {}
  Message(const Message& other) : bytes_(other.bytes_), writer_(bytes_) {}
  Message& operator=(const Message& other) {
    bytes_ = other.bytes_;  // the writer goes on with our own bytes
    return *this;
  }

  Message& add(std::uint32_t field, std::string_view text) {
    writer_.add_bytes(field, text.data(), text.size());
    return *this;
  }
  Message& add(std::uint32_t field, const char* text) { return add(field, std::string_view(text)); }
  Message& add(std::uint32_t field, const Message& message) { return add(field, message.bytes()); }
  Message& add(std::uint32_t field, std::int64_t value) {
    writer_.add_int64(field, value);
    return *this;
  }
  Message& add(std::uint32_t field, int value) { return add(field, static_cast<std::int64_t>(value)); }
  Message& add(std::uint32_t field, float value) {
    writer_.add_float(field, value);
    return *this;
  }
  Message& add(std::uint32_t field, const Names& names) {
    for (const std::string& name : names) add(field, std::string_view(name));
    return *this;
  }
  Message& addPacked(std::uint32_t field, const std::vector<std::int64_t>& values) {
    writer_.add_packed_int64(field, values.begin(), values.end());
    return *this;
  }
  Message& addPacked(std::uint32_t field, const std::vector<float>& values) {
    writer_.add_packed_float(field, values.begin(), values.end());
    return *this;
  }
  Message& addPacked(std::uint32_t field, const std::vector<double>& values) {
    writer_.add_packed_double(field, values.begin(), values.end());
    return *this;
  }
  std::string_view bytes() const { return bytes_; }

 private:
  std::string bytes_;
  protozero::pbf_writer writer_;
};

/// A TensorProto with raw data.
template <typename T>
Message rawTensor(std::string_view name, int type, const std::vector<std::int64_t>& dims,
                  const std::vector<T>& values) {
  std::string raw(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(raw.data(), values.data(), raw.size());
  return Message()
      .addPacked(field::tensor::kDims, dims)
      .add(field::tensor::kDataType, type)
      .add(field::tensor::kName, name)
      .add(field::tensor::kRawData, std::string_view(raw));
}
inline Message floats(std::string_view name, const std::vector<std::int64_t>& dims,
                      const std::vector<float>& values) {
  return rawTensor(name, 1, dims, values);
}
inline Message ints(std::string_view name, const std::vector<std::int64_t>& dims,
                    const std::vector<std::int64_t>& values) {
  return rawTensor(name, 7, dims, values);
}

/// A dim is a number or a name; "" is a dim without either.
struct Dim {
  Dim(int v) : value(v) {}                        // NOLINT(google-explicit-constructor)
  Dim(const char* n) : name(n), isNamed(true) {}  // NOLINT(google-explicit-constructor)
  std::int64_t value = 0;
  std::string name;
  bool isNamed = false;
};

inline Message tensorType(int type, const std::vector<Dim>& dims) {
  Message shape;
  for (const Dim& dim : dims) {
    Message one;
    if (!dim.isNamed) one.add(field::dim::kValue, dim.value);
    if (!dim.name.empty()) one.add(field::dim::kParam, dim.name);
    shape.add(field::shape::kDim, one);
  }
  return Message().add(
      field::type::kTensor,
      Message().add(field::tensor_type::kElemType, type).add(field::tensor_type::kShape, shape));
}
inline Message valueInfo(std::string_view name, int type, const std::vector<Dim>& dims) {
  return Message().add(field::value_info::kName, name).add(field::value_info::kType, tensorType(type, dims));
}
/// Without a shape, as in nested graphs.
inline Message valueOfType(std::string_view name, int type) {
  return Message()
      .add(field::value_info::kName, name)
      .add(field::value_info::kType,
           Message().add(field::type::kTensor, Message().add(field::tensor_type::kElemType, type)));
}
inline Message valueNamed(std::string_view name) { return Message().add(field::value_info::kName, name); }

inline Message attribute(std::string_view name, AttributeKind kind) {
  return Message().add(field::attribute::kName, name).add(field::attribute::kType, static_cast<int>(kind));
}
inline Message intAttribute(std::string_view name, std::int64_t value) {
  return attribute(name, AttributeKind::kInt).add(field::attribute::kInt, value);
}
inline Message floatAttribute(std::string_view name, float value) {
  return attribute(name, AttributeKind::kFloat).add(field::attribute::kFloat, value);
}
inline Message intsAttribute(std::string_view name, const std::vector<std::int64_t>& values) {
  return attribute(name, AttributeKind::kInts).addPacked(field::attribute::kInts, values);
}
inline Message graphAttribute(std::string_view name, const Message& graph) {
  return attribute(name, AttributeKind::kGraph).add(field::attribute::kGraph, graph);
}
inline Message referenceAttribute(std::string_view name, AttributeKind kind, std::string_view reference) {
  return attribute(name, kind).add(field::attribute::kRefAttrName, reference);
}

inline Message node(std::string_view opType, const Names& inputs, const Names& outputs,
                    const std::vector<Message>& attributes = {}, std::string_view name = {},
                    std::string_view domain = {}) {
  Message message;
  message.add(field::node::kInput, inputs)
      .add(field::node::kOutput, outputs)
      .add(field::node::kOpType, opType);
  if (!name.empty()) message.add(field::node::kName, name);
  if (!domain.empty()) message.add(field::node::kDomain, domain);
  for (const Message& one : attributes) message.add(field::node::kAttribute, one);
  return message;
}

struct GraphParts {
  std::vector<Message> nodes;
  std::vector<Message> inputs;
  std::vector<Message> outputs;
  std::vector<Message> initializers;
};
inline Message graph(const GraphParts& parts) {
  Message message;
  for (const Message& one : parts.nodes) message.add(field::graph::kNode, one);
  message.add(field::graph::kName, "g");
  for (const Message& one : parts.initializers) message.add(field::graph::kInitializer, one);
  for (const Message& one : parts.inputs) message.add(field::graph::kInput, one);
  for (const Message& one : parts.outputs) message.add(field::graph::kOutput, one);
  return message;
}
inline Message opset(std::string_view domain, std::int64_t version) {
  return Message().add(field::opset::kDomain, domain).add(field::opset::kVersion, version);
}

struct FunctionParts {
  std::string name;
  Names inputs;
  Names outputs;
  Names attributes;
  std::vector<Message> defaults;
  std::vector<Message> nodes;
  std::string overload;
};
/// A function of domain "test" with operator sets 17 and "test" 1.
inline Message function(const FunctionParts& parts) {
  Message message;
  message.add(field::function::kName, std::string_view(parts.name))
      .add(field::function::kInput, parts.inputs)
      .add(field::function::kOutput, parts.outputs)
      .add(field::function::kAttribute, parts.attributes);
  for (const Message& one : parts.nodes) message.add(field::function::kNode, one);
  message.add(field::function::kOpsetImport, opset("", 17))
      .add(field::function::kOpsetImport, opset("test", 1));
  message.add(field::function::kDomain, "test");
  for (const Message& one : parts.defaults) message.add(field::function::kAttributeProto, one);
  if (!parts.overload.empty()) message.add(field::function::kOverload, std::string_view(parts.overload));
  return message;
}

inline Message model(const Message& graphMessage, const std::vector<Message>& functions = {},
                     std::int64_t irVersion = 8) {
  Message message;
  message.add(field::model::kIrVersion, irVersion).add(field::model::kProducerName, "rota test");
  message.add(field::model::kGraph, graphMessage).add(field::model::kOpsetImport, opset("", 17));
  if (!functions.empty()) message.add(field::model::kOpsetImport, opset("test", 1));
  for (const Message& one : functions) message.add(field::model::kFunctions, one);
  return message;
}
inline Message model(const GraphParts& parts, const std::vector<Message>& functions = {},
                     std::int64_t irVersion = 8) {
  return model(graph(parts), functions, irVersion);
}

/// A copy of `bytes` at a 64-byte boundary plus `shift`.
inline std::shared_ptr<Buffer> bufferOf(std::string_view bytes, std::size_t shift = 0) {
  auto memory = Buffer::allocate(bytes.size() + shift + 1);
  CHECK(memory.isOk());
  if (!bytes.empty()) std::memcpy((*memory)->mutableData() + shift, bytes.data(), bytes.size());
  const std::shared_ptr<Buffer> keeper = *memory;
  return Buffer::wrap(keeper->data() + shift, bytes.size(), keeper);
}
inline Result<ImportResult> importBytes(std::string_view bytes, const ImportOptions& options = {}) {
  return importOnnxBytes(bufferOf(bytes), options);
}
inline Result<ImportResult> importMessage(const Message& message, const ImportOptions& options = {}) {
  return importBytes(message.bytes(), options);
}
/// All problems of a model that parses, one a line.
inline std::string problemsOf(const Message& message, const ImportOptions& options = {}) {
  auto result = importMessage(message, options);
  if (!result) return "not read: " + result.status().toString();
  std::string text;
  for (const Status& status : result->problems) text += status.toString() + "\n";
  return text;
}

}  // namespace rota::onnx::test
