// SPDX-License-Identifier: Apache-2.0
#include "model/data_type.h"

#include <gtest/gtest.h>

#include <string>

namespace nereid {
namespace {

struct Row {
  DataType type;
  const char* name;
  uint32_t byte_size;
};

constexpr Row kRows[] = {
    {DataType::kBool, "BOOL", 1},     {DataType::kUint8, "UINT8", 1},
    {DataType::kUint16, "UINT16", 2}, {DataType::kUint32, "UINT32", 4},
    {DataType::kUint64, "UINT64", 8}, {DataType::kInt8, "INT8", 1},
    {DataType::kInt16, "INT16", 2},   {DataType::kInt32, "INT32", 4},
    {DataType::kInt64, "INT64", 8},   {DataType::kFp16, "FP16", 2},
    {DataType::kFp32, "FP32", 4},     {DataType::kFp64, "FP64", 8},
    {DataType::kBytes, "BYTES", 0},   {DataType::kBf16, "BF16", 2},
};

TEST(DataTypeTest, NamesAndSizes) {
  for (const Row& row : kRows) {
    EXPECT_STREQ(DataTypeName(row.type), row.name);
    EXPECT_EQ(DataTypeByteSize(row.type), row.byte_size) << row.name;
    EXPECT_EQ(ParseDataType(row.name), row.type);
  }
}

TEST(DataTypeTest, WhatIsNoTypeIsInvalid) {
  for (const char* text : {"", "fp32", "FP32 ", "TYPE_FP32", "STRING", "<invalid>"}) {
    EXPECT_EQ(ParseDataType(text), DataType::kInvalid) << text;
  }
  for (const int value : {0, -1, 15, 1000}) {
    EXPECT_STREQ(DataTypeName(static_cast<DataType>(value)), "<invalid>");
    EXPECT_EQ(DataTypeByteSize(static_cast<DataType>(value)), 0u);
  }
}

}  // namespace
}  // namespace nereid
