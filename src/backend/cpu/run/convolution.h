// SPDX-License-Identifier: Apache-2.0
// Convolution of float32 for any spatial sizes, with nothing to make ready: what runs where dims change from run to run (decision N18).
//
// It works on the operands of the step "onednn.convolution", in the layouts that its tactic chooses. Channels in blocks: six neighbouring pixels
// by two blocks of output channels stay in registers, and a table of pointers says where each pixel's window reads, so that strides, dilations and
// padding cost nothing inside (an indirect convolution: Dukhan, "The Indirect Convolution Algorithm", 2019). Plain layout: a product of the
// weights with the image, whose columns are packed as they are needed. Memory for it depends on the weights and the threads only.
// Tested by src/backend/cpu/run/product_test.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "backend/cpu/run/product.h"
#include "runtime/step_kernel.h"

namespace rota::runtime {

class EveryShapeConvolution {
 public:
  /// Parameters of the step: strides, dilations, pads_begin and post-operations.
  Status init(const Attributes& parameters);
  /// Operands as in "onednn.convolution". Allocates nothing.
  Status prepare(const StepBinding& binding, std::size_t& workspaceBytes);
  Status run(const StepBinding& binding);

 private:
  enum class Form : std::uint8_t { kPlain, kDense, kDepthwise };
  static constexpr std::size_t kSpatial = 3;
  using Sizes = std::array<std::int64_t, kSpatial>;

  Status readLayouts(const StepBinding& binding);
  std::array<PostStep, kMaxPostSteps> postsOf(const StepBinding& binding, std::size_t& count) const;
  void fillPoints(const float* plane, std::int64_t pixelSize, std::int64_t firstTile, std::int64_t tiles,
                  const float** points) const;
  void runDense(const StepBinding& binding, std::int64_t item, const float** points) const;
  void runDepthwise(const StepBinding& binding, std::int64_t item, const float** points) const;
  void runPlain(const StepBinding& binding, std::int64_t item, float* scratch) const;
  /// The operations after the convolution on `pixels` pixels of one block of channels.
  void finish(const StepBinding& binding, std::int64_t channel, std::int64_t offset,
              std::int64_t pixels) const;

  friend class ImagePanels;
  std::vector<PostStep> posts_;
  Sizes stride_{1, 1, 1}, dilation_{1, 1, 1}, pad_{0, 0, 0};
  Sizes in_{1, 1, 1}, out_{1, 1, 1}, kernel_{1, 1, 1};
  Form form_ = Form::kPlain;
  std::int64_t images_ = 0, groups_ = 1, inChannels_ = 0, outChannels_ = 0;
  std::int64_t block_ = 1;    // of output channels
  std::int64_t inBlock_ = 1;  // of input channels; 1: plain
  std::int64_t inPixels_ = 1, outPixels_ = 1, kernelPoints_ = 1, items_ = 0, slots_ = 1, slotBytes_ = 0;
  bool hasBias_ = false;
};

}  // namespace rota::runtime
