// SPDX-License-Identifier: Apache-2.0
#include "frontends/tracing/trace_text.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace nereid {
namespace {

template <typename T>
std::string Elements(DataType type, const std::vector<T>& values) {
  TracedTensor tensor;
  tensor.data_type = type;
  tensor.bytes.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  std::string text;
  AppendElements(tensor, &text);
  return text;
}

TEST(TraceTextTest, ElementsOfAllTypes) {
  EXPECT_EQ(Elements<uint8_t>(DataType::kBool, {1, 0}), "1,0");
  EXPECT_EQ(Elements<int8_t>(DataType::kInt8, {-1, 7}), "-1,7");
  EXPECT_EQ(Elements<uint16_t>(DataType::kUint16, {65535}), "65535");
  EXPECT_EQ(Elements<uint32_t>(DataType::kUint32, {7}), "7");
  EXPECT_EQ(Elements<uint64_t>(DataType::kUint64, {~uint64_t{0}}), "18446744073709551615");
  EXPECT_EQ(Elements<int16_t>(DataType::kInt16, {-3}), "-3");
  EXPECT_EQ(Elements<int32_t>(DataType::kInt32, {1, 2, 3}), "1,2,3");
  EXPECT_EQ(Elements<int64_t>(DataType::kInt64, {-9}), "-9");
  EXPECT_EQ(Elements<float>(DataType::kFp32, {1.0F, 0.1F}), "1,0.1");
  EXPECT_EQ(Elements<double>(DataType::kFp64, {0.25}), "0.25");
  EXPECT_EQ(Elements<uint16_t>(DataType::kFp16, {0x3C00, 0xC000, 0x0001}), "1,-2,5.9604645e-08");
  EXPECT_EQ(Elements<uint16_t>(DataType::kBf16, {0x3F80}), "1");
  EXPECT_EQ(Elements<uint8_t>(DataType::kUint8, {}), "");
  // Bytes that are no whole element are left out.
  EXPECT_EQ(Elements<uint8_t>(DataType::kInt32, {1, 0, 0, 0, 9}), "1");
}

TEST(TraceTextTest, StringsBehindTheirLengths) {
  const std::string bytes("\3\0\0\0abc\0\0\0\0\x09\0\0\0de", 17);
  EXPECT_EQ(Elements<char>(DataType::kBytes, {bytes.begin(), bytes.end()}), "\"abc\",\"\",\"de\"");
}

TEST(TraceTextTest, ParentsComeBeforeChildren) {
  FinishedTrace trace;
  trace.root_id = 4;
  trace.events.push_back(TracedTime{4, "HTTP_RECV_START", 10});
  trace.events.push_back(TracedNames{4, 0, "outer", 1, "id \"7\""});
  trace.events.push_back(TracedTime{4, "REQUEST_START", 20});
  trace.events.push_back(TracedNames{5, 4, "inner", 3, ""});
  trace.events.push_back(TracedTime{5, "REQUEST_START", 30});
  TracedTensor tensor;
  tensor.id = 5;
  tensor.activity = "TENSOR_QUEUE_INPUT";
  tensor.name = "IN";
  tensor.data_type = DataType::kUint8;
  tensor.shape = {1, 2};
  tensor.bytes = "\1\2";
  trace.events.emplace_back(tensor);
  trace.events.push_back(TracedTime{4, "HTTP_SEND_END", 40});
  std::string text;
  AppendTraceText(trace, &text);
  EXPECT_EQ(text, R"({"id":4,"timestamps":[{"name":"HTTP_RECV_START","ns":10}]},)"
                  R"({"id":4,"model_name":"outer","model_version":1,"request_id":"id \"7\""},)"
                  R"({"id":4,"timestamps":[{"name":"REQUEST_START","ns":20}]},)"
                  R"({"id":4,"timestamps":[{"name":"HTTP_SEND_END","ns":40}]},)"
                  R"({"id":5,"model_name":"inner","model_version":3,"parent_id":4},)"
                  R"({"id":5,"timestamps":[{"name":"REQUEST_START","ns":30}]},)"
                  R"({"id":5,"activity":"TENSOR_QUEUE_INPUT","tensor":{"name":"IN","data":"1,2",)"
                  R"("shape":"1,2","dtype":"UINT8"}})");
}

}  // namespace
}  // namespace nereid
