// SPDX-License-Identifier: Apache-2.0
// See tensor_proto.h. Tested by src/import/onnx/tensor_proto_test.cpp.
#include "import/onnx/tensor_proto.h"

#include <algorithm>
#include <cstring>

#include "core/checked.h"
#include "core/file.h"
#include "import/onnx/fields.h"
#include "import/onnx/wire.h"

namespace rota::onnx {
namespace {

/// Sequences and optionals inside each other.
constexpr int kMaxValueDepth = 8;
constexpr std::size_t kMaxRank = 64;
/// A sparse tensor may grow to this much, or by this factor over its file bytes.
constexpr std::size_t kSparseBytes = std::size_t{64} << 20;
constexpr std::size_t kSparseFactor = 64;

/// What a TensorProto says, undecoded.
struct Parts {
  std::string_view message;
  std::string_view name;
  std::vector<std::int64_t> dims;
  std::int64_t dataType = 0;
  std::string_view raw;
  bool hasRaw = false;
  bool hasSegment = false;
  bool isExternal = false;
  std::uint32_t typedField = 0;  ///< The typed data field that is there, 0 for none.
  bool hasTwoTypedFields = false;
  std::vector<ExternalEntry> entries;
};

ExternalEntry readEntry(std::string_view message) {
  ExternalEntry result;
  for (Fields fields(message); fields.next();) {
    switch (fields.field()) {
      case field::entry::kKey: result.key = fields.name(); break;
      case field::entry::kValue: result.value = fields.bytes(); break;
      default: fields.skip();
    }
  }
  return result;
}

Parts readParts(std::string_view message) {
  Parts parts;
  parts.message = message;
  for (Fields fields(message); fields.next();) {
    switch (fields.field()) {
      case field::tensor::kDims:
        fields.append(parts.dims);
        if (parts.dims.size() > kMaxRank)
          fail(ErrorCode::kModelTooLarge, "a tensor has more than 64 dimensions");
        break;
      case field::tensor::kDataType: parts.dataType = fields.integer(); break;
      case field::tensor::kName: parts.name = fields.name(); break;
      case field::tensor::kRawData:
        parts.raw = fields.bytes();
        parts.hasRaw = true;
        break;
      case field::tensor::kSegment:
        parts.hasSegment = true;
        fields.skip();
        break;
      case field::tensor::kDataLocation: parts.isExternal = fields.integer() == 1; break;
      case field::tensor::kExternalData:
        if (parts.entries.size() >= 64) fail(ErrorCode::kExternalData, "external data has too many keys");
        parts.entries.push_back(readEntry(fields.bytes()));
        break;
      case field::tensor::kFloatData:
      case field::tensor::kInt32Data:
      case field::tensor::kStringData:
      case field::tensor::kInt64Data:
      case field::tensor::kDoubleData:
      case field::tensor::kUint64Data:
        parts.hasTwoTypedFields |= parts.typedField != 0 && parts.typedField != fields.field();
        parts.typedField = fields.field();
        fields.skip();
        break;
      default: fields.skip();
    }
  }
  return parts;
}

std::string dimsText(Dims dims) {
  std::string text = "[";
  for (std::size_t i = 0; i < dims.size(); ++i) text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}

/// The field that carries typed data of `dtype`.
std::uint32_t typedFieldOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
    case DType::kComplex64: return field::tensor::kFloatData;
    case DType::kFloat64:
    case DType::kComplex128: return field::tensor::kDoubleData;
    case DType::kInt64: return field::tensor::kInt64Data;
    case DType::kUInt32:
    case DType::kUInt64: return field::tensor::kUint64Data;
    default: return field::tensor::kInt32Data;
  }
}

Status dataSizeError(std::string_view what, std::size_t expected, std::size_t found) {
  return Status(ErrorCode::kModelInvalid, "the data of the tensor do not fit its type and dims")
      .expected(std::to_string(expected) + " " + std::string(what))
      .found(std::to_string(found));
}

/// Stores integers of `bits` (at least 8) one after the other.
Status storeIntegers(const std::vector<std::int64_t>& values, int bits, std::byte* out) {
  const std::size_t size = static_cast<std::size_t>(bits) / 8;
  // Writers differ in whether they extend the sign of a bit pattern, so both readings of the bits are taken.
  const std::int64_t low = bits >= 64 ? INT64_MIN : -(std::int64_t{1} << (bits - 1));
  const std::int64_t high = bits >= 64 ? INT64_MAX : (std::int64_t{1} << bits) - 1;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] < low || values[i] > high) {
      return Status(ErrorCode::kModelInvalid, "a value of the tensor does not fit its type")
          .expected(std::to_string(bits) + " bits")
          .found(std::to_string(values[i]));
    }
    std::memcpy(out + i * size, &values[i], size);  // little endian
  }
  return Status::ok();
}

