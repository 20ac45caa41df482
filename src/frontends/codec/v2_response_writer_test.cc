// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/v2_response_writer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "frontends/codec/codec_testing.h"

namespace nereid {
namespace {

using codec_testing::MakeModel;
using std::string_literals::operator""s;

class V2ResponseWriterTest : public ::testing::Test {
 protected:
  InferResponse& Make(const std::vector<DataType>& outputs, const std::string& id = "",
                      int32_t max_batch_size = 0, OutputLabels labels = {}) {
    response_ = std::make_unique<InferResponse>(
        nullptr, MakeModel(outputs, max_batch_size, std::move(labels)), id, &allocator_, nullptr);
    return *response_;
  }

  void Add(const std::string& name, DataType type, const Shape& shape, absl::string_view bytes) {
    ResponseOutput* output = *response_->AddOutput(name, type, shape);
    ASSERT_TRUE(output->Allocate(bytes.size(), MemoryPlace{}).ok());
    if (!bytes.empty()) std::memcpy(output->buffer().base, bytes.data(), bytes.size());
  }

  template <typename T>
  void AddNumbers(const std::string& name, DataType type, const Shape& shape,
                  const std::vector<T>& values) {
    Add(name, type, shape,
        absl::string_view(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)));
  }

  static std::string Whole(const ResponseBody& body) {
    std::string all = body.json;
    for (const auto& part : body.tensors) all.append(part.data(), part.size());
    EXPECT_EQ(all.size(), body.byte_size());
    return all;
  }

  HeapOutputAllocator allocator_{nullptr};
  char place_[4];
  std::unique_ptr<InferResponse> response_;
};

TEST_F(V2ResponseWriterTest, JsonOutputs) {
  Make({DataType::kFp32, DataType::kInt32});
  AddNumbers<float>("OUTPUT0", DataType::kFp32, {2, 2}, {1, 2, 4, 3});
  AddNumbers<int32_t>("OUTPUT1", DataType::kInt32, {3}, {1, -2, 3});
  const auto body = WriteV2Response(*response_, OutputFormats());
  ASSERT_TRUE(body.ok());
  EXPECT_EQ(body->json,
            R"({"model_name":"m","model_version":"1","outputs":[)"
            R"({"name":"OUTPUT0","datatype":"FP32","shape":[2,2],"data":[1.0,2.0,4.0,3.0]},)"
            R"({"name":"OUTPUT1","datatype":"INT32","shape":[3],"data":[1,-2,3]}]})");
  EXPECT_FALSE(body->has_binary());
  EXPECT_STREQ(body->content_type(), "application/json");
}

TEST_F(V2ResponseWriterTest, IdAndParameters) {
  Make({}, "a\"b\xc3\xa9");
  response_->AddParameter({"text", std::string("x")});
  response_->AddParameter({"number", int64_t{-3}});
  response_->AddParameter({"truth", true});
  response_->AddParameter({"real", 0.5});
  const auto body = WriteV2Response(*response_, OutputFormats());
  ASSERT_TRUE(body.ok());
  EXPECT_EQ(body->json,
            R"({"id":"a\"b)"
            "\xc3\xa9"
            R"(","model_name":"m","model_version":"1",)"
            R"("parameters":{"text":"x","number":-3,"truth":true,"real":0.5},"outputs":[]})");
}

TEST_F(V2ResponseWriterTest, BinaryOutputsAreViewsInOrder) {
  Make({DataType::kFp32, DataType::kInt8, DataType::kFp16});
  AddNumbers<float>("OUTPUT0", DataType::kFp32, {1}, {1});
  AddNumbers<int8_t>("OUTPUT1", DataType::kInt8, {2}, {5, 6});
  AddNumbers<uint16_t>("OUTPUT2", DataType::kFp16, {1}, {0x3c00});
  OutputFormats formats;
  formats.fallback.binary = true;
  formats.named.push_back({"OUTPUT1", OutputFormat{}});
  auto written = WriteV2Response(*response_, formats);
  ASSERT_TRUE(written.ok());
  const ResponseBody body = *std::move(written);
  const std::string json =
      R"({"model_name":"m","model_version":"1","outputs":[)"
      R"({"name":"OUTPUT0","datatype":"FP32","shape":[1],"parameters":{"binary_data_size":4}},)"
      R"({"name":"OUTPUT1","datatype":"INT8","shape":[2],"data":[5,6]},)"
      R"({"name":"OUTPUT2","datatype":"FP16","shape":[1],"parameters":{"binary_data_size":2}}]})";
  EXPECT_EQ(Whole(body), json + "\0\0\x80\x3f"s + "\0\x3c"s);
  EXPECT_EQ(body.header_length(), json.size());
  EXPECT_STREQ(body.content_type(), "application/octet-stream");
  EXPECT_EQ(body.tensors[0].data(), response_->outputs()[0].buffer().base);
}

TEST_F(V2ResponseWriterTest, EmptyBinaryOutputLeavesAPlainJsonBody) {
  Make({DataType::kFp32});
  Add("OUTPUT0", DataType::kFp32, {0}, "");
  OutputFormats formats;
  formats.fallback.binary = true;
  const auto body = WriteV2Response(*response_, formats);
  ASSERT_TRUE(body.ok());
  EXPECT_EQ(Whole(*body),
            R"({"model_name":"m","model_version":"1","outputs":[{"name":"OUTPUT0",)"
            R"("datatype":"FP32","shape":[0],"parameters":{"binary_data_size":0}}]})");
  EXPECT_STREQ(body->content_type(), "application/json");
}

