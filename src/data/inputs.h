// SPDX-License-Identifier: Apache-2.0
// The inputs of a run: from a folder, from files named one by one, or made up.
//
// Files: NAME.npy, .pb, .bin, .json (a '/' in an input's name is '_' in the file's name; names that collide are refused), input_N.pb by position, one .npz or .json
// for all, or NAME=FILE (data/forms.h). What is missing, unknown or of the wrong
// type is an error that lists the names. Tested by tests/test_cli_inputs.py.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <rota/engine.h>

#include "core/tensor.h"

namespace rota::data {

struct ValueRange {
  double low = 0, high = 0;  ///< Floats: [low, high); integers: both ends too.
};

struct InputRequest {
  const std::vector<TensorInfo>& inputs;
  /// Sizes to use for open dims when inputs are made up; by name, -1 where nothing was said.
  std::map<std::string, std::vector<std::int64_t>> sizes;
  /// For made-up values: what was asked for, and the size of the smallest table that an integer input indexes; by name.
  std::map<std::string, ValueRange> ranges{};
  std::map<std::string, std::int64_t> tables{};
};

struct LoadedInputs {
  std::map<std::string, Tensor> tensors;  ///< One for every input.
  std::vector<std::string> notes;         ///< "dim 'batch' of 'ids' is not given: 1 is used".
};

/// `sources`: one folder, NAME=FILE entries, or `random[:SEED]`; empty means random.
Result<LoadedInputs> loadInputs(const std::vector<std::string>& sources, const InputRequest& request);

/// '/' in names becomes '_' in file names.
std::string fileNameOf(const std::string& tensorName);

}  // namespace rota::data
