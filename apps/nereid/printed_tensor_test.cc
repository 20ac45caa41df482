// SPDX-License-Identifier: Apache-2.0
#include "printed_tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontends/codec/binary_tensor.h"

namespace nereid {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr DataType kAllTypes[] = {
    DataType::kBool, DataType::kUint8, DataType::kUint16, DataType::kUint32, DataType::kUint64,
    DataType::kInt8, DataType::kInt16, DataType::kInt32,  DataType::kInt64,  DataType::kFp16,
    DataType::kFp32, DataType::kFp64,  DataType::kBytes,  DataType::kBf16};

TEST(PrintedTensorTest, SamplesOfAllTypesCanBePrinted) {
  for (const DataType type : kAllTypes) {
    const std::string text = PrintTensor("T", type, {2, 1}, SampleTensor(type, 2));
    const std::string values = type == DataType::kBool    ? "[true,true]"
                               : type == DataType::kBytes ? "[\"sample\",\"sample\"]"
                               : type >= DataType::kFp16  ? "[1.0,1.0]"
                                                          : "[1,1]";
    EXPECT_EQ(text, std::string("T  ") + DataTypeName(type) + " [2,1]  " + values);
  }
}

TEST(PrintedTensorTest, SmallFloats) {
  const auto print = [](DataType type, uint16_t bits) {
    return PrintTensor("T", type, {1}, {reinterpret_cast<const char*>(&bits), 2});
  };
  EXPECT_THAT(print(DataType::kFp16, 0xc500), EndsWith("[-5.0]"));
  EXPECT_THAT(print(DataType::kFp16, 0x7bff), EndsWith("[65504.0]"));
  EXPECT_THAT(print(DataType::kFp16, 0x0001), EndsWith("[5.9604645e-08]"));
  EXPECT_THAT(print(DataType::kFp16, 0xfc00), EndsWith("[-Infinity]"));
  EXPECT_THAT(print(DataType::kFp16, 0x7e00), EndsWith("[NaN]"));
  EXPECT_THAT(print(DataType::kBf16, 0x4049), EndsWith("[3.140625]"));
}

TEST(PrintedTensorTest, OfALongTensorTheFirstElements) {
  const std::string text =
      PrintTensor("T", DataType::kInt8, {20, 10}, SampleTensor(DataType::kInt8, 200));
  EXPECT_THAT(text, HasSubstr("INT8 [20,10]  [1,1,"));
  EXPECT_THAT(text, EndsWith(",1,...]  (200 elements)"));
  EXPECT_THAT(PrintTensor("T", DataType::kBytes, {150}, SampleTensor(DataType::kBytes, 150)),
              EndsWith("\"sample\",...]  (150 elements)"));
}

TEST(PrintedTensorTest, EmptyOnesAndScalars) {
  EXPECT_EQ(PrintTensor("T", DataType::kFp32, {0, 3}, ""), "T  FP32 [0,3]  []");
  EXPECT_EQ(PrintTensor("T", DataType::kBytes, {0}, ""), "T  BYTES [0]  []");
  EXPECT_EQ(PrintTensor("T", DataType::kInt32, {}, SampleTensor(DataType::kInt32, 1)),
            "T  INT32 []  [1]");
}

TEST(PrintedTensorTest, BytesThatDoNotFitTheirShape) {
  EXPECT_EQ(PrintTensor("T", DataType::kInt32, {2}, "123"),
            "T  INT32 [2]  3 bytes, which is not as many as its shape says");
}

}  // namespace
}  // namespace nereid
