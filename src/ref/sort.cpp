// SPDX-License-Identifier: Apache-2.0
// Reference kernels of TopK and Unique on ordered keys (see order_keys.h). Equal elements keep the order of their places, so results do not
// depend on the algorithm: TopK gives the lower index first, Unique the first occurrence. NaN counts as the greatest value: TopK gives it first
// when largest is asked for and last when smallest is, and all NaN are one value to Unique. Tested by src/op/select_test.cpp.
#include <algorithm>
#include <numeric>

#include "ref/movement_common.h"
#include "ref/order_keys.h"

namespace rota::ref {
namespace {

/// The k first of `size` places by (key, place), in order.
void selectTop(const std::uint64_t* keys, std::int64_t* order, std::int64_t size, std::int64_t k,
               bool largest) {
  std::iota(order, order + size, std::int64_t{0});
  const auto before = [keys, largest](std::int64_t a, std::int64_t b) {
    if (keys[a] != keys[b]) return largest ? keys[a] > keys[b] : keys[a] < keys[b];
    return a < b;
  };
  if (k < size) std::nth_element(order, order + k, order + size, before);
  std::sort(order, order + k, before);
}

Status topKKernel(KernelContext& context) {
  const TensorView input = context.input(0);
  ROTA_RETURN_IF_ERROR(checkRank(input.rank()));
  auto axis = axisOf(context.attributes().getInt("axis", -1), input.rank());
  if (!axis) return axis.status();
  if (info(input.dtype).compute == ComputeType::kComplex) {
    return kernelError(ErrorCode::kUnsupportedType, "complex numbers have no order", "a real type", "");
  }
  if (context.hasInput(1) && context.input(1).count() != 1) {
    return kernelError(ErrorCode::kShapeMismatch, "K is one number", "one element",
                       dimsText(context.input(1).dims));
  }
  const std::int64_t k = context.hasInput(1) ? intAt(context.input(1), 0) : context.attributes().getInt("k");
  const std::int64_t size = input.dims[*axis];
  if (k < 0 || k > size) {
    return kernelError(ErrorCode::kBadIndex, "K is more than the axis has",
                       "a value from 0 to " + std::to_string(size), std::to_string(k));
  }
  DimArray dims(input.dims);
  dims[*axis] = k;
  MutableTensorView values;
  MutableTensorView places;
  if (context.hasOutput(0)) {
    auto output = context.output(0, dims);
    if (!output) return output.status();
    values = *output;
  }
  if (context.hasOutput(1)) {
    auto output = context.output(1, dims);
    if (!output) return output.status();
    places = *output;
  }
  const AxisSplit split = splitAt(input.dims, *axis);
  const std::int64_t rows = split.outer * split.inner;
  if (rows == 0 || k == 0) return Status::ok();
  // Every part of the loop has keys and order of one row.
  const std::int64_t grain = std::max((rows + 63) / 64, kGrain / size + 1);
  const std::int64_t parts = (rows + grain - 1) / grain;
  auto keys = context.scratch<std::uint64_t>(parts * size);
  auto orders = context.scratch<std::int64_t>(parts * size);
  if (!keys) return keys.status();
  if (!orders) return orders.status();
  const bool largest = context.attributes().getInt("largest", 1) != 0;
  const int bits = info(input.dtype).bits;
  forParts(context.threads(), bits, rows, bits < 8 ? rows : grain, [&](std::int64_t begin, std::int64_t end) {
    std::uint64_t* key = *keys + begin / grain * size;
    std::int64_t* order = *orders + begin / grain * size;
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t from = row / split.inner * size * split.inner + row % split.inner;
      const std::int64_t to = row / split.inner * k * split.inner + row % split.inner;
      if (split.inner == 1) {
        orderKeys(input, from, size, key);
      } else {
        for (std::int64_t i = 0; i < size; ++i) orderKeys(input, from + i * split.inner, 1, key + i);
      }
      selectTop(key, order, size, k, largest);
      for (std::int64_t i = 0; i < k; ++i) {
        if (values.isGiven())
          copyElements(bits, input.data, from + order[i] * split.inner, values.data, to + i * split.inner, 1);
        if (places.isGiven()) places.as<std::int64_t>()[to + i * split.inner] = order[i];
      }
    }
  });
  return Status::ok();
}

/// Items of Unique: `count` slices of `width` keys each.
struct UniqueItems {
  std::int64_t count = 0;
  std::int64_t width = 0;
  const std::uint64_t* keys = nullptr;

