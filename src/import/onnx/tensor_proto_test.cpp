// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/tensor_proto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/file.h"
#include "import/onnx/test_model.h"

namespace rota::onnx {
namespace {

using test::Message;
using ::testing::HasSubstr;

Message typed(int type, const std::vector<std::int64_t>& dims) {
  return Message()
      .addPacked(field::tensor::kDims, dims)
      .add(field::tensor::kDataType, type)
      .add(field::tensor::kName, "w");
}

Result<NamedTensor> read(const Message& message) { return readTensorProto(message.bytes(), {}); }

std::vector<double> reals(const Tensor& tensor) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < tensor.count(); ++i) values.push_back(realAt(tensor.view(), i));
  return values;
}

std::string errorOf(const Message& message) {
  auto tensor = read(message);
  return tensor ? "no error" : tensor.status().toString();
}

TEST(TensorProto, RawDataIsAViewWhereItIsAligned) {
  const Message message = test::floats("w", {2}, {1.5F, -2});
  const std::size_t at = message.bytes().size() - 8;  // raw data come last
  for (std::size_t shift = 0; shift < 4; ++shift) {
    auto buffer = test::bufferOf(message.bytes(), shift);
    const std::string_view bytes(reinterpret_cast<const char*>(buffer->data()), buffer->size());
    auto tensor = readTensorProto(bytes, {buffer, nullptr});
    ASSERT_TRUE(tensor.isOk());
    EXPECT_EQ(tensor->name, "w");
    EXPECT_EQ(reals(tensor->tensor), (std::vector<double>{1.5, -2}));
    const bool isView = tensor->tensor.data() == buffer->data() + at;
    EXPECT_EQ(isView, (at + shift) % 4 == 0) << shift;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor->tensor.data()) % 4, 0U);
  }
}

TEST(TensorProto, AViewKeepsItsBytesAlive) {
  Tensor tensor;
  {
    const Message message = test::floats("w", {1}, {7});
    for (std::size_t shift = 0; shift < 4; ++shift) {
      auto buffer = test::bufferOf(message.bytes(), shift);
      auto read =
          readTensorProto({reinterpret_cast<const char*>(buffer->data()), buffer->size()}, {buffer, nullptr});
      ASSERT_TRUE(read.isOk());
      tensor = read->tensor;
    }
  }
  EXPECT_EQ(realAt(tensor.view(), 0), 7);
}

TEST(TensorProto, TypedFields) {
  struct Case {
    int type;
    std::uint32_t field;
    std::vector<std::int64_t> values;
    std::vector<double> expected;
  };
  const Case cases[] = {
      {7, field::tensor::kInt64Data, {1, -2}, {1, -2}},
      {6, field::tensor::kInt32Data, {1, -2}, {1, -2}},
      {3, field::tensor::kInt32Data, {127, -128}, {127, -128}},
      {2, field::tensor::kInt32Data, {0, 255}, {0, 255}},
      {5, field::tensor::kInt32Data, {-32768, 9}, {-32768, 9}},
      {4, field::tensor::kInt32Data, {65535, 9}, {65535, 9}},
      {9, field::tensor::kInt32Data, {0, 1}, {0, 1}},
      {10, field::tensor::kInt32Data, {0x3C00, 0xC000}, {1, -2}},  // float16 bits
      {16, field::tensor::kInt32Data, {0x3F80, 0xC000}, {1, -2}},  // bfloat16 bits
      {17, field::tensor::kInt32Data, {0x38, 0xC0}, {1, -2}},      // float8e4m3fn bits
      {12, field::tensor::kUint64Data, {4294967295, 3}, {4294967295.0, 3}},
      {13, field::tensor::kUint64Data, {5, 3}, {5, 3}},
      {22, field::tensor::kInt32Data, {0xF1}, {1, -1}},  // int4: two in a byte, low bits first
      {21, field::tensor::kInt32Data, {0xF1}, {1, 15}},
  };
  for (const Case& c : cases) {
    auto packed = read(typed(c.type, {2}).addPacked(c.field, c.values));
    ASSERT_TRUE(packed.isOk()) << c.type << packed.status().toString();
    EXPECT_EQ(reals(packed->tensor), c.expected) << c.type;
    Message single = typed(c.type, {2});
    for (const std::int64_t value : c.values) single.add(c.field, value);
    auto unpacked = read(single);
    ASSERT_TRUE(unpacked.isOk()) << c.type;
    EXPECT_EQ(reals(unpacked->tensor), c.expected) << c.type;
  }
  auto real = read(typed(1, {2}).addPacked(field::tensor::kFloatData, std::vector<float>{1.5F, 2}));
  EXPECT_EQ(reals(real->tensor), (std::vector<double>{1.5, 2}));
  auto wide = read(typed(11, {2}).addPacked(field::tensor::kDoubleData, std::vector<double>{1.5, 2}));
  EXPECT_EQ(reals(wide->tensor), (std::vector<double>{1.5, 2}));
  auto complex = read(typed(14, {1}).addPacked(field::tensor::kFloatData, std::vector<float>{1.5F, 2}));
  ASSERT_TRUE(complex.isOk());
  EXPECT_EQ(reinterpret_cast<const float*>(complex->tensor.data())[1], 2.0F);
}

