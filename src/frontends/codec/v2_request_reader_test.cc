// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/v2_request_reader.h"

#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "frontends/codec/binary_tensor.h"
#include "frontends/codec/codec_testing.h"
#include "frontends/codec/placed_output_allocator.h"
#include "frontends/shared_memory/testing/test_segment.h"

namespace nereid {
namespace {

using codec_testing::MakeModel;
using codec_testing::PaddedBytes;
using std::string_literals::operator""s;

constexpr uint64_t kLimit = uint64_t{64} << 20;

class V2RequestReaderTest : public ::testing::Test {
 protected:
  absl::Status ReadBody(const std::string& body, std::optional<size_t> header_length,
                        uint64_t limit = kLimit, size_t skew = 0) {
    request_ = std::make_unique<InferRequest>(MakeModel(), -1);
    formats_ = OutputFormats();
    buffers_.Clear();
    const size_t json_size = std::min(header_length.value_or(body.size()), body.size());
    body_ = std::make_unique<PaddedBytes>(body, json_size, skew);
    return ReadV2Request({body_->data(), body_->size(), header_length},
                         RequestLimits{limit, max_depth_}, request_.get(), &buffers_, &formats_);
  }

  absl::Status ReadJson(const std::string& json, uint64_t limit = kLimit) {
    return ReadBody(json, std::nullopt, limit);
  }

  absl::Status ReadBinary(const std::string& json, const std::string& binary, size_t skew = 0) {
    return ReadBody(json + binary, json.size(), kLimit, skew);
  }

  const InferInput& input(size_t index) { return request_->inputs()[index]; }

  std::string Bytes(size_t index) {
    const InputBuffers& pieces = input(index).buffers();
    if (pieces.empty()) return "";
    return std::string(static_cast<const char*>(pieces[0].base), pieces[0].byte_size);
  }

