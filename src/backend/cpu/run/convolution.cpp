// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/run/convolution.h"

#include <algorithm>

#include "core/check.h"

namespace rota::runtime {
namespace {

using simd::kTileRows;

constexpr std::int64_t kChunkTiles = 16;    // tiles whose pointers are found together
constexpr std::int64_t kPairsPerItem = 4;   // pairs of blocks of output channels in one piece of work
constexpr std::int64_t kBlocksPerItem = 8;  // depthwise

std::int64_t divideUp(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

Status misfit(const char* what) {
  return Status(ErrorCode::kInternal, std::string("a convolution's ") + what);
}

/// The block of channels of a layout, 1 where it is plain, 0 where it is something else.
std::int64_t channelBlock(const Layout& layout) {
  if (layout.isPlain()) return 1;
  return layout.order.empty() && layout.blocks.size() == 1 && layout.blocks[0].axis == 1
             ? layout.blocks[0].size
             : 0;
}

}  // namespace

/// The image under the windows as a matrix: a row for each input channel and kernel point, a column for each pixel of the result.
class ImagePanels final : public PanelSource {
 public:
  ImagePanels(const EveryShapeConvolution& owner, const float* image) : c_(owner), image_(image) {}

  void pack(std::int64_t d, std::int64_t depth, std::int64_t column, std::int64_t columns, std::int64_t width,
            float* to) const override {
    for (std::int64_t done = 0; done < columns; done += width, to += depth * width)
      packPanel(d, depth, column + done, std::min(width, columns - done), width, to);
  }

  const float* rowsInPlace(std::int64_t column, std::int64_t& stride) const override {
    stride = c_.inPixels_;
    const bool isWhole = c_.kernelPoints_ == 1 && c_.in_ == c_.out_ &&
                         c_.stride_ == EveryShapeConvolution::Sizes{1, 1, 1} &&
                         c_.pad_ == EveryShapeConvolution::Sizes{0, 0, 0};
    return isWhole ? image_ + column : nullptr;
  }
  const float* columnsInPlace(std::int64_t, std::int64_t&) const override { return nullptr; }

 private:
  void packPanel(std::int64_t d, std::int64_t depth, std::int64_t column, std::int64_t columns,
                 std::int64_t width, float* to) const {
    std::array<std::array<std::int64_t, 3>, simd::kMaxTileColumns> start;
    for (std::int64_t j = 0; j < columns; ++j) {
      std::int64_t rest = column + j;
      for (std::size_t i = 3; i-- > 0;) {
        start[static_cast<std::size_t>(j)][i] = rest % c_.out_[i] * c_.stride_[i] - c_.pad_[i];
        rest /= c_.out_[i];
      }
    }
    if (columns < width) std::fill_n(to, depth * width, 0.0F);
    for (std::int64_t k = 0; k < depth; ++k) {
      const std::int64_t point = (d + k) % c_.kernelPoints_;
      const float* plane = image_ + (d + k) / c_.kernelPoints_ * c_.inPixels_;
      const std::int64_t z = point / (c_.kernel_[1] * c_.kernel_[2]) * c_.dilation_[0];
      const std::int64_t y = point / c_.kernel_[2] % c_.kernel_[1] * c_.dilation_[1];
      const std::int64_t x = point % c_.kernel_[2] * c_.dilation_[2];
      for (std::int64_t j = 0; j < columns; ++j) {
        const auto& s = start[static_cast<std::size_t>(j)];
        const std::int64_t pz = s[0] + z, py = s[1] + y, px = s[2] + x;
        const bool inside =
            pz >= 0 && pz < c_.in_[0] && py >= 0 && py < c_.in_[1] && px >= 0 && px < c_.in_[2];
        to[k * width + j] = inside ? plane[(pz * c_.in_[1] + py) * c_.in_[2] + px] : 0.0F;
      }
    }
  }

