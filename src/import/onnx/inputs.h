// SPDX-License-Identifier: Apache-2.0
// A first look at a model: its inputs as declared, without weights and without inference. The command line needs their names to read its options.
#pragma once

#include <string>
#include <vector>

#include <rota/status.h>

namespace rota::onnx {

struct DeclaredInput {
  std::string name;
  std::size_t rank = 0;
};

/// Graph inputs that are not initializers; the errors are those of reading a model.
Result<std::vector<DeclaredInput>> readInputs(const std::string& path);

}  // namespace rota::onnx
