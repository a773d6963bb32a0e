// SPDX-License-Identifier: Apache-2.0
// Which external data load, and which are refused with the rule that they break (case C25 of the reference cases).
#include "import/onnx/external_data.h"

#include <sys/stat.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/file.h"
#include "import/onnx/test_model.h"

namespace rota::onnx {
namespace {

using test::Message;
using ::testing::HasSubstr;

class ExternalDataTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "rota_external_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    folder_ = root_ + "/snapshot";
    ASSERT_EQ(::mkdir(folder_.c_str(), 0700), 0);
    ASSERT_EQ(::mkdir((root_ + "/blobs").c_str(), 0700), 0);
    std::string data(4096 + 16, '\0');
    const float one = 1;
    for (std::size_t i = 0; i < 1024; ++i) std::memcpy(data.data() + 16 + 4 * i, &one, 4);
    ASSERT_TRUE(writeFile(folder_ + "/weights.bin", data).isOk());
    ASSERT_TRUE(writeFile(root_ + "/outside.bin", data).isOk());
    ASSERT_TRUE(writeFile(root_ + "/blobs/data", data).isOk());
  }
  void TearDown() override {
    const std::string command = "rm -rf '" + root_ + "'";
    ASSERT_EQ(std::system(command.c_str()), 0);
  }

  using Entries = std::vector<std::pair<std::string, std::string>>;

  /// A model with one initializer [1024] that the model returns.
  static Message modelWith(const Entries& entries, std::int64_t elements = 1024) {
    Message tensor;
    tensor.add(field::tensor::kDims, elements)
        .add(field::tensor::kDataType, 1)
        .add(field::tensor::kName, "w");
    for (const auto& [key, value] : entries) {
      tensor.add(field::tensor::kExternalData, Message()
                                                   .add(field::entry::kKey, std::string_view(key))
                                                   .add(field::entry::kValue, std::string_view(value)));
    }
    tensor.add(field::tensor::kDataLocation, 1);
    return test::model({.nodes = {},
                        .inputs = {},
                        .outputs = {test::valueInfo("w", 1, {static_cast<int>(elements)})},
                        .initializers = {tensor}});
  }

  /// "" when it loads with ones, else the problem.
  std::string load(const Entries& entries, std::int64_t elements = 1024) {
    const std::string path = folder_ + "/model.onnx";
    if (!writeFile(path, modelWith(entries, elements).bytes()).isOk()) return "cannot write";
    return loadFile(path);
  }
  static std::string loadFile(const std::string& path) {
    auto result = importOnnx(path, {});
    if (!result) return result.status().toString();
    if (!result->problems.empty()) return summariseProblems(result->problems).toString();
    const Tensor& tensor = result->graph->outputs().at(0)->constant;
    for (std::int64_t i = 0; i < tensor.count(); ++i) {
      if (realAt(tensor.view(), i) != 1) return "wrong data";
    }
    return "";
  }

  std::string root_;
  std::string folder_;
};

TEST_F(ExternalDataTest, LoadsWithOffsetAndLength) {
  EXPECT_EQ(load({{"location", "weights.bin"}, {"offset", "16"}, {"length", "4096"}}), "");
  EXPECT_EQ(load({{"location", "weights.bin"}, {"offset", "16"}}), "");
  EXPECT_EQ(
      load({{"location", "weights.bin"}, {"offset", "16"}, {"length", "4096"}, {"checksum", "anything"}}),
      "");
  EXPECT_EQ(load({{"location", "./weights.bin"}, {"offset", "16"}}), "");
}

TEST_F(ExternalDataTest, UnalignedDataAreCopied) {
  std::string data(4097, '\0');
  const float one = 1;
  for (std::size_t i = 0; i < 1024; ++i) std::memcpy(data.data() + 1 + 4 * i, &one, 4);
  ASSERT_TRUE(writeFile(folder_ + "/odd.bin", data).isOk());
  EXPECT_EQ(load({{"location", "odd.bin"}, {"offset", "1"}}), "");
}

