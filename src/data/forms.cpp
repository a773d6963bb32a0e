// SPDX-License-Identifier: Apache-2.0
#include "data/forms.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <nlohmann/json.hpp>

#include "core/check.h"
#include "core/checked.h"
#include "core/element_access.h"
#include "core/file.h"
#include "core/json_depth.h"
#include "data/inputs.h"
#include "data/npy.h"
#include "data/zip.h"
#include "import/onnx/tensor_proto.h"

namespace rota::data {
namespace {

using Json = nlohmann::json;

Status bad(const std::string& where, std::string message) {
  return Status(ErrorCode::kBadInputData, std::move(message)).at(where);
}

const ZipEntry* entryOf(const std::vector<ZipEntry>& entries, const std::string& input) {
  for (const ZipEntry& e : entries)
    if (e.name == input + ".npy" || e.name == input || e.name == fileNameOf(input) + ".npy") return &e;
  return nullptr;
}

Result<Tensor> readEntry(std::span<const std::byte> file, const ZipEntry& entry, const std::string& path) {
  auto bytes = readZipEntry(file, entry, path);
  if (!bytes) return bytes.status();
  return readNpy(*bytes, path + ", " + entry.name);
}

Result<Tensor> readNpz(const std::string& path, const std::string& input) {
  auto file = MappedFile::open(path);
  if (!file) return file.status();
  auto entries = readZipDirectory((*file)->bytes(), path);
  if (!entries) return entries.status();
  const ZipEntry* entry = entries->size() == 1 ? entries->data() : entryOf(*entries, input);
  if (entry == nullptr) {
    std::string names;
    for (const ZipEntry& e : *entries) names += (names.empty() ? "" : ", ") + e.name;
    return Status(ErrorCode::kInputMissing, "the archive has no array for an input")
        .at("input '" + input + "', " + path)
        .expected(input + ".npy")
        .found(names.empty() ? "nothing" : names);
  }
  return readEntry((*file)->bytes(), *entry, path);
}

Result<Tensor> readRaw(const std::string& path, const TensorInfo& info, std::vector<std::int64_t> dims) {
  auto file = MappedFile::open(path);
  if (!file) return file.status();
  const std::size_t size = (*file)->size();
  const auto open = std::find(dims.begin(), dims.end(), -1);
  if (open != dims.end()) {
    *open = 1;
    const auto unit = checkedBytes(info.dtype, dims);
    if (std::count(dims.begin(), dims.end(), -1) > 0 || !unit || *unit == 0 || size % *unit != 0) {
      return Status(ErrorCode::kInputShape, "the shape of a raw file cannot be found from its size")
          .at("input '" + info.name + "', " + path)
          .found(std::to_string(size) + " bytes")
          .fix("give the shape with --shape");
    }
    *open = static_cast<std::int64_t>(size / *unit);
  }
  const auto expected = checkedBytes(info.dtype, dims);
  if (!expected || *expected != size) {
    return bad("input '" + info.name + "', " + path, "the size of a raw file does not fit its shape")
        .expected(expected ? std::to_string(*expected) + " bytes" : "a size that fits in memory")
        .found(std::to_string(size) + " bytes");
  }
  auto tensor = Tensor::allocate(info.dtype, std::move(dims));
  if (tensor && size > 0) std::memcpy(tensor->mutableData(), (*file)->data(), size);
  return tensor;
}

/// Collects the numbers of nested lists; false where lists of one level differ in length or something is no number.
bool collect(const Json& json, std::size_t level, std::vector<std::int64_t>& dims,
             std::vector<const Json*>& leaves) {
  if (!json.is_array()) {
    leaves.push_back(&json);
    return level == dims.size();
  }
  if (level >= 32) return false;
  if (leaves.empty() && level == dims.size()) dims.push_back(static_cast<std::int64_t>(json.size()));
  if (level >= dims.size() || dims[level] != static_cast<std::int64_t>(json.size())) return false;
  for (const Json& element : json)
    if (!collect(element, level + 1, dims, leaves)) return false;
  return true;
}

bool realOf(const Json& leaf, double& value) {
  if (leaf.is_boolean())
    value = leaf.get<bool>() ? 1 : 0;
  else if (leaf.is_number())
    value = leaf.get<double>();
  else if (leaf == "nan")
    value = std::numeric_limits<double>::quiet_NaN();
  else if (leaf == "inf")
    value = std::numeric_limits<double>::infinity();
  else if (leaf == "-inf")
    value = -std::numeric_limits<double>::infinity();
  else
    return false;
  return true;
}

Result<Tensor> fromJson(const Json& json, const TensorInfo& info, const std::string& path) {
  const std::string where = "input '" + info.name + "', " + path;
  std::vector<std::int64_t> dims;
  std::vector<const Json*> leaves;
  if (!collect(json, 0, dims, leaves))
    return bad(where, "the lists of the JSON file do not form an array")
        .expected("nested lists of equal lengths");
  auto tensor = Tensor::allocate(info.dtype, dims);
  if (!tensor) return tensor;
  if (tensor->count() != static_cast<std::int64_t>(leaves.size()))
    return bad(where, "the lists of the JSON file do not form an array");
  const bool real = isFloat(info.dtype);
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    double value = 0;
    if (!realOf(*leaves[i], value))
      return bad(where, "an element of the JSON file is not a number")
          .expected("numbers, true, false, \"nan\", \"inf\", \"-inf\"")
          .found(leaves[i]->dump().substr(0, 40));
    if (!real && (!std::isfinite(value) || value != std::floor(value)))
      return bad(where, "an element of the JSON file is not an integer")
          .found(leaves[i]->dump().substr(0, 40));
    if (info.dtype == DType::kInt64 && leaves[i]->is_number_integer()) {
      const auto exact = leaves[i]->get<std::int64_t>();
      std::memcpy(tensor->mutableData() + i * sizeof exact, &exact, sizeof exact);
    } else {
      storeFromDouble(tensor->mutableView(), static_cast<std::int64_t>(i), 1, &value);
    }
    if (!real && realAt(tensor->view(), static_cast<std::int64_t>(i)) != value) {
      return bad(where, "an element of the JSON file does not fit the type of the input")
          .expected(rota::info(info.dtype).name)
          .found(leaves[i]->dump().substr(0, 40));
    }
  }
  return tensor;
}

Result<Json> parseJson(const std::string& path) {
  auto text = readTextFile(path, std::size_t{1} << 30);
  if (!text) return text.status();
  if (const std::size_t depth = jsonDepth(*text); depth > kMaxJsonDepth)
    return bad(path, "lists and objects of the JSON file are nested too deep")
        .expected("at most " + std::to_string(kMaxJsonDepth) + " levels")
        .found(std::to_string(depth));
  Json json = Json::parse(*text, nullptr, false);
  if (json.is_discarded()) return bad(path, "the file is not JSON");
  return json;
}

}  // namespace