TEST(TensorProto, ScalarsAndEmptyTensors) {
  auto scalar = read(test::floats("s", {}, {3}));
  ASSERT_TRUE(scalar.isOk());
  EXPECT_EQ(scalar->tensor.count(), 1);
  auto empty = read(typed(1, {0, 5}));
  ASSERT_TRUE(empty.isOk());
  EXPECT_EQ(empty->tensor.count(), 0);
  EXPECT_EQ(empty->tensor.dims(), (std::vector<std::int64_t>{0, 5}));
}

TEST(TensorProto, OddBooleansBecomeOne) {
  auto tensor = read(test::rawTensor<std::uint8_t>("b", 9, {3}, {0, 1, 200}));
  ASSERT_TRUE(tensor.isOk());
  EXPECT_EQ(std::to_integer<int>(tensor->tensor.data()[2]), 1);
}

TEST(TensorProto, SizesMustAgree) {
  EXPECT_THAT(errorOf(test::floats("w", {3}, {1, 2})), HasSubstr("expected 12 bytes; found 8"));
  EXPECT_THAT(errorOf(typed(1, {3}).addPacked(field::tensor::kFloatData, std::vector<float>{1, 2})),
              HasSubstr("expected 3 numbers; found 2"));
  EXPECT_THAT(errorOf(typed(1, {1}).addPacked(field::tensor::kFloatData, std::vector<float>{1, 2})),
              HasSubstr("found 2"));
  EXPECT_THAT(errorOf(typed(1, {2}).addPacked(field::tensor::kInt32Data, std::vector<std::int64_t>{1, 2})),
              HasSubstr("field of another type"));
  EXPECT_THAT(errorOf(typed(3, {1}).addPacked(field::tensor::kInt32Data, std::vector<std::int64_t>{256})),
              HasSubstr("does not fit its type"));
  EXPECT_THAT(
      errorOf(test::floats("w", {1}, {1}).addPacked(field::tensor::kFloatData, std::vector<float>{1})),
      HasSubstr("both raw and typed"));
}