template <typename T> std::vector<T> collect(const Parts& parts, std::uint32_t which, std::size_t limit) {
  std::vector<T> values;
  for (Fields fields(parts.message); fields.next();) {
    if (fields.field() != which) {
      fields.skip();
      continue;
    }
    fields.append(values);
    if (values.size() > limit) break;
  }
  return values;
}

template <typename T>
Status storeReals(const Parts& parts, std::uint32_t which, std::size_t expected, std::byte* out) {
  const std::vector<T> values = collect<T>(parts, which, expected);
  if (values.size() != expected) return dataSizeError("numbers", expected, values.size());
  if (expected != 0) std::memcpy(out, values.data(), expected * sizeof(T));
  return Status::ok();
}

Result<Tensor> decodeTyped(const Parts& parts, DType dtype, std::size_t count) {
  const DTypeInfo& row = info(dtype);
  const std::uint32_t which = typedFieldOf(dtype);
  if (parts.typedField != 0 && (parts.typedField != which || parts.hasTwoTypedFields)) {
    return Status(ErrorCode::kModelInvalid,
                  std::string("a ") + row.name + " tensor has its data in the field of another type")
        .expected("field " + std::to_string(which) + " of TensorProto")
        .found("field " + std::to_string(parts.typedField));
  }
  // Entries of the field: two a complex number, one a byte of packed small integers, else one an element.
  std::size_t entries = count;
  if (row.dtypeClass == DTypeClass::kComplex) entries = count * 2;
  if (row.bits < 8) entries = packedBytes(count, row.bits);
  if (entries > parts.message.size()) return dataSizeError("numbers", entries, 0).found("too few bytes");
  auto tensor = Tensor::allocate(dtype, parts.dims);
  if (!tensor) return tensor.status();
  std::byte* out = tensor->mutableData();
  Status status;
  if (which == field::tensor::kFloatData) {
    status = storeReals<float>(parts, which, entries, out);
  } else if (which == field::tensor::kDoubleData) {
    status = storeReals<double>(parts, which, entries, out);
  } else {
    const auto values = collect<std::int64_t>(parts, which, entries);
    if (values.size() != entries) return dataSizeError("numbers", entries, values.size());
    status = storeIntegers(values, std::max(row.bits, 8), out);
  }
  if (!status.isOk()) return status;
  return tensor;
}

Result<Tensor> copyOf(DType dtype, const std::vector<std::int64_t>& dims, const std::byte* data,
                      std::size_t bytes) {
  auto tensor = Tensor::allocate(dtype, dims);
  if (!tensor) return tensor.status();
  if (bytes != 0) std::memcpy(tensor->mutableData(), data, bytes);
  return tensor;
}

/// A view of `data` where alignment allows it. Booleans are made 0 or 1, so that kernels may trust them.
Result<Tensor> viewOrCopy(DType dtype, const std::vector<std::int64_t>& dims,
                          const std::shared_ptr<Buffer>& buffer, const std::byte* data, std::size_t bytes) {
  const std::size_t alignment = std::clamp<std::size_t>(static_cast<std::size_t>(info(dtype).bits) / 8, 1, 8);
  const bool aligned = reinterpret_cast<std::uintptr_t>(data) % alignment == 0;
  const bool odd =
      dtype == DType::kBool && std::any_of(data, data + bytes, [](std::byte b) { return b > std::byte{1}; });
  if (buffer != nullptr && aligned && !odd && bytes != 0) {
    return Tensor::over(dtype, dims, buffer, static_cast<std::size_t>(data - buffer->data()));
  }
  auto tensor = copyOf(dtype, dims, data, bytes);
  if (tensor.isOk() && odd) {
    std::byte* out = tensor->mutableData();
    for (std::size_t i = 0; i < bytes; ++i) out[i] = std::byte{out[i] != std::byte{0}};
  }
  return tensor;
}

