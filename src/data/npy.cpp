// SPDX-License-Identifier: Apache-2.0
#include "data/npy.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include "core/check.h"
#include "core/checked.h"
#include "core/element_access.h"
#include "core/file.h"

namespace rota::data {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

Status badFile(const std::string& where, std::string message) {
  return Status(ErrorCode::kBadInputData, std::move(message)).at(where);
}

struct Header {
  DType dtype = DType::kUndefined;
  bool swap = false;
  bool fortran = false;
  std::vector<std::int64_t> dims;
};

/// The text after `'key':` in the dictionary of the header.
std::optional<std::string_view> field(std::string_view header, std::string_view key) {
  for (const char quote : {'\'', '"'}) {
    const std::string quoted = std::string(1, quote) + std::string(key) + quote;
    const std::size_t at = header.find(quoted);
    if (at == std::string_view::npos) continue;
    std::size_t begin = header.find(':', at + quoted.size());
    if (begin == std::string_view::npos) return std::nullopt;
    ++begin;
    while (begin < header.size() && header[begin] == ' ') ++begin;
    return header.substr(begin);
  }
  return std::nullopt;
}

bool parseDtype(std::string_view text, Header& header) {
  if (text.size() < 4 || (text[0] != '\'' && text[0] != '"')) return false;
  const std::size_t end = text.find(text[0], 1);
  if (end == std::string_view::npos) return false;
  std::string code(text.substr(1, end - 1));
  if (code.empty()) return false;
  header.swap = code[0] == '>';
  if (code[0] == '>' || code[0] == '=') code[0] = '<';
  for (const DTypeInfo& row : dtypeTable()) {
    if (row.numpy == nullptr) continue;
    std::string known = row.numpy;
    if (known.size() == code.size() && known.substr(1) == code.substr(1)) {
      header.dtype = row.dtype;
      return true;
    }
  }
  return false;
}

bool parseShape(std::string_view text, Header& header) {
  if (text.empty() || text[0] != '(') return false;
  const std::size_t end = text.find(')');
  if (end == std::string_view::npos) return false;
  const char* at = text.data() + 1;
  const char* last = text.data() + end;
  while (at < last) {
    if (*at == ' ' || *at == ',') {
      ++at;
      continue;
    }
    std::int64_t dim = 0;
    const auto [next, error] = std::from_chars(at, last, dim);
    if (error != std::errc() || dim < 0 || header.dims.size() >= 64) return false;
    header.dims.push_back(dim);
    at = next;
  }
  return true;
}

void swapBytes(std::byte* data, std::size_t elements, std::size_t bytes) {
  for (std::size_t i = 0; i < elements; ++i) std::reverse(data + i * bytes, data + (i + 1) * bytes);
}

/// Column-major elements to row-major.
Tensor rowMajor(const std::byte* from, const Header& h, Tensor to) {
  const auto bytes = static_cast<std::size_t>(info(h.dtype).bits / 8);
  const std::size_t rank = h.dims.size();
  std::vector<std::int64_t> at(rank, 0), strides(rank, 1);
  for (std::size_t i = 1; i < rank; ++i) strides[i] = strides[i - 1] * h.dims[i - 1];
  std::byte* out = to.mutableData();
  for (std::int64_t n = to.count(); n > 0; --n, out += bytes) {
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < rank; ++i) offset += at[i] * strides[i];
    std::memcpy(out, from + static_cast<std::size_t>(offset) * bytes, bytes);
    for (std::size_t i = rank; i-- > 0;) {
      if (++at[i] < h.dims[i]) break;
      at[i] = 0;
    }
  }
  return to;
}

}  // namespace

