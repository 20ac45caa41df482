// SPDX-License-Identifier: Apache-2.0
// The generate extension: from a JSON object to a request, and from a response to a JSON object.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/testing/repeats.h"
#include "frontends/codec/codec_testing.h"
#include "frontends/codec/generate_readers_testing.h"
#include "frontends/codec/generate_request_reader.h"
#include "frontends/codec/generate_response_writer.h"

namespace nereid {
namespace {

using codec_testing::BothGenerateReaders;
using codec_testing::MakeModel;
using codec_testing::MakeModelWithInputs;
using codec_testing::PaddedBytes;
using codec_testing::TestInput;
using std::string_literals::operator""s;

class GenerateReaderTest : public ::testing::Test {
 protected:
  absl::Status Read(const std::vector<TestInput>& inputs, const std::string& json,
                    int32_t max_batch_size = 0, RequestLimits limits = {}) {
    request_ = std::make_unique<InferRequest>(MakeModelWithInputs(inputs, max_batch_size), -1);
    buffers_.Clear();
    const PaddedBytes padded(json);
    non_finite_ = NonFinite::kLiteral;
    return ReadGenerateRequest(padded.view(), limits, request_.get(), &buffers_, &non_finite_);
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
  NonFinite non_finite_ = NonFinite::kLiteral;
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
              "Unable to parse JSON bytes array: attempt to access JSON non-string as string: "
              "element 0 of input 'T', whose datatype is BYTES");
  ExpectError(R"({"X":"a"})",
              "Unable to parse 'data': attempt to access JSON non-signed-integer as "
              "signed-integer: element 0 of input 'X', whose datatype is INT32");
  ExpectError(R"({"X":[[1,2],[3,4]]})",
              "Unable to parse 'data': Shape does not match true shape of 'data' field: input 'X' "
              "has more than the 2 elements of its shape [2]");
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

TEST_F(GenerateReaderTest, MemoryIsChargedBeforeItIsTaken) {
  std::string json = R"({"X":[0)";
  for (int i = 1; i < 100'000; ++i) json += ",7";
  json += "]}";
  Budget budget("bytes", 2'400'000);
  buffers_.ChargeTo(&budget, nullptr);
  ASSERT_EQ(Read(json), absl::OkStatus()) << "six times the text for the index, and the tensor";
  EXPECT_GE(budget.used(), 400'000u);
  EXPECT_LT(budget.used(), 401'000u) << "the index is gone";
  // A tree of it would be too much.
  json.insert(json.size() - 1, R"(,"T":"\xff")");
  EXPECT_EQ(Read(json).code(), absl::StatusCode::kUnavailable);
  buffers_.Clear();
  EXPECT_EQ(budget.used(), 0u);
}

// ---- The two readers agree.

std::shared_ptr<ServingModel> ModelOfAllTypes(int32_t max_batch_size) {
  return MakeModelWithInputs({{"A", DataType::kInt32, {-1}},
                              {"B", DataType::kFp32, {2, -1}},
                              {"C", DataType::kBytes, {1}},
                              {"D", DataType::kBool, {-1, -1}},
                              {"E", DataType::kUint8, {2, 2}},
                              {"F", DataType::kFp16, {-1}},
                              {"G", DataType::kUint64, {-1}},
                              {"H", DataType::kFp64, {-1}},
                              {"I", DataType::kBytes, {-1}}},
                             max_batch_size);
}

// Random bodies, most of which are valid for that model.
class BodyMaker {
 public:
  std::string Body() { return Object(/*nested=*/false); }
  size_t Below(size_t bound) { return random_() % bound; }

 private:
  std::string Object(bool nested) {
    std::string text = "{";
    for (size_t i = 0, members = Below(6); i < members; ++i) {
      text += (i > 0 ? std::string(",") + (Below(5) == 0 ? "\n " : "") : "") + Member(nested);
    }
    return text + "}";
  }

  std::string Member(bool nested) {
    switch (Below(14)) {
      case 0:
        return "\"A\":" + List(Below(6), {"0", "-7", "2147483648", "99"});
      case 1:
        return "\"B\":" + List(2 * Below(4), {"1.5", "-2", "3e38", "0.1000000000000000055511"});
      case 2:
        return "\"C\":" + Scalar({"\"x\"", "\"\\u00e9\\n\"", "[\"y\"]"});
      case 3:
        return "\"D\":" + List(Below(5), {"true", "false"});
      case 4:
        return "\"E\":" + List(4, {"0", "255", "256"});
      case 5:
        return "\"G\":" + Scalar({"18446744073709551615", "[1,[2],3]", "[[1,2]]", "-1"});
      case 6:
        return "\"H\":" + List(1 + Below(3), {"0.25", "1e308", "-3"});
      case 7:
        return "\"I\":" + List(Below(4), {"\"\"", "\"abc\"", "\"\\ud83d\\ude00\""});
      case 8:
        return "\"id\":" + Scalar({"\"7\"", "\"\"", "\"7\"", "7"});
      case 9:
        return nested ? "\"parameters\":1" : "\"parameters\":" + Object(/*nested=*/true);
      case 10:
        return "\"p\":" + Scalar({"1", "-1", "9223372036854775808", "1.0", "1e2"});
      case 11:
        return "\"q\\u0031\":" + Scalar({"true", "\"text\"", "false"});
      case 12:
        return "\"\\u0041\":" + Scalar({"1", "[1]"});
      default:
        return "\"r\":" + Scalar({"\"\"", "0", "null", "[]"});
    }
  }

  std::string Scalar(std::vector<std::string> some) { return some[Below(some.size())]; }

  std::string List(size_t count, std::vector<std::string> some) {
    if (count == 1 && Below(2) == 0) return Scalar(std::move(some));
    std::string text = "[";
    for (size_t i = 0; i < count; ++i) text += (i > 0 ? "," : "") + some[Below(some.size())];
    return text + "]";
  }

  std::mt19937_64 random_{7};
};

class GenerateReadersTest : public ::testing::Test {
 protected:
  // Counts what each reader does with `body`.
  void Compare(absl::string_view body) {
    const PaddedBytes json(body);
    for (const auto& model : models_) {
      const BothGenerateReaders both(json.view(), RequestLimits{1 << 20}, model);
      ASSERT_EQ(both.Difference(), "") << body;
      fast_ += both.fast_read() ? 1 : 0;
      careful_ += both.careful_status().ok() ? 1 : 0;
      ++all_;
    }
  }

  const std::shared_ptr<ServingModel> models_[2] = {ModelOfAllTypes(0), ModelOfAllTypes(4)};
  int fast_ = 0, careful_ = 0, all_ = 0;
};

TEST_F(GenerateReadersTest, AgreeOnRandomBodies) {
  BodyMaker maker;
  for (int i = 0; i < Repeats(20'000); ++i) ASSERT_NO_FATAL_FAILURE(Compare(maker.Body()));
  EXPECT_GT(careful_, all_ / 4) << "most are valid";
  EXPECT_GT(fast_, careful_ * 9 / 10) << "and most of these are read fast";
  EXPECT_LT(careful_, all_) << "but some are not";
}

TEST_F(GenerateReadersTest, AgreeOnDamagedBodies) {
  static constexpr char kBytes[] = "{}[]\",:0123456789-+.eEtfn \\ABDid\xff\x01";
  BodyMaker maker;
  for (int i = 0; i < Repeats(20'000); ++i) {
    std::string body = maker.Body();
    for (size_t edits = 1 + maker.Below(3); edits > 0 && !body.empty(); --edits) {
      const size_t at = maker.Below(body.size());
      const char byte = kBytes[maker.Below(sizeof(kBytes) - 1)];
      switch (maker.Below(3)) {
        case 0:
          body[at] = byte;
          break;
        case 1:
          body.erase(at, 1 + maker.Below(3));
          break;
        default:
          body.insert(at, 1, byte);
      }
    }
    ASSERT_NO_FATAL_FAILURE(Compare(body));
  }
  EXPECT_GT(fast_, Repeats(1'000));
}

// The bytes of a line `NAME="BYTES"` of tests/fuzz/TARGET.seeds.
std::string SeedOf(const std::string& line) {
  std::string bytes;
  for (size_t i = line.find('"') + 1; i + 1 < line.size(); ++i) {
    if (line[i] != '\\') {
      bytes += line[i];
    } else if (line[++i] != 'x') {
      bytes += line[i];
    } else {
      bytes += static_cast<char>(std::stoi(line.substr(i + 1, 2), nullptr, 16));
      i += 2;
    }
  }
  return bytes;
}

TEST_F(GenerateReadersTest, AgreeOnWhatTheFuzzerFound) {
  ASSERT_EQ(SeedOf(R"(a="{\"\xe9\x0ab\\")"), "{\"\xe9\nb\\");
  std::ifstream seeds(NEREID_FUZZ_SEEDS);
  for (std::string line; std::getline(seeds, line);) {
    ASSERT_NO_FATAL_FAILURE(Compare(SeedOf(line)));
  }
  EXPECT_GT(fast_, 0);
}

TEST_F(GenerateReaderTest, TheBodyChoosesHowNumbersThatAreNoneAreWritten) {
  // Both readers: NaN and what is wrong are for the careful one.
  ASSERT_TRUE(Read(R"({"T":"a","json_non_finite":"null"})").ok());
  EXPECT_EQ(non_finite_, NonFinite::kNull);
  EXPECT_TRUE(request_->parameters().empty());
  ASSERT_TRUE(Read(R"({"T":"a","p":NaN,"parameters":{"json_non_finite":"error"}})").ok());
  EXPECT_EQ(non_finite_, NonFinite::kError);
  EXPECT_EQ(request_->parameters().size(), 1u);
  ExpectError(R"({"T":"a","json_non_finite":"nil"})",
              "Unable to parse 'json_non_finite': use literal, null, string or error");
  ExpectError(R"({"T":"a","json_non_finite":1})",
              "Unable to parse 'json_non_finite': attempt to access JSON non-string as string");
}

TEST_F(GenerateReaderTest, NumbersThatDoNotFitAreRefused) {
  ExpectError(R"({"X":2147483648,"T":"a"})",
              "Unable to parse 'data': 2147483648 is out of range, -2147483648 to 2147483647: "
              "element 0 of input 'X', whose datatype is INT32");
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
  std::string Write(NonFinite non_finite = NonFinite::kLiteral) {
    std::string text = "data: ";
    const absl::Status status = AppendGenerateResponse(*response_, non_finite, &text);
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

TEST_F(GenerateWriterTest, NumbersThatAreNone) {
  Make({DataType::kFp32});
  Add("OUTPUT0", DataType::kFp32, {1}, "\0\0\x80\xff"s);
  response_->AddParameter({"p", std::nan("")});
  const auto expected = [](const char* output, const char* parameter) {
    return absl::StrCat(R"(data: {"OUTPUT0":)", output,
                        R"(,"model_name":"m","model_version":"1","p":)", parameter, "}");
  };
  EXPECT_EQ(Write(), expected("-Infinity", "NaN"));
  EXPECT_EQ(Write(NonFinite::kNull), expected("null", "null"));
  EXPECT_EQ(Write(NonFinite::kString), expected("\"-Infinity\"", "\"NaN\""));
  EXPECT_EQ(Write(NonFinite::kError),
            "output 'OUTPUT0' cannot be sent as JSON: element 0 is NaN or infinite. Ask infer for "
            "it as a binary output ('binary_data': true), or for another 'json_non_finite' than "
            "'error'.");
  Make({});
  response_->AddParameter({"p", std::nan("")});
  EXPECT_EQ(Write(NonFinite::kError),
            "response parameter 'p' cannot be sent as JSON: it is NaN or infinite. Ask for another "
            "'json_non_finite' than 'error'.");
}

TEST_F(GenerateWriterTest, TextThatIsNotUtf8) {
  Make({DataType::kBytes});
  Add("OUTPUT0", DataType::kBytes, {1}, "\1\0\0\0\xff"s);
  EXPECT_EQ(Write(),
            "output 'OUTPUT0' cannot be sent as JSON: element 0 is not UTF-8. Ask infer for it as "
            "a binary output ('binary_data': true).");
  Make({});
  response_->AddParameter({"p", std::string("\xff")});
  EXPECT_EQ(Write(), "response parameter 'p' cannot be sent as JSON: it is not UTF-8.");
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