  const EveryShapeConvolution& c_;
  const float* image_;
};

Status EveryShapeConvolution::init(const Attributes& parameters) {
  auto posts = readPostSteps(parameters);
  if (!posts) return posts.status();
  posts_ = std::move(*posts);
  const auto read = [&](const char* name, Sizes& to) {
    const auto* values = parameters.getInts(name);
    if (values == nullptr || values->empty() || values->size() > kSpatial) return false;
    std::copy(values->begin(), values->end(), to.end() - static_cast<std::ptrdiff_t>(values->size()));
    return true;
  };
  if (!read("strides", stride_) || !read("dilations", dilation_) || !read("pads_begin", pad_))
    return Status(ErrorCode::kEngineDamaged, "a convolution step has no strides, dilations or pads");
  return Status::ok();
}

Status EveryShapeConvolution::readLayouts(const StepBinding& binding) {
  const Layout& weights = *binding.inputs[1].layout;
  inBlock_ = channelBlock(*binding.inputs[0].layout);
  block_ = channelBlock(*binding.outputs[0].layout);
  if (inBlock_ == 0 || block_ == 0) return misfit("layout is unknown");
  const bool isGrouped = groups_ > 1;
  const simd::Kernels& k = simd::kernels();
  if (block_ == 1) {
    form_ = Form::kPlain;
    return inBlock_ == 1 && weights.isPlain() ? Status::ok() : misfit("layouts do not fit each other");
  }
  const bool isDepthwise = isGrouped && weights.blocks.size() == 1;
  form_ = isDepthwise ? Form::kDepthwise : Form::kDense;
  const auto kernel =
      block_ == 8 ? (isDepthwise ? k.depthwise8 : k.convolve8) : (isDepthwise ? k.depthwise16 : k.convolve16);
  if ((block_ != 8 && block_ != 16) || kernel == nullptr) return misfit("blocks do not fit this processor");
  const std::size_t wanted = inBlock_ == 1 || isDepthwise ? 1 : 2;
  const std::int64_t cuts = isDepthwise ? block_ : groups_ * block_;  // what divides the channels
  if (weights.blocks.size() != wanted || weights.blocks.back().size != block_ ||
      (inBlock_ != 1 && inBlock_ != block_) || outChannels_ % cuts != 0 ||
      (inBlock_ > 1 && inChannels_ % cuts != 0))
    return misfit("blocks do not divide its channels");
  return Status::ok();
}

Status EveryShapeConvolution::prepare(const StepBinding& binding, std::size_t& workspaceBytes) {
  const Dims in = binding.inputs[0].view.dims;
  const Dims weights = binding.inputs[1].view.dims;
  const Dims out = binding.outputs[0].view.dims;
  const std::size_t spatial = in.size() - 2;
  workspaceBytes = 0;
  if (in.size() < 3 || spatial > kSpatial || out.size() != in.size() ||
      (weights.size() != in.size() && weights.size() != in.size() + 1))
    return misfit("ranks do not fit each other");
  const std::size_t shift = kSpatial - spatial;
  for (std::size_t i = 0; i < spatial; ++i) {
    in_[shift + i] = in[2 + i];
    out_[shift + i] = out[2 + i];
    kernel_[shift + i] = weights[weights.size() - spatial + i];
  }
  const auto count = [](const Sizes& s) { return s[0] * s[1] * s[2]; };
  inPixels_ = count(in_);
  outPixels_ = count(out_);
  kernelPoints_ = count(kernel_);
  images_ = in[0];
  inChannels_ = in[1];
  outChannels_ = out[1];
  groups_ = weights.size() == in.size() + 1 ? weights[0] : 1;
  hasBias_ = binding.inputs.size() > 2 && binding.inputs[2].isGiven();
  ROTA_RETURN_IF_ERROR(readLayouts(binding));
  const std::int64_t chunks = divideUp(divideUp(outPixels_, kTileRows), kChunkTiles);
  switch (form_) {
    case Form::kPlain:
      items_ = images_ * groups_ * productParts(outChannels_ / groups_, outPixels_);
      slotBytes_ = kProductScratch * static_cast<std::int64_t>(sizeof(float));
      break;
    case Form::kDense:
      items_ = images_ * groups_ * chunks * divideUp(outChannels_ / (groups_ * block_), 2 * kPairsPerItem);
      slotBytes_ = kChunkTiles * kTileRows * kernelPoints_ * static_cast<std::int64_t>(sizeof(float*));
      break;
    case Form::kDepthwise:
      items_ = images_ * chunks * divideUp(outChannels_ / block_, kBlocksPerItem);
      slotBytes_ = kChunkTiles * kTileRows * kernelPoints_ * static_cast<std::int64_t>(sizeof(float*));
      break;
  }
  slotBytes_ = divideUp(slotBytes_, 64) * 64;
  slots_ = binding.threads->threads();
  workspaceBytes = static_cast<std::size_t>(slots_ * slotBytes_);
  return Status::ok();
}

Status EveryShapeConvolution::run(const StepBinding& binding) {
  if (items_ == 0) return Status::ok();
  auto* workspace = static_cast<std::byte*>(binding.workspace);
  const std::int64_t slots = std::min(slots_, items_);
  binding.threads->parallelFor(slots, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t slot = begin; slot < end; ++slot) {
      std::byte* memory = workspace + slot * slotBytes_;
      for (std::int64_t i = items_ * slot / slots; i < items_ * (slot + 1) / slots; ++i) {
        switch (form_) {
          case Form::kPlain: runPlain(binding, i, reinterpret_cast<float*>(memory)); break;
          case Form::kDense: runDense(binding, i, reinterpret_cast<const float**>(memory)); break;
          case Form::kDepthwise: runDepthwise(binding, i, reinterpret_cast<const float**>(memory)); break;
        }
      }
    }
  });
  return Status::ok();
}

