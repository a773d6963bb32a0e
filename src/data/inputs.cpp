// SPDX-License-Identifier: Apache-2.0
#include "data/inputs.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <random>

#include "core/check.h"
#include "core/element_access.h"
#include "data/forms.h"
#include "data/npy.h"

namespace rota::data {
namespace {

std::string namesOf(const std::vector<TensorInfo>& infos) {
  std::string text;
  for (const TensorInfo& t : infos) text += (text.empty() ? "" : ", ") + t.name;
  return text;
}

const TensorInfo* find(const std::vector<TensorInfo>& infos, std::string name) {
  if (name.size() >= 2 && name.front() == '\'' && name.back() == '\'') name = name.substr(1, name.size() - 2);
  for (const TensorInfo& t : infos)
    if (t.name == name) return &t;
  return nullptr;
}

/// The dims for an input that is made up or has no shape of its own: as declared, else as given, else the profile's; -1 where nothing says it.
std::vector<std::int64_t> dimsOf(const TensorInfo& info, const InputRequest& request) {
  std::vector<std::int64_t> dims = info.dims;
  const auto given = request.sizes.find(info.name);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] >= 0) continue;
    if (given != request.sizes.end() && i < given->second.size() && given->second[i] >= 0)
      dims[i] = given->second[i];
    else if (i < info.optDims.size())
      dims[i] = info.optDims[i];
    else
      dims[i] = -1;
  }
  return dims;
}

Status take(const TensorInfo& info, const std::string& path, Result<Tensor> tensor, LoadedInputs& loaded) {
  if (!tensor) return tensor.status();
  if (tensor->dtype() != info.dtype) {
    const bool widened =
        rota::info(info.dtype).numpy == nullptr && isFloat(tensor->dtype()) && isFloat(info.dtype);
    if (!widened) {
      return Status(ErrorCode::kInputType, "an input file has another element type than the input")
          .at("input '" + info.name + "', " + path)
          .expected(rota::info(info.dtype).name)
          .found(rota::info(tensor->dtype()).name)
          .fix("convert the array before saving it");
    }
    tensor = convert(tensor->view(), info.dtype);
    if (!tensor) return tensor.status();
  }
  loaded.tensors[info.name] = std::move(*tensor);
  return Status::ok();
}

Status readOne(const TensorInfo& info, const std::string& path, const InputRequest& request,
               LoadedInputs& loaded) {
  return take(info, path, readForm(path, info, dimsOf(info, request)), loaded);
}

/// NAME with the first ending that is there; else input_N.pb, the ONNX test data; else NAME.npy, for the message.
std::string fileIn(const std::string& folder, const std::string& name, std::size_t position) {
  std::error_code ignored;
  for (const char* form : kForms) {
    const std::string path = (std::filesystem::path(folder) / (name + form)).string();
    if (std::filesystem::exists(path, ignored)) return path;
  }
  const std::string numbered =
      (std::filesystem::path(folder) / ("input_" + std::to_string(position) + ".pb")).string();
  return std::filesystem::exists(numbered, ignored)
             ? numbered
             : (std::filesystem::path(folder) / (name + ".npy")).string();
}

Status readFolder(const std::string& folder, const InputRequest& request, LoadedInputs& loaded) {
  std::map<std::string, std::string> byFile;
  for (const TensorInfo& t : request.inputs) {
    const std::string file = fileNameOf(t.name);
    if (const auto [it, fresh] = byFile.emplace(file, t.name); !fresh) {
      return Status(ErrorCode::kUsage, "two inputs have the same file name")
          .at("'" + it->second + "' and '" + t.name + "'")
          .fix("name the files one by one: NAME=FILE");
    }
    std::error_code ignored;
    const std::string path = fileIn(folder, file, byFile.size() - 1);
    if (!std::filesystem::exists(path, ignored)) {
      return Status(ErrorCode::kInputMissing, "the folder has no file for an input")
          .at("input '" + t.name + "'")
          .expected(path)
          .fix("save it there with numpy.save, or name the file: --inputs '" + t.name + "=FILE'");
    }
    ROTA_RETURN_IF_ERROR(readOne(t, path, request, loaded));
  }
  return Status::ok();
}

/// A 64-bit mix of seed and name, the same on every machine.
std::uint64_t seedOf(std::uint64_t seed, const std::string& name) {
  std::uint64_t h = seed * 0x9e3779b97f4a7c15ULL + 0x243f6a8885a308d3ULL;
  for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return h;
}