  template <typename T>
  std::vector<T> Values(size_t index) {
    const std::string bytes = Bytes(index);
    EXPECT_EQ(bytes.size() % sizeof(T), 0u);
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  std::unique_ptr<InferRequest> request_;
  std::unique_ptr<PaddedBytes> body_;
  RequestBuffers buffers_;
  OutputFormats formats_;
  int max_depth_ = RequestLimits{}.max_json_depth;
};

// A document with one input, which has these members.
std::string OneInput(const std::string& members) { return R"({"inputs":[{)" + members + "}]}"; }
std::string Tensor(const std::string& type, const std::string& shape, const std::string& data) {
  return OneInput(R"("name":"I","datatype":")" + type + R"(","shape":)" + shape + R"(,"data":)" +
                  data);
}

std::string Zeros(size_t count) {
  std::string data = "[0";
  for (size_t i = 1; i < count; ++i) data += ",0";
  return Tensor("FP64", absl::StrCat("[", count, "]"), data + "]");
}

TEST_F(V2RequestReaderTest, TheBudgetPaysForTensors) {
  Budget budget("bytes", 300'000, "--max-bytes");
  buffers_.ChargeTo(&budget, nullptr);
  ASSERT_TRUE(ReadJson(Zeros(20'000)).ok());
  EXPECT_EQ(budget.used(), 160'000u);
  for (const char* more : {"", " "}) {  // the careful reader returns the error
    const absl::Status refused = ReadJson(Zeros(30'000) + more);
    EXPECT_EQ(refused.code(), absl::StatusCode::kUnavailable) << refused;
    EXPECT_NE(refused.message().find("--max-bytes"), std::string::npos);
  }
  buffers_.Clear();
  EXPECT_EQ(budget.used(), 0u);
}

TEST_F(V2RequestReaderTest, TheBudgetPaysForLongParses) {
  Budget budget("bytes", 2'000'000, "--max-bytes");
  buffers_.ChargeTo(&budget, nullptr);
  const std::string good = Zeros(50'000);
  ASSERT_TRUE(ReadJson(good).ok());
  EXPECT_EQ(budget.used(), 400'000u) << "what it took to read went back";
  buffers_.Clear();
  // The careful reader is charged twenty times the size of the text.
  std::string careful = good;
  careful.replace(careful.find("[0,"), 3, "[NaN,");
  EXPECT_EQ(ReadJson(careful).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ReadJson(Zeros(200'000)).code(), absl::StatusCode::kUnavailable);
  buffers_.Clear();
  EXPECT_EQ(budget.used(), 0u);
}

TEST_F(V2RequestReaderTest, JsonTensorsOfEveryType) {
  ASSERT_TRUE(ReadJson(R"({"inputs":[
      {"name":"a","datatype":"BOOL","shape":[2],"data":[true,false]},
      {"name":"b","datatype":"UINT8","shape":[2],"data":[0,255]},
      {"name":"c","datatype":"UINT16","shape":[1],"data":[65535]},
      {"name":"d","datatype":"UINT32","shape":[1],"data":[4294967295]},
      {"name":"e","datatype":"UINT64","shape":[1],"data":[18446744073709551615]},
      {"name":"f","datatype":"INT8","shape":[2],"data":[-128,127]},
      {"name":"g","datatype":"INT16","shape":[1],"data":[-32768]},
      {"name":"h","datatype":"INT32","shape":[1],"data":[-2147483648]},
      {"name":"i","datatype":"INT64","shape":[1],"data":[-9223372036854775808]},
      {"name":"j","datatype":"FP32","shape":[3],"data":[1,0.5,-1e-3]},
      {"name":"k","datatype":"FP64","shape":[2],"data":[1,0.1]},
      {"name":"l","datatype":"BYTES","shape":[3],"data":["a","","x\u00e9\u0000y"]}]})")
                  .ok());
  EXPECT_EQ(Values<uint8_t>(0), (std::vector<uint8_t>{1, 0}));
  EXPECT_EQ(Values<uint8_t>(1), (std::vector<uint8_t>{0, 255}));
  EXPECT_EQ(Values<uint16_t>(2), (std::vector<uint16_t>{65535}));
  EXPECT_EQ(Values<uint32_t>(3), (std::vector<uint32_t>{4294967295}));
  EXPECT_EQ(Values<uint64_t>(4), (std::vector<uint64_t>{std::numeric_limits<uint64_t>::max()}));
  EXPECT_EQ(Values<int8_t>(5), (std::vector<int8_t>{-128, 127}));
  EXPECT_EQ(Values<int16_t>(6), (std::vector<int16_t>{-32768}));
  EXPECT_EQ(Values<int32_t>(7), (std::vector<int32_t>{std::numeric_limits<int32_t>::min()}));
  EXPECT_EQ(Values<int64_t>(8), (std::vector<int64_t>{std::numeric_limits<int64_t>::min()}));
  EXPECT_EQ(Values<float>(9), (std::vector<float>{1, 0.5f, -1e-3f}));
  EXPECT_EQ(Values<double>(10), (std::vector<double>{1, 0.1}));
  EXPECT_EQ(Bytes(11), "\x01\0\0\0a\0\0\0\0\x05\0\0\0x\xc3\xa9\0y"s);
  EXPECT_EQ(input(11).data_type(), DataType::kBytes);
  EXPECT_EQ(input(9).sent_shape(), (Shape{3}));
  EXPECT_EQ(input(9).name(), "j");
}

TEST_F(V2RequestReaderTest, DataMayBeNestedOrFlat) {
  for (const char* data : {"[1,2,3,4]", "[[1,2],[3,4]]", "[[[1],2,[[3]]],[],4]"}) {
    ASSERT_TRUE(ReadJson(Tensor("INT32", "[2,2]", data)).ok()) << data;
    EXPECT_EQ(Values<int32_t>(0), (std::vector<int32_t>{1, 2, 3, 4})) << data;
  }
  ASSERT_TRUE(ReadJson(Tensor("BYTES", "[2]", R"([["a"],["b"]])")).ok());
  EXPECT_EQ(CountBytesElements(Bytes(0)), 2);
}

TEST_F(V2RequestReaderTest, MembersMayComeInAnyOrder) {
  ASSERT_TRUE(ReadJson(R"({"outputs":[{"parameters":{"binary_data":true},"name":"O"}],
      "inputs":[{"data":[[1],[2]],"shape":[2],"parameters":{"x":1},"datatype":"FP32","name":"I"}],
      "id":"q"})")
                  .ok());
  EXPECT_EQ(Values<float>(0), (std::vector<float>{1, 2}));
  EXPECT_EQ(request_->id(), "q");
  EXPECT_TRUE(formats_.For("O").binary);
}

TEST_F(V2RequestReaderTest, ScalarsAndEmptyTensors) {
  ASSERT_TRUE(ReadJson(Tensor("FP32", "[]", "[7]")).ok());
  EXPECT_EQ(Values<float>(0), (std::vector<float>{7}));
  EXPECT_TRUE(input(0).sent_shape().empty());
  ASSERT_TRUE(ReadJson(Tensor("FP32", "[0,3]", "[]")).ok());
  EXPECT_EQ(input(0).byte_size(), 0u);
  EXPECT_EQ(input(0).sent_shape(), (Shape{0, 3}));
}

TEST_F(V2RequestReaderTest, NumbersThatAreNone) {
  ASSERT_TRUE(ReadJson(Tensor("FP32", "[4]", "[NaN,Infinity,-Infinity,Inf]")).ok());
  const std::vector<float> values = Values<float>(0);
  EXPECT_TRUE(std::isnan(values[0]));
  EXPECT_EQ(values[1], std::numeric_limits<float>::infinity());
  EXPECT_EQ(values[2], -std::numeric_limits<float>::infinity());
  EXPECT_EQ(values[3], std::numeric_limits<float>::infinity());
}

// One row per type: its range, and numbers that are just beyond it.
TEST_F(V2RequestReaderTest, NumbersBeyondTheirTypeAreRefused) {
  struct {
    const char* type;
    const char* range;
    std::vector<const char*> beyond;
  } const rows[] = {
      {"UINT8", "0 to 255", {"256", "-1", "18446744073709551615"}},
      {"UINT16", "0 to 65535", {"65536", "-1"}},
      {"UINT32", "0 to 4294967295", {"4294967296", "-1"}},
      {"UINT64", "0 to 18446744073709551615", {"-1"}},
      {"INT8", "-128 to 127", {"128", "-129", "18446744073709551615"}},
      {"INT16", "-32768 to 32767", {"32768", "-32769"}},
      {"INT32", "-2147483648 to 2147483647", {"2147483648", "-2147483649"}},
      {"INT64", "-9223372036854775808 to 9223372036854775807", {"9223372036854775808"}},
      {"FP32",
       "-3.4028234663852886e+38 to 3.4028234663852886e+38",
       {"1e+39", "-1e+39", "3.4028235677973366e+38"}},
  };
  for (const auto& [type, range, beyond] : rows) {
    for (const char* number : beyond) {
      const absl::Status read = ReadJson(Tensor(type, "[2]", absl::StrCat("[1,", number, "]")));
      EXPECT_EQ(read.code(), absl::StatusCode::kInvalidArgument) << type << " " << number;
      EXPECT_THAT(std::string(read.message()),
                  testing::AllOf(testing::StartsWith("Unable to parse 'data': "),
                                 testing::EndsWith(absl::StrCat(
                                     number, " is out of range, ", range,
                                     ": element 1 of input 'I', whose datatype is ", type))));
    }
  }
  const auto refused = [&](const char* type, const char* number, absl::string_view why) {
    EXPECT_EQ(ReadJson(Tensor(type, "[1]", absl::StrCat("[", number, "]"))),
              absl::InvalidArgumentError(
                  absl::StrCat("Unable to parse 'data': attempt to access JSON non-", why,
                               ": element 0 of input 'I', whose datatype is ", type)));
  };
  refused("INT8", "1.5", "signed-integer as signed-integer: 1.5 is no whole number, -128 to 127");
  refused("UINT8", "1.0", "unsigned-integer as unsigned-integer: 1.0 is no whole number, 0 to 255");
  refused("UINT8", "255.0",
          "unsigned-integer as unsigned-integer: 255.0 is no whole number, 0 to 255");
  refused("UINT64", "18446744073709551616",
          "unsigned-integer as unsigned-integer: 18446744073709551616.0 is out of range, 0 to "
          "18446744073709551615");
  refused("INT64", "-1e30",
          "signed-integer as signed-integer: -1e+30 is out of range, -9223372036854775808 to "
          "9223372036854775807");
  EXPECT_EQ(ReadJson(Tensor("FP32", "[1]", "[3.4028235677973362e+38]")), absl::OkStatus())
      << "the nearest value is the largest one";
  for (const char* number : {"1e309", "-1e309", "123456789e305"}) {
    EXPECT_THAT(
        std::string(ReadJson(Tensor("FP64", "[1]", absl::StrCat("[", number, "]"))).message()),
        testing::StartsWith("failed to parse the request JSON buffer: Number too big to be stored "
                            "in double. at "))
        << number;
  }
}

TEST_F(V2RequestReaderTest, DimensionsBeyondTheirTypeAreRefused) {
  EXPECT_EQ(ReadJson(Tensor("INT8", "[1,9223372036854775808]", "[1]")),
            absl::InvalidArgumentError(
                "invalid shape for input 'I': dimension 1 is 9223372036854775808, which is out of "
                "range, 0 to 9223372036854775807"));
}

TEST_F(V2RequestReaderTest, TheRequestChoosesHowNumbersThatAreNoneAreWritten) {
  ASSERT_TRUE(ReadJson(R"({"inputs":[],"parameters":{"json_non_finite":"string"}})").ok());
  EXPECT_EQ(formats_.non_finite, NonFinite::kString);
  EXPECT_TRUE(request_->parameters().empty());
  ASSERT_TRUE(ReadJson(R"({"x":NaN,"inputs":[],"parameters":{"json_non_finite":"null"}})").ok());
  EXPECT_EQ(formats_.non_finite, NonFinite::kNull);
  EXPECT_EQ(ReadJson(R"({"inputs":[],"parameters":{"json_non_finite":"NULL"}})"),
            absl::InvalidArgumentError(
                "Unable to parse 'json_non_finite': use literal, null, string or error"));
}

TEST_F(V2RequestReaderTest, StringsNeedNotBeUtf8) {
  ASSERT_TRUE(ReadJson(Tensor("BYTES", "[1]", "[\"\xff\xfe\"]")).ok());
  EXPECT_EQ(Bytes(0), "\x02\0\0\0\xff\xfe"s);
}

TEST_F(V2RequestReaderTest, OptionsAndParameters) {
  ASSERT_TRUE(ReadJson(R"({"id":"42","inputs":[],"parameters":{"sequence_id":7,
      "sequence_start":true,"sequence_end":true,"priority":3,"timeout":1000,
      "text":"t","number":-5,"truth":false,"real":1.5,"large":9223372036854775808}})")
                  .ok());
  EXPECT_EQ(request_->id(), "42");
  EXPECT_EQ(request_->correlation_id(), CorrelationId(7));
  EXPECT_EQ(request_->flags(), kRequestFlagSequenceStart | kRequestFlagSequenceEnd);
  EXPECT_EQ(request_->timeout_us(), 1000u);
  const std::vector<Parameter>& parameters = request_->parameters();
  ASSERT_EQ(parameters.size(), 5u);
  EXPECT_EQ(parameters[0].name, "text");
  EXPECT_EQ(parameters[0].value, ParameterValue(std::string("t")));
  EXPECT_EQ(parameters[1].value, ParameterValue(int64_t{-5}));
  EXPECT_EQ(parameters[2].value, ParameterValue(false));
  EXPECT_EQ(parameters[3].value, ParameterValue(1.5));
  EXPECT_EQ(parameters[4].value, ParameterValue(9223372036854775808.0));
  ASSERT_TRUE(
      ReadJson(R"({"inputs":[],"parameters":{"sequence_id":"s","sequence_end":true}})").ok());
  EXPECT_EQ(request_->correlation_id(), CorrelationId("s"));
  EXPECT_EQ(request_->flags(), kRequestFlagSequenceEnd);
}

TEST_F(V2RequestReaderTest, TheIdOfASequenceHasALimit) {
  const auto read = [&](size_t length) {
    return ReadJson(R"({"inputs":[],"parameters":{"sequence_id":")" + std::string(length, 'a') +
                    R"("}})");
  };
  EXPECT_TRUE(read(128).ok());
  EXPECT_EQ(read(129),
            absl::UnimplementedError("string correlation ID cannot be longer than 128 characters"));
}

TEST_F(V2RequestReaderTest, OutputsAndTheirFormats) {
  ASSERT_TRUE(ReadJson(R"({"inputs":[],"parameters":{"binary_data_output":true},"outputs":[
      {"name":"A"},{"name":"B","parameters":{"binary_data":true}},
      {"name":"C","parameters":{"classification":3,"other":"ignored"}}]})")
                  .ok());
  EXPECT_THAT(request_->asked_outputs(), ::testing::ElementsAre("A", "B", "C"));
  EXPECT_FALSE(formats_.For("A").binary);
  EXPECT_TRUE(formats_.For("B").binary);
  EXPECT_EQ(formats_.For("C").classification, 3u);
  EXPECT_TRUE(formats_.For("D").binary);
  ASSERT_TRUE(ReadJson(R"({"inputs":[]})").ok());
  EXPECT_FALSE(formats_.For("D").binary);
  EXPECT_TRUE(request_->asked_outputs().empty());
}

std::string BinaryInput(const std::string& name, const std::string& type, int elements, int bytes) {
  return absl::StrCat(R"({"name":")", name, R"(","datatype":")", type, R"(","shape":[)", elements,
                      R"(],"parameters":{"binary_data_size":)", bytes, "}}");
}

TEST_F(V2RequestReaderTest, BinaryTensorsAreViewsIntoTheBody) {
  const std::string json =
      absl::StrCat(R"({"inputs":[)", BinaryInput("a", "FP32", 2, 8), ",",
                   R"({"name":"b","datatype":"INT8","shape":[1],"data":[5]},)",
                   BinaryInput("c", "UINT8", 0, 0), ",", BinaryInput("d", "INT64", 1, 8), "]}");
  ASSERT_TRUE(ReadBinary(json, "abcdefghABCDEFGH").ok());
  EXPECT_EQ(Bytes(0), "abcdefgh");
  EXPECT_EQ(Bytes(1), "\x05");
  EXPECT_EQ(Bytes(2), "");
  EXPECT_EQ(Bytes(3), "ABCDEFGH");
  EXPECT_EQ(input(0).buffers()[0].base, body_->data() + json.size());
  EXPECT_EQ(input(3).buffers()[0].base, body_->data() + json.size() + 8);
  EXPECT_EQ(buffers_.bytes_copied(), 0u);
}

TEST_F(V2RequestReaderTest, MisalignedTensorsAreCopiedOnce) {
  const std::string json =
      absl::StrCat(R"({"inputs":[)", BinaryInput("a", "UINT8", 1, 1), ",",
                   BinaryInput("b", "FP32", 2, 8), ",", BinaryInput("c", "BYTES", 1, 5), "]}");
  ASSERT_TRUE(ReadBinary(json, "1abcdefgh\x01\0\0\0z"s).ok());
  EXPECT_EQ(Bytes(1), "abcdefgh");
  EXPECT_EQ(reinterpret_cast<uintptr_t>(input(1).buffers()[0].base) % 64, 0u);
  EXPECT_EQ(Bytes(2), "\x01\0\0\0z"s);
  EXPECT_EQ(buffers_.bytes_copied(), 8u);
  // If the whole body is shifted by three bytes, the same tensor happens to be aligned.
  ASSERT_TRUE(ReadBinary(json, "1abcdefgh\x01\0\0\0z"s, 3).ok());
  EXPECT_EQ(buffers_.bytes_copied(), 0u);
}

TEST_F(V2RequestReaderTest, BinaryPartMayLookLikeJson) {
  const std::string json = absl::StrCat(R"({"inputs":[)", BinaryInput("a", "UINT8", 4, 4), "]}");
  ASSERT_TRUE(ReadBinary(json, "]}\"{").ok());
  EXPECT_EQ(Bytes(0), "]}\"{");
}

TEST_F(V2RequestReaderTest, RawBodyIsTheOnlyInput) {
  ASSERT_TRUE(ReadBody("12345", 0).ok());
  EXPECT_EQ(Bytes(0), "12345");
  EXPECT_EQ(input(0).buffers()[0].base, body_->data());
  EXPECT_TRUE(formats_.For("any").binary);
  EXPECT_EQ(ReadBody("12345", 0, 4),
            absl::InvalidArgumentError(
                "Raw input has a byte_size (5 bytes) that exceeds the maximum allowed value of 4 "
                "bytes. Use --http-max-input-size to increase the limit."));
}

TEST_F(V2RequestReaderTest, Limits) {
  const std::string json = Tensor("FP32", "[2]", "[1,2]");
  EXPECT_TRUE(ReadJson(json, json.size()).ok());
  EXPECT_EQ(
      ReadJson(json, json.size() - 1),
      absl::InvalidArgumentError(absl::StrCat(
          "request JSON size of ", json.size(), " bytes exceeds the maximum allowed input size of ",
          json.size() - 1, " bytes. Use --http-max-input-size to increase the limit.")));
  EXPECT_EQ(ReadJson(Tensor("FP32", "[250]", "[1,2]"), 999),
            absl::InvalidArgumentError(
                "JSON input 'I' has a byte_size (1000 bytes) that exceeds the maximum allowed "
                "value of 999 bytes. Use --http-max-input-size to increase the limit."));
  std::string strings = "[\"\"";
  for (int i = 1; i < 100; ++i) strings += ",\"\"";
  EXPECT_EQ(ReadJson(Tensor("BYTES", "[100]", strings + "]"), 399),
            absl::InvalidArgumentError(
                "JSON input 'I' has a byte_size (400 bytes) that exceeds the maximum allowed "
                "value of 399 bytes. Use --http-max-input-size to increase the limit."));
}

TEST_F(V2RequestReaderTest, NestingHasALimit) {
  const auto nested = [](size_t depth, const std::string& item) {
    return std::string(depth, '[') + item + std::string(depth, ']');
  };
  const absl::Status too_deep =
      absl::InvalidArgumentError("JSON nesting depth exceeds maximum allowed limit (100)");
  for (const auto& [type, item] : {std::pair{"FP32", "1"}, {"BYTES", "\"x\""}}) {
    EXPECT_TRUE(ReadJson(Tensor(type, "[1]", nested(100, item))).ok()) << type;
    EXPECT_EQ(ReadJson(Tensor(type, "[1]", nested(101, item))), too_deep) << type;
    EXPECT_EQ(ReadJson(Tensor(type, "[1]", nested(10000, item))), too_deep) << type;
  }
  EXPECT_EQ(ReadJson(std::string(1000000, '[')), too_deep);
  EXPECT_EQ(ReadJson(R"({"inputs":[],"other":)" + nested(5000, "") + "}"), too_deep);
  std::string objects = R"({"inputs":[],"other":)";
  for (int i = 0; i < 5000; ++i) objects += "{\"a\":";
  EXPECT_EQ(ReadJson(objects), too_deep);
  EXPECT_TRUE(ReadJson(R"({"inputs":[],"other":")" + std::string(500, '[') + "\"}").ok());

  max_depth_ = 3;
  EXPECT_TRUE(ReadJson(Tensor("FP32", "[1]", nested(3, "1"))).ok());
  EXPECT_EQ(ReadJson(Tensor("FP32", "[1]", nested(4, "1"))),
            absl::InvalidArgumentError("JSON nesting depth exceeds maximum allowed limit (3)"));
}

TEST_F(V2RequestReaderTest, SharedMemoryRegionsAreUnknown) {
  const absl::Status unknown = absl::NotFoundError("Unable to find shared memory region: 'r'");
  EXPECT_EQ(ReadJson(OneInput(R"("name":"I","datatype":"FP32","shape":[1],"parameters":{
      "shared_memory_region":"r","shared_memory_byte_size":4,"shared_memory_offset":0})")),
            unknown);
  EXPECT_EQ(ReadJson(R"({"inputs":[],"outputs":[{"name":"O","parameters":{
      "shared_memory_region":"r","shared_memory_byte_size":4,"binary_data":false}}]})"),
            unknown);
}