TEST_F(ExternalDataTest, RefusesPathsThatLeaveTheFolder) {
  EXPECT_THAT(load({{"location", "../outside.bin"}, {"offset", "16"}}),
              HasSubstr("leaves the model's folder"));
  EXPECT_THAT(load({{"location", "../outside.bin"}, {"offset", "16"}}), HasSubstr("'w'"));
  EXPECT_THAT(load({{"location", "a/../../outside.bin"}}), HasSubstr("leaves the model's folder"));
  EXPECT_THAT(load({{"location", ".."}}), HasSubstr("leaves the model's folder"));
  EXPECT_THAT(load({{"location", root_ + "/outside.bin"}}), HasSubstr("absolute path"));
  EXPECT_THAT(load({{"location", "/dev/zero"}}), HasSubstr("absolute path"));
  EXPECT_THAT(load({{"location", ""}}), HasSubstr("no location"));
  EXPECT_THAT(load({}), HasSubstr("no location"));
  EXPECT_THAT(load({{"location", std::string("weights.bin\0x", 13)}}), HasSubstr("zero byte"));
}

TEST_F(ExternalDataTest, LinksMayStayInsideOnly) {
  ASSERT_EQ(::symlink("weights.bin", (folder_ + "/inside").c_str()), 0);
  EXPECT_EQ(load({{"location", "inside"}, {"offset", "16"}}), "");
  ASSERT_EQ(::symlink("../outside.bin", (folder_ + "/link").c_str()), 0);
  EXPECT_THAT(load({{"location", "link"}, {"offset", "16"}}),
              HasSubstr("link that leaves the model's folder"));
  ASSERT_EQ(::symlink("..", (folder_ + "/up").c_str()), 0);
  EXPECT_THAT(load({{"location", "up/outside.bin"}, {"offset", "16"}}),
              HasSubstr("link that leaves the model's folder"));
  // A folder whose name only begins like the model's is another folder.
  ASSERT_EQ(::mkdir((folder_ + "2").c_str(), 0700), 0);
  ASSERT_EQ(::link((root_ + "/outside.bin").c_str(), (folder_ + "2/data").c_str()), 0);
  ASSERT_EQ(::symlink("../snapshot2/data", (folder_ + "/beside").c_str()), 0);
  EXPECT_THAT(load({{"location", "beside"}, {"offset", "16"}}),
              HasSubstr("link that leaves the model's folder"));
}

TEST_F(ExternalDataTest, HubCachesLoad) {
  // Model and data are both links into a folder of blobs.
  ASSERT_TRUE(
      writeFile(root_ + "/blobs/model", modelWith({{"location", "data.bin"}, {"offset", "16"}}).bytes())
          .isOk());
  ASSERT_EQ(::symlink("../blobs/model", (folder_ + "/hub.onnx").c_str()), 0);
  ASSERT_EQ(::symlink("../blobs/data", (folder_ + "/data.bin").c_str()), 0);
  EXPECT_EQ(loadFile(folder_ + "/hub.onnx"), "");
}

TEST_F(ExternalDataTest, AllowedRootsLoad) {
  ASSERT_EQ(::symlink("../blobs/data", (folder_ + "/data.bin").c_str()), 0);
  const std::string path = folder_ + "/model.onnx";
  ASSERT_TRUE(writeFile(path, modelWith({{"location", "data.bin"}, {"offset", "16"}}).bytes()).isOk());
  EXPECT_THAT(loadFile(path), HasSubstr("link that leaves"));
  ImportOptions options;
  options.dataRoots = {root_ + "/blobs"};
  auto result = importOnnx(path, options);
  ASSERT_TRUE(result.isOk());
  EXPECT_TRUE(result->problems.empty());
}

TEST_F(ExternalDataTest, RefusesWhatIsNoRegularFile) {
  EXPECT_THAT(load({{"location", "absent.bin"}}), HasSubstr("does not exist"));
  ASSERT_EQ(::mkfifo((folder_ + "/pipe").c_str(), 0600), 0);
  EXPECT_THAT(load({{"location", "pipe"}}), HasSubstr("R1105"));
  ASSERT_EQ(::symlink("/dev/zero", (folder_ + "/zero").c_str()), 0);
  EXPECT_THAT(load({{"location", "zero"}}), HasSubstr("R1105"));
  ASSERT_EQ(::mkdir((folder_ + "/sub").c_str(), 0700), 0);
  EXPECT_THAT(load({{"location", "sub"}}), HasSubstr("R1105"));
}

