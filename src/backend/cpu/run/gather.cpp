// SPDX-License-Identifier: Apache-2.0
// "cpu.gather": Gather, GatherElements and GatherND. Parameters: "kind" (gather, elements, nd), "axis" (normalised), "batch_dims".
//
// Copies whole slices where the operator allows. Indices may be negative; one outside its axis is never followed: the run ends with kBadIndex
// and names the lowest such place. Tested by src/backend/cpu/compile/gather_test.cpp.
#include <algorithm>
#include <cstring>

#include "backend/cpu/run/strides.h"
#include "ref/index_common.h"

namespace rota::runtime {
namespace {

constexpr std::int64_t kPartBytes = 65536;

enum class Kind : std::uint8_t { kGather, kElements, kTuples };

class Gather final : public StepKernel {
 public:
  Gather(Kind kind, std::size_t axis, std::size_t batchAxes)
      : kind_(kind),
        axis_(axis),
        batchAxes_(batchAxes) {}

  Status prepare(const StepBinding& binding, std::size_t& workspaceBytes) override {
    workspaceBytes = 0;
    const Dims data = binding.inputs[0].view.dims;
    const Dims indices = binding.inputs[1].view.dims;
    bytes_ = static_cast<std::int64_t>(elementBytes(binding.inputs[0].view.dtype));
    if (kind_ != Kind::kTuples && axis_ >= data.size())
      return Status(ErrorCode::kInternal, "cpu.gather: axis");
    if (kind_ != Kind::kTuples) {
      outer_ = elementCount(data.first(axis_));
      size_ = data[axis_];
      inner_ = elementCount(data.subspan(axis_ + 1));
    }
    if (kind_ == Kind::kElements) return prepareElements(data, indices);
    if (kind_ == Kind::kTuples) {
      auto tuples = ref::tuplesOf(data, indices, batchAxes_);
      if (!tuples) return tuples.status();
      tuples_ = *tuples;
      const std::int64_t batches = elementCount(data.first(batchAxes_));
      perBatch_ = batches == 0 ? 0 : tuples_.count / batches;
      batchElements_ = elementCount(data.subspan(batchAxes_));
    }
    return Status::ok();
  }

  Status run(const StepBinding& binding) override {
    switch (kind_) {
      case Kind::kGather: return runGather(binding);
      case Kind::kElements: return runElements(binding);
      case Kind::kTuples: return runTuples(binding);
    }
    return Status::ok();
  }

 private:
  Status prepareElements(Dims data, Dims indices) {
    if (Status s = ref::checkElementIndices(data, indices, axis_); !s.isOk()) return s;
    // The place in the data of an index off the axis: a walk over the dims of the indices with the strides of the data.
    nest_.rank = indices.size();
    strides_.resize(1);
    std::int64_t stride = 1;
    for (std::size_t d = data.size(); d-- > 0;) {
      nest_.size[d] = indices[d];
      strides_[0][d] = d == axis_ ? 0 : stride;
      stride *= data[d];
    }
    return Status::ok();
  }

  Status runGather(const StepBinding& binding) const {
    const TensorView indices = binding.inputs[1].view;
    const auto* data = static_cast<const std::byte*>(binding.inputs[0].view.data);
    auto* out = static_cast<std::byte*>(binding.outputs[0].mutableData);
    const std::int64_t count = indices.count();
    const std::int64_t slice = inner_ * bytes_;
    ref::BadIndex bad;
    // Every index is checked, also where no slice is copied.
    if (outer_ == 0 || slice == 0) {
      ref::IndexReader reader(indices);
      for (std::int64_t i = 0; i < count; ++i) {
        std::int64_t index = reader.at(i);
        bad.normalise(index, size_, i);
      }
      return bad.status(indices, size_);
    }
    binding.threads->parallelFor(outer_ * count, std::max<std::int64_t>(1, kPartBytes / (slice + 16)),
                                 [&](std::int64_t begin, std::int64_t end) {
                                   ref::IndexReader reader(indices);
                                   for (std::int64_t k = begin; k < end; ++k) {
                                     const std::int64_t i = k % count;
                                     std::int64_t index = reader.at(i);
                                     if (bad.normalise(index, size_, i))
                                       copySlice(out + k * slice, data + (k / count * size_ + index) * slice,
                                                 slice);
                                   }
                                 });
    return bad.status(indices, size_);
  }

