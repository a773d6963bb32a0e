// SPDX-License-Identifier: Apache-2.0
// "onednn.matmul": batched matrix product with bias and post-operations, float32.
//
// Inputs: A [batch…, m, k] (or [batch…, k, m] with transpose_a), B likewise, bias [n] or none, then one operand per binary post-operation ([n], or of the shape
// of the result). Batch dims broadcast. A product whose B is one matrix is one tall product. Work is cut by rows (blocks of 128) or by matrices, by
// shape alone, so that bits do not depend on threads. Where dims change from run to run (StepBinding::everyShape) our own product runs instead, which
// needs no primitive; also where the library has only plain loops.
#include <algorithm>
#include <array>
#include <atomic>

#include "backend/cpu/onednn/executor.h"
#include "backend/cpu/run/product.h"
#include "core/check.h"

namespace rota::onednn {
namespace {

using runtime::Operand;
using runtime::StepBinding;

constexpr std::int64_t kRowsPerPart = 128;
constexpr std::size_t kMaxExtra = 8;

dnnl::memory::desc matrix(std::int64_t rows, std::int64_t columns, std::int64_t rowStride,
                          std::int64_t columnStride) {
  return {{rows, columns}, dnnl::memory::data_type::f32, {rowStride, columnStride}};
}

class MatMul final : public runtime::StepKernel {
 public:
  MatMul(const Attributes& p, std::vector<PostOperation> post, std::vector<runtime::PostStep> steps)
      : transposeA_(p.getInt("transpose_a") != 0),
        transposeB_(p.getInt("transpose_b") != 0),
        post_(std::move(post)),
        steps_(std::move(steps)) {}

  Status prepare(const StepBinding& binding, std::size_t& workspaceBytes) override {
    const Dims a = binding.inputs[0].view.dims;
    const Dims b = binding.inputs[1].view.dims;
    const Dims c = binding.outputs[0].view.dims;
    workspaceBytes = 0;
    if (!binding.everyShape) parts_.clear();
    m_ = a[a.size() - (transposeA_ ? 1 : 2)];
    k_ = a[a.size() - (transposeA_ ? 2 : 1)];
    n_ = b[b.size() - (transposeB_ ? 2 : 1)];
    batches_ = elementCount(c.first(c.size() - 2));
    const std::int64_t batchA = elementCount(a.first(a.size() - 2));
    const std::int64_t batchB = elementCount(b.first(b.size() - 2));
    empty_ = batches_ * m_ * n_ == 0;
    if (empty_) return Status::ok();
    if (k_ == 0 && !binding.everyShape)
      return Status(ErrorCode::kInternal, "a product over nothing came to oneDNN");
    if (batchB == 1 && !transposeA_ && batchA == batches_) {  // one tall product
      m_ *= batches_;
      batches_ = 1;
    }
    findOffsets(a, b, c);
    rows_ = batches_ == 1 && m_ >= 2 * kRowsPerPart ? kRowsPerPart : m_;
    hasBias_ = binding.inputs[2].isGiven();
    for (std::size_t i = 3; i < binding.inputs.size(); ++i)
      extraIsRow_[i - 3] = binding.inputs[i].view.count() == n_ && binding.inputs[i].view.rank() <= 1;
    isOurs_ = binding.everyShape;
    if (!isOurs_) {
      ROTA_RETURN_IF_ERROR(makeExecutors(binding, workspaceBytes));
      isOurs_ = std::any_of(parts_.begin(), parts_.end(),
                            [](const Slot& s) { return s.full.isPlainLoops() || s.tail.isPlainLoops(); });
    }
    if (isOurs_) {
      slots_ = binding.threads->threads();
      workspaceBytes = static_cast<std::size_t>(slots_ * runtime::kProductScratch) * sizeof(float);
    }
    return Status::ok();
  }

  Status run(const StepBinding& binding) override {
    if (empty_) return Status::ok();
    if (isOurs_) return runEveryShape(binding);
    const std::int64_t rowParts = (m_ + rows_ - 1) / rows_;
    const std::int64_t parts = batches_ * rowParts;
    const auto slots = static_cast<std::int64_t>(parts_.size());
    if (slots == 1) {
      for (std::int64_t p = 0; p < parts; ++p) ROTA_RETURN_IF_ERROR(runPart(binding, p, 0, rowParts));
      return Status::ok();
    }
    std::atomic<bool> failed{false};
    binding.threads->parallelFor(slots, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t slot = begin; slot < end; ++slot) {
        for (std::int64_t p = parts * slot / slots; p < parts * (slot + 1) / slots; ++p) {
          if (!runPart(binding, p, static_cast<std::size_t>(slot), rowParts).isOk()) failed = true;
        }
      }
    });
    return failed ? Status(ErrorCode::kInternal, "oneDNN failed to run a product") : Status::ok();
  }

