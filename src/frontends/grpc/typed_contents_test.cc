// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/typed_contents.h"

#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nereid {
namespace {

using inference::InferTensorContents;

class TypedContentsTest : public testing::Test {
 protected:
  absl::StatusOr<std::string> Read(DataType type) {
    const absl::StatusOr<absl::string_view> bytes =
        TypedContents({tensor_, model_}, type, contents_, &buffers_);
    if (!bytes.ok()) return bytes.status();
    return std::string(*bytes);
  }
  std::string ErrorOf(DataType type) {
    const absl::StatusOr<std::string> bytes = Read(type);
    if (bytes.ok()) return "OK";
    EXPECT_EQ(bytes.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(bytes.status().message());
  }
  template <typename T>
  static std::string BytesOf(const std::vector<T>& values) {
    return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  }

  const std::string tensor_ = "INPUT0";
  const std::string model_ = "m";
  InferTensorContents contents_;
  RequestBuffers buffers_;
};

TEST_F(TypedContentsTest, Bool) {
  contents_.add_bool_contents(true);
  contents_.add_bool_contents(false);
  EXPECT_EQ(Read(DataType::kBool).value(), std::string("\1\0", 2));
}

TEST_F(TypedContentsTest, SignedIntegers) {
  contents_.add_int_contents(-2);
  contents_.add_int_contents(127);
  EXPECT_EQ(Read(DataType::kInt8).value(), BytesOf<int8_t>({-2, 127}));
  EXPECT_EQ(Read(DataType::kInt16).value(), BytesOf<int16_t>({-2, 127}));
  EXPECT_EQ(Read(DataType::kInt32).value(), BytesOf<int32_t>({-2, 127}));
}

TEST_F(TypedContentsTest, UnsignedIntegers) {
  contents_.add_uint_contents(255);
  EXPECT_EQ(Read(DataType::kUint8).value(), BytesOf<uint8_t>({255}));
  EXPECT_EQ(Read(DataType::kUint16).value(), BytesOf<uint16_t>({255}));
  EXPECT_EQ(Read(DataType::kUint32).value(), BytesOf<uint32_t>({255}));
}

TEST_F(TypedContentsTest, ValuesThatDoNotFitAreRefused) {
  const auto error = [](absl::string_view rest) {
    return absl::StrCat(
        "unexpected explicit tensor data for input tensor 'INPUT0' for model 'm': element ", rest);
  };
  for (const int value : {128, -129, 0x12345}) {
    contents_.Clear();
    contents_.add_int_contents(127);
    contents_.add_int_contents(value);
    EXPECT_EQ(
        ErrorOf(DataType::kInt8),
        error(absl::StrCat("1 is ", value, ", which is out of range of 'INT8', -128 to 127")));
  }
  EXPECT_EQ(ErrorOf(DataType::kInt16),
            error("1 is 74565, which is out of range of 'INT16', -32768 to 32767"));
  contents_.Clear();
  contents_.add_uint_contents(256);
  EXPECT_EQ(ErrorOf(DataType::kUint8),
            error("0 is 256, which is out of range of 'UINT8', 0 to 255"));
  contents_.add_uint_contents(65536);
  EXPECT_EQ(ErrorOf(DataType::kUint16),
            error("1 is 65536, which is out of range of 'UINT16', 0 to 65535"));
}

TEST_F(TypedContentsTest, WideIntegers) {
  contents_.add_int64_contents(INT64_MIN);
  EXPECT_EQ(Read(DataType::kInt64).value(), BytesOf<int64_t>({INT64_MIN}));
  contents_.Clear();
  contents_.add_uint64_contents(UINT64_MAX);
  EXPECT_EQ(Read(DataType::kUint64).value(), BytesOf<uint64_t>({UINT64_MAX}));
}

TEST_F(TypedContentsTest, Floats) {
  contents_.add_fp32_contents(1.5f);
  EXPECT_EQ(Read(DataType::kFp32).value(), BytesOf<float>({1.5f}));
  contents_.Clear();
  contents_.add_fp64_contents(-0.0);
  EXPECT_EQ(Read(DataType::kFp64).value(), BytesOf<double>({-0.0}));
}

TEST_F(TypedContentsTest, Strings) {
  contents_.add_bytes_contents(std::string("a\0b", 3));
  contents_.add_bytes_contents("");
  EXPECT_EQ(Read(DataType::kBytes).value(), std::string("\3\0\0\0a\0b\0\0\0\0", 11));
}

TEST_F(TypedContentsTest, NoValues) { EXPECT_EQ(Read(DataType::kFp32).value(), ""); }

TEST_F(TypedContentsTest, FieldOfAnotherType) {
  contents_.add_int_contents(1);
  EXPECT_EQ(ErrorOf(DataType::kFp32),
            "unexpected explicit tensor data for input tensor 'INPUT0' for model 'm' of type "
            "'INT32', expected datatype 'FP32'");
}

TEST_F(TypedContentsTest, HalfFloatsHaveNoField) {
  contents_.add_fp32_contents(1);
  EXPECT_EQ(ErrorOf(DataType::kFp16),
            "unexpected explicit tensor data for input tensor 'INPUT0' for model 'm' of type "
            "'FP32', expected datatype 'FP16'");
}

TEST_F(TypedContentsTest, TwoFields) {
  contents_.add_int_contents(1);
  contents_.add_int64_contents(1);
  EXPECT_EQ(ErrorOf(DataType::kInt32),
            "unexpected explicit tensor data for input tensor 'INPUT0' for model 'm', binary data "
            "was already supplied.");
}

}  // namespace
}  // namespace nereid