TEST_F(ExternalDataTest, ChecksOffsetAndLength) {
  EXPECT_THAT(load({{"location", "weights.bin"}, {"offset", "-16"}}), HasSubstr("not a count of bytes"));
  EXPECT_THAT(load({{"location", "weights.bin"}, {"offset", "sixteen"}}), HasSubstr("not a count of bytes"));
  EXPECT_THAT(load({{"location", "weights.bin"}, {"offset", "16x"}}), HasSubstr("not a count of bytes"));
  EXPECT_THAT(load({{"location", "weights.bin"}, {"offset", ""}}), HasSubstr("not a count of bytes"));
  EXPECT_THAT(load({{"location", "weights.bin"}, {"offset", "99999999999999999999"}}),
              HasSubstr("not a count of bytes"));
  EXPECT_THAT(load({{"location", "weights.bin"}, {"length", "-1"}}), HasSubstr("not a count of bytes"));
  EXPECT_THAT(load({{"location", "weights.bin"}, {"offset", "17"}}), HasSubstr("beyond the end"));
  EXPECT_THAT(load({{"location", "weights.bin"}, {"offset", "5000"}}), HasSubstr("beyond the end"));
  // The sum of these wraps around to 16.
  EXPECT_THAT(load({{"location", "weights.bin"}, {"offset", "18446744073709551600"}, {"length", "32"}}, 8),
              HasSubstr("beyond the end"));
  EXPECT_THAT(load({{"location", "weights.bin"}, {"offset", "16"}, {"length", "4092"}}),
              HasSubstr("expected 4096 bytes; found 4092 bytes"));
  EXPECT_THAT(load({{"location", "weights.bin"}}, std::int64_t{1} << 40), HasSubstr("beyond the end"));
}

TEST_F(ExternalDataTest, RefusesUnknownAndRepeatedKeys) {
  EXPECT_THAT(load({{"location", "weights.bin"}, {"offset", "16"}, {"size", "1"}}), HasSubstr("unknown key"));
  EXPECT_THAT(load({{"location", "weights.bin"}, {"offset", "16"}, {"offset", "0"}}), HasSubstr("twice"));
}

TEST_F(ExternalDataTest, TwoModelsMayNameEachTheirOwnFileOfOneName) {
  const std::string other = root_ + "/other";
  ASSERT_EQ(::mkdir(other.c_str(), 0700), 0);
  ASSERT_TRUE(writeFile(other + "/weights.bin", std::string(4096 + 16, '\0')).isOk());
  ASSERT_TRUE(
      writeFile(other + "/model.onnx", modelWith({{"location", "weights.bin"}, {"offset", "16"}}).bytes())
          .isOk());
  EXPECT_EQ(load({{"location", "weights.bin"}, {"offset", "16"}}), "");
  EXPECT_EQ(loadFile(other + "/model.onnx"), "wrong data");  // zeros: its own file
}

TEST_F(ExternalDataTest, BuffersStandForFiles) {
  ImportOptions options;
  std::string data(4096, '\0');
  options.dataBuffers["weights.bin"] = test::bufferOf(data);
  auto result = test::importMessage(modelWith({{"location", "weights.bin"}}), options);
  ASSERT_TRUE(result.isOk());
  EXPECT_TRUE(result->problems.empty());
  EXPECT_THAT(test::problemsOf(modelWith({{"location", "other.bin"}}), options),
              HasSubstr("no folder or buffer"));
}

TEST_F(ExternalDataTest, AMissingFileIsOneProblemForAllItsTensors) {
  Message graph;
  for (int i = 0; i < 40; ++i) {
    graph.add(field::graph::kInitializer,
              Message()
                  .add(field::tensor::kDims, 1)
                  .add(field::tensor::kDataType, 1)
                  .add(field::tensor::kName, std::string_view("w" + std::to_string(i)))
                  .add(field::tensor::kExternalData,
                       Message().add(field::entry::kKey, "location").add(field::entry::kValue, "absent"))
                  .add(field::tensor::kDataLocation, 1));
  }
  graph.add(field::graph::kOutput, test::valueInfo("w0", 1, {1}));
  auto result = importOnnxBytes(test::bufferOf(test::model(graph).bytes()), {.dataFolder = folder_});
  ASSERT_TRUE(result.isOk());
  ASSERT_EQ(result->problems.size(), 1U);
  EXPECT_THAT(result->problems[0].toString(), HasSubstr("w0, w1, w2, w3, w4 and 35 more"));
}

}  // namespace
}  // namespace rota::onnx
