// SPDX-License-Identifier: Apache-2.0
// Inference that Resize and Upsample share. Tested by src/op/resize_test.cpp.
#pragma once

#include "op/movement_common.h"

namespace rota::op {

/// Modes that the kernel would refuse are an error here already.
Status checkResizeAttributes(InferContext& ctx, bool simple);
/// Sizes of `axes` after scaling by attribute or input `scales`; `crops` when the region of tf_crop_and_resize counts.
Status resizeByScales(InferContext& ctx, std::size_t scalesInput, const std::vector<std::size_t>& axes,
                      bool crops, std::vector<Size>& dims);

}  // namespace rota::op
