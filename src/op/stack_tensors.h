// SPDX-License-Identifier: Apache-2.0
// Stacking and slicing of whole tensors, for the scan inputs and outputs of Loop and Scan.
#pragma once

#include <vector>

#include "core/tensor.h"

namespace rota::op {

/// `parts`, all of one type and shape, along a new axis `axis` (negative counts from the end of the result) in order, or from last to first where
/// `reverse`. Without parts: an empty tensor of `emptyDtype` whose other dims are `emptyDims`.
Result<Tensor> stackTensors(const std::vector<Tensor>& parts, std::int64_t axis, bool reverse,
                            DType emptyDtype, const std::vector<std::int64_t>& emptyDims);

/// Element `index` of `tensor` along `axis` (both in range), without that axis.
Result<Tensor> sliceTensor(const Tensor& tensor, std::int64_t axis, std::int64_t index);

}  // namespace rota::op
