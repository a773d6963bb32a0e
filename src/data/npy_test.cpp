// SPDX-License-Identifier: Apache-2.0
#include "data/npy.h"

#include <cstdlib>
#include <cstring>

#include <gtest/gtest.h>

#include "core/file.h"

namespace rota::data {
namespace {

std::string temporaryFile(const char* name) { return testing::TempDir() + "rota_npy_test_" + name; }

std::string npy(const std::string& dictionary, const std::string& data) {
  std::string text("\x93NUMPY\x01", 7);
  text += '\0';
  text += static_cast<char>(dictionary.size());
  text += '\0';
  return text + dictionary + data;
}

Result<Tensor> read(const std::string& text) { return readNpy(std::as_bytes(std::span(text)), "test"); }

TEST(Npy, WritesWhatItReads) {
  for (const std::vector<std::int64_t>& dims :
       {std::vector<std::int64_t>{}, {3}, {2, 3}, {0, 4}, {1, 1, 5}}) {
    auto t = Tensor::allocate(DType::kFloat32, dims);
    ASSERT_TRUE(t.isOk());
    for (std::int64_t i = 0; i < t->count(); ++i)
      reinterpret_cast<float*>(t->mutableData())[i] = static_cast<float>(i) * 0.5F;
    const std::string path = temporaryFile("round");
    ASSERT_TRUE(writeNpyFile(path, t->view()).isOk());
    const auto back = readNpyFile(path);
    ASSERT_TRUE(back.isOk()) << back.status().toString();
    EXPECT_EQ(back->dims(), dims);
    for (std::int64_t i = 0; i < t->count(); ++i) EXPECT_EQ(realAt(back->view(), i), realAt(t->view(), i));
  }
}

TEST(Npy, ConvertsFortranOrderAndBigEndian) {
  const auto t = read(npy("{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }",
                          std::string("\0\1\0\4\0\2\0\5\0\3\0\6", 12)));
  ASSERT_TRUE(t.isOk()) << t.status().toString();
  EXPECT_EQ(intsOf(t->view()), (std::vector<std::int64_t>{1, 2, 3, 4, 5, 6}));
}

TEST(Npy, RefusesWhatIsWrong) {
  EXPECT_FALSE(read("hello").isOk());
  EXPECT_FALSE(read("").isOk());
  EXPECT_FALSE(read(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "1234")).isOk());
  EXPECT_FALSE(
      read(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 9), }", "1234"))
          .isOk());
  EXPECT_FALSE(read(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", "1234")).isOk());
  EXPECT_FALSE(read(npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "12345678")).isOk());
  EXPECT_FALSE(read(npy("{'fortran_order': False, 'shape': (1,), }", "1234")).isOk());
}

TEST(Npy, EveryTruncationIsAnError) {
  const std::string whole =
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }", std::string(16, 'x'));
  for (std::size_t n = 0; n < whole.size(); ++n) EXPECT_FALSE(read(whole.substr(0, n)).isOk()) << n;
}

TEST(Npy, TypesWithoutANumpyNameAreWidened) {
  auto t = Tensor::allocate(DType::kBFloat16, {2});
  ASSERT_TRUE(t.isOk());
  const std::uint16_t bits[2] = {0x3f80, 0xc000};  // 1, -2
  std::memcpy(t->mutableData(), bits, sizeof bits);
  const std::string path = temporaryFile("bf16");
  ASSERT_TRUE(writeNpyFile(path, t->view()).isOk());
  const auto back = readNpyFile(path);
  ASSERT_TRUE(back.isOk());
  EXPECT_EQ(back->dtype(), DType::kFloat32);
  EXPECT_EQ(realAt(back->view(), 1), -2.0);
}

}  // namespace
}  // namespace rota::data
