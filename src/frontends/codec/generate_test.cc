// The generate extension: from a JSON object to a request, and from a response to a JSON object.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "frontends/codec/codec_testing.h"
#include "frontends/codec/generate_request_reader.h"
#include "frontends/codec/generate_response_writer.h"

namespace nereid {
namespace {

using codec_testing::MakeModel;
using codec_testing::MakeModelWithInputs;
using codec_testing::TestInput;
using std::string_literals::operator""s;

class GenerateReaderTest : public ::testing::Test {
 protected:
  absl::Status Read(const std::vector<TestInput>& inputs, const std::string& json,
                    int32_t max_batch_size = 0, RequestLimits limits = {}) {
    request_ = std::make_unique<InferRequest>(MakeModelWithInputs(inputs, max_batch_size), -1);
    buffers_.Clear();
    return ReadGenerateRequest(json, limits, request_.get(), &buffers_);
  }
  absl::Status Read(const std::string& json) {
    return Read({{"X", DataType::kInt32, {kVariableDim}}, {"T", DataType::kBytes, {1}}}, json);
  }
  void ExpectError(const std::string& json, const std::string& text) {
    EXPECT_EQ(Read(json), absl::InvalidArgumentError(text)) << json;
  }
  // The shape of the only input as a text, or the error.
  std::string ShapeOf(const Shape& dims, int32_t max_batch_size, const std::string& value) {
    const absl::Status status =
        Read({{"X", DataType::kInt32, dims}}, "{\"X\":" + value + "}", max_batch_size);
    if (!status.ok()) return std::string(status.message());
    return ShapeToString(request_->inputs()[0].sent_shape());
  }
  std::string Bytes(size_t index) {
    std::string bytes;
    for (const InputBuffer& piece : request_->inputs()[index].buffers()) {
      bytes.append(static_cast<const char*>(piece.base), piece.byte_size);
    }
    return bytes;
  }

  std::unique_ptr<InferRequest> request_;
  RequestBuffers buffers_;
};

TEST_F(GenerateReaderTest, InputsParametersAndId) {
  ASSERT_TRUE(Read(R"({"T":"ab","X":[1,-2],"id":"7","stream":true,"n":5,"t":0.5,"s":"x"})").ok());
  EXPECT_EQ(request_->id(), "7");
  ASSERT_EQ(request_->inputs().size(), 2u);
  EXPECT_EQ(request_->inputs()[0].name(), "T");
  EXPECT_EQ(request_->inputs()[0].data_type(), DataType::kBytes);
  EXPECT_EQ(Bytes(0), "\2\0\0\0ab"s);
  EXPECT_EQ(request_->inputs()[1].sent_shape(), (Shape{2}));
  EXPECT_EQ(Bytes(1), "\1\0\0\0\xfe\xff\xff\xff"s);
  ASSERT_EQ(request_->parameters().size(), 5u) << "the id is one of them";
  EXPECT_EQ(request_->parameters()[0].name, "id");
  EXPECT_EQ(std::get<bool>(request_->parameters()[1].value), true);
  EXPECT_EQ(std::get<int64_t>(request_->parameters()[2].value), 5);
  EXPECT_EQ(std::get<double>(request_->parameters()[3].value), 0.5);
  EXPECT_EQ(std::get<std::string>(request_->parameters()[4].value), "x");
  EXPECT_TRUE(request_->asked_outputs().empty());
}

TEST_F(GenerateReaderTest, NestedParameters) {
  ASSERT_TRUE(Read(R"({"parameters":{"X":3,"a":1,"parameters":2}})").ok());
  EXPECT_EQ(Bytes(0), "\3\0\0\0"s);
  EXPECT_EQ(request_->parameters().size(), 2u);
}

TEST_F(GenerateReaderTest, ShapesFollowFromTheNumberOfElements) {
  const char* const kDoesNotFit =
      "The schema can not convert input 'X' to tensor with proper shape";
  EXPECT_EQ(ShapeOf({-1}, 0, "5"), "[1]");
  EXPECT_EQ(ShapeOf({-1}, 0, "[1,2,3]"), "[3]");
  EXPECT_EQ(ShapeOf({-1, -1}, 0, "[1,2,3]"), "[1,3]");
  EXPECT_EQ(ShapeOf({2, -1}, 0, "[1,2,3,4]"), "[2,2]");
  EXPECT_EQ(ShapeOf({2, -1}, 0, "[1,2,3]"), kDoesNotFit);
  EXPECT_EQ(ShapeOf({2, 2}, 0, "[1,2,3,4]"), "[2,2]");
  EXPECT_EQ(ShapeOf({2, 2}, 0, "[1,2,3,4,5,6,7,8]"), kDoesNotFit);
  EXPECT_EQ(ShapeOf({2, 2}, 0, "1"), kDoesNotFit);
  EXPECT_EQ(ShapeOf({1}, 8, "[1,2,3]"), "[3,1]");
  EXPECT_EQ(ShapeOf({-1}, 8, "[1,2,3]"), "[1,3]");
  EXPECT_EQ(ShapeOf({-1}, 0, "[]"), "[0]");
  EXPECT_EQ(ShapeOf({2}, 0, "[]"), kDoesNotFit);
}

TEST_F(GenerateReaderTest, Mistakes) {
  ExpectError("", "failed to parse the request JSON buffer: The document is empty. at 0");
  ExpectError("[]", "attempt to get members for non-object");
  ExpectError(R"({"id":5})", "Unable to parse 'id': attempt to access JSON non-string as string");
  ExpectError(R"({"PARAMS":[1]})",
              "parameter 'PARAMS' has invalid type. It should be either 'int', 'bool', or "
              "'string'.");
  ExpectError(R"({"PARAMS":null})",
              "parameter 'PARAMS' has invalid type. It should be either 'int', 'bool', or "
              "'string'.");
  ExpectError(R"({"parameters":5})",
              "Expected JSON object for keyword: 'parameters': attempt to access JSON non-object "
              "as object");
  ExpectError(R"({"parameters":{"nested":{}}})",
              "Converting keyword: 'parameters': parameter 'nested' has invalid type. It should "
              "be either 'int', 'bool', or 'string'.");
  ExpectError(R"({"T":1})",
              "Unable to parse JSON bytes array: attempt to access JSON non-string as string");
  ExpectError(R"({"X":"a"})",
              "Unable to parse 'data': attempt to access JSON non-signed-integer as "
              "signed-integer");
  ExpectError(R"({"X":[[1,2],[3,4]]})",
              "Unable to parse 'data': Shape does not match true shape of 'data' field");
  ExpectError(R"({"X":1,"X":2})", "[request id: <id_unknown>] input 'X' already exists in request");
  ExpectError(R"({"X":1,"parameters":{"X":2}})",
              "Converting keyword: 'parameters': [request id: <id_unknown>] input 'X' already "
              "exists in request");
  EXPECT_EQ(Read({{"H", DataType::kFp16, {-1}}}, R"({"H":1})"),
            absl::InvalidArgumentError("receiving FP16 data via JSON is not supported. Please use "
                                       "the binary data format for input H"));
  EXPECT_EQ(Read({{"parameters", DataType::kInt32, {-1}}}, R"({"parameters":1})"),
            absl::InvalidArgumentError(
                "Keyword 'parameters' for nested schema also given as input tensor name"));
}

TEST_F(GenerateReaderTest, Limits) {
  const std::vector<TestInput> inputs = {{"A", DataType::kInt64, {-1}},
                                         {"B", DataType::kInt64, {-1}}};
  const RequestLimits limits{/*max_input_size=*/30};
  EXPECT_TRUE(Read(inputs, R"({"A":[1,2,3]})", 0, limits).ok());
  EXPECT_EQ(Read(inputs, R"({"A":[1,2],"B":[1,2]})", 0, limits),
            absl::InvalidArgumentError(
                "request size of 32 bytes with input 'B' of size 16 bytes exceeds the maximum "
                "allowed input size of 30. Use --http-max-input-size to increase the limit."));
  EXPECT_EQ(Read(inputs, R"({"A":[1,2,3,4,5,6,7,8,9,10,11]})", 0, limits),
            absl::InvalidArgumentError(
                "request JSON size of 31 bytes exceeds the maximum allowed input size of 30 bytes. "
                "Use --http-max-input-size to increase the limit."));
  EXPECT_EQ(Read({}, "{\"a\":" + std::string(200, '[') + std::string(200, ']') + "}"),
            absl::InvalidArgumentError("JSON nesting depth exceeds maximum allowed limit (100)"));
}

class GenerateWriterTest : public ::testing::Test {
 protected:
  InferResponse& Make(const std::vector<DataType>& outputs, const std::string& id = "") {
    response_ =
        std::make_unique<InferResponse>(nullptr, MakeModel(outputs), id, &allocator_, nullptr);
    return *response_;
  }
  void Add(const std::string& name, DataType type, const Shape& shape, absl::string_view bytes) {
    ResponseOutput* output = *response_->AddOutput(name, type, shape);
    ASSERT_TRUE(output->Allocate(bytes.size(), MemoryPlace{}).ok());
    if (!bytes.empty()) std::memcpy(output->buffer().base, bytes.data(), bytes.size());
  }
  std::string Write() {
    std::string text = "data: ";
    const absl::Status status = AppendGenerateResponse(*response_, &text);
    return status.ok() ? text : std::string(status.message());
  }

