// SPDX-License-Identifier: Apache-2.0
// Networks: read from an ONNX file, or written down operator by operator.
//
//   rota::Network net;
//   auto x = net.addInput("x", rota::DType::kFloat32, {rota::Dim("batch"), 4});
//   auto w = net.addConstant("w", view);
//   auto y = net.add("MatMul", {*x, *w});
//   net.markOutput(*y, "y");
//
// Operators are those of ONNX, in their newest version, with their names and attributes. Types and shapes are inferred as nodes are added, so
// that a mistake is reported by the call that makes it. A Network is not thread-safe.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <rota/status.h>
#include <rota/tensor_view.h>

namespace rota {

namespace ir {
class Graph;
}

/// A size: a number, or a named symbol (equal names are equal sizes), at least 1 unless a profile says otherwise.
class Dim {
 public:
  Dim(std::int64_t value) : value_(value) {}  // NOLINT(google-explicit-constructor)
  Dim(int value) : value_(value) {}           // NOLINT(google-explicit-constructor)
  explicit Dim(std::string symbol) : symbol_(std::move(symbol)) {}
  bool isSymbol() const { return !symbol_.empty(); }
  std::int64_t value() const { return value_; }
  const std::string& symbol() const { return symbol_; }

 private:
  std::int64_t value_ = 0;
  std::string symbol_;
};

/// Allowed sizes of one dim: the engine is right from `min` to `max` and fastest at `opt`.
struct DimRange {
  std::int64_t min = 1;
  std::int64_t opt = 1;
  std::int64_t max = 1;
};

/// What to fix or bound while a model is read; dims that are left out stay free.
struct ModelOptions {
  std::map<std::string, std::vector<DimRange>> inputDims;  ///< By input name, one range for each dim.
  std::map<std::string, DimRange> symbols;                 ///< By the name of a dynamic dim.
};

/// A value of a network under construction; valid as long as the network.
struct NetworkValue {
  std::uint32_t id = 0;
};

using AttributeValue = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>,
                                    std::vector<float>, std::vector<std::string>>;

class Network {
 public:
  Network();
  ~Network();
  Network(Network&&) noexcept;
  Network& operator=(Network&&) noexcept;

  /// Reads an ONNX model; the error is the first problem and says how many there are (`rota check` lists all).
  static Result<Network> fromOnnx(const std::string& path, const ModelOptions& options = {});

  Result<NetworkValue> addInput(std::string name, DType dtype, const std::vector<Dim>& dims);
  /// The bytes are copied.
  Result<NetworkValue> addConstant(std::string name, const TensorView& value);
  /// Adds an operator and returns its first output. An optional input that is not given is `Network::kNotGiven`.
  Result<NetworkValue> add(std::string_view opType, const std::vector<NetworkValue>& inputs,
                           std::initializer_list<std::pair<std::string_view, AttributeValue>> attributes = {},
                           const std::string& name = {});
  /// The same for operators with several outputs.
  Result<std::vector<NetworkValue>> addMany(
      std::string_view opType, const std::vector<NetworkValue>& inputs, std::size_t outputs,
      std::initializer_list<std::pair<std::string_view, AttributeValue>> attributes = {},
      const std::string& name = {});
  /// Output order is the order of these calls.
  Status markOutput(NetworkValue value, std::string name);

  /// dtype and dims of a value as text, "float32[batch, 4]".
  std::string describe(NetworkValue value) const;

  static constexpr NetworkValue kNotGiven{~std::uint32_t{0}};

  /// For Rota's own libraries.
  ir::Graph& graph();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rota