Result<Tensor> decode(const Parts& parts, const TensorSource& source) {
  const DType dtype = dtypeFromOnnx(static_cast<int>(std::clamp<std::int64_t>(parts.dataType, -1, 1 << 20)));
  if (dtype == DType::kString || parts.typedField == field::tensor::kStringData) {
    return Status(ErrorCode::kUnsupportedType, "string tensors are not supported")
        .expected("a numeric or boolean tensor")
        .fix("do the text processing outside the model");
  }
  if (dtype == DType::kUndefined) {
    return Status(ErrorCode::kUnsupportedType, "a tensor has an unknown element type")
        .expected("an element type of ONNX that Rota knows")
        .found("data type " + std::to_string(parts.dataType));
  }
  if (parts.hasSegment) return Status(ErrorCode::kModelInvalid, "tensors in segments are not supported");
  const auto count = checkedCount(parts.dims);
  const auto bytes = checkedBytes(dtype, parts.dims);
  if (!count || !bytes) {
    return Status(ErrorCode::kModelTooLarge, "a tensor has a negative dim or too many elements")
        .found(dimsText(parts.dims));
  }
  if (parts.isExternal) {
    if (parts.hasRaw || parts.typedField != 0) {
      return Status(ErrorCode::kModelInvalid, "a tensor has data both inside and outside the model");
    }
    if (source.external == nullptr)
      return Status(ErrorCode::kExternalData, "external data is not allowed here");
    auto range = source.external->find(parts.entries, *bytes);
    if (!range) return range.status();
    return viewOrCopy(dtype, parts.dims, range->buffer, range->buffer->data() + range->offset, *bytes);
  }
  if (!parts.hasRaw) return decodeTyped(parts, dtype, static_cast<std::size_t>(*count));
  if (parts.typedField != 0) return Status(ErrorCode::kModelInvalid, "a tensor has both raw and typed data");
  if (parts.raw.size() != *bytes) return dataSizeError("bytes", *bytes, parts.raw.size());
  const auto* data = reinterpret_cast<const std::byte*>(parts.raw.data());
  return viewOrCopy(dtype, parts.dims, source.file, data, *bytes);
}

Status named(Status status, std::string_view name) {
  if (name.empty()) return status;
  return std::move(status).at(std::string(name));
}

struct SparseParts {
  std::string_view values;
  std::string_view indices;
  std::vector<std::int64_t> dims;
};

SparseParts readSparseParts(std::string_view message) {
  SparseParts parts;
  for (Fields fields(message); fields.next();) {
    switch (fields.field()) {
      case field::sparse::kValues: parts.values = fields.bytes(); break;
      case field::sparse::kIndices: parts.indices = fields.bytes(); break;
      case field::sparse::kDims:
        fields.append(parts.dims);
        if (parts.dims.size() > kMaxRank)
          fail(ErrorCode::kModelTooLarge, "a tensor has more than 64 dimensions");
        break;
      default: fields.skip();
    }
  }
  return parts;
}

/// Row-major position of entry `i`, or nothing when it lies outside.
std::optional<std::int64_t> sparsePosition(const TensorView& indices, std::int64_t i, Dims dims,
                                           std::int64_t count) {
  if (indices.rank() == 1) {
    const std::int64_t position = intAt(indices, i);
    if (position < 0 || position >= count) return std::nullopt;
    return position;
  }
  std::int64_t position = 0;
  const auto rank = static_cast<std::int64_t>(dims.size());
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    const std::int64_t index = intAt(indices, i * rank + axis);
    const std::int64_t dim = dims[static_cast<std::size_t>(axis)];
    if (index < 0 || index >= dim) return std::nullopt;
    position = position * dim + index;
  }
  return position;
}

Result<Tensor> expandSparse(const Tensor& values, const Tensor& indices,
                            const std::vector<std::int64_t>& dims) {
  const int bits = info(values.dtype()).bits;
  const auto count = checkedCount(dims);
  const auto bytes = checkedBytes(values.dtype(), dims);
  if (!count || !bytes || *bytes > kSparseBytes + kSparseFactor * values.bytes()) {
    return Status(ErrorCode::kModelTooLarge, "a sparse tensor expands to too many elements")
        .found(dimsText(dims));
  }
  const std::int64_t entries = values.count();
  const bool linear = indices.dims().size() == 1 && indices.count() == entries;
  const bool coordinates = indices.dims().size() == 2 && indices.dims()[0] == entries &&
                           indices.dims()[1] == static_cast<std::int64_t>(dims.size());
  if (values.dims().size() != 1 || indices.dtype() != DType::kInt64 || bits < 8 ||
      (!linear && !coordinates)) {
    return Status(ErrorCode::kModelInvalid, "values and indices of a sparse tensor do not fit each other")
        .expected("values [n], int64 indices [n] or [n, rank]")
        .found("values " + dimsText(values.dims()) + ", indices " + dimsText(indices.dims()));
  }
  auto dense = Tensor::allocate(values.dtype(), dims);
  if (!dense) return dense.status();
  const std::size_t size = static_cast<std::size_t>(bits) / 8;
  for (std::int64_t i = 0; i < entries; ++i) {
    const auto position = sparsePosition(indices.view(), i, dims, *count);
    if (!position) {
      return Status(ErrorCode::kModelInvalid, "an index of a sparse tensor lies outside its dims")
          .expected("indices inside " + dimsText(dims))
          .found("entry " + std::to_string(i));
    }
    std::memcpy(dense->mutableData() + static_cast<std::size_t>(*position) * size,
                values.data() + static_cast<std::size_t>(i) * size, size);
  }
  return dense;
}

}  // namespace