  HeapOutputAllocator allocator_{nullptr};
  std::unique_ptr<InferResponse> response_;
};

TEST_F(GenerateWriterTest, KeysAreSortedAndSingleElementsAreScalars) {
  Make({DataType::kBytes, DataType::kInt32, DataType::kBool}, "a\"b");
  Add("OUTPUT1", DataType::kInt32, {1, 2}, "\1\0\0\0\2\0\0\0"s);
  Add("OUTPUT0", DataType::kBytes, {1}, "\2\0\0\0hi"s);
  Add("OUTPUT2", DataType::kBool, {0}, "");
  response_->AddParameter({"zeta", 0.5});
  response_->AddParameter({"alpha", std::string("x")});
  EXPECT_EQ(Write(),
            R"(data: {"OUTPUT0":"hi","OUTPUT1":[1,2],"OUTPUT2":[],"alpha":"x","id":"a\"b",)"
            R"("model_name":"m","model_version":"1","zeta":0.5})");
}

TEST_F(GenerateWriterTest, NamesDoNotCollide) {
  Make({});
  response_->AddParameter({"model_name", std::string("mine")});
  response_->AddParameter({"p", int64_t{1}});
  response_->AddParameter({"p", true});
  EXPECT_EQ(Write(), R"(data: {"model_name":"m","model_version":"1","p":1})");
}

TEST_F(GenerateWriterTest, OutputsThatCannotBeWritten) {
  Make({DataType::kFp16});
  Add("OUTPUT0", DataType::kFp16, {1}, "\0\0"s);
  EXPECT_EQ(Write(),
            "sending FP16 data via JSON is not supported. Please use the binary data format for "
            "output");
  Make({DataType::kInt32});
  Add("OUTPUT0", DataType::kInt32, {2}, "\0\0\0\0"s);
  EXPECT_EQ(Write(),
            "Failed to write 'data' field: output tensor shape does not match size of output for "
            "'OUTPUT0'");
}

}  // namespace
}  // namespace nereid