  int compare(std::int64_t a, std::int64_t b) const {
    const std::uint64_t* x = keys + a * width;
    const std::uint64_t* y = keys + b * width;
    for (std::int64_t i = 0; i < width; ++i) {
      if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    }
    return 0;
  }
};

/// The groups of equal items: per group its first item and its size, per item its group.
struct UniqueGroups {
  std::int64_t count = 0;
  std::int64_t* first = nullptr;
  std::int64_t* size = nullptr;
  std::int64_t* groupOf = nullptr;
};

Result<UniqueGroups> groupItems(KernelContext& context, const UniqueItems& items, bool sorted) {
  auto memory = context.scratch<std::int64_t>(5 * items.count + 1);
  if (!memory) return memory.status();
  std::int64_t* order = *memory;
  UniqueGroups groups{0, order + items.count, order + 2 * items.count, order + 3 * items.count};
  std::iota(order, order + items.count, std::int64_t{0});
  std::sort(order, order + items.count, [&items](std::int64_t a, std::int64_t b) {
    const int c = items.compare(a, b);
    return c != 0 ? c < 0 : a < b;
  });
  for (std::int64_t i = 0; i < items.count; ++i) {
    if (i == 0 || items.compare(order[i - 1], order[i]) != 0) {
      groups.first[groups.count] = order[i];
      groups.size[groups.count++] = 0;
    }
    ++groups.size[groups.count - 1];
    groups.groupOf[order[i]] = groups.count - 1;
  }
  if (sorted) return groups;
  // Renumber by first occurrence: going through the items, a group gets its number when its first item comes.
  std::int64_t* renumbered = order + 4 * items.count;
  std::int64_t next = 0;
  for (std::int64_t i = 0; i < items.count; ++i) {
    const std::int64_t group = groups.groupOf[i];
    if (groups.first[group] == i) renumbered[group] = next++;
  }
  for (std::int64_t i = 0; i < items.count; ++i) groups.groupOf[i] = renumbered[groups.groupOf[i]];
  std::int64_t* sizes = order;
  std::fill_n(sizes, groups.count, std::int64_t{0});
  for (std::int64_t i = 0; i < items.count; ++i) {
    if (sizes[groups.groupOf[i]]++ == 0) groups.first[groups.groupOf[i]] = i;
  }
  std::copy_n(sizes, groups.count, groups.size);
  return groups;
}

Status writeInts(KernelContext& context, std::size_t output, const std::int64_t* values, std::int64_t count) {
  if (!context.hasOutput(output)) return Status::ok();
  auto view = context.output(output, DimArray{count});
  if (!view) return view.status();
  std::copy_n(values, count, view->as<std::int64_t>());
  return Status::ok();
}

Status uniqueKernel(KernelContext& context) {
  const TensorView input = context.input(0);
  ROTA_RETURN_IF_ERROR(checkRank(input.rank()));
  const bool hasAxis = context.attributes().has("axis");
  AxisSplit split{1, input.count(), 1};
  DimArray dims{input.count()};
  std::size_t axis = 0;
  if (hasAxis) {
    auto normalised = axisOf(context.attributes().getInt("axis"), input.rank());
    if (!normalised) return normalised.status();
    axis = *normalised;
    split = splitAt(input.dims, axis);
    dims = DimArray(input.dims);
  }
  const std::int64_t perElement = keysPerElement(input.dtype);
  UniqueItems items{split.axis, split.outer * split.inner * perElement, nullptr};
  auto keys = context.scratch<std::uint64_t>(std::max<std::int64_t>(items.count * items.width, 1));
  if (!keys) return keys.status();
  for (std::int64_t i = 0; i < split.axis; ++i) {
    for (std::int64_t o = 0; o < split.outer; ++o) {
      orderKeys(input, (o * split.axis + i) * split.inner, split.inner,
                *keys + i * items.width + o * split.inner * perElement);
    }
  }
  items.keys = *keys;
  auto groups = groupItems(context, items, context.attributes().getInt("sorted", 1) != 0);
  if (!groups) return groups.status();
  dims[axis] = groups->count;
  if (context.hasOutput(0)) {
    auto output = context.output(0, dims);
    if (!output) return output.status();
    for (std::int64_t o = 0; o < split.outer; ++o) {
      for (std::int64_t g = 0; g < groups->count; ++g) {
        copyElements(info(input.dtype).bits, input.data, (o * split.axis + groups->first[g]) * split.inner,
                     output->data, (o * groups->count + g) * split.inner, split.inner);
      }
    }
  }
  ROTA_RETURN_IF_ERROR(writeInts(context, 1, groups->first, groups->count));
  ROTA_RETURN_IF_ERROR(writeInts(context, 2, groups->groupOf, items.count));
  return writeInts(context, 3, groups->size, groups->count);
}

const RegisterKernel kTopKKernel("", "TopK", topKKernel);
const RegisterKernel kUniqueKernel("", "Unique", uniqueKernel);

}  // namespace
}  // namespace rota::ref
