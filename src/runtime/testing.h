// SPDX-License-Identifier: Apache-2.0
// For tests: builds small programs by hand, and runs them.
#pragma once

#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/context.h"
#include "runtime/program.h"

namespace rota::runtime::testing {

class ProgramBuilder {
 public:
  ProgramBuilder() { program.blocks.push_back({.name = "main", .params = {}, .results = {}, .steps = {}}); }

  std::uint32_t number(std::int64_t n) { return size({SizeContext::Op::kConstant, n}); }
  std::uint32_t size(SizeContext::FlatOp op) {
    program.sizes.push_back(op);
    return static_cast<std::uint32_t>(program.sizes.size() - 1);
  }
  std::uint32_t combine(SizeContext::Op op, std::uint32_t a, std::uint32_t b) { return size({op, 0, a, b}); }
  /// A symbol; returns the size entry that stands for it.
  std::uint32_t symbol(const std::string& name, SymbolOrigin origin = SymbolOrigin::kInputDim,
                       SizeRange range = {0, 1 << 20}) {
    program.symbols.push_back(
        {.name = name, .origin = origin, .range = range, .value = kNone, .position = 0});
    return size({SizeContext::Op::kSymbol, static_cast<std::int64_t>(program.symbols.size() - 1)});
  }
  /// The last symbol is dim (or element) `position` of `value`.
  void bindLastSymbol(std::int32_t value, std::uint32_t position) {
    program.symbols.back().value = value;
    program.symbols.back().position = position;
  }
  std::vector<std::uint32_t> dims(std::initializer_list<std::int64_t> sizes) {
    std::vector<std::uint32_t> entries;
    for (std::int64_t s : sizes) entries.push_back(number(s));
    return entries;
  }

  std::int32_t value(const std::string& name, std::vector<std::uint32_t> dims, DType dtype = DType::kFloat32,
                     Storage storage = Storage::kArena) {
    ValueInfo v;
    v.name = name;
    v.dtype = dtype;
    v.dims = std::move(dims);
    v.storage = storage;
    program.values.push_back(v);
    return static_cast<std::int32_t>(program.values.size() - 1);
  }
  std::int32_t unranked(const std::string& name, DType dtype = DType::kFloat32,
                        Storage storage = Storage::kGrowing) {
    const std::int32_t id = value(name, {}, dtype, storage);
    at(id).rankKnown = false;
    return id;
  }
  std::int32_t input(const std::string& name, std::vector<std::uint32_t> dims,
                     DType dtype = DType::kFloat32) {
    const std::int32_t id = value(name, std::move(dims), dtype, Storage::kInput);
    program.blocks[0].params.push_back(id);
    program.inputNames.push_back(name);
    return id;
  }
  std::int32_t param(std::uint32_t block, const std::string& name, std::vector<std::uint32_t> dims,
                     DType dtype = DType::kFloat32) {
    const std::int32_t id = value(name, std::move(dims), dtype, Storage::kBlockParam);
    program.blocks[block].params.push_back(id);
    return id;
  }
  std::int32_t alias(const std::string& name, std::int32_t of, std::vector<std::uint32_t> dims,
                     std::int64_t offset = 0) {
    const std::int32_t id = value(name, std::move(dims), at(of).dtype, Storage::kAlias);
    at(id).aliasOf = of;
    at(id).aliasOffset = number(offset);
    return id;
  }
  std::int32_t constant(const std::string& name, const Tensor& tensor) {
    std::vector<std::uint32_t> entries;
    for (std::int64_t d : tensor.dims()) entries.push_back(number(d));
    const std::int32_t id = value(name, std::move(entries), tensor.dtype(), Storage::kConstant);
    at(id).constant = static_cast<std::int32_t>(program.constants.size());
    program.constants.push_back({.dtype = tensor.dtype(),
                                 .dims = tensor.dims(),
                                 .layout = {},
                                 .offset = 0,
                                 .bytes = tensor.bytes(),
                                 .hash = hashBytes(tensor.data(), tensor.bytes()),
                                 .recipe = "initializer " + name});
    constants.push_back(tensor);
    return id;
  }
  void output(std::int32_t id, std::string name = {}) {
    program.blocks[0].results.push_back(id);
    program.outputNames.push_back(name.empty() ? at(id).name : std::move(name));
  }
  std::uint32_t block(const std::string& name) {
    program.blocks.push_back({.name = name, .params = {}, .results = {}, .steps = {}});
    return static_cast<std::uint32_t>(program.blocks.size() - 1);
  }
  /// A step with a source node named like its first output.
  Step& step(std::uint32_t block, const std::string& kernel, std::vector<std::int32_t> inputs,
             std::vector<std::int32_t> outputs) {
    Step s;
    s.kernel = kernel;
    s.version = 21;
    s.inputs = std::move(inputs);
    s.outputs = std::move(outputs);
    std::string name = kernel;
    for (auto it = s.outputs.rbegin(); it != s.outputs.rend(); ++it)
      if (*it != kNone) name = at(*it).name;
    const std::size_t colon = kernel.rfind(':');
    program.sources.push_back({.scope = "",
                               .name = name,
                               .opType = colon == std::string::npos ? kernel : kernel.substr(colon + 1)});
    s.sources = {static_cast<std::uint32_t>(program.sources.size() - 1)};
    for (std::int32_t v : s.outputs)
      if (v != kNone) at(v).sources = s.sources;
    program.blocks[block].steps.push_back(std::move(s));
    return program.blocks[block].steps.back();
  }