class SharedMemoryRequestTest : public V2RequestReaderTest {
 protected:
  void SetUp() override {
    ASSERT_TRUE(registry_.Register({"r", segment_.key(), 0, 1000}).ok());
    buffers_.set_shared_memory(&registry_);
  }

  absl::Status ReadInput(const std::string& type, int offset, int byte_size) {
    return ReadJson(
        OneInput(absl::StrCat(R"("name":"I","datatype":")", type, R"(","shape":[1],"parameters":{)",
                              R"("shared_memory_region":"r","shared_memory_offset":)", offset,
                              R"(,"shared_memory_byte_size":)", byte_size, "}")));
  }

  const void* Address() { return input(0).buffers()[0].base; }

  TestSegment segment_{"v2-request", 1000};
  SharedMemoryRegistry registry_{true};
};

TEST_F(SharedMemoryRequestTest, NumbersStayWhereTheyAre) {
  ASSERT_TRUE(ReadInput("FP32", 8, 4).ok());
  EXPECT_EQ(input(0).byte_size(), 4u);
  std::memcpy(segment_.data() + 8, "after", 4);
  EXPECT_EQ(Bytes(0), "afte");
  ASSERT_TRUE(registry_.Unregister("r").ok());
  EXPECT_EQ(Bytes(0), "afte");
  EXPECT_EQ(buffers_.bytes_copied(), 0u);
}

