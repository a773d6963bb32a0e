// SPDX-License-Identifier: Apache-2.0
// Einsum of any number of operands, contracted from left to right.
//
// Each step brings two tensors into the form [shared kept labels, own labels, summed labels] and multiplies them as a batch of matrices.
// Diagonals (a label twice in one operand) are read through summed strides; a label that nothing else needs is summed first. Size 1 broadcasts.
// Tested by src/ref/einsum_test.cpp.
#include <algorithm>

#include "ref/blocks.h"
#include "ref/common.h"
#include "ref/einsum_equation.h"
#include "ref/product.h"

namespace rota::ref {

namespace {

using LabelSizes = std::array<std::int64_t, kEinsumLabels>;
using LabelSet = std::array<bool, kEinsumLabels>;

// Elements of a dense tensor: an operand where it lies, or values in scratch memory.
template <typename T> struct EinsumElements {
  const T* data = nullptr;
  TensorView view{};  // where there is no `data`
  void load(std::int64_t from, std::int64_t count, T* out) const {
    if (data != nullptr) {
      std::copy(data + from, data + from + count, out);
    } else {
      loadBlock(view, from, count, out);
    }
  }
};

// A tensor with the stride of every label (0 where broadcast or absent).
template <typename T> struct LabelledTensor {
  EinsumElements<T> elements;
  EinsumTerm labels;
  LabelSizes strides{};
};

template <typename T> class EinsumRun {
 public:
  EinsumRun(KernelContext& ctx, const EinsumEquation& equation) : ctx_(ctx), e_(equation) {}

  Status run() {
    ROTA_RETURN_IF_ERROR(readSizes());
    Result<LabelledTensor<T>> current = operand(0);
    for (std::size_t i = 1; i < e_.inputCount; ++i) {
      current = multiply(*current, operand(i), i);
      if (!current) return current.status();
    }
    auto result = arrange(*current, e_.output);
    if (!result) return result.status();
    const MutableTensorView y = ctx_.output(0);
    ctx_.threads().parallelFor(y.count(), kGrain, [&](std::int64_t begin, std::int64_t end) {
      std::array<T, kBlock> values;
      for (std::int64_t i = begin; i < end; i += kBlock) {
        const std::int64_t n = std::min(kBlock, end - i);
        result->load(i, n, values.data());
        storeBlock(y, i, n, values.data());
      }
    });
    return Status::ok();
  }

 private:
  Status readSizes() {
    sizes_.fill(1);
    for (std::size_t i = 0; i < e_.inputCount; ++i) {
      for (std::size_t d = 0; d < e_.inputs[i].size; ++d) {
        std::int64_t& size = sizes_[e_.inputs[i].labels[d]];
        const std::int64_t found = ctx_.input(i).dims[d];
        if (size == 1) size = found;
        if (found != 1 && found != size) {
          return Status(ErrorCode::kShapeMismatch, "A label of the equation has two sizes")
              .expected(std::to_string(size))
              .found(std::to_string(found) + " in operand " + std::to_string(i));
        }
      }
    }
    return Status::ok();
  }

  // Labels that the output or an operand after `last` needs.
  LabelSet neededAfter(std::size_t last) const {
    LabelSet needed{};
    for (const std::uint8_t label : e_.output.all()) needed[label] = true;
    for (std::size_t i = last + 1; i < e_.inputCount; ++i) {
      for (const std::uint8_t label : e_.inputs[i].all()) needed[label] = true;
    }
    return needed;
  }

  LabelledTensor<T> operand(std::size_t i) const {
    const TensorView view = ctx_.input(i);
    LabelledTensor<T> tensor{{nullptr, view}, {}, {}};
    std::int64_t stride = 1;
    for (std::size_t d = view.rank(); d-- > 0;) {
      const std::uint8_t label = e_.inputs[i].labels[d];
      if (view.dims[d] != 1) tensor.strides[label] += stride;
      stride *= view.dims[d];
    }
    for (const std::uint8_t label : e_.inputs[i].all()) {
      if (!tensor.labels.has(label)) tensor.labels.push(label);
    }
    return tensor;
  }

  // All elements of an operand in scratch memory.
  Result<const T*> loadElements(const EinsumElements<T>& elements) {
    if (elements.data != nullptr) return elements.data;
    const std::int64_t count = elements.view.count();
    auto memory = ctx_.scratch<T>(count);
    if (!memory) return memory.status();
    T* const out = *memory;
    ctx_.threads().parallelFor(count, kGrain, [&](std::int64_t begin, std::int64_t end) {
      elements.load(begin, end - begin, out + begin);
    });
    return static_cast<const T*>(out);
  }

  // The tensor with axes `order`, all other labels summed; `order` may have labels that the tensor lacks (stride 0).
  Result<EinsumElements<T>> arrange(const LabelledTensor<T>& tensor, const EinsumTerm& order) {
    DimArray kept;
    DimArray keptStrides;
    DimArray summed;
    DimArray summedStrides;
    for (const std::uint8_t label : order.all())
      kept.push(sizes_[label]), keptStrides.push(tensor.strides[label]);
    for (const std::uint8_t label : tensor.labels.all()) {
      if (order.has(label)) continue;
      summed.push(sizes_[label]);
      summedStrides.push(tensor.strides[label]);
    }
    const std::int64_t count = elementCount(kept);
    const std::int64_t terms = elementCount(summed);
    if (terms == 1 && isDense(kept, keptStrides)) return tensor.elements;
    auto data = loadElements(tensor.elements);
    if (!data) return data.status();
    auto memory = ctx_.scratch<T>(count);
    if (!memory) return memory.status();
    T* const out = *memory;
    const EinsumElements<T> arranged{out, {}};
    if (count == 0) return arranged;
    // Runs along the last axis; `outer` walks the others.
    const std::int64_t run = kept.rank() == 0 ? 1 : kept[kept.rank() - 1];
    const std::int64_t step = kept.rank() == 0 ? 0 : keptStrides[kept.rank() - 1];
    DimArray outer = kept, outerStrides = keptStrides;
    if (kept.rank() > 0) outer.pop(), outerStrides.pop();
    const std::int64_t grain = std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(run * terms, 1));
    ctx_.threads().parallelFor(count / run, grain, [&](std::int64_t begin, std::int64_t end) {
      IndexWalker<1> walker(outer);
      walker.strides(0) = outerStrides;
      walker.seek(begin);
      for (std::int64_t r = begin; r < end; ++r, walker.next()) {
        const T* from = *data + walker.offset(0);
        T* to = out + r * run;
        if (terms == 1 && step == 1) {
          std::copy(from, from + run, to);
        } else if (terms == 1) {
          for (std::int64_t i = 0; i < run; ++i) to[i] = from[i * step];
        } else {
          for (std::int64_t i = 0; i < run; ++i) to[i] = sum(from + i * step, summed, summedStrides, terms);
        }
      }
    });
    return arranged;
  }