TEST_F(V2ResponseWriterTest, OutputWithoutBufferIsEmpty) {
  Make({DataType::kInt64});
  ASSERT_TRUE(response_->AddOutput("OUTPUT0", DataType::kInt64, {0, 3}).ok());
  const auto body = WriteV2Response(*response_, OutputFormats());
  ASSERT_TRUE(body.ok());
  EXPECT_NE(body->json.find(R"("shape":[0,3],"data":[])"), std::string::npos);
}

TEST_F(V2ResponseWriterTest, BytesAndBools) {
  Make({DataType::kBytes, DataType::kBool});
  Add("OUTPUT0", DataType::kBytes, {2}, "\x01\0\0\0a\x02\0\0\0\"\n"s);
  Add("OUTPUT1", DataType::kBool, {2}, "\x01\0"s);
  const auto body = WriteV2Response(*response_, OutputFormats());
  ASSERT_TRUE(body.ok());
  EXPECT_NE(body->json.find(R"("data":["a","\"\n"]})"), std::string::npos);
  EXPECT_NE(body->json.find(R"("data":[true,false]})"), std::string::npos);
}

TEST_F(V2ResponseWriterTest, ClassificationInBothForms) {
  Make({DataType::kFp32}, "", 4, {{"OUTPUT0", {"cat", "dog"}}});
  AddNumbers<float>("OUTPUT0", DataType::kFp32, {1, 2}, {0.5, 2});
  OutputFormats formats;
  formats.named.push_back({"OUTPUT0", OutputFormat{false, 1}});
  const auto json = WriteV2Response(*response_, formats);
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(json->json, R"({"model_name":"m","model_version":"1","outputs":[{"name":"OUTPUT0",)"
                        R"("datatype":"BYTES","shape":[1,1],"data":["2.000000:1:dog"]}]})");

  formats.named[0].format.binary = true;
  auto written = WriteV2Response(*response_, formats);
  ASSERT_TRUE(written.ok());
  const ResponseBody binary = *std::move(written);
  EXPECT_EQ(Whole(binary),
            R"({"model_name":"m","model_version":"1","outputs":[{"name":"OUTPUT0",)"
            R"("datatype":"BYTES","shape":[1,1],"parameters":{"binary_data_size":18}}]})"
            "\x0e\0\0\0"s
            "2.000000:1:dog");
}

TEST_F(V2ResponseWriterTest, OutputsInSharedMemoryAreOnlyNamed) {
  Make({DataType::kFp32, DataType::kFp32});
  AddNumbers<float>("OUTPUT0", DataType::kFp32, {1}, {1});
  AddNumbers<float>("OUTPUT1", DataType::kFp32, {1}, {2});
  OutputFormats formats;
  formats.named.push_back({"OUTPUT0", {}, {place_, 4, {}, nullptr}});
  formats.named.push_back({"OUTPUT1", {}, {}});
  const auto body = WriteV2Response(*response_, formats);
  ASSERT_TRUE(body.ok());
  EXPECT_EQ(body->json, R"({"model_name":"m","model_version":"1","outputs":[)"
                        R"({"name":"OUTPUT0","datatype":"FP32","shape":[1]},)"
                        R"({"name":"OUTPUT1","datatype":"FP32","shape":[1],"data":[2.0]}]})");
}

TEST_F(V2ResponseWriterTest, HalfPrecisionHasNoJsonForm) {
  for (const auto& [type, name] : {std::pair{DataType::kFp16, "FP16"}, {DataType::kBf16, "BF16"}}) {
    Make({type});
    Add("OUTPUT0", type, {1}, "ab");
    EXPECT_EQ(
        WriteV2Response(*response_, OutputFormats()).status(),
        absl::InvalidArgumentError(absl::StrCat("sending ", name,
                                                " data via JSON is not supported. Please use the "
                                                "binary data format for output")));
  }
}

TEST_F(V2ResponseWriterTest, BytesThatDoNotFitTheShape) {
  const auto mismatch = absl::InternalError(
      "Failed to write 'data' field: output tensor shape does not match size of output for "
      "'OUTPUT0'");
  Make({DataType::kInt32});
  Add("OUTPUT0", DataType::kInt32, {2}, "1234");
  EXPECT_EQ(WriteV2Response(*response_, OutputFormats()).status(), mismatch);
  Make({DataType::kInt32});
  Add("OUTPUT0", DataType::kInt32, {-1}, "1234");
  EXPECT_EQ(WriteV2Response(*response_, OutputFormats()).status(), mismatch);
  Make({DataType::kBytes});
  Add("OUTPUT0", DataType::kBytes, {1}, "\x09\0\0\0abc"s);
  EXPECT_EQ(WriteV2Response(*response_, OutputFormats()).status(), mismatch);
}

TEST_F(V2ResponseWriterTest, ClassificationErrorsComeThrough) {
  Make({DataType::kBytes});
  Add("OUTPUT0", DataType::kBytes, {1}, "\x01\0\0\0a"s);
  OutputFormats formats;
  formats.fallback.classification = 1;
  EXPECT_EQ(WriteV2Response(*response_, formats).status(),
            absl::InvalidArgumentError(
                "class result not available for output due to unsupported type 'BYTES'"));
}

}  // namespace
}  // namespace nereid