TEST_F(SharedMemoryRequestTest, OtherProcessesCanMapWhatStaysWhereItIs) {
  ASSERT_TRUE(registry_.Register({"part", segment_.key(), 100, 900}).ok());
  ASSERT_TRUE(ReadInput("FP32", 8, 4).ok());
  const InputBuffer& in_place = input(0).buffers()[0];
  ASSERT_NE(in_place.file, nullptr);
  EXPECT_EQ(in_place.file->OffsetOf(in_place.base), 8u);
  ASSERT_TRUE(ReadInput("BYTES", 8, 8).ok());
  EXPECT_EQ(input(0).buffers()[0].file, nullptr);
  ASSERT_TRUE(ReadJson(R"({"inputs":[],"outputs":[{"name":"A"},{"name":"O","parameters":{
      "shared_memory_region":"part","shared_memory_byte_size":4,"shared_memory_offset":20}}]})")
                  .ok());
  const PlacedOutputAllocator allocator(nullptr);
  EXPECT_EQ(allocator.FindPlace("A", &formats_).file, nullptr);
  const OutputPlace place = allocator.FindPlace("O", &formats_);
  ASSERT_NE(place.file, nullptr);
  EXPECT_EQ(place.file->OffsetOf(place.base), 120u);
  EXPECT_EQ(place.byte_size, 4u);
}