/// Operations after the convolution, the bias first, with operands that start at channel 0 of image 0.
std::array<PostStep, kMaxPostSteps> EveryShapeConvolution::postsOf(const StepBinding& binding,
                                                                   std::size_t& count) const {
  std::array<PostStep, kMaxPostSteps> steps;
  count = 0;
  if (hasBias_)
    steps[count++] = {.kind = simd::Post::kAdd,
                      .over = PostStep::Operand::kRow,
                      .data = static_cast<const float*>(binding.inputs[2].view.data)};
  std::size_t next = 3;
  for (const PostStep& post : posts_) {
    PostStep step = post;
    if (takesOperand(post.kind)) {
      const Operand& operand = binding.inputs[next++];
      const Dims dims = operand.view.dims;
      const Dims out = binding.outputs[0].view.dims;
      step.data = static_cast<const float*>(operand.view.data);
      step.over = std::equal(dims.begin(), dims.end(), out.begin(), out.end()) ? PostStep::Operand::kEach
                  : operand.view.count() == 1                                  ? PostStep::Operand::kOne
                                                                               : PostStep::Operand::kRow;
    }
    steps[count++] = step;
  }
  return steps;
}

void EveryShapeConvolution::fillPoints(const float* plane, std::int64_t pixelSize, std::int64_t firstTile,
                                       std::int64_t tiles, const float** points) const {
  for (std::int64_t t = 0; t < tiles; ++t, points += kernelPoints_ * kTileRows)
    for (std::int64_t p = 0; p < kTileRows; ++p) {
      const std::int64_t pixel = (firstTile + t) * kTileRows + p;
      const std::int64_t start[kSpatial] = {pixel / (out_[1] * out_[2]) * stride_[0] - pad_[0],
                                            pixel / out_[2] % out_[1] * stride_[1] - pad_[1],
                                            pixel % out_[2] * stride_[2] - pad_[2]};
      const float** to = points + p;
      for (std::int64_t z = 0; z < kernel_[0]; ++z) {
        const std::int64_t pz = start[0] + z * dilation_[0];
        for (std::int64_t y = 0; y < kernel_[1]; ++y) {
          const std::int64_t py = start[1] + y * dilation_[1];
          const bool rowInside = pixel < outPixels_ && pz >= 0 && pz < in_[0] && py >= 0 && py < in_[1];
          for (std::int64_t x = 0; x < kernel_[2]; ++x, to += kTileRows) {
            const std::int64_t px = start[2] + x * dilation_[2];
            const bool inside = rowInside && px >= 0 && px < in_[2];
            *to = inside ? plane + ((pz * in_[1] + py) * in_[2] + px) * pixelSize : nullptr;
          }
        }
      }
    }
}

