// SPDX-License-Identifier: Apache-2.0
// Field numbers of the ONNX messages that Rota reads, in one table. Fields that are not here are skipped.
// Source: onnx.proto and onnx-data.proto of onnx 1.23 (IR version 14). A message is an enumeration named after it.
#pragma once

#include <cstdint>

namespace rota::onnx {

/// Newest IR version and default-domain operator set whose rules are known here.
inline constexpr std::int64_t kNewestIrVersion = 14;
inline constexpr std::int64_t kNewestOpset = 28;

namespace field {

namespace model {
enum : std::uint32_t {
  kIrVersion = 1,
  kProducerName = 2,
  kProducerVersion = 3,
  kDomain = 4,
  kModelVersion = 5,
  kDocString = 6,
  kGraph = 7,
  kOpsetImport = 8,
  kMetadataProps = 14,
  kTrainingInfo = 20,
  kFunctions = 25,
  kConfiguration = 26,
};
}
namespace opset {
enum : std::uint32_t { kDomain = 1, kVersion = 2 };
}
namespace entry {
enum : std::uint32_t { kKey = 1, kValue = 2 };
}
namespace graph {
enum : std::uint32_t {
  kNode = 1,
  kName = 2,
  kInitializer = 5,
  kInput = 11,
  kOutput = 12,
  kValueInfo = 13,
  kSparseInitializer = 15,
};
}
namespace node {
enum : std::uint32_t {
  kInput = 1,
  kOutput = 2,
  kName = 3,
  kOpType = 4,
  kAttribute = 5,
  kDomain = 7,
  kOverload = 8
};
}
namespace function {
enum : std::uint32_t {
  kName = 1,
  kInput = 4,
  kOutput = 5,
  kAttribute = 6,
  kNode = 7,
  kOpsetImport = 9,
  kDomain = 10,
  kAttributeProto = 11,
  kOverload = 13,
};
}
namespace attribute {
enum : std::uint32_t {
  kName = 1,
  kFloat = 2,
  kInt = 3,
  kString = 4,
  kTensor = 5,
  kGraph = 6,
  kFloats = 7,
  kInts = 8,
  kStrings = 9,
  kTensors = 10,
  kGraphs = 11,
  kTypeProto = 14,
  kTypeProtos = 15,
  kType = 20,
  kRefAttrName = 21,
  kSparseTensor = 22,
  kSparseTensors = 23,
};
}
namespace tensor {
enum : std::uint32_t {
  kDims = 1,
  kDataType = 2,
  kSegment = 3,
  kFloatData = 4,
  kInt32Data = 5,
  kStringData = 6,
  kInt64Data = 7,
  kName = 8,
  kRawData = 9,
  kDoubleData = 10,
  kUint64Data = 11,
  kExternalData = 13,
  kDataLocation = 14,
};
}
namespace sparse {
enum : std::uint32_t { kValues = 1, kIndices = 2, kDims = 3 };
}
namespace value_info {
enum : std::uint32_t { kName = 1, kType = 2 };
}
namespace type {
enum : std::uint32_t { kTensor = 1, kSequence = 4, kMap = 5, kOpaque = 7, kSparseTensor = 8, kOptional = 9 };
}
namespace tensor_type {
enum : std::uint32_t { kElemType = 1, kShape = 2 };
}
namespace container_type {  // TypeProto.Sequence and TypeProto.Optional
enum : std::uint32_t { kElemType = 1 };
}
namespace shape {
enum : std::uint32_t { kDim = 1 };
}
namespace dim {
enum : std::uint32_t { kValue = 1, kParam = 2 };
}
namespace sequence {
enum : std::uint32_t {
  kName = 1,
  kElemType = 2,
  kTensor = 3,
  kSparseTensor = 4,
  kSequence = 5,
  kMap = 6,
  kOptional = 7
};
}
namespace optional {
enum : std::uint32_t {
  kName = 1,
  kElemType = 2,
  kTensor = 3,
  kSparseTensor = 4,
  kSequence = 5,
  kMap = 6,
  kOptional = 7
};
}

}  // namespace field

/// AttributeProto.AttributeType.
enum class AttributeKind : std::int32_t {
  kUndefined = 0,
  kFloat = 1,
  kInt = 2,
  kString = 3,
  kTensor = 4,
  kGraph = 5,
  kFloats = 6,
  kInts = 7,
  kStrings = 8,
  kTensors = 9,
  kGraphs = 10,
  kSparseTensor = 11,
  kSparseTensors = 12,
  kTypeProto = 13,
  kTypeProtos = 14,
};

/// The word for it in messages: "int", "list of floats".
const char* attributeKindName(AttributeKind kind);

/// Element kinds of SequenceProto and OptionalProto.
enum class ElementKind : std::int32_t {
  kUndefined = 0,
  kTensor = 1,
  kSparseTensor = 2,
  kSequence = 3,
  kMap = 4,
  kOptional = 5
};

}  // namespace rota::onnx