TEST_F(SharedMemoryRequestTest, WhatACheckDependsOnIsCopied) {
  ASSERT_TRUE(ReadInput("BYTES", 8, 8).ok());
  const std::string before = Bytes(0);
  std::memset(segment_.data(), 'x', 100);
  EXPECT_EQ(Bytes(0), before);
  ASSERT_TRUE(ReadInput("FP32", 9, 4).ok());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(Address()) % 4, 0u);
  EXPECT_EQ(Bytes(0), "xxxx");
}

TEST_F(SharedMemoryRequestTest, NothingOutsideARegion) {
  EXPECT_EQ(ReadInput("FP32", 996, 8),
            absl::InvalidArgumentError("Invalid offset + byte size for shared memory region: 'r'"));
  EXPECT_EQ(ReadInput("FP32", 1000, 4),
            absl::InvalidArgumentError("Invalid offset for shared memory region: 'r'"));
}

TEST_F(SharedMemoryRequestTest, OutputsHavePlaces) {
  ASSERT_TRUE(ReadJson(R"({"inputs":[],"outputs":[{"name":"A"},{"name":"O","parameters":{
      "shared_memory_region":"r","shared_memory_byte_size":4,"shared_memory_offset":100}}]})")
                  .ok());
  EXPECT_EQ(formats_.PlaceOf("A"), nullptr);
  ASSERT_NE(formats_.PlaceOf("O"), nullptr);
  EXPECT_EQ(formats_.PlaceOf("O")->byte_size, 4u);
  *formats_.PlaceOf("O")->data = 'o';
  EXPECT_EQ(segment_.data()[100], 'o');
  EXPECT_EQ(ReadJson(R"({"inputs":[],"outputs":[{"name":"O","parameters":{
      "shared_memory_region":"r","shared_memory_byte_size":1001}}]})"),
            absl::InvalidArgumentError("Invalid offset + byte size for shared memory region: 'r'"));
}