Result<Tensor> readNpy(std::span<const std::byte> bytes, const std::string& where,
                       std::shared_ptr<const void> keeper) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with(kMagic) || text.size() < 10)
    return badFile(where, "the file is not a .npy file").fix("write it with numpy.save");
  const bool wide = text[6] != 1;
  const std::size_t start = wide ? 12 : 10;
  if (text.size() < start) return badFile(where, "the .npy file ends in its header");
  std::size_t length = static_cast<unsigned char>(text[8]) |
                       static_cast<std::size_t>(static_cast<unsigned char>(text[9])) << 8;
  if (wide)
    length |= static_cast<std::size_t>(static_cast<unsigned char>(text[10])) << 16 |
              static_cast<std::size_t>(static_cast<unsigned char>(text[11])) << 24;
  if (length > text.size() - start) return badFile(where, "the .npy file ends in its header");
  const std::string_view dictionary = text.substr(start, length);
  Header header;
  const auto descr = field(dictionary, "descr"), order = field(dictionary, "fortran_order"),
             shape = field(dictionary, "shape");
  if (!descr || !order || !shape || !parseShape(*shape, header))
    return badFile(where, "the header of the .npy file cannot be read");
  if (!parseDtype(*descr, header)) {
    return badFile(where, "the element type of the .npy file is not supported")
        .expected("a numeric or boolean type")
        .found(std::string(descr->substr(0, 12)));
  }
  header.fortran = order->starts_with("True");
  const auto size = checkedBytes(header.dtype, header.dims);
  const std::byte* data = bytes.data() + start + length;
  const std::size_t available = bytes.size() - start - length;
  if (!size || *size > available) {
    return badFile(where, "the .npy file is shorter than its shape says")
        .expected(size ? std::to_string(*size) + " bytes" : "a size that fits in memory")
        .found(std::to_string(available) + " bytes");
  }
  if (keeper && !header.swap && !header.fortran && reinterpret_cast<std::uintptr_t>(data) % 16 == 0) {
    return Tensor::over(header.dtype, header.dims, Buffer::wrap(data, *size, std::move(keeper)));
  }
  auto tensor = Tensor::allocate(header.dtype, header.dims);
  if (!tensor) return tensor;
  if (header.fortran && header.dims.size() > 1) {
    *tensor = rowMajor(data, header, std::move(*tensor));
  } else if (*size > 0) {
    std::memcpy(tensor->mutableData(), data, *size);
  }
  const auto unit = static_cast<std::size_t>(info(header.dtype).bits / 8);
  if (header.swap && unit > 1) swapBytes(tensor->mutableData(), *size / unit, unit);
  return tensor;
}

Result<Tensor> readNpyFile(const std::string& path) {
  auto file = MappedFile::open(path);
  if (!file) return file.status();
  return readNpy((*file)->bytes(), path, *file);
}

Result<Tensor> convert(const TensorView& tensor, DType dtype) {
  auto out = Tensor::allocate(dtype, {tensor.dims.begin(), tensor.dims.end()});
  if (!out) return out;
  constexpr std::int64_t kBlock = 1024;
  double values[kBlock];
  for (std::int64_t i = 0; i < tensor.count(); i += kBlock) {
    const std::int64_t n = std::min(kBlock, tensor.count() - i);
    loadAsDouble(tensor, i, n, values);
    storeFromDouble(out->mutableView(), i, n, values);
  }
  return out;
}

Status writeNpyFile(const std::string& path, const TensorView& tensor) {
  if (info(tensor.dtype).numpy == nullptr) {
    auto wider = convert(tensor, info(tensor.dtype).dtypeClass == DTypeClass::kFloat    ? DType::kFloat32
                                 : info(tensor.dtype).dtypeClass == DTypeClass::kSigned ? DType::kInt8
                                                                                        : DType::kUInt8);
    if (!wider) return wider.status();
    return writeNpyFile(path, wider->view());
  }
  std::string dictionary =
      std::string("{'descr': '") + info(tensor.dtype).numpy + "', 'fortran_order': False, 'shape': (";
  for (std::int64_t d : tensor.dims) dictionary += std::to_string(d) + ",";
  dictionary += "), }";
  if (tensor.dims.size() > 1) dictionary.erase(dictionary.rfind(",)"), 1);
  const std::size_t padded = (10 + dictionary.size() + 1 + 63) / 64 * 64;
  dictionary.resize(padded - 11, ' ');
  dictionary += '\n';
  std::string header(kMagic);
  header += '\x01';
  header += '\0';
  header += static_cast<char>(dictionary.size() & 0xff);
  header += static_cast<char>(dictionary.size() >> 8);
  header += dictionary;
  auto writer = FileWriter::create(path);
  if (!writer) return writer.status();
  ROTA_RETURN_IF_ERROR((*writer)->write(header.data(), header.size()));
  if (tensor.bytes() > 0) ROTA_RETURN_IF_ERROR((*writer)->write(tensor.data, tensor.bytes()));
  return (*writer)->commit();
}

}  // namespace rota::data
