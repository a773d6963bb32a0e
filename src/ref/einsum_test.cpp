// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "ref/einsum_equation.h"
#include "ref/test_host.h"

namespace rota::ref {
namespace {

using Sizes = std::vector<std::int64_t>;

struct Operand {
  Sizes dims;
  std::vector<double> values;
};

Operand randomOperand(Sizes dims, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_int_distribution<int> uniform(-3, 3);
  Operand o{std::move(dims), {}};
  for (std::int64_t i = 0; i < elementCount(o.dims); ++i) o.values.push_back(uniform(generator));
  return o;
}

// Sums over all labels at once: every combination of label values is one term.
std::vector<double> plainEinsum(const EinsumEquation& e, const std::vector<Operand>& operands,
                                Sizes& outDims) {
  std::map<std::uint8_t, std::int64_t> sizes;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    for (std::size_t d = 0; d < operands[i].dims.size(); ++d) {
      std::int64_t& size = sizes.try_emplace(e.inputs[i].labels[d], 1).first->second;
      if (operands[i].dims[d] != 1) size = operands[i].dims[d];
    }
  }
  outDims.clear();
  for (const std::uint8_t label : e.output.all()) outDims.push_back(sizes[label]);
  std::vector<double> y(static_cast<std::size_t>(elementCount(outDims)));
  std::map<std::uint8_t, std::int64_t> at;
  std::int64_t terms = 1;
  for (const auto& [label, size] : sizes) at[label] = 0, terms *= size;
  for (std::int64_t t = 0; t < terms; ++t) {
    double term = 1;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      std::int64_t offset = 0;
      for (std::size_t d = 0; d < operands[i].dims.size(); ++d) {
        offset = offset * operands[i].dims[d] + (operands[i].dims[d] == 1 ? 0 : at[e.inputs[i].labels[d]]);
      }
      term *= operands[i].values[static_cast<std::size_t>(offset)];
    }
    std::int64_t offset = 0;
    for (const std::uint8_t label : e.output.all()) offset = offset * sizes[label] + at[label];
    y[static_cast<std::size_t>(offset)] += term;
    for (auto& [label, index] : at) {
      if (++index < sizes[label]) break;
      index = 0;
    }
  }
  return y;
}

TEST(Einsum, EqualsTheSumOverAllLabels) {
  const std::pair<const char*, std::vector<Sizes>> cases[] = {
      {"ij,jk->ik", {{3, 4}, {4, 5}}},
      {"ij,jk", {{3, 4}, {4, 5}}},
      {"bij,bjk->bik", {{2, 3, 4}, {2, 4, 5}}},
      {"...ij,...jk->...ik", {{2, 1, 3, 4}, {5, 4, 2}}},
      {"...ij,...jk", {{6, 3, 4}, {4, 2}}},
      {"ii", {{4, 4}}},
      {"ii->i", {{4, 4}}},
      {"iij,jk->ki", {{3, 3, 2}, {2, 4}}},
      {"ij->", {{3, 4}}},
      {"ij->ji", {{3, 4}}},
      {"...i->...", {{2, 3, 4}}},
      {"i,i", {{5}, {5}}},
      {"i,j->ij", {{5}, {3}}},
      {"b n h w , n d -> b d h w", {{2, 3, 2, 2}, {3, 4}}},
      {"ab,bc,cd,de->ae", {{2, 3}, {3, 2}, {2, 4}, {4, 2}}},
      {"aB,Bc->ca", {{2, 3}, {3, 2}}},
      {"bhid,bhjd,hd->bhij", {{2, 2, 3, 2}, {2, 2, 4, 2}, {2, 2}}},
      {"ij,j->i", {{3, 1}, {4}}},
      {"ij,ij->i", {{0, 3}, {0, 3}}},
      {"ij,jk->ik", {{2, 0}, {0, 3}}},
      {",ij->ij", {{}, {2, 2}}},
  };
  for (const auto& [equation, shapes] : cases) {
    std::vector<Operand> operands;
    std::vector<std::size_t> ranks;
    for (const Sizes& dims : shapes) {
      operands.push_back(randomOperand(dims, static_cast<unsigned>(operands.size() + 1)));
      ranks.push_back(dims.size());
    }
    const auto parsed = parseEinsum(equation, ranks);
    ASSERT_TRUE(parsed.isOk()) << equation << ": " << parsed.status().toString();
    Sizes outDims;
    const auto expected = plainEinsum(*parsed, operands, outDims);
    for (const DType dtype : {DType::kFloat32, DType::kInt32}) {
      KernelRun run{.name = "Einsum", .outputTypes = {dtype}, .outputDims = {outDims}};
      run.attributes.set("equation", std::string(equation));
      for (const Operand& o : operands) run.inputs.push_back(makeTensor(dtype, o.dims, o.values));
      const auto y = runKernel(run);
      ASSERT_TRUE(y.isOk()) << equation << ": " << y.status().toString();
      EXPECT_EQ(valuesOf((*y)[0]), expected) << equation;
    }
  }
}

TEST(Einsum, WrongEquationsAreRefused) {
  const std::pair<const char*, std::vector<std::size_t>> cases[] = {
      {"ij,jk->ik", {2}},       {"ij->ik", {2}},       {"ij->ii", {2}}, {"ij", {3}},     {"i.j", {2}},
      {"ij,jk->ik", {2, 2, 2}}, {"...ij->...ij", {1}}, {"i1->i", {2}},  {"ij->i.", {2}},
  };
  for (const auto& [equation, ranks] : cases) {
    const auto parsed = parseEinsum(equation, ranks);
    ASSERT_FALSE(parsed.isOk()) << equation;
    EXPECT_EQ(parsed.status().code(), ErrorCode::kBadAttribute) << equation;
  }
}

TEST(Einsum, SizesThatDisagreeAreAnError) {
  KernelRun run{
      .name = "Einsum",
      .inputs = {makeFloats({2, 3}, std::vector<double>(6)), makeFloats({2, 2}, std::vector<double>(4))},
      .outputTypes = {DType::kFloat32},
      .outputDims = {{2, 2}}};
  run.attributes.set("equation", std::string("ij,jk->ik"));
  EXPECT_EQ(runKernel(run).status().code(), ErrorCode::kShapeMismatch);
}

}  // namespace
}  // namespace rota::ref
