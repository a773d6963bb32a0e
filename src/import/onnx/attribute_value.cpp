// SPDX-License-Identifier: Apache-2.0
// Attribute values and types (declared in model_view.h). A sparse tensor becomes a dense one; types become text, since no operator needs
// more of them than a dtype and a kind. Tested by src/import/onnx/reader_test.cpp.
#include "import/onnx/model_view.h"
#include "import/onnx/wire.h"

namespace rota::onnx {
namespace {

Tensor tensorAttribute(std::string_view message, const TensorSource& source, bool isSparse) {
  auto tensor = isSparse ? readSparseTensorProto(message, source) : readTensorProto(message, source);
  if (!tensor) throw ParseFailure{tensor.status()};
  return std::move(tensor->tensor);
}

std::string typeAttribute(std::string_view message) {
  auto type = readType(message);
  if (!type) throw ParseFailure{type.status()};
  return typeText(*type);
}

/// The empty value of the kind: what an attribute has when its field is not written.
Attribute emptyValue(AttributeKind kind) {
  switch (kind) {
    case AttributeKind::kFloat: return 0.0F;
    case AttributeKind::kInt: return std::int64_t{0};
    case AttributeKind::kString: return std::string();
    case AttributeKind::kFloats: return std::vector<float>();
    case AttributeKind::kInts: return std::vector<std::int64_t>();
    case AttributeKind::kStrings: return std::vector<std::string>();
    case AttributeKind::kTensors: return std::vector<Tensor>();
    default:
      fail(ErrorCode::kBadAttribute,
           std::string("the attribute has no value, or one of type ") + attributeKindName(kind));
  }
}

Attribute attributeValue(const AttributeView& attribute, const TensorSource& source) {
  const AttributeKind kind = attribute.kind;
  const bool isSingleMessage = kind == AttributeKind::kTensor || kind == AttributeKind::kSparseTensor ||
                               kind == AttributeKind::kTypeProto;
  std::optional<Attribute> result;
  if (!isSingleMessage) result = emptyValue(kind);
  for (Fields fields(attribute.message); fields.next();) {
    const std::uint32_t number = fields.field();
    if (number == field::attribute::kFloat && kind == AttributeKind::kFloat) {
      result = fields.real();
    } else if (number == field::attribute::kInt && kind == AttributeKind::kInt) {
      result = fields.integer();
    } else if (number == field::attribute::kString && kind == AttributeKind::kString) {
      result = std::string(fields.bytes());
    } else if (number == field::attribute::kFloats && kind == AttributeKind::kFloats) {
      fields.append(std::get<std::vector<float>>(*result));
    } else if (number == field::attribute::kInts && kind == AttributeKind::kInts) {
      fields.append(std::get<std::vector<std::int64_t>>(*result));
    } else if (number == field::attribute::kStrings && kind == AttributeKind::kStrings) {
      std::get<std::vector<std::string>>(*result).emplace_back(fields.bytes());
    } else if (number == field::attribute::kTensors && kind == AttributeKind::kTensors) {
      std::get<std::vector<Tensor>>(*result).push_back(tensorAttribute(fields.bytes(), source, false));
    } else if (number == field::attribute::kTensor && kind == AttributeKind::kTensor) {
      result = tensorAttribute(fields.bytes(), source, false);
    } else if (number == field::attribute::kSparseTensor && kind == AttributeKind::kSparseTensor) {
      result = tensorAttribute(fields.bytes(), source, true);
    } else if (number == field::attribute::kTypeProto && kind == AttributeKind::kTypeProto) {
      result = typeAttribute(fields.bytes());
    } else {
      fields.skip();
    }
  }
  if (!result)
    fail(ErrorCode::kBadAttribute,
         std::string("the attribute is a ") + attributeKindName(kind) + " without a value");
  return *std::move(result);
}

DimView readDim(std::string_view message) {
  DimView dim;
  for (Fields fields(message); fields.next();) {
    switch (fields.field()) {
      case field::dim::kValue: dim.value = fields.integer(); break;
      case field::dim::kParam: dim.parameter = fields.name(); break;
      default: fields.skip();
    }
  }
  return dim;
}

void readTensorType(std::string_view message, TypeView& type) {
  for (Fields fields(message); fields.next();) {
    switch (fields.field()) {
      case field::tensor_type::kElemType: {
        const std::int64_t number = fields.integer();
        type.dtype =
            number > 0 && number < 1000 ? dtypeFromOnnx(static_cast<int>(number)) : DType::kUndefined;
        if (number != 0 && type.dtype == DType::kUndefined) {
          throw ParseFailure{Status(ErrorCode::kUnsupportedType, "an unknown element type")
                                 .expected("an element type of ONNX that Rota knows")
                                 .found("data type " + std::to_string(number))};
        }
        break;
      }
      case field::tensor_type::kShape:
        type.hasShape = true;
        for (Fields dims(fields.bytes()); dims.next();) {
          if (dims.field() != field::shape::kDim) {
            dims.skip();
            continue;
          }
          if (type.dims.size() >= 64)
            fail(ErrorCode::kModelTooLarge, "a tensor type has more than 64 dimensions");
          type.dims.push_back(readDim(dims.bytes()));
        }
        break;
      default: fields.skip();
    }
  }
}

/// `container` is what is around this type already.
void readTypeInto(std::string_view message, TypeView& type, int depth) {
  if (depth > 2) fail(ErrorCode::kUnsupportedType, "sequences and optionals are nested too deep");
  for (Fields fields(message); fields.next();) {
    switch (fields.field()) {
      case field::type::kTensor: readTensorType(fields.bytes(), type); break;
      case field::type::kSequence:
      case field::type::kOptional: {
        const bool isSequence = fields.field() == field::type::kSequence;
        if (depth == 0) {
          type.kind = isSequence ? ir::TypeKind::kSequence : ir::TypeKind::kOptional;
        } else if (isSequence && type.kind == ir::TypeKind::kOptional && !type.elementIsSequence) {
          type.elementIsSequence = true;
        } else {
          fail(ErrorCode::kUnsupportedType,
               "sequences of sequences and optionals in containers are not supported");
        }
        for (Fields inner(fields.bytes()); inner.next();) {
          if (inner.field() == field::container_type::kElemType) {
            readTypeInto(inner.bytes(), type, depth + 1);
          } else {
            inner.skip();
          }
        }
        break;
      }
      case field::type::kMap:
      case field::type::kOpaque:
      case field::type::kSparseTensor:
        throw ParseFailure{
            Status(ErrorCode::kUnsupportedType, "maps, sparse tensors and opaque values are not supported")
                .expected("a tensor, a sequence or an optional")};
      default: fields.skip();
    }
  }
}

}  // namespace

Result<Attribute> readAttributeValue(const AttributeView& attribute, const TensorSource& source) {
  return guarded([&] { return attributeValue(attribute, source); });
}

Result<TypeView> readType(std::string_view message) {
  return guarded([&] {
    TypeView type;
    readTypeInto(message, type, 0);
    return type;
  });
}

std::string typeText(const TypeView& type) {
  std::string text = type.dtype == DType::kUndefined ? "undefined" : info(type.dtype).name;
  if (type.hasShape) {
    text += "[";
    for (std::size_t i = 0; i < type.dims.size(); ++i) {
      text += i == 0 ? "" : ",";
      text += type.dims[i].value ? std::to_string(*type.dims[i].value) : "?";
    }
    text += "]";
  }
  if (type.kind == ir::TypeKind::kSequence || type.elementIsSequence) text = "sequence(" + text + ")";
  if (type.kind == ir::TypeKind::kOptional) text = "optional(" + text + ")";
  return text;
}

}  // namespace rota::onnx