  ValueInfo& at(std::int32_t id) { return program.values[static_cast<std::size_t>(id)]; }

  Result<std::shared_ptr<const LoadedProgram>> load() const {
    auto keeper = std::make_shared<std::vector<Tensor>>(constants);
    std::vector<const std::byte*> data;
    for (const Tensor& t : *keeper) data.push_back(t.data());
    return loadProgram(std::make_shared<const Program>(program), std::move(data), keeper);
  }
  std::unique_ptr<Context> context() const {
    auto loaded = load();
    EXPECT_TRUE(loaded.isOk()) << loaded.status().toString();
    if (!loaded) return nullptr;
    auto made = createContext(*loaded, std::make_shared<ThreadPool>(1));
    EXPECT_TRUE(made.isOk()) << made.status().toString();
    return made.isOk() ? std::move(*made) : nullptr;
  }

  Program program;
  std::vector<Tensor> constants;
};

inline std::vector<float> floatsOf(const TensorView& view) {
  EXPECT_EQ(view.dtype, DType::kFloat32);
  return {view.as<float>(), view.as<float>() + view.count()};
}
inline std::vector<std::int64_t> dimsOf(const TensorView& view) {
  return {view.dims.begin(), view.dims.end()};
}

/// Runs with these inputs; fails the test when that does not work.
inline bool runWith(Context& context, const std::vector<std::pair<std::string, Tensor>>& inputs) {
  for (const auto& [name, tensor] : inputs) {
    const Status status = context.setInput(name, tensor.view());
    EXPECT_TRUE(status.isOk()) << status.toString();
  }
  const Status status = context.run();
  EXPECT_TRUE(status.isOk()) << status.toString();
  return status.isOk();
}
inline TensorView outputOf(Context& context, const std::string& name) {
  auto view = context.output(name);
  EXPECT_TRUE(view.isOk()) << view.status().toString();
  return view.isOk() ? *view : TensorView{};
}
inline Tensor boolTensor(bool value) {
  auto tensor = Tensor::allocate(DType::kBool, {});
  const std::uint8_t byte = value ? 1 : 0;
  std::memcpy(tensor->mutableData(), &byte, 1);
  return *tensor;
}

}  // namespace rota::runtime::testing