struct BadDocument {
  std::string json;
  std::string error;
};

// The expected texts are those of Triton for the same bodies.
std::vector<BadDocument> BadDocuments() {
  const auto non = [](const char* field, const char* type) {
    return absl::StrCat("Unable to parse '", field, "': attempt to access JSON non-", type, " as ",
                        type == std::string("number") ? "double" : type);
  };
  const auto missing = [](const char* field) {
    return absl::StrCat("Unable to parse '", field,
                        "': attempt to access non-existing object member '", field, "'");
  };
  const auto syntax = [](const char* reason, int offset) {
    return absl::StrCat("failed to parse the request JSON buffer: ", reason, " at ", offset);
  };
  const std::string sources =
      "Input must set only one of the following fields: 'data', 'binary_data_size' in "
      "'parameters', 'shared_memory_region' in 'parameters'. But";
  // An element that the data type does not have.
  const auto element = [&non](const char* data_type, const char* kind, int index = 0) {
    return absl::StrCat(non("data", kind), ": element ", index, " of input 'I', whose datatype is ",
                        data_type);
  };
  const auto misshapen = [](int count, const char* shape) {
    return absl::StrCat("Unable to parse 'data': Shape does not match true shape of 'data' field: ",
                        "input 'I' has more than the ", count, " elements of its shape ", shape);
  };
  const auto short_data = [](int given, int count, const char* shape) {
    return absl::StrCat(
        "Failed to parse 'data' field: shape does not match true shape: ", "input 'I' has ", given,
        " of the ", count, " elements of its shape ", shape);
  };
  const auto input = [](const std::string& members) { return OneInput(members); };
  const auto parameter = [](const std::string& member) {
    return R"({"inputs":[],"parameters":{)" + member + "}}";
  };
  const auto output = [](const std::string& member) {
    return R"({"inputs":[],"outputs":[{"name":"O","parameters":{)" + member + "}}]}";
  };
  const std::string named = R"("name":"I","datatype":"FP32","shape":[1])";
  return {
      // Syntax.
      {"", syntax("The document is empty.", 0)},
      {"{\"inputs\":[", syntax("Invalid value.", 11)},
      {"{\"inputs\":[]} x", syntax("The document root must not be followed by other values.", 14)},
      {"{\"inputs\":[]}{}", syntax("The document root must not be followed by other values.", 13)},
      {"{\"inputs\":[1,]}", syntax("Invalid value.", 13)},
      {"{\"inputs\":[],\"id\":nul}", syntax("Invalid value.", 21)},
      {Tensor("FP32", "[1]", "[1e400]"), syntax("Number too big to be stored in double.", 61)},
      {Tensor("BYTES", "[1]", R"(["\ud800"])"),
       syntax("The surrogate pair in string is invalid.", 63)},
      // The document.
      {"[]", missing("inputs")},
      {"3", missing("inputs")},
      {"null", missing("inputs")},
      {"{}", missing("inputs")},
      {R"({"inputs":3})", non("inputs", "array")},
      {R"({"inputs":null})", non("inputs", "array")},
      {R"({"inputs":{}})", non("inputs", "array")},
      {R"({"id":3,"inputs":[]})", non("id", "string")},
      {R"({"id":null,"inputs":[]})", non("id", "string")},
      {R"({"inputs":[],"outputs":null})", non("outputs", "array")},
      {R"({"inputs":[],"parameters":3})",
       "failed to get request params.: attempt to get members for non-object"},
      // The source of a tensor's data.
      {R"({"inputs":[3]})", sources + " no field is set"},
      {input(named), sources + " no field is set"},
      {input(named + R"(,"data":[1],"parameters":{"binary_data_size":4})"),
       sources + " set 'data' 'binary_data_size'"},
      {input(named + R"(,"parameters":{"binary_data_size":4},"data":[1])"),
       sources + " set 'data' 'binary_data_size'"},
      {input(named + R"(,"data":[1],"parameters":{"shared_memory_region":"r"})"),
       sources + " set 'data' 'shared_memory_region'"},
      {input(named + R"(,"parameters":{"binary_data_size":4,"shared_memory_region":"r"})"),
       sources + " set 'binary_data_size' 'shared_memory_region'"},
      {input(named + R"(,"parameters":{"binary_data_size":"x"})"),
       non("binary_data_size", "unsigned-integer")},
      {input(named + R"(,"parameters":{"binary_data_size":-1})"),
       non("binary_data_size", "unsigned-integer")},
      {input(named + R"(,"parameters":{"binary_data_size":4})"),
       "unexpected size for input 'I', expecting 4 additional bytes for model 'm'"},
      {input(named + R"(,"parameters":{"shared_memory_region":3})"),
       non("shared_memory_region", "string")},
      {input(named + R"(,"parameters":{"shared_memory_region":"r","shared_memory_byte_size":"x"})"),
       non("shared_memory_byte_size", "unsigned-integer")},
      {input(named + R"(,"parameters":{"shared_memory_region":"r","shared_memory_offset":-1})"),
       non("shared_memory_offset", "unsigned-integer")},
      // Members of an input.
      {input(R"("datatype":"FP32","shape":[1],"data":[1])"), missing("name")},
      {input(R"("name":"I","shape":[1],"data":[1])"), missing("datatype")},
      {input(R"("name":"I","datatype":"FP32","data":[1])"), missing("shape")},
      {input(R"("name":3,"datatype":"FP32","shape":[1],"data":[1])"), non("name", "string")},
      {input(R"("name":"I","datatype":3,"shape":[1],"data":[1])"), non("datatype", "string")},
      {Tensor("FP32", "3", "[1]"), non("shape", "array")},
      {Tensor("FP32", "[-1]", "[1]"), non("shape", "unsigned-integer")},
      {Tensor("FP32", "[1.0]", "[1]"), non("shape", "unsigned-integer")},
      {Tensor("FP32", "[\"1\"]", "[1]"), non("shape", "unsigned-integer")},
      {Tensor("FP32", "[18446744073709551616]", "[1]"), non("shape", "unsigned-integer")},
      {Tensor("fp32", "[1]", "[1]"),
       "invalid datatype for input I: unknown datatype 'fp32', did you mean 'FP32'? Known: BOOL, "
       "UINT8, UINT16, UINT32, UINT64, INT8, INT16, INT32, INT64, FP32, FP64, BYTES"},
      {Tensor("TYPE_STRING", "[1]", "[\"x\"]"),
       "invalid datatype for input I: unknown datatype 'TYPE_STRING', did you mean 'BYTES'? Known: "
       "BOOL, UINT8, UINT16, UINT32, UINT64, INT8, INT16, INT32, INT64, FP32, FP64, BYTES"},
      {Tensor("TYPE_INT8", "[1]", "[1]"),
       "invalid datatype for input I: unknown datatype 'TYPE_INT8', did you mean 'INT8'? Known: "
       "BOOL, UINT8, UINT16, UINT32, UINT64, INT8, INT16, INT32, INT64, FP32, FP64, BYTES"},
      {Tensor("FP16", "[1]", "[1]"),
       "receiving FP16 data via JSON is not supported. Please use the binary data format for "
       "input I"},
      {Tensor("BF16", "[1]", "[1]"),
       "receiving BF16 data via JSON is not supported. Please use the binary data format for "
       "input I"},
      {R"({"inputs":[{"name":"I","datatype":"FP32","shape":[1],"data":[1]},)"
       R"({"name":"I","datatype":"FP32","shape":[1],"data":[1]}]})",
       "[request id: <id_unknown>] input 'I' already exists in request"},
      // Data.
      {Tensor("FP32", "[1]", "3"), non("data", "array")},
      {Tensor("FP32", "[1]", "{}"), non("data", "array")},
      {Tensor("BYTES", "[1]", "\"x\""), non("data", "array")},
      {Tensor("FP32", "[1]", "[\"x\"]"), element("FP32", "number")},
      {Tensor("FP32", "[1]", "[true]"), element("FP32", "number")},
      {Tensor("FP32", "[1]", "[null]"), element("FP32", "number")},
      {Tensor("FP32", "[1]", "[{}]"), element("FP32", "number")},
      {Tensor("UINT8", "[1]", "[null]"), element("UINT8", "unsigned-integer")},
      {Tensor("INT64", "[1]", "[\"1\"]"), element("INT64", "signed-integer")},
      {Tensor("BOOL", "[1]", "[1]"), element("BOOL", "boolean")},
      {Tensor("FP32", "[3]", "[[1,2],[\"x\"]]"), element("FP32", "number", 2)},
      {Tensor("BYTES", "[1]", "[1]"),
       "Unable to parse JSON bytes array: attempt to access JSON non-string as string: element 0 "
       "of input 'I', whose datatype is BYTES"},
      {Tensor("BYTES", "[1]", "[[\"a\",null]]"),
       "Unable to parse JSON bytes array: attempt to access JSON non-string as string: element 1 "
       "of input 'I', whose datatype is BYTES"},
      {Tensor("FP32", "[1]", "[1,2]"), misshapen(1, "[1]")},
      {Tensor("FP32", "[1]", "[[1],[2]]"), misshapen(1, "[1]")},
      {Tensor("FP32", "[0]", "[1]"), misshapen(0, "[0]")},
      {Tensor("FP32", "[2]", "[1]"), short_data(1, 2, "[2]")},
      {Tensor("FP32", "[1]", "[]"), short_data(0, 1, "[1]")},
      {Tensor("FP32", "[1000000]", "[1]"), short_data(1, 1000000, "[1000000]")},
      // Shapes.
      {Tensor("FP32", "[9223372036854775808]", "[1]"),
       "invalid shape for input 'I': dimension 0 is 9223372036854775808, which is out of range, 0 "
       "to 9223372036854775807"},
      {Tensor("FP32", "[4294967296,4294967296]", "[1]"),
       "invalid shape for input 'I': shape [4294967296,4294967296] causes total element count to "
       "exceed maximum size of 9223372036854775807"},
      {Tensor("FP32", "[4611686018427387904]", "[1]"),
       "byte size overflow for input 'I': element count (4611686018427387904) * data type size "
       "(4) exceeds maximum allowed size (9223372036854775807)"},
      {Tensor("FP32", "[1099511627776]", "[1]"),
       "JSON input 'I' has a byte_size (4398046511104 bytes) that exceeds the maximum allowed "
       "value of 67108864 bytes. Use --http-max-input-size to increase the limit."},
      // Parameters.
      {parameter(R"("sequence_id":-1)"), non("sequence_id", "string")},
      {parameter(R"("sequence_id":true)"), non("sequence_id", "string")},
      {parameter(R"("sequence_start":1)"), non("sequence_start", "boolean")},
      {parameter(R"("sequence_end":"x")"), non("sequence_end", "boolean")},
      {parameter(R"("priority":-1)"), non("priority", "unsigned-integer")},
      {parameter(R"("timeout":1.5)"), non("timeout", "unsigned-integer")},
      {parameter(R"("binary_data_output":1)"), non("binary_data_output", "boolean")},
      {parameter(R"("x":[1])"),
       "parameter 'x' has invalid type. It should be either 'int', 'bool', or 'string'."},
      {parameter(R"("x":null)"),
       "parameter 'x' has invalid type. It should be either 'int', 'bool', or 'string'."},
      {parameter(R"("triton_x":1)"),
       "parameter keys starting with 'triton_' are reserved for Triton usage and should not be "
       "specified."},
      // Outputs.
      {R"({"inputs":[],"outputs":[{}]})", missing("name")},
      {R"({"inputs":[],"outputs":[3]})", missing("name")},
      {R"({"inputs":[],"outputs":[{"name":3}]})", non("name", "string")},
      {R"({"inputs":[],"outputs":[{"name":"O"},{"name":"O"}]})",
       "[request id: <id_unknown>] output 'O' already exists in request"},
      {output(R"("binary_data":1)"), non("binary_data", "boolean")},
      {output(R"("classification":-1)"),
       "Unable to set 'classification': attempt to access JSON non-unsigned-integer as "
       "unsigned-integer"},
      {output(R"("shared_memory_region":3)"), non("shared_memory_region", "string")},
      {output(R"("shared_memory_region":"r","classification":0)"),
       "Output can't set both 'shared_memory_region' and 'classification'"},
      {output(R"("shared_memory_region":"r","binary_data":true)"),
       "Output can't set both 'shared_memory_region' and 'binary_data'"},
  };
}

