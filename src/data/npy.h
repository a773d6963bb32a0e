// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files (format 1.0 to 3.0, NEP 1): read with every length checked, written whole or not at all.
//
// Big-endian data and Fortran order are converted. Types numpy has no name for are written as the nearest wider one (bfloat16 and float8 as float32).
// Tested by src/data/npy_test.cpp.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "core/tensor.h"

namespace rota::data {

/// `where` names the file in messages. Aligned little-endian data is not copied when `keeper` keeps the bytes alive.
Result<Tensor> readNpy(std::span<const std::byte> bytes, const std::string& where,
                       std::shared_ptr<const void> keeper = {});
Result<Tensor> readNpyFile(const std::string& path);
Status writeNpyFile(const std::string& path, const TensorView& tensor);

/// `tensor` with the elements converted to `dtype` (both real types).
Result<Tensor> convert(const TensorView& tensor, DType dtype);

}  // namespace rota::data