 private:
  struct Slot {
    Executor full;  // rows_ rows
    Executor tail;  // what is left of m_
  };

  /// Element offsets of A and B for each matrix of the result (batch dims broadcast).
  void findOffsets(Dims a, Dims b, Dims c) {
    offsetA_.assign(static_cast<std::size_t>(batches_), 0);
    offsetB_.assign(static_cast<std::size_t>(batches_), 0);
    if (batches_ == 1) return;
    const auto offsetOf = [&](Dims dims, std::int64_t index, std::int64_t matrixElements) {
      std::int64_t offset = 0, stride = matrixElements, rest = index;
      for (std::size_t i = c.size() - 2; i-- > 0;) {
        const std::int64_t at = rest % c[i];
        rest /= c[i];
        const std::size_t fromEnd = c.size() - i;
        if (fromEnd > dims.size()) continue;
        const std::int64_t d = dims[dims.size() - fromEnd];
        if (d != 1) offset += at * stride;
        stride *= d;
      }
      return offset;
    };
    for (std::int64_t i = 0; i < batches_; ++i) {
      offsetA_[static_cast<std::size_t>(i)] = offsetOf(a, i, m_ * k_);
      offsetB_[static_cast<std::size_t>(i)] = offsetOf(b, i, k_ * n_);
    }
  }

  Status makeExecutors(const StepBinding& binding, std::size_t& workspaceBytes) {
    const std::int64_t parts = batches_ * ((m_ + rows_ - 1) / rows_);
    parts_.assign(static_cast<std::size_t>(std::min<std::int64_t>(parts, binding.threads->threads())),
                  Slot{});
    std::size_t scratch = 0;
    for (Slot& slot : parts_) {
      ROTA_RETURN_IF_ERROR(makeExecutor(slot.full, rows_, binding.inputs.size() - 3));
      scratch = std::max(scratch, slot.full.workspaceBytes());
      if (m_ % rows_ == 0) continue;
      ROTA_RETURN_IF_ERROR(makeExecutor(slot.tail, m_ % rows_, binding.inputs.size() - 3));
      scratch = std::max(scratch, slot.tail.workspaceBytes());
    }
    scratchStride_ = (scratch + 63) / 64 * 64;
    workspaceBytes = scratchStride_ * parts_.size();
    return Status::ok();
  }

