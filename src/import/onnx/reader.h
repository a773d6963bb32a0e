// SPDX-License-Identifier: Apache-2.0
// ONNX import: a file (or bytes) to a typed graph, or everything that is wrong with it in one pass.
//
// The file is mapped and read in place; weights stay views into it (tensor_proto.h). Functions of the model are inlined, nested graphs
// become blocks, constants become constant values; nodes may come in any order. Types and shapes that the model claims for inner values
// are not trusted: all come from inference. Equal names of dynamic dims are one symbol, which is at least 1 unless a range says otherwise.
// Problems are collected: every unsupported operator, bad attribute, missing or undefined input, type and shape conflict, with node,
// rule, expected, found and fix. Any bytes end in an answer: depth, counts, sizes and memory are bounded.
// Tested by src/import/onnx/reader_test.cpp, functions_test.cpp, hostile_test.cpp and tests/conformance.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/tensor.h"
#include "ir/graph.h"

namespace rota::onnx {

/// What one dynamic dim may be; lo == hi fixes it. `opt` is for those who choose kernels; the import only checks it.
struct DimRange {
  std::int64_t lo = 1;
  std::int64_t opt = 1;
  std::int64_t hi = 1;
};

struct ImportOptions {
  /// By input name, one range a dim. A static dim must lie in its range.
  std::map<std::string, std::vector<DimRange>> inputDims{};
  /// By the name of a dynamic dim.
  std::map<std::string, DimRange> symbols{};
  /// Further folders in which external data may really lie (links are followed).
  std::vector<std::string> dataRoots{};
  /// External data by location, instead of files.
  std::map<std::string, std::shared_ptr<Buffer>> dataBuffers{};
  /// For models from bytes: the folder where locations of external data start.
  std::string dataFolder{};
};

struct ModelMetadata {
  std::int64_t irVersion = 0;
  std::int64_t modelVersion = 0;
  std::string producerName;
  std::string producerVersion;
  std::string domain;
  std::map<std::string, std::int64_t> opsets;  ///< By domain; "" is the default one.
  std::map<std::string, std::string> properties;
};

struct ImportResult {
  std::unique_ptr<ir::Graph> graph;  ///< Given when there are no problems.
  std::vector<Status> problems;
  std::vector<std::string> notes;  ///< What the user may want to know though it is no problem.
  ModelMetadata metadata;
};

/// An error when the bytes are not a model at all; else a result, which may hold problems.
Result<ImportResult> importOnnx(const std::string& path, const ImportOptions& options);
/// `bytes` holds the model and is kept alive by the graph's constants.
Result<ImportResult> importOnnxBytes(std::shared_ptr<Buffer> bytes, const ImportOptions& options);

/// The problems as one error: the first, and how many there are.
Status summariseProblems(const std::vector<Status>& problems);

}  // namespace rota::onnx