TEST(TensorProto, HugeAndNegativeDimsAreRefusedBeforeAllocation) {
  EXPECT_THAT(errorOf(typed(1, {1'000'000'000, 4})), HasSubstr("do not fit its type and dims"));
  EXPECT_THAT(errorOf(typed(1, {INT64_MAX, 16})), HasSubstr("R1106"));
  EXPECT_THAT(errorOf(typed(1, {-1})), HasSubstr("R1106"));
  EXPECT_THAT(errorOf(typed(1, std::vector<std::int64_t>(100, 1))), HasSubstr("more than 64 dimensions"));
  EXPECT_THAT(errorOf(typed(11, {std::int64_t{1} << 61})), HasSubstr("R1106"));
}

TEST(TensorProto, StringsAndUnknownTypesAreRefusedByName) {
  EXPECT_THAT(errorOf(typed(8, {1}).add(field::tensor::kStringData, "text")),
              HasSubstr("string tensors are not supported"));
  EXPECT_THAT(errorOf(typed(8, {1}).add(field::tensor::kStringData, "text")), HasSubstr("'w'"));
  EXPECT_THAT(errorOf(typed(99, {1})), HasSubstr("found data type 99"));
}

Message sparse(const Message& values, const Message& indices, const std::vector<std::int64_t>& dims) {
  return Message()
      .add(field::sparse::kValues, values)
      .add(field::sparse::kIndices, indices)
      .addPacked(field::sparse::kDims, dims);
}

TEST(SparseTensorProto, Expands) {
  auto linear = readSparseTensorProto(
      sparse(test::floats("s", {2}, {5, 6}), test::ints("", {2}, {1, 5}), {2, 3}).bytes(), {});
  ASSERT_TRUE(linear.isOk());
  EXPECT_EQ(linear->name, "s");
  EXPECT_EQ(reals(linear->tensor), (std::vector<double>{0, 5, 0, 0, 0, 6}));
  auto places = readSparseTensorProto(
      sparse(test::floats("s", {2}, {5, 6}), test::ints("", {2, 2}, {0, 1, 1, 2}), {2, 3}).bytes(), {});
  ASSERT_TRUE(places.isOk());
  EXPECT_EQ(reals(places->tensor), reals(linear->tensor));
}

TEST(SparseTensorProto, RefusesWhatDoesNotFit) {
  const auto error = [](const Message& message) {
    auto tensor = readSparseTensorProto(message.bytes(), {});
    return tensor ? "no error" : tensor.status().toString();
  };
  const Message one = test::floats("s", {1}, {5});
  EXPECT_THAT(error(sparse(one, test::ints("", {1}, {6}), {2, 3})), HasSubstr("outside its dims"));
  EXPECT_THAT(error(sparse(one, test::ints("", {1}, {-1}), {2, 3})), HasSubstr("outside its dims"));
  EXPECT_THAT(error(sparse(one, test::ints("", {1, 2}, {0, 3}), {2, 3})), HasSubstr("outside its dims"));
  EXPECT_THAT(error(sparse(one, test::ints("", {2}, {0, 3}), {2, 3})), HasSubstr("do not fit each other"));
  EXPECT_THAT(error(sparse(one, test::ints("", {1}, {0}), {1 << 20, 1 << 20})),
              HasSubstr("too many elements"));
}

TEST(ValueFile, SequencesAndOptionals) {
  const std::string path = ::testing::TempDir() + "rota_value.pb";
  const auto load = [&](const Message& message, ir::TypeKind kind) {
    EXPECT_TRUE(writeFile(path, message.bytes()).isOk());
    return readValueFile(path, kind);
  };
  const Message list = Message()
                           .add(field::sequence::kElemType, 1)
                           .add(field::sequence::kTensor, test::floats("", {1}, {1}))
                           .add(field::sequence::kTensor, test::floats("", {2}, {2, 3}));
  auto sequence = load(list, ir::TypeKind::kSequence);
  ASSERT_TRUE(sequence.isOk());
  ASSERT_EQ(sequence->value.sequence->elements.size(), 2U);
  EXPECT_EQ(sequence->value.sequence->elements[1].count(), 2);
  auto none = load(Message().add(field::optional::kElemType, 1), ir::TypeKind::kOptional);
  ASSERT_TRUE(none.isOk());
  EXPECT_TRUE(none->value.sequence->isOptional);
  EXPECT_TRUE(none->value.sequence->elements.empty());
  auto some =
      load(Message().add(field::optional::kTensor, test::floats("", {1}, {4})), ir::TypeKind::kOptional);
  ASSERT_TRUE(some.isOk());
  EXPECT_EQ(some->value.sequence->elements.size(), 1U);
  EXPECT_FALSE(load(Message().add(field::sequence::kSequence, list), ir::TypeKind::kSequence).isOk());
  EXPECT_FALSE(readValueFile(path + ".absent", ir::TypeKind::kTensor).isOk());
}

}  // namespace
}  // namespace rota::onnx