/// What was asked for; else floats from -1 to 1, indices inside their table, bytes of all values, and 1 for other integers: a mask that hides nothing.
ValueRange rangeOf(const TensorInfo& info, const InputRequest& request) {
  if (const auto it = request.ranges.find(info.name); it != request.ranges.end()) return it->second;
  if (isFloat(info.dtype)) return {-1, 1};
  if (const auto it = request.tables.find(info.name); it != request.tables.end())
    return {0, static_cast<double>(std::max<std::int64_t>(it->second, 1) - 1)};
  if (info.dtype == DType::kUInt8) return {0, 255};
  if (info.dtype == DType::kInt8) return {-128, 127};
  return {1, 1};
}

Status makeRandom(const TensorInfo& info, std::uint64_t seed, const InputRequest& request,
                  LoadedInputs& loaded) {
  std::vector<std::int64_t> dims = dimsOf(info, request);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] >= 0) continue;
    dims[i] = 1;
    loaded.notes.push_back("dim " + std::to_string(i) + " of input '" + info.name +
                           "' is not given: 1 is used (--shape sets it)");
  }
  auto tensor = Tensor::allocate(info.dtype, dims);
  if (!tensor) return tensor.status();
  std::mt19937_64 engine(seedOf(seed, info.name));
  const ValueRange range = rangeOf(info, request);
  const bool real = isFloat(info.dtype);
  const double steps = std::floor(range.high) - std::ceil(range.low) + 1;
  constexpr std::int64_t kBlock = 1024;
  double values[kBlock];
  for (std::int64_t i = 0; i < tensor->count(); i += kBlock) {
    const std::int64_t n = std::min(kBlock, tensor->count() - i);
    for (std::int64_t j = 0; j < n; ++j) {
      const double share = static_cast<double>(engine() >> 11) * 0x1p-53;  // [0, 1)
      values[j] = real ? range.low + (range.high - range.low) * share
                       : std::ceil(range.low) + std::floor(share * steps);
    }
    storeFromDouble(tensor->mutableView(), i, n, values);
  }
  loaded.tensors[info.name] = std::move(*tensor);
  return Status::ok();
}

}  // namespace

std::string fileNameOf(const std::string& tensorName) {
  std::string file = tensorName;
  std::replace(file.begin(), file.end(), '/', '_');
  return file;
}

Result<LoadedInputs> loadInputs(const std::vector<std::string>& sources, const InputRequest& request) {
  LoadedInputs loaded;
  if (sources.empty() || sources[0] == "random" || sources[0].starts_with("random:")) {
    std::uint64_t seed = 0;
    if (!sources.empty() && sources[0].size() > 7) {
      const std::string text = sources[0].substr(7);
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
      if (error != std::errc() || end != text.data() + text.size())
        return Status(ErrorCode::kUsage, "the seed of random inputs is not a number").found(text);
    }
    for (const TensorInfo& t : request.inputs) ROTA_RETURN_IF_ERROR(makeRandom(t, seed, request, loaded));
    return loaded;
  }
  std::error_code ignored;
  for (const std::string& source : sources) {
    if (std::filesystem::is_directory(source, ignored)) {
      ROTA_RETURN_IF_ERROR(readFolder(source, request, loaded));
      continue;
    }
    if (source.find('=') == std::string::npos && (source.ends_with(".npz") || source.ends_with(".json"))) {
      auto together = readTogether(source, request.inputs);
      if (!together) return together.status();
      for (const TensorInfo& t : request.inputs)
        if (const auto it = together->find(t.name); it != together->end())
          ROTA_RETURN_IF_ERROR(take(t, source, std::move(it->second), loaded));
      continue;
    }
    const TensorInfo* named = nullptr;
    std::string path;
    for (std::size_t at = source.rfind('='); at != std::string::npos && at > 0 && named == nullptr;
         at = source.rfind('=', at - 1)) {
      named = find(request.inputs, source.substr(0, at));
      path = source.substr(at + 1);
    }
    if (named == nullptr) {
      return Status(
                 source.find('=') == std::string::npos ? ErrorCode::kFileNotFound : ErrorCode::kUnknownName,
                 "--inputs is neither a folder nor INPUT=FILE")
          .at(source)
          .expected("a folder of NAME.npy, a .npz, or one of " + namesOf(request.inputs) + " before '='");
    }
    ROTA_RETURN_IF_ERROR(readOne(*named, path, request, loaded));
  }
  for (const TensorInfo& t : request.inputs) {
    if (!loaded.tensors.contains(t.name))
      return Status(ErrorCode::kInputMissing, "an input is not given")
          .at("input '" + t.name + "'")
          .expected("all of " + namesOf(request.inputs));
  }
  return loaded;
}

}  // namespace rota::data