  static void copySlice(std::byte* to, const std::byte* from, std::int64_t bytes) {
    if (bytes == 4) {
      std::memcpy(to, from, 4);
    } else if (bytes == 8) {
      std::memcpy(to, from, 8);
    } else {
      std::memcpy(to, from, static_cast<std::size_t>(bytes));
    }
  }

  Status runElements(const StepBinding& binding) const {
    const TensorView indices = binding.inputs[1].view;
    const auto* data = static_cast<const std::byte*>(binding.inputs[0].view.data);
    auto* out = static_cast<std::byte*>(binding.outputs[0].mutableData);
    const std::int64_t count = indices.count();
    ref::BadIndex bad;
    binding.threads->parallelFor(count, 8192, [&](std::int64_t begin, std::int64_t end) {
      const std::size_t last = nest_.rank - 1;
      const LoopStrides& strides = strides_[0];
      ref::IndexReader reader(indices);
      for (std::int64_t i = begin; i < end;) {
        // A run along the last axis of the indices.
        const std::int64_t n = std::min(end - i, nest_.size[last] - i % nest_.size[last]);
        std::int64_t place = offsetAt(nest_, strides, i);
        for (std::int64_t k = 0; k < n; ++k, ++i, place += strides[last]) {
          std::int64_t index = reader.at(i);
          if (bad.normalise(index, size_, i))
            copySlice(out + i * bytes_, data + (place + index * inner_) * bytes_, bytes_);
        }
      }
    });
    return bad.status(indices, size_);
  }

  Status runTuples(const StepBinding& binding) const {
    const TensorView indices = binding.inputs[1].view;
    const auto* data = static_cast<const std::byte*>(binding.inputs[0].view.data);
    auto* out = static_cast<std::byte*>(binding.outputs[0].mutableData);
    const std::int64_t slice = tuples_.sliceElements * bytes_;
    ref::BadIndex bad;
    binding.threads->parallelFor(
        tuples_.count, std::max<std::int64_t>(1, kPartBytes / (slice + 16)),
        [&](std::int64_t begin, std::int64_t end) {
          ref::IndexReader reader(indices);
          for (std::int64_t i = begin; i < end; ++i) {
            std::int64_t place = 0;
            if (tuples_.placeOf(reader, i, bad, place))
              copySlice(out + i * slice, data + (i / perBatch_ * batchElements_ + place) * bytes_, slice);
          }
        });
    return bad.status(indices, -1);
  }

  Kind kind_;
  std::size_t axis_, batchAxes_;
  std::int64_t bytes_ = 4, outer_ = 0, size_ = 0, inner_ = 0;
  LoopNest nest_;
  std::vector<LoopStrides> strides_;
  ref::IndexTuples tuples_;
  std::int64_t perBatch_ = 0, batchElements_ = 0;
};

Result<std::unique_ptr<StepKernel>> makeGather(const StepKernelSpec& spec) {
  const Step& step = spec.step;
  const auto typeOf = [&](std::int32_t id) {
    return id == kNone ? DType::kUndefined : spec.program.values[static_cast<std::size_t>(id)].dtype;
  };
  const std::string_view kind = step.parameters.getString("kind");
  const bool operands = step.inputs.size() == 2 && step.outputs.size() == 1 && step.outputs[0] != kNone &&
                        typeOf(step.inputs[0]) == typeOf(step.outputs[0]) &&
                        elementBytes(typeOf(step.inputs[0])) != 0 &&
                        (typeOf(step.inputs[1]) == DType::kInt32 || typeOf(step.inputs[1]) == DType::kInt64);
  const std::int64_t axis = step.parameters.getInt("axis");
  const std::int64_t batch = step.parameters.getInt("batch_dims");
  if (!operands || axis < 0 || batch < 0 || (kind != "gather" && kind != "elements" && kind != "nd"))
    return Status(ErrorCode::kEngineDamaged, "a cpu.gather step is damaged");
  return std::unique_ptr<StepKernel>(std::make_unique<Gather>(kind == "gather"     ? Kind::kGather
                                                              : kind == "elements" ? Kind::kElements
                                                                                   : Kind::kTuples,
                                                              static_cast<std::size_t>(axis),
                                                              static_cast<std::size_t>(batch)));
}

const RegisterStepKernel kGather("cpu.gather", makeGather);

}  // namespace
}  // namespace rota::runtime