  Status makeExecutor(Executor& executor, std::int64_t rows, std::size_t extras) {
    const dnnl::memory::desc a = transposeA_ ? matrix(rows, k_, 1, m_) : matrix(rows, k_, k_, 1);
    const dnnl::memory::desc b = transposeB_ ? matrix(k_, n_, 1, k_) : matrix(k_, n_, n_, 1);
    const dnnl::memory::desc c = matrix(rows, n_, n_, 1);
    const dnnl::memory::desc row = matrix(1, n_, n_, 1);
    std::vector<std::pair<int, dnnl::memory::desc>> fixed = {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}};
    if (hasBias_) fixed.emplace_back(DNNL_ARG_BIAS, row);
    std::vector<dnnl::memory::desc> extra;
    for (std::size_t i = 0; i < extras; ++i) extra.push_back(extraIsRow_[i] ? row : c);
    const auto maker = [&](const dnnl::primitive_attr& attributes) -> Executor::Made {
      const dnnl::matmul::desc desc =
          hasBias_ ? dnnl::matmul::desc(a, b, row, c) : dnnl::matmul::desc(a, b, c);
      const dnnl::matmul::primitive_desc primitive(desc, attributes, cpuEngine());
      return {primitive, dnnl::matmul(primitive)};
    };
    return executor.prepare(maker, post_, fixed, c, extra);
  }

  /// The operations after matrix `batch`, the bias first.
  std::size_t stepsOf(const StepBinding& binding, std::int64_t batch, std::span<runtime::PostStep> to) const {
    using Over = runtime::PostStep::Operand;
    std::size_t count = 0;
    if (hasBias_)
      to[count++] = {
          .kind = simd::Post::kAdd, .over = Over::kColumn, .data = binding.inputs[2].view.as<float>()};
    std::size_t next = 0;
    for (const runtime::PostStep& step : steps_) {
      to[count] = step;
      if (runtime::takesOperand(step.kind)) {
        const bool isRow = extraIsRow_[next];
        to[count].over = isRow ? Over::kColumn : Over::kEach;
        to[count].data = binding.inputs[3 + next].view.as<float>() + (isRow ? 0 : batch * m_ * n_);
        ++next;
      }
      ++count;
    }
    return count;
  }

  Status runEveryShape(const StepBinding& binding) {
    const std::int64_t perMatrix = runtime::productParts(m_, n_);
    const std::int64_t parts = batches_ * perMatrix;
    const std::int64_t slots = std::min(parts, slots_);
    binding.threads->parallelFor(slots, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t slot = begin; slot < end; ++slot) {
        float* scratch = static_cast<float*>(binding.workspace) + slot * runtime::kProductScratch;
        for (std::int64_t part = parts * slot / slots; part < parts * (slot + 1) / slots; ++part)
          runPartOfEveryShape(binding, part / perMatrix, part % perMatrix, scratch);
      }
    });
    return Status::ok();
  }

  void runPartOfEveryShape(const StepBinding& binding, std::int64_t batch, std::int64_t part,
                           float* scratch) const {
    const auto b = static_cast<std::size_t>(batch);
    const runtime::MatrixPanels panels(binding.inputs[1].view.as<float>() + offsetB_[b], transposeB_ ? 1 : n_,
                                       transposeB_ ? k_ : 1);
    std::array<runtime::PostStep, runtime::kMaxPostSteps> steps;
    runtime::MatrixProduct p;
    p.rows = m_;
    p.columns = n_;
    p.depth = k_;
    p.a = binding.inputs[0].view.as<float>() + offsetA_[b];
    p.aRow = transposeA_ ? 1 : k_;
    p.aDepth = transposeA_ ? m_ : 1;
    p.b = &panels;
    p.c = static_cast<float*>(binding.outputs[0].mutableData) + batch * m_ * n_;
    p.cRow = n_;
    p.post = {steps.data(), stepsOf(binding, batch, steps)};
    runtime::runProductPart(p, part, scratch);
  }

  Status runPart(const StepBinding& binding, std::int64_t part, std::size_t slot, std::int64_t rowParts) {
    const std::int64_t batch = part / rowParts;
    const std::int64_t row = part % rowParts * rows_;
    const bool tail = row + rows_ > m_;
    const auto b = static_cast<std::size_t>(batch);
    const auto floats = [](const Operand& o) { return o.view.as<float>(); };
    const void* fixed[3] = {floats(binding.inputs[0]) + offsetA_[b] + (transposeA_ ? row : row * k_),
                            floats(binding.inputs[1]) + offsetB_[b],
                            hasBias_ ? binding.inputs[2].view.data : nullptr};
    const std::int64_t at = (batch * m_ + row) * n_;
    const void* extra[kMaxExtra] = {};
    const std::size_t extras = binding.inputs.size() - 3;
    for (std::size_t i = 0; i < extras; ++i)
      extra[i] = floats(binding.inputs[3 + i]) + (extraIsRow_[i] ? 0 : at);
    auto* workspace = static_cast<std::byte*>(binding.workspace) + slot * scratchStride_;
    Executor& executor = tail ? parts_[slot].tail : parts_[slot].full;
    return executor.execute({fixed, hasBias_ ? 3U : 2U}, {extra, extras},
                            static_cast<float*>(binding.outputs[0].mutableData) + at, workspace);
  }

  bool transposeA_;
  bool transposeB_;
  std::vector<PostOperation> post_;
  std::vector<runtime::PostStep> steps_;  // the same for our own product
  std::int64_t slots_ = 1;
  std::int64_t m_ = 0, n_ = 0, k_ = 0, batches_ = 0, rows_ = 0;
  bool empty_ = false;
  bool hasBias_ = false;
  bool isOurs_ = false;  // any shape is wanted, or the library has only plain loops for this one
  bool extraIsRow_[kMaxExtra] = {};
  std::vector<std::int64_t> offsetA_, offsetB_;
  std::vector<Slot> parts_;
  std::size_t scratchStride_ = 0;
};

Result<std::unique_ptr<runtime::StepKernel>> makeMatMul(const runtime::StepKernelSpec& spec) {
  auto post = parsePostOperations(spec.step.parameters);
  if (!post) return post.status();
  auto steps = runtime::readPostSteps(spec.step.parameters);
  if (!steps) return steps.status();
  const auto binary = static_cast<std::size_t>(
      std::count_if(post->begin(), post->end(), [](const PostOperation& o) { return o.isBinary; }));
  if (spec.step.inputs.size() != 3 + binary || binary > kMaxExtra || spec.step.outputs.size() != 1) {
    return Status(ErrorCode::kEngineDamaged, "a product step has a wrong number of operands");
  }
  return std::unique_ptr<runtime::StepKernel>(
      std::make_unique<MatMul>(spec.step.parameters, std::move(*post), std::move(*steps)));
}

const runtime::RegisterStepKernel kMatMul("onednn.matmul", makeMatMul);

}  // namespace
}  // namespace rota::onednn