Result<Tensor> readForm(const std::string& path, const TensorInfo& info,
                        const std::vector<std::int64_t>& dims) {
  if (path.ends_with(".npz")) return readNpz(path, info.name);
  if (path.ends_with(".bin")) return readRaw(path, info, dims);
  if (path.ends_with(".pb")) {
    auto value = onnx::readValueFile(path, ir::TypeKind::kTensor);
    if (!value) return value.status();
    return std::move(value->value.tensor);
  }
  if (path.ends_with(".json")) {
    auto json = parseJson(path);
    if (!json) return json.status();
    if (!json->is_object()) return fromJson(*json, info, path);
    const auto member = json->find(info.name);
    if (member == json->end())
      return Status(ErrorCode::kInputMissing, "the JSON object has no member for an input")
          .at("input '" + info.name + "', " + path);
    return fromJson(*member, info, path);
  }
  return readNpyFile(path);
}

Result<std::map<std::string, Tensor>> readTogether(const std::string& path,
                                                   const std::vector<TensorInfo>& inputs) {
  std::map<std::string, Tensor> tensors;
  if (path.ends_with(".json")) {
    auto json = parseJson(path);
    if (!json) return json.status();
    if (!json->is_object())
      return bad(path, "a JSON file for all inputs holds an object of lists").expected("{\"INPUT\": [...]}");
    for (const TensorInfo& t : inputs) {
      const auto member = json->find(t.name);
      if (member == json->end()) continue;
      auto tensor = fromJson(*member, t, path);
      if (!tensor) return tensor.status();
      tensors[t.name] = std::move(*tensor);
    }
    return tensors;
  }
  auto file = MappedFile::open(path);
  if (!file) return file.status();
  auto entries = readZipDirectory((*file)->bytes(), path);
  if (!entries) return entries.status();
  for (const TensorInfo& t : inputs) {
    const ZipEntry* entry = entryOf(*entries, t.name);
    if (entry == nullptr) continue;
    auto tensor = readEntry((*file)->bytes(), *entry, path);
    if (!tensor) return tensor.status();
    tensors[t.name] = std::move(*tensor);
  }
  return tensors;
}

}  // namespace rota::data
