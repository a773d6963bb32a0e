// SPDX-License-Identifier: Apache-2.0
// A run of prepared shapes allocates nothing: every way to get memory in this process is counted.
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include "runtime/context.h"
#include "runtime/testing.h"

namespace {

std::atomic<std::int64_t> allocations{0};

}  // namespace

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define ROTA_COUNTS_MALLOC 1
// The program's own definitions are used by all libraries of the process, operator new included.
extern "C" {
void* __libc_malloc(std::size_t size);                           // NOLINT: the names of glibc
void* __libc_calloc(std::size_t count, std::size_t size);        // NOLINT
void* __libc_realloc(void* old, std::size_t size);               // NOLINT
void* __libc_memalign(std::size_t alignment, std::size_t size);  // NOLINT
void* malloc(std::size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) {
  ++allocations;
  return __libc_realloc(old, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
}
#else
#define ROTA_COUNTS_MALLOC 0
#endif

namespace rota::runtime {
namespace {

using testing::ProgramBuilder;

TEST(Allocation, TheCounterCounts) {
  if (ROTA_COUNTS_MALLOC == 0) GTEST_SKIP() << "a sanitizer owns malloc";
  const std::int64_t before = allocations;
  auto buffer = Buffer::allocate(100);
  EXPECT_GT(allocations, before);
}

/// Products, sums, a view, a bounded found size, an If and a Loop.
ProgramBuilder mixed() {
  ProgramBuilder b;
  const std::uint32_t n = b.symbol("n");
  const std::int32_t x = b.input("x", {n, b.number(4)});
  b.bindLastSymbol(x, 0);
  const std::int32_t go = b.input("go", {}, DType::kBool);
  const std::int32_t trips = b.input("trips", {}, DType::kInt64);
  const std::int32_t w = b.constant("w", Tensor::ofFloat(std::vector<float>(16, 0.5F), {4, 4}));
  const std::int32_t product = b.value("product", b.at(x).dims);
  b.step(0, "ref:MatMul", {x, w}, {product});
  const std::int32_t view = b.alias("view", product, b.at(x).dims);
  const std::int32_t soft = b.value("soft", b.at(x).dims);
  b.step(0, "ref:Softmax", {view}, {soft});
  const std::uint32_t thenBlock = b.block("then");
  const std::int32_t sum = b.value("sum", b.at(x).dims);
  b.step(thenBlock, "ref:Add", {soft, x}, {sum});
  b.program.blocks[thenBlock].results = {sum};
  const std::uint32_t elseBlock = b.block("else");
  b.program.blocks[elseBlock].results = {soft};
  const std::int32_t chosen = b.value("chosen", b.at(x).dims);
  b.step(0, "flow.if", {go}, {chosen}).blocks = {thenBlock, elseBlock};
  const std::uint32_t body = b.block("body");
  b.param(body, "turn", {}, DType::kInt64);
  const std::int32_t goIn = b.param(body, "go_in", {}, DType::kBool);
  const std::int32_t state = b.param(body, "state", b.at(x).dims);
  const std::int32_t next = b.value("next", b.at(x).dims);
  b.step(body, "ref:Mul", {state, soft}, {next});
  b.program.blocks[body].results = {goIn, next};
  const std::int32_t y = b.value("y", b.at(x).dims, DType::kFloat32, Storage::kOutput);
  b.step(0, "flow.loop", {trips, kNone, chosen}, {y}).blocks = {body};
  b.output(y);
  return b;
}

TEST(Allocation, NoneInARunAfterWarmUp) {
  auto context = mixed().context();
  const Tensor small = Tensor::ofFloat(std::vector<float>(12, 1), {3, 4});
  const Tensor large = Tensor::ofFloat(std::vector<float>(400, 1), {100, 4});
  const Tensor yes = testing::boolTensor(true);
  const Tensor no = testing::boolTensor(false);
  const Tensor trips = Tensor::ofInt64({5}, {});
  ASSERT_TRUE(context->setInput("trips", trips.view()).isOk());
  const auto run = [&](const Tensor& x, const Tensor& go) {
    const bool ok = context->setInput("x", x.view()).isOk() && context->setInput("go", go.view()).isOk() &&
                    context->run().isOk();
    return ok && context->output("y").isOk();
  };
  for (const Tensor* x : {&small, &large})
    for (const Tensor* go : {&yes, &no}) ASSERT_TRUE(run(*x, *go));
  const std::size_t bytes = context->activationBytes();
  const std::int64_t before = allocations;
  bool ok = true;
  for (int round = 0; round < 10; ++round)
    for (const Tensor* x : {&small, &large})
      for (const Tensor* go : {&yes, &no}) ok = ok && run(*x, *go);
  const std::int64_t after = allocations;
  EXPECT_TRUE(ok);
  EXPECT_EQ(after - before, 0);
  EXPECT_EQ(context->activationBytes(), bytes);
}

/// A profile that holds 1 to 200 rows.
ProgramBuilder mixedWithProfile() {
  ProgramBuilder b = mixed();
  const auto& params = b.program.blocks[0].params;
  b.program.profiles.push_back({"rows", {{params[0], {1, 4}, {16, 4}, {200, 4}}}});
  return b;
}

TEST(Allocation, AThousandShapesOfAProfileWithoutPrepare) {
  auto context = mixedWithProfile().context();
  const Tensor data = Tensor::ofFloat(std::vector<float>(800, 1), {200, 4});
  const Tensor yes = testing::boolTensor(true);
  const Tensor no = testing::boolTensor(false);
  const Tensor trips = Tensor::ofInt64({5}, {});
  ASSERT_TRUE(context->setInput("trips", trips.view()).isOk());
  std::int64_t failures = 0;
  const auto run = [&](std::int64_t rows, bool go) {
    const std::int64_t dims[2] = {rows, 4};
    const TensorView x{DType::kFloat32, dims, data.data()};
    const bool ok = context->setInput("x", x).isOk() &&
                    context->setInput("go", (go ? yes : no).view()).isOk() && context->run().isOk();
    auto y = ok ? context->output("y") : Result<TensorView>(Status(ErrorCode::kInternal, "not run"));
    if (!y || y->dims.size() != 2 || y->dims[0] != rows) ++failures;
  };
  run(200, true);  // reference kernels take their scratch memory in their first run
  run(200, false);
  const std::size_t bytes = context->activationBytes();
  const std::int64_t before = allocations;
  for (std::int64_t i = 0; i < 1000; ++i) run(1 + i * 37 % 200, i % 3 == 0);
  const std::int64_t after = allocations;
  EXPECT_EQ(after - before, 0);
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(context->activationBytes(), bytes);
  EXPECT_EQ(context->implicitPrepares(), 0U);
}

}  // namespace
}  // namespace rota::runtime
