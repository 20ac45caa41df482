// SPDX-License-Identifier: Apache-2.0
#include "execution/warmup_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "filesystem/fake_file_system.h"

namespace nereid {
namespace {

using ::testing::Each;
using ::testing::SizeIs;

class WarmupDataTest : public ::testing::Test {
 protected:
  static WarmupInput Input(DataType type, Shape dims, WarmupData data, std::string file = "") {
    WarmupInput input;
    input.name = "in";
    input.data_type = type;
    input.dims = std::move(dims);
    input.data = data;
    input.file = std::move(file);
    return input;
  }
  absl::StatusOr<std::string> Bytes(const WarmupInput& input) {
    return WarmupBytes(input, fs_, "/models/m");
  }
  template <typename T>
  T At(const std::string& bytes, size_t index) {
    T value;
    std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
    return value;
  }

  FakeFileSystem fs_;
};

TEST_F(WarmupDataTest, Zeros) {
  EXPECT_EQ(*Bytes(Input(DataType::kFp32, {2, 3}, WarmupData::kZero)), std::string(24, '\0'));
  EXPECT_EQ(*Bytes(Input(DataType::kInt8, {}, WarmupData::kZero)), std::string(1, '\0'));
  EXPECT_EQ(*Bytes(Input(DataType::kInt8, {0}, WarmupData::kZero)), "");
}

TEST_F(WarmupDataTest, TextsAreEmptyHoweverTheyAreAskedFor) {
  EXPECT_EQ(*Bytes(Input(DataType::kBytes, {3}, WarmupData::kZero)), std::string(12, '\0'));
  EXPECT_EQ(*Bytes(Input(DataType::kBytes, {3}, WarmupData::kRandom)), std::string(12, '\0'));
}

TEST_F(WarmupDataTest, RandomIntegersDiffer) {
  const std::string bytes = *Bytes(Input(DataType::kInt32, {64}, WarmupData::kRandom));
  ASSERT_THAT(bytes, SizeIs(256));
  EXPECT_NE(bytes.substr(0, 128), bytes.substr(128));
  EXPECT_EQ(bytes, *Bytes(Input(DataType::kInt32, {64}, WarmupData::kRandom)))
      << "but not from time to time";
}

TEST_F(WarmupDataTest, RandomTruthIsTrueOrFalse) {
  const std::string bytes = *Bytes(Input(DataType::kBool, {256}, WarmupData::kRandom));
  EXPECT_THAT(bytes, Each(::testing::AnyOf('\0', '\1')));
  EXPECT_NE(bytes.find('\1'), std::string::npos);
  EXPECT_NE(bytes.find('\0'), std::string::npos);
}

TEST_F(WarmupDataTest, RandomNumbersWithAPointAreSmallAndFinite) {
  const std::string single = *Bytes(Input(DataType::kFp32, {256}, WarmupData::kRandom));
  const std::string twice = *Bytes(Input(DataType::kFp64, {256}, WarmupData::kRandom));
  const std::string half = *Bytes(Input(DataType::kFp16, {256}, WarmupData::kRandom));
  const std::string brain = *Bytes(Input(DataType::kBf16, {256}, WarmupData::kRandom));
  float sum = 0;
  for (size_t i = 0; i < 256; ++i) {
    const float value = At<float>(single, i);
    sum += value;
    EXPECT_TRUE(value >= 0 && value < 1) << value;
    EXPECT_TRUE(At<double>(twice, i) >= 0 && At<double>(twice, i) < 1);
    EXPECT_EQ(At<uint16_t>(half, i) & 0xfc00, 0x3800);
    EXPECT_EQ(At<uint16_t>(brain, i) & 0xff80, 0x3f00);
  }
  EXPECT_GT(sum, 64);
  EXPECT_LT(sum, 192);
}

TEST_F(WarmupDataTest, AFileOfTheFolderWarmup) {
  fs_.WriteFile("/models/m/warmup/data", "abcdef");
  fs_.WriteFile("/models/m/warmup/sub/data", "ghij");
  EXPECT_EQ(*Bytes(Input(DataType::kUint8, {6}, WarmupData::kFile, "data")), "abcdef");
  EXPECT_EQ(*Bytes(Input(DataType::kInt16, {2}, WarmupData::kFile, "data")), "abcd")
      << "what is more than the tensor is left out";
  EXPECT_EQ(*Bytes(Input(DataType::kBytes, {1}, WarmupData::kFile, "sub/data")), "ghij")
      << "of texts all is taken";
}

TEST_F(WarmupDataTest, AFileThatHoldsTooLittle) {
  fs_.WriteFile("/models/m/warmup/data", "abcdef");
  EXPECT_EQ(
      Bytes(Input(DataType::kInt32, {2}, WarmupData::kFile, "data")).status(),
      absl::InvalidArgumentError(
          "[request id: <id_unknown>] warmup setting expects 8 bytes, but the data provided from "
          "dataonly has 6 bytes"));
}

TEST_F(WarmupDataTest, ASlashInFrontMeansTheFolder) {
  fs_.WriteFile("/models/m/warmup/data", "a");
  EXPECT_EQ(Bytes(Input(DataType::kInt8, {1}, WarmupData::kFile, "/data")).value(), "a");
}

TEST_F(WarmupDataTest, AFileThatIsNotThereOrElsewhere) {
  EXPECT_EQ(Bytes(Input(DataType::kInt8, {1}, WarmupData::kFile, "data")).status().code(),
            absl::StatusCode::kNotFound);
  fs_.WriteFile("/models/secret", "x");
  for (const char* file : {"", "../../secret", "a/../../../secret", "/../../secret", ".."}) {
    EXPECT_EQ(Bytes(Input(DataType::kInt8, {1}, WarmupData::kFile, file)).status(),
              absl::InvalidArgumentError(std::string("warmup data file '") + file +
                                         "' of input 'in' is outside the model's folder "
                                         "'warmup'"));
  }
}

TEST_F(WarmupDataTest, WhatIsMissing) {
  EXPECT_EQ(Bytes(Input(DataType::kInvalid, {1}, WarmupData::kZero)).status(),
            absl::InvalidArgumentError("[request id: <id_unknown>] warmup setting expects input "
                                       "'in' to have data_type set"));
  EXPECT_EQ(
      Bytes(Input(DataType::kInt8, {1}, WarmupData::kNone)).status(),
      absl::InvalidArgumentError("[request id: <id_unknown>] warmup setting expects input 'in' to "
                                 "have input_data_type set"));
  EXPECT_EQ(Bytes(Input(DataType::kInt8, {2, -1}, WarmupData::kZero)).status(),
            absl::InvalidArgumentError("warmup setting expects all variable-size dimensions are "
                                       "specified for input 'in'"));
  EXPECT_EQ(Bytes(Input(DataType::kFp64, {int64_t{1} << 40, int64_t{1} << 40}, WarmupData::kZero))
                .status()
                .code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(WarmupDataTest, WhatNoRequestMayCarry) {
  EXPECT_EQ(Bytes(Input(DataType::kFp32, {1 << 30}, WarmupData::kZero)).status(),
            absl::InvalidArgumentError("warmup input 'in' has 4294967296 bytes, more than the "
                                       "2147483647 that an input of a warm-up may have"));
}

}  // namespace
}  // namespace nereid
