// SPDX-License-Identifier: Apache-2.0
// The messages of a model as views into its bytes: names and lists, nothing decoded that is large.
//
// One pass over the file builds these structures; tensors, types and lists of numbers stay undecoded bytes until the graph builder wants
// them. Nested graphs are parsed with a depth limit, and everything counted against a budget, so memory stays within a small multiple of
// the file. All views end with the bytes. Tested by src/import/onnx/reader_test.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/attributes.h"
#include "import/onnx/fields.h"
#include "import/onnx/tensor_proto.h"

namespace rota::onnx {

/// Graphs and function calls inside each other.
inline constexpr int kMaxDepth = 64;
/// Nodes in the file.
inline constexpr std::int64_t kMaxNodes = 1'000'000;

struct GraphView;

struct AttributeView {
  std::string_view name;
  std::string_view reference;  ///< ref_attr_name: the attribute of the function to take; "" when given here.
  AttributeKind kind = AttributeKind::kUndefined;
  std::string_view message;          ///< The whole AttributeProto.
  std::unique_ptr<GraphView> graph;  ///< For kGraph.
};

struct NodeView {
  std::string_view name;
  std::string_view opType;
  std::string_view domain;  ///< "" for the default domain.
  std::string_view overload;
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  std::vector<AttributeView> attributes;
};

struct ValueInfoView {
  std::string_view name;
  std::string_view type;  ///< A TypeProto; "" when there is none.
};

struct InitializerView {
  std::string_view name;
  std::string_view message;  ///< A TensorProto or SparseTensorProto.
  bool isSparse = false;
};

struct GraphView {
  std::string_view name;
  std::vector<NodeView> nodes;
  std::vector<InitializerView> initializers;
  std::vector<ValueInfoView> inputs;
  std::vector<ValueInfoView> outputs;
  std::vector<std::string_view>
      captures;  ///< Names used inside that are defined outside; sorted. Not set for the main graph.
};

struct OpsetView {
  std::string_view domain;
  std::int64_t version = 0;
};

struct FunctionView {
  std::string_view domain;
  std::string_view name;
  std::string_view overload;
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  std::vector<std::string_view> attributes;  ///< Without default.
  std::vector<AttributeView> defaults;
  std::vector<OpsetView> opsets;
  std::vector<NodeView> nodes;
};

struct MetadataView {
  std::string_view key;
  std::string_view value;
};

struct ModelView {
  std::int64_t irVersion = 0;
  std::int64_t modelVersion = 0;
  std::string_view producerName;
  std::string_view producerVersion;
  std::string_view domain;
  std::vector<OpsetView> opsets;
  std::vector<MetadataView> metadata;
  std::optional<GraphView> graph;
  std::vector<FunctionView> functions;
  bool isTraining = false;  ///< There is training_info.
};

/// Parses a whole model. Errors say what the bytes are instead where that can be seen.
Result<ModelView> parseModel(std::string_view bytes);

/// What bytes that are not a model look like: "a ZIP archive", "a text file"; "" when there is nothing to say.
const char* describeBytes(std::string_view bytes);

/// The value of an attribute that is not a graph. Types come as text (see typeText).
Result<Attribute> readAttributeValue(const AttributeView& attribute, const TensorSource& source);

/// A TypeProto decoded but for symbols.
struct DimView {
  std::optional<std::int64_t> value;
  std::string_view parameter;
};
struct TypeView {
  ir::TypeKind kind = ir::TypeKind::kTensor;
  bool elementIsSequence = false;
  DType dtype = DType::kUndefined;
  bool hasShape = false;
  std::vector<DimView> dims;
};
Result<TypeView> readType(std::string_view message);

/// How a type attribute is handed to operators: "float32", "float32[2,?]", "sequence(float32)", "optional(sequence(float32))".
std::string typeText(const TypeView& type);

}  // namespace rota::onnx