TEST_F(V2RequestReaderTest, MistakesAreTheClientsAndNamed) {
  for (const BadDocument& bad : BadDocuments()) {
    EXPECT_EQ(ReadJson(bad.json), absl::InvalidArgumentError(bad.error)) << bad.json;
  }
}

TEST_F(V2RequestReaderTest, BinaryPartHasToFitExactly) {
  const std::string json = absl::StrCat(R"({"inputs":[)", BinaryInput("a", "FP32", 1, 4), "]}");
  EXPECT_EQ(ReadBinary(json, "12"),
            absl::InvalidArgumentError(
                "unexpected size for input 'a', expecting 2 additional bytes for model 'm'"));
  EXPECT_EQ(ReadBinary(json, "12345"),
            absl::InvalidArgumentError("unexpected additional input data for model 'm'"));
  EXPECT_EQ(ReadBody(json, json.size() + 3),
            absl::InvalidArgumentError("unexpected size for request JSON, expecting 3 more bytes"));
}

TEST_F(V2RequestReaderTest, UnknownDatatypeWithoutJsonDataIsForTheModelToRefuse) {
  const std::string json = absl::StrCat(R"({"inputs":[)", BinaryInput("a", "X", 1, 4), "]}");
  ASSERT_TRUE(ReadBinary(json, "1234").ok());
  EXPECT_EQ(input(0).data_type(), DataType::kInvalid);
  ASSERT_TRUE(ReadJson(Tensor("X", "[0]", "[]")).ok());
  EXPECT_EQ(input(0).data_type(), DataType::kInvalid);
}

TEST_F(V2RequestReaderTest, OfTwoMembersOfOneNameTheFirstCounts) {
  ASSERT_TRUE(ReadJson(OneInput(R"("name":"I","name":"J","datatype":"FP32","shape":[1],"data":[1],
      "data":[2])"))
                  .ok());
  EXPECT_EQ(input(0).name(), "I");
  EXPECT_EQ(Values<float>(0), (std::vector<float>{1}));
}

TEST_F(V2RequestReaderTest, KeysMayBeEscaped) {
  ASSERT_TRUE(
      ReadJson(OneInput(R"("n\u0061me":"I","datatype":"FP32","shape":[1],"data":[1])")).ok());
  EXPECT_EQ(input(0).name(), "I");
}

}  // namespace
}  // namespace nereid