  // Whether these strides are those of a dense tensor; axes of one element have any.
  static bool isDense(const DimArray& dims, const DimArray& strides) {
    std::int64_t expected = 1;
    for (std::size_t d = dims.rank(); d-- > 0;) {
      if (dims[d] != 1 && strides[d] != expected) return false;
      expected *= dims[d];
    }
    return true;
  }

  static T sum(const T* data, const DimArray& dims, const DimArray& strides, std::int64_t terms) {
    T total{};
    if (terms == 0) return total;
    IndexWalker<1> walker(dims);
    walker.strides(0) = strides;
    walker.seek(0);
    for (std::int64_t i = 0; i < terms; ++i, walker.next()) total += data[walker.offset(0)];
    return total;
  }

  Result<LabelledTensor<T>> multiply(const LabelledTensor<T>& a, const LabelledTensor<T>& b,
                                     std::size_t operand) {
    const LabelSet needed = neededAfter(operand);
    EinsumTerm batch, rows, columns, depth;
    for (const std::uint8_t label : a.labels.all()) {
      if (b.labels.has(label)) {
        (needed[label] ? batch : depth).push(label);
      } else if (needed[label]) {
        rows.push(label);
      }
    }
    for (const std::uint8_t label : b.labels.all()) {
      if (!a.labels.has(label) && needed[label]) columns.push(label);
    }
    const auto joined = [](std::initializer_list<const EinsumTerm*> parts) {
      EinsumTerm all;
      for (const EinsumTerm* part : parts) {
        for (const std::uint8_t label : part->all()) all.push(label);
      }
      return all;
    };
    auto left = arrange(a, joined({&batch, &rows, &depth}));
    if (!left) return left.status();
    auto right = arrange(b, joined({&batch, &columns, &depth}));
    if (!right) return right.status();
    const ProductShape shape{countOf(batch), countOf(rows), countOf(columns), countOf(depth)};
    LabelledTensor<T> result{{}, joined({&batch, &rows, &columns}), {}};
    auto memory = ctx_.scratch<T>(shape.batch * shape.rows * shape.columns);
    if (!memory) return memory.status();
    product<T>(ctx_.threads(), shape, Matrix(*left, shape.depth, shape.rows * shape.depth),
               Matrix(*right, shape.depth, shape.columns * shape.depth),
               Sink(*memory, shape.rows, shape.columns));
    result.elements.data = *memory;
    std::int64_t stride = 1;
    for (std::size_t d = result.labels.size; d-- > 0;) {
      const std::uint8_t label = result.labels.labels[d];
      result.strides[label] = sizes_[label] == 1 ? 0 : stride;
      stride *= sizes_[label];
    }
    return result;
  }

