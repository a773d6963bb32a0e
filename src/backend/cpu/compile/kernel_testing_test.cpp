// SPDX-License-Identifier: Apache-2.0
// The planning and running part of kernel_testing.h; part of the test program only.
#include "backend/cpu/compile/kernel_testing.h"

#include "op/evaluate.h"
#include "plan/program_builder.h"
#include "runtime/context.h"

namespace rota::tactic::testing {
namespace {

std::vector<std::string> kernelsOf(const plan::BuiltProgram& built) {
  std::vector<std::string> names;
  for (const auto& s : built.program.blocks[0].steps) names.push_back(s.kernel);
  return names;
}

bool isClose(double got, double want, const RunOptions& options) {
  if (std::isnan(want)) return std::isnan(got);
  if (std::isinf(want)) return got == want;
  return std::fabs(got - want) <= options.absolute + options.relative * std::fabs(want);
}

}  // namespace

std::vector<std::string> plannedKernels(KernelGraph& g) {
  const Status inferred = op::inferGraph(*g.graph);
  EXPECT_TRUE(inferred.isOk()) << inferred.toString();
  const knob::KnobSet knobs;
  const auto built = plan::buildProgram(*g.graph, {.target = {}, .knobs = knobs, .profiles = {}});
  EXPECT_TRUE(built.isOk()) << built.status().toString();
  return built.isOk() ? kernelsOf(*built) : std::vector<std::string>{};
}

void expectReference(KernelGraph& g, const std::vector<std::vector<Tensor>>& runs,
                     const RunOptions& options) {
  const Status inferred = op::inferGraph(*g.graph);
  ASSERT_TRUE(inferred.isOk()) << inferred.toString();
  auto knobs = knob::KnobSet::parseRoute(options.route);
  ASSERT_TRUE(knobs.isOk()) << knobs.status().toString();
  auto built = plan::buildProgram(*g.graph, {.target = {}, .knobs = *knobs, .profiles = {}});
  ASSERT_TRUE(built.isOk()) << built.status().toString();
  const auto names = kernelsOf(*built);
  if (!options.kernel.empty()) {
    ASSERT_NE(std::find(names.begin(), names.end(), options.kernel), names.end())
        << "steps: " << ::testing::PrintToString(names);
  }
  const Status valid = runtime::validate(built->program);
  ASSERT_TRUE(valid.isOk()) << valid.toString();
  auto constants = std::make_shared<std::vector<Tensor>>(built->constants);
  std::vector<const std::byte*> addresses;
  for (const Tensor& t : *constants) addresses.push_back(t.data());
  auto loaded =
      runtime::loadProgram(std::make_shared<runtime::Program>(built->program), addresses, constants);
  ASSERT_TRUE(loaded.isOk()) << loaded.status().toString();
  auto context = runtime::createContext(*loaded, std::make_shared<ThreadPool>(options.threads));
  ASSERT_TRUE(context.isOk()) << context.status().toString();
  ThreadPool one(1);
  for (const std::vector<Tensor>& inputs : runs) {
    std::vector<op::EvaluatedValue> values;
    for (const Tensor& t : inputs) values.push_back({t, {}});
    const auto expected = op::evaluateGraph(*g.graph, values, one);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Status s = (*context)->setInput(g.graph->inputs()[i]->name, inputs[i].view());
      ASSERT_TRUE(s.isOk()) << s.toString();
    }
    const Status ran = (*context)->run();
    if (!expected.isOk()) {
      // Both must refuse, for the same reason.
      ASSERT_FALSE(ran.isOk()) << expected.status().toString();
      ASSERT_EQ(ran.code(), expected.status().code()) << ran.toString();
      continue;
    }
    ASSERT_TRUE(ran.isOk()) << ran.toString();
    for (std::size_t o = 0; o < expected->size(); ++o) {
      const auto got = (*context)->output(g.graph->outputNames()[o]);
      ASSERT_TRUE(got.isOk()) << got.status().toString();
      const TensorView want = (*expected)[o].tensor.view();
      ASSERT_TRUE(std::equal(got->dims.begin(), got->dims.end(), want.dims.begin(), want.dims.end()))
          << "output " << o;
      ASSERT_EQ(got->dtype, want.dtype);
      for (std::int64_t i = 0; i < want.count(); ++i)
        ASSERT_TRUE(isClose(realAt(*got, i), realAt(want, i), options))
            << "output " << o << " element " << i << ": " << realAt(*got, i) << " instead of "
            << realAt(want, i);
    }
  }
}

}  // namespace rota::tactic::testing
