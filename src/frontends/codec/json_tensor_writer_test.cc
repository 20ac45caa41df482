// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/json_tensor_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "base/json_writer.h"
#include "frontends/codec/binary_tensor.h"

namespace nereid {
namespace {

JsonTensorFault Append(DataType type, absl::string_view bytes, int64_t count, std::string* out) {
  return AppendJsonTensor(type, bytes, count, NonFinite::kLiteral, out);
}

template <typename T>
std::string Write(DataType type, const std::vector<T>& values,
                  NonFinite non_finite = NonFinite::kLiteral) {
  const absl::string_view bytes(reinterpret_cast<const char*>(values.data()),
                                values.size() * sizeof(T));
  std::string out;
  EXPECT_TRUE(
      AppendJsonTensor(type, bytes, static_cast<int64_t>(values.size()), non_finite, &out).ok());
  return out;
}

template <typename T>
T Low() {
  return std::numeric_limits<T>::lowest();
}
template <typename T>
T High() {
  return std::numeric_limits<T>::max();
}

TEST(JsonTensorWriterTest, WritesEveryNumberType) {
  EXPECT_EQ(Write<uint8_t>(DataType::kBool, {0, 1, 2}), "[false,true,true]");
  EXPECT_EQ(Write<uint8_t>(DataType::kUint8, {0, 255}), "[0,255]");
  EXPECT_EQ(Write<uint16_t>(DataType::kUint16, {65535}), "[65535]");
  EXPECT_EQ(Write<uint32_t>(DataType::kUint32, {High<uint32_t>()}), "[4294967295]");
  EXPECT_EQ(Write<uint64_t>(DataType::kUint64, {High<uint64_t>()}), "[18446744073709551615]");
  EXPECT_EQ(Write<int8_t>(DataType::kInt8, {-128, 127}), "[-128,127]");
  EXPECT_EQ(Write<int16_t>(DataType::kInt16, {-32768}), "[-32768]");
  EXPECT_EQ(Write<int32_t>(DataType::kInt32, {Low<int32_t>()}), "[-2147483648]");
  EXPECT_EQ(Write<int64_t>(DataType::kInt64, {Low<int64_t>()}), "[-9223372036854775808]");
  EXPECT_EQ(Write<float>(DataType::kFp32, {1, 0.1f, -0.0f, 1e22f}), "[1.0,0.1,-0.0,1e+22]");
  EXPECT_EQ(Write<double>(DataType::kFp64, {1, 0.1, 123456789.125}), "[1.0,0.1,123456789.125]");
  EXPECT_EQ(Write<int32_t>(DataType::kInt32, {}), "[]");
}

TEST(JsonTensorWriterTest, NumbersThatAreNone) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> values = {std::nanf(""), inf, -inf, 1};
  const auto written = [&](NonFinite how) { return Write(DataType::kFp32, values, how); };
  EXPECT_EQ(written(NonFinite::kLiteral), "[NaN,Infinity,-Infinity,1.0]");
  EXPECT_EQ(written(NonFinite::kNull), "[null,null,null,1.0]");
  EXPECT_EQ(written(NonFinite::kString), R"(["NaN","Infinity","-Infinity",1.0])");
  EXPECT_EQ(Write<double>(DataType::kFp64, {-std::numeric_limits<double>::infinity()},
                          NonFinite::kString),
            R"(["-Infinity"])");
}

TEST(JsonTensorWriterTest, NumbersThatAreNoneCanBeRefused) {
  std::vector<float> values(3000, 0.5f);
  const auto append = [&] {
    std::string out;
    return AppendJsonTensor(DataType::kFp32,
                            absl::string_view(reinterpret_cast<const char*>(values.data()),
                                              values.size() * sizeof(float)),
                            3000, NonFinite::kError, &out);
  };
  EXPECT_TRUE(append().ok());
  values[2999] = std::nanf("");
  EXPECT_EQ(append().kind, JsonTensorFault::kNonFinite);
  EXPECT_EQ(append().element, 2999);
}

TEST(JsonTensorWriterTest, RefusesTextThatIsNotUtf8) {
  std::string tensor;
  AppendBytesElement("caf\xc3\xa9", &tensor);
  AppendBytesElement("\xff\xfe", &tensor);
  std::string out;
  const JsonTensorFault fault = Append(DataType::kBytes, tensor, 2, &out);
  EXPECT_EQ(fault.kind, JsonTensorFault::kNotUtf8);
  EXPECT_EQ(fault.element, 1);
  EXPECT_EQ(AppendJsonOutput("O", DataType::kBytes, {2}, tensor, NonFinite::kLiteral, &out),
            absl::InvalidArgumentError("output 'O' cannot be sent as JSON: element 1 is not UTF-8. "
                                       "Ask infer for it as a binary output ('binary_data': "
                                       "true)."));
}

TEST(JsonTensorWriterTest, WritesStrings) {
  std::string tensor;
  AppendBytesElement("a\"b\n", &tensor);
  AppendBytesElement("", &tensor);
  std::string out;
  EXPECT_TRUE(Append(DataType::kBytes, tensor, 2, &out).ok());
  EXPECT_EQ(out, "[\"a\\\"b\\n\",\"\"]");
}

// Numbers in tensors must have the same text as other numbers that the server writes.
template <typename T, typename Bits>
void ExpectSameTextAsJsonWriter(DataType type, void (*append)(T, std::string*)) {
  std::mt19937_64 random(7);
  std::vector<T> values;
  for (int i = 0; i < 20000; ++i) {
    const Bits bits = static_cast<Bits>(random());
    T value;
    std::memcpy(&value, &bits, sizeof(value));
    values.push_back(i % 4 == 0 ? std::round(static_cast<T>(bits % 100000)) : value);
  }
  std::string expected = "[";
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) expected += ',';
    append(values[i], &expected);
  }
  expected += ']';
  EXPECT_EQ(Write(type, values), expected);
}

TEST(JsonTensorWriterTest, FloatsAsJsonWriterWritesThem) {
  ExpectSameTextAsJsonWriter<float, uint32_t>(DataType::kFp32, AppendJsonFloat);
  ExpectSameTextAsJsonWriter<double, uint64_t>(DataType::kFp64, AppendJsonDouble);
}

TEST(JsonTensorWriterTest, RefusesBytesThatDoNotFit) {
  std::string out;
  EXPECT_FALSE(Append(DataType::kInt32, "12345", 1, &out).ok());
  EXPECT_FALSE(Append(DataType::kInt32, "1234", 2, &out).ok());
  EXPECT_FALSE(Append(DataType::kInt32, "1234", 0, &out).ok());
  std::string strings;
  AppendBytesElement("a", &strings);
  EXPECT_FALSE(Append(DataType::kBytes, strings, 2, &out).ok());
  EXPECT_FALSE(Append(DataType::kBytes, strings.substr(0, 4), 1, &out).ok());
  for (const DataType type : {DataType::kFp16, DataType::kBf16, DataType::kInvalid}) {
    EXPECT_FALSE(Append(type, "", 0, &out).ok());
  }
}

TEST(JsonTensorWriterTest, EstimateCoversCommonTensors) {
  for (const DataType type :
       {DataType::kBool, DataType::kInt8, DataType::kInt32, DataType::kInt64, DataType::kFp64}) {
    const std::string bytes(8000, '\x11');
    std::string out;
    ASSERT_TRUE(Append(type, bytes, 8000 / DataTypeByteSize(type), &out).ok());
    EXPECT_GE(EstimateJsonTensorSize(type, bytes.size()), out.size()) << DataTypeName(type);
  }
}

}  // namespace
}  // namespace nereid