Result<NamedTensor> readTensorProto(std::string_view message, const TensorSource& source) {
  auto parts = guarded([&] { return readParts(message); });
  if (!parts) return parts.status();
  auto tensor = guarded([&] { return decode(*parts, source); });
  if (!tensor) return named(tensor.status(), parts->name);
  return NamedTensor{std::string(parts->name), std::move(*tensor)};
}

Result<NamedTensor> readSparseTensorProto(std::string_view message, const TensorSource& source) {
  auto parts = guarded([&] { return readSparseParts(message); });
  if (!parts) return parts.status();
  auto values = readTensorProto(parts->values, source);
  if (!values) return values.status();
  auto indices = readTensorProto(parts->indices, source);
  if (!indices) return named(indices.status(), values->name);
  auto dense = expandSparse(values->tensor, indices->tensor, parts->dims);
  if (!dense) return named(dense.status(), values->name);
  return NamedTensor{values->name, std::move(*dense)};
}

namespace {

NamedValue readContainer(std::string_view message, bool isOptional, const TensorSource& source, int depth);

Tensor tensorOrFail(std::string_view message, const TensorSource& source) {
  auto tensor = readTensorProto(message, source);
  if (!tensor) throw ParseFailure{tensor.status()};
  return std::move(tensor->tensor);
}

/// SequenceProto and OptionalProto have the same shape: a kind, and elements in a field of that kind.
NamedValue readContainer(std::string_view message, bool isOptional, const TensorSource& source, int depth) {
  if (depth > kMaxValueDepth) fail(ErrorCode::kModelTooDeep, "sequences are nested too deep");
  NamedValue result;
  ref::Sequence sequence;
  sequence.isOptional = isOptional;
  for (Fields fields(message); fields.next();) {
    switch (fields.field()) {
      case field::sequence::kName: result.name = fields.name(); break;
      case field::sequence::kTensor: sequence.elements.push_back(tensorOrFail(fields.bytes(), source)); break;
      case field::sequence::kSequence: {
        if (!isOptional) fail(ErrorCode::kUnsupportedType, "sequences of sequences are not supported");
        NamedValue inner = readContainer(fields.bytes(), false, source, depth + 1);
        sequence.elements = std::move(inner.value.sequence->elements);
        break;
      }
      case field::sequence::kSparseTensor:
      case field::sequence::kMap:
      case field::sequence::kOptional:
        fail(ErrorCode::kUnsupportedType, "maps, sparse tensors and nested optionals are not supported");
      default: fields.skip();
    }
  }
  if (!sequence.elements.empty()) sequence.dtype = sequence.elements.front().dtype();
  result.value.sequence = std::move(sequence);
  return result;
}

}  // namespace

Result<NamedValue> readValueFile(const std::string& path, ir::TypeKind kind) {
  auto file = MappedFile::open(path);
  if (!file) return file.status();
  const std::shared_ptr<const MappedFile> keeper = *file;
  const std::string_view message(reinterpret_cast<const char*>(keeper->data()), keeper->size());
  const TensorSource source{Buffer::wrap(keeper->data(), keeper->size(), keeper), nullptr};
  if (kind == ir::TypeKind::kTensor) {
    auto tensor = readTensorProto(message, source);
    if (!tensor) return tensor.status();
    return NamedValue{tensor->name, {std::move(tensor->tensor), std::nullopt}};
  }
  return guarded([&] { return readContainer(message, kind == ir::TypeKind::kOptional, source, 0); });
}

}  // namespace rota::onnx