void EveryShapeConvolution::finish(const StepBinding& binding, std::int64_t channel, std::int64_t offset,
                                   std::int64_t pixels) const {
  std::size_t count = 0;
  const auto steps = postsOf(binding, count);
  float* x = static_cast<float*>(binding.outputs[0].mutableData) + offset;
  const simd::Kernels& k = simd::kernels();
  for (std::size_t i = 0; i < count; ++i) {
    const PostStep& s = steps[i];
    const float* operand = s.data;
    std::int64_t period = 0;
    if (s.over == PostStep::Operand::kEach) operand += offset;
    if (s.over == PostStep::Operand::kRow) {
      operand += channel;
      period = block_;
    }
    if (s.over == PostStep::Operand::kOne) period = 1;
    k.post[static_cast<int>(s.kind)](x, pixels * block_, s.alpha, s.beta, operand, period);
  }
}

void EveryShapeConvolution::runDense(const StepBinding& binding, std::int64_t item,
                                     const float** points) const {
  const std::int64_t tiles = divideUp(outPixels_, kTileRows);
  const std::int64_t chunks = divideUp(tiles, kChunkTiles);
  const std::int64_t outBlocks = outChannels_ / (groups_ * block_);
  const std::int64_t shares = divideUp(outBlocks, 2 * kPairsPerItem);
  const std::int64_t share = item % shares;
  const std::int64_t chunk = item / shares % chunks;
  const std::int64_t group = item / (shares * chunks) % groups_;
  const std::int64_t image = item / (shares * chunks * groups_);
  const std::int64_t firstTile = chunk * kChunkTiles;
  const std::int64_t lastTile = std::min(tiles, firstTile + kChunkTiles);
  const std::int64_t inGroup = inChannels_ / groups_;
  const float* source = static_cast<const float*>(binding.inputs[0].view.data) +
                        (image * inChannels_ + group * inGroup) * inPixels_;
  fillPoints(source, inBlock_, firstTile, lastTile - firstTile, points);
  simd::ConvolutionTile t;
  t.kernelPoints = kernelPoints_;
  t.outer = inBlock_ == 1 ? 1 : inGroup / inBlock_;
  t.outerStride = inPixels_ * inBlock_;
  t.inner = inBlock_ == 1 ? inGroup : inBlock_;
  t.innerStride = inBlock_ == 1 ? inPixels_ : 1;
  t.weightsStride = inGroup * kernelPoints_ * block_;
  t.outStride = outPixels_ * block_;
  const auto* weights = static_cast<const float*>(binding.inputs[1].view.data);
  auto* out = static_cast<float*>(binding.outputs[0].mutableData);
  const auto convolve = block_ == 8 ? simd::kernels().convolve8 : simd::kernels().convolve16;
  const std::int64_t lastBlock = std::min(outBlocks, (share + 1) * 2 * kPairsPerItem);
  for (std::int64_t b = share * 2 * kPairsPerItem; b < lastBlock; b += 2) {
    const std::int64_t block = group * outBlocks + b;
    t.blocks = std::min<std::int64_t>(2, lastBlock - b);
    t.weights = weights + block * t.weightsStride;
    for (std::int64_t tile = firstTile; tile < lastTile; ++tile) {
      const std::int64_t pixel = tile * kTileRows;
      const std::int64_t offset = (image * outChannels_ + block * block_) * outPixels_ + pixel * block_;
      t.points = points + (tile - firstTile) * kernelPoints_ * kTileRows;
      t.pixels = std::min(kTileRows, outPixels_ - pixel);
      t.out = out + offset;
      convolve(t);
    }
    const std::int64_t pixels = std::min(outPixels_, lastTile * kTileRows) - firstTile * kTileRows;
    for (std::int64_t o = 0; o < t.blocks; ++o)
      finish(binding, (block + o) * block_,
             (image * outChannels_ + (block + o) * block_) * outPixels_ + firstTile * kTileRows * block_,
             pixels);
  }
}