  std::int64_t countOf(const EinsumTerm& term) const {
    std::int64_t n = 1;
    for (const std::uint8_t label : term.all()) n *= sizes_[label];
    return n;
  }

  class Matrix final : public ProductOperand<T> {
   public:
    Matrix(const EinsumElements<T>& elements, std::int64_t depth, std::int64_t size)
        : ProductOperand<T>(true),
          elements_(elements),
          depth_(depth),
          size_(size) {}
    void load(std::int64_t batch, std::int64_t line, std::int64_t begin, std::int64_t count,
              T* out) const override {
      elements_.load(batch * size_ + line * depth_ + begin, count, out);
    }

   private:
    const EinsumElements<T>& elements_;
    std::int64_t depth_;
    std::int64_t size_;
  };
  class Sink final : public ProductSink<T> {
   public:
    Sink(T* data, std::int64_t rows, std::int64_t columns) : data_(data), rows_(rows), columns_(columns) {}
    void store(std::int64_t batch, std::int64_t row, std::int64_t column, std::int64_t count,
               const T* values) const override {
      std::copy(values, values + count, data_ + (batch * rows_ + row) * columns_ + column);
    }

   private:
    T* data_;
    std::int64_t rows_;
    std::int64_t columns_;
  };

  KernelContext& ctx_;
  const EinsumEquation& e_;
  LabelSizes sizes_{};
};

Status einsum(KernelContext& ctx) {
  std::array<std::size_t, kMaxEinsumOperands> ranks{};
  const std::size_t count = ctx.inputCount();
  if (count == 0 || count > kMaxEinsumOperands) {
    return Status(ErrorCode::kModelTooLarge, "Einsum has too many operands")
        .expected("1 to " + std::to_string(kMaxEinsumOperands));
  }
  for (std::size_t i = 0; i < count; ++i) ranks[i] = ctx.input(i).rank();
  auto equation = parseEinsum(ctx.attributes().getString("equation"), std::span(ranks).first(count));
  if (!equation) return equation.status();
  return info(ctx.input(0).dtype).compute == ComputeType::kDouble
             ? EinsumRun<double>(ctx, *equation).run()
             : EinsumRun<std::uint64_t>(ctx, *equation).run();
}

const RegisterKernel kEinsum("", "Einsum", einsum);

}  // namespace

}  // namespace rota::ref
