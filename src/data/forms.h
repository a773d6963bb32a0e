// SPDX-License-Identifier: Apache-2.0
// One array from a file of any form: .npy, .npz (entry NAME, or the only one), .pb (ONNX TensorProto), .bin (raw little-endian elements), .json (nested lists).
// The form is told by the ending. Tested by tests/test_cli_inputs.py.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <rota/engine.h>

#include "core/tensor.h"

namespace rota::data {

/// The endings in the order in which a folder is searched.
inline constexpr const char* kForms[] = {".npy", ".pb", ".bin", ".json"};

/// `dims`: for .bin, the shape; one -1 is found from the size of the file.
Result<Tensor> readForm(const std::string& path, const TensorInfo& info,
                        const std::vector<std::int64_t>& dims);

/// Everything that one .npz, or one .json with an object of lists, holds for these inputs; by input name.
Result<std::map<std::string, Tensor>> readTogether(const std::string& path,
                                                   const std::vector<TensorInfo>& inputs);

}  // namespace rota::data