void EveryShapeConvolution::runDepthwise(const StepBinding& binding, std::int64_t item,
                                         const float** points) const {
  const std::int64_t tiles = divideUp(outPixels_, kTileRows);
  const std::int64_t chunks = divideUp(tiles, kChunkTiles);
  const std::int64_t blocks = outChannels_ / block_;
  const std::int64_t shares = divideUp(blocks, kBlocksPerItem);
  const std::int64_t share = item % shares;
  const std::int64_t chunk = item / shares % chunks;
  const std::int64_t image = item / (shares * chunks);
  const std::int64_t firstTile = chunk * kChunkTiles;
  const std::int64_t lastTile = std::min(tiles, firstTile + kChunkTiles);
  fillPoints(static_cast<const float*>(binding.inputs[0].view.data) + image * inChannels_ * inPixels_, block_,
             firstTile, lastTile - firstTile, points);
  const auto* weights = static_cast<const float*>(binding.inputs[1].view.data);
  auto* out = static_cast<float*>(binding.outputs[0].mutableData);
  const auto convolve = block_ == 8 ? simd::kernels().depthwise8 : simd::kernels().depthwise16;
  simd::ConvolutionTile t;
  t.kernelPoints = kernelPoints_;
  for (std::int64_t b = share * kBlocksPerItem; b < std::min(blocks, (share + 1) * kBlocksPerItem); ++b) {
    t.outerStride = b * block_ * inPixels_;
    t.weights = weights + b * kernelPoints_ * block_;
    const std::int64_t plane = (image * outChannels_ + b * block_) * outPixels_;
    for (std::int64_t tile = firstTile; tile < lastTile; ++tile) {
      const std::int64_t pixel = tile * kTileRows;
      t.points = points + (tile - firstTile) * kernelPoints_ * kTileRows;
      t.pixels = std::min(kTileRows, outPixels_ - pixel);
      t.out = out + plane + pixel * block_;
      convolve(t);
    }
    const std::int64_t pixels = std::min(outPixels_, lastTile * kTileRows) - firstTile * kTileRows;
    finish(binding, b * block_, plane + firstTile * kTileRows * block_, pixels);
  }
}

void EveryShapeConvolution::runPlain(const StepBinding& binding, std::int64_t item, float* scratch) const {
  const std::int64_t outGroup = outChannels_ / groups_;
  const std::int64_t inGroup = inChannels_ / groups_;
  const std::int64_t parts = productParts(outGroup, outPixels_);
  const std::int64_t group = item / parts % groups_;
  const std::int64_t image = item / (parts * groups_);
  const ImagePanels panels(*this, static_cast<const float*>(binding.inputs[0].view.data) +
                                      (image * inChannels_ + group * inGroup) * inPixels_);
  std::size_t count = 0;
  auto steps = postsOf(binding, count);
  const std::int64_t offset = (image * outChannels_ + group * outGroup) * outPixels_;
  for (std::size_t i = 0; i < count; ++i) {
    if (steps[i].over == PostStep::Operand::kEach) steps[i].data += offset;
    if (steps[i].over == PostStep::Operand::kRow) steps[i].data += group * outGroup;
  }
  MatrixProduct p;
  p.rows = outGroup;
  p.columns = outPixels_;
  p.depth = inGroup * kernelPoints_;
  p.a = static_cast<const float*>(binding.inputs[1].view.data) + group * outGroup * p.depth;
  p.aRow = p.depth;
  p.b = &panels;
  p.c = static_cast<float*>(binding.outputs[0].mutableData) + offset;
  p.cRow = outPixels_;
  p.post = {steps.data(), count};
  runProductPart(p, item % parts, scratch);
}

}  // namespace rota::runtime
