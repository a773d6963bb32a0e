// SPDX-License-Identifier: Apache-2.0
// "cpu.reorder" between plain, permuted and blocked layouts, with partial blocks, against a copy by index.
#include <cstring>

#include <gtest/gtest.h>

#include "runtime/step_kernel.h"

namespace rota::runtime {
namespace {

struct Case {
  std::vector<std::int64_t> dims;
  Layout from, to;
};

/// Where element `at` lies, by the definition of Layout.
std::int64_t placeOf(const std::vector<std::int64_t>& dims, const Layout& layout,
                     std::vector<std::int64_t> at) {
  std::vector<std::int64_t> perAxis(dims.size(), 1);
  for (const auto& b : layout.blocks) perAxis[b.axis] *= b.size;
  std::int64_t place = 0;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::size_t axis = layout.order.empty() ? i : layout.order[i];
    place = place * ((dims[axis] + perAxis[axis] - 1) / perAxis[axis]) + at[axis] / perAxis[axis];
    at[axis] %= perAxis[axis];
  }
  for (const auto& b : layout.blocks) {
    perAxis[b.axis] /= b.size;
    place = place * b.size + at[b.axis] / perAxis[b.axis];
    at[b.axis] %= perAxis[b.axis];
  }
  return place;
}

TEST(Reorder, BetweenLayouts) {
  const Layout plain;
  const Layout c8{.order = {}, .blocks = {{1, 8}}};
  const Layout c16{.order = {}, .blocks = {{1, 16}}};
  const Layout last{.order = {0, 2, 3, 1}, .blocks = {}};
  const Layout both{.order = {}, .blocks = {{1, 8}, {0, 8}}};
  const Layout twice{.order = {}, .blocks = {{1, 8}, {0, 4}, {1, 2}}};
  const std::vector<std::int64_t> shapes[] = {
      {2, 16, 5, 7}, {1, 21, 4, 4}, {3, 3, 2, 2}, {0, 8, 3, 3}, {9, 40, 1, 1}};
  for (const auto& dims : shapes) {
    for (const Case& c :
         {Case{dims, plain, c8}, Case{dims, c8, plain}, Case{dims, plain, c16}, Case{dims, c16, c8},
          Case{dims, plain, last}, Case{dims, last, c8}, Case{dims, c8, last}, Case{dims, plain, both},
          Case{dims, both, plain}, Case{dims, plain, twice}, Case{dims, twice, c16}}) {
      const std::size_t inBytes = *layoutBytes(DType::kFloat32, dims, c.from);
      const std::size_t outBytes = *layoutBytes(DType::kFloat32, dims, c.to);
      std::vector<float> in(inBytes / 4 + 1, 0), out(outBytes / 4 + 1, -1);
      const std::int64_t count = elementCount(dims);
      const auto indexOf = [&](std::int64_t i) {
        std::vector<std::int64_t> at(dims.size());
        for (std::size_t d = dims.size(); d-- > 0; i /= dims[d]) at[d] = i % dims[d];
        return at;
      };
      for (std::int64_t i = 0; i < count; ++i)
        in[static_cast<std::size_t>(placeOf(dims, c.from, indexOf(i)))] = static_cast<float>(i + 1);
      Step step;
      step.inputs = {0};
      step.outputs = {1};
      Program program;
      auto kernel = findStepKernel("cpu.reorder")({step, program});
      ASSERT_TRUE(kernel.isOk());
      const Operand from{{DType::kFloat32, dims, in.data()}, nullptr, &c.from, false};
      const Operand to{{DType::kFloat32, dims, out.data()}, out.data(), &c.to, false};
      ThreadPool threads(2);
      StepBinding binding;
      binding.inputs = {&from, 1};
      binding.outputs = {&to, 1};
      binding.threads = &threads;
      std::size_t workspace = 0;
      ASSERT_TRUE((*kernel)->prepare(binding, workspace).isOk());
      ASSERT_TRUE((*kernel)->run(binding).isOk());
      float sum = 0;
      for (std::size_t i = 0; i < outBytes / 4; ++i) sum += out[i];
      EXPECT_EQ(sum, static_cast<float>(count * (count + 1) / 2)) << "padding is not zero";
      for (std::int64_t i = 0; i < count; ++i)
        ASSERT_EQ(out[static_cast<std::size_t>(placeOf(dims, c.to, indexOf(i)))], static_cast<float>(i + 1))
            << "element " << i;
    }
  }
}

}  // namespace
}  // namespace rota::runtime
