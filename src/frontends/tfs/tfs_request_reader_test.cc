// SPDX-License-Identifier: Apache-2.0
#include "frontends/tfs/tfs_request_reader.h"

#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "frontends/codec/binary_tensor.h"
#include "frontends/tfs/tfs_fast_reader.h"
#include "frontends/tfs/tfs_testing.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using tfs_testing::MakeConfig;
using tfs_testing::MakeTfsModel;
using tfs_testing::TestTensor;

// A request and what it points into.
struct Result {
  explicit Result(CompiledModel config) : request(MakeTfsModel(std::move(config)), -1) {}

  absl::Status Read(absl::string_view json, TfsMethod method = TfsMethod::kPredict) {
    call.method = method;
    const codec_testing::PaddedBytes padded(json);
    return ReadTfsRequest(padded.view(), limits, &request, &buffers, &call);
  }

  // The bytes of an input; fails the test if there is none.
  std::string Bytes(const char* name) {
    InferInput* const input = request.FindInput(name);
    EXPECT_NE(input, nullptr) << name;
    if (input == nullptr || input->buffers().empty()) return "";
    const InputBuffer& buffer = input->buffers().front();
    return std::string(static_cast<const char*>(buffer.base), buffer.byte_size);
  }
  template <typename T>
  std::vector<T> Elements(const char* name) {
    const std::string bytes = Bytes(name);
    std::vector<T> elements(bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(elements.data(), bytes.data(), bytes.size());
    return elements;
  }
  std::vector<std::string> Strings(const char* name) {
    const std::string bytes = Bytes(name);
    BytesElements elements(bytes);
    std::vector<std::string> strings;
    absl::string_view element;
    while (elements.Next(&element)) strings.emplace_back(element);
    EXPECT_TRUE(elements.complete());
    return strings;
  }
  std::string ShapeOf(const char* name) {
    InferInput* const input = request.FindInput(name);
    return input == nullptr ? "none" : ShapeToString(input->sent_shape());
  }

  RequestLimits limits;
  InferRequest request;
  RequestBuffers buffers;
  TfsCall call;
};

CompiledModel OneInput(DataType type, Shape dims = {kVariableDim}, int32_t max_batch_size = 8) {
  return MakeConfig({{"x", type, std::move(dims)}}, {{"y"}}, max_batch_size);
}

CompiledModel ThreeInputs() {
  return MakeConfig({{"tag", DataType::kBytes, {1}},
                     {"signal", DataType::kInt32},
                     {"sensor", DataType::kFp32, {2, 2}}},
                    {{"y"}}, 8);
}

std::string ErrorOf(CompiledModel config, absl::string_view json,
                    TfsMethod method = TfsMethod::kPredict) {
  Result result(std::move(config));
  const absl::Status status = result.Read(json, method);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << json;
  return std::string(status.message());
}

TEST(TfsRequestReaderTest, RowsOfOneInputNeedNoName) {
  Result result(OneInput(DataType::kFp32));
  ASSERT_EQ(result.Read(R"({"instances": [[1, 2.5], [-3e2, NaN]]})"), absl::OkStatus());
  EXPECT_EQ(result.ShapeOf("x"), "[2,2]");
  const std::vector<float> elements = result.Elements<float>("x");
  EXPECT_THAT(std::vector<float>(elements.begin(), elements.end() - 1), ElementsAre(1, 2.5F, -300));
  EXPECT_TRUE(std::isnan(elements.back()));
  EXPECT_TRUE(result.call.rows);
  EXPECT_EQ(result.call.signature,
            &result.request.model()->config().tfs.signatures.at(kTfsDefaultSignature));
}

TEST(TfsRequestReaderTest, ScalarsAreRowsOfOneElement) {
  Result batched(OneInput(DataType::kInt64, {1}));
  ASSERT_EQ(batched.Read(R"({"instances": [1, -9223372036854775808]})"), absl::OkStatus());
  EXPECT_EQ(batched.ShapeOf("x"), "[2,1]");
  EXPECT_THAT(batched.Elements<int64_t>("x"), ElementsAre(1, INT64_MIN));
  Result plain(OneInput(DataType::kInt64, {1}, 0));
  ASSERT_EQ(plain.Read(R"({"instances": [1]})"), absl::OkStatus());
  EXPECT_EQ(plain.ShapeOf("x"), "[1]");
}

constexpr char kRows[] = R"({"signature_name": "", "other": {"x": []}, "instances": [
    {"tag": "foo", "signal": [1, 2, 3], "sensor": [[1, 2], [3, 4]]},
    {"sensor": [[4, 5], [6, 8]], "tag": {"b64": "YmFy"}, "signal": [3, 4, 1]}]})";
constexpr char kColumns[] = R"({"inputs": {"tag": ["foo", {"b64": "YmFy"}],
    "signal": [[1, 2, 3], [3, 4, 1]], "sensor": [[[1, 2], [3, 4]], [[4, 5], [6, 8]]]}})";

TEST(TfsRequestReaderTest, RowsAndColumnsSayTheSame) {
  for (const char* json : {kRows, kColumns}) {
    Result result(ThreeInputs());
    ASSERT_EQ(result.Read(json), absl::OkStatus());
    EXPECT_EQ(result.ShapeOf("tag"), "[2,1]");
    EXPECT_THAT(result.Strings("tag"), ElementsAre("foo", "bar"));
    EXPECT_EQ(result.ShapeOf("signal"), "[2,3]");
    EXPECT_THAT(result.Elements<int32_t>("signal"), ElementsAre(1, 2, 3, 3, 4, 1));
    EXPECT_EQ(result.ShapeOf("sensor"), "[2,2,2]");
    EXPECT_THAT(result.Elements<float>("sensor"), ElementsAre(1, 2, 3, 4, 4, 5, 6, 8));
    EXPECT_EQ(result.call.rows, json == kRows);
    EXPECT_EQ(result.request.asked_outputs().size(), 1U);
  }
}

TEST(TfsRequestReaderTest, AColumnMayBeATensorOfAnyRank) {
  Result scalar(OneInput(DataType::kBool, {}, 0));
  ASSERT_EQ(scalar.Read(R"({"inputs": true})"), absl::OkStatus());
  EXPECT_EQ(scalar.ShapeOf("x"), "[]");
  EXPECT_THAT(scalar.Elements<uint8_t>("x"), ElementsAre(1));
  Result bytes(OneInput(DataType::kBytes, {}, 0));
  ASSERT_EQ(bytes.Read(R"({"inputs": {"b64": "AAE="}})"), absl::OkStatus());
  EXPECT_THAT(bytes.Strings("x"), ElementsAre(std::string("\0\1", 2)));
  Result empty(OneInput(DataType::kFp64, {kVariableDim}, 0));
  ASSERT_EQ(empty.Read(R"({"inputs": {"x": []}})"), absl::OkStatus());
  EXPECT_EQ(empty.ShapeOf("x"), "[0]");
}

TEST(TfsRequestReaderTest, AnOptionalInputIsInAllRowsOrInNone) {
  CompiledModel config = ThreeInputs();
  for (size_t i : {0, 1}) config.inputs[i].optional = true;
  Result none(config);
  ASSERT_EQ(none.Read(R"({"instances": [{"sensor": [[1,2],[3,4]]}]})"), absl::OkStatus());
  EXPECT_EQ(none.ShapeOf("tag"), "none");
  EXPECT_THAT(ErrorOf(config, R"({"instances": [{"sensor": [[1,2],[3,4]], "tag": "a"},
                                                {"sensor": [[1,2],[3,4]]}]})"),
              HasSubstr("an element of 'instances' does not have named input: tag"));
  Result column(config);
  ASSERT_EQ(column.Read(R"({"inputs": {"sensor": [[[1,2],[3,4]]]}})"), absl::OkStatus());
  EXPECT_EQ(column.ShapeOf("signal"), "none");
}

TEST(TfsRequestReaderTest, ExamplesHaveFeaturesAndShareAContext) {
  Result result(ThreeInputs());
  ASSERT_EQ(result.Read(R"({"signature_name": "classify", "context": {"signal": [7, 8]},
                            "examples": [{"tag": ["a"], "sensor": [1, 2, 3, 4]},
                                         {"tag": ["b"], "sensor": [5, 6, 7, 8]}]})",
                        TfsMethod::kClassify),
            absl::OkStatus());
  EXPECT_EQ(result.ShapeOf("tag"), "[2,1]");
  EXPECT_EQ(result.ShapeOf("sensor"), "[2,2,2]");
  EXPECT_THAT(result.Elements<int32_t>("signal"), ElementsAre(7, 8, 7, 8));
  Result regress(OneInput(DataType::kFp32, {1}));
  ASSERT_EQ(regress.Read(R"({"signature_name": "regress", "examples": [{"x": 1}, {"x": 2}]})",
                         TfsMethod::kRegress),
            absl::OkStatus());
  EXPECT_EQ(regress.ShapeOf("x"), "[2,1]");
}

struct Mistake {
  const char* json;
  const char* error;
};

TEST(TfsRequestReaderTest, MistakesOfPredictions) {
  const Mistake mistakes[] = {
      {"", "failed to parse the request JSON buffer"},
      {"[1]", "the body of the request must be a JSON object"},
      {"{}", "Missing 'inputs' or 'instances' key"},
      {R"({"inputs": 1, "instances": [1]})", "exactly one is allowed"},
      {R"({"signature_name": 5, "inputs": 1})", "'signature_name' must be a string"},
      {R"({"signature_name": "s", "inputs": 1})",
       "Serving signature name: \"s\" not found in signature def"},
      {R"({"instances": {}})", "'instances' must be a list with at least one element"},
      {R"({"instances": []})", "'instances' must be a list with at least one element"},
      {R"({"instances": [1]})", "must name the inputs, because the signature has 3: 'tag', "},
      {R"({"inputs": [1]})", "'inputs' must name the inputs, because the signature has 3"},
      {R"({"instances": [{"tag": "a"}]})", "does not have named input: signal"},
      {R"({"inputs": {"tag": ["a"]}})", "'inputs' does not have named input: signal"},
      {R"({"instances": [{"x": 1}]})",
       "element 0 of 'instances' has the member 'x', which is no input of the signature"},
      {R"({"inputs": {"x": 1}})", "'inputs' has the member 'x', which is no input"},
      {R"({"instances": [{"tag": "a"}, 5]})", "element 1 of 'instances' must be an object"},
      {R"({"inputs": {"tag": 1, "tag": 1, "tag": 1, "tag": 1}})", "'inputs' has 4 members"},
  };
  for (const Mistake& mistake : mistakes) {
    EXPECT_THAT(ErrorOf(ThreeInputs(), mistake.json), HasSubstr(mistake.error)) << mistake.json;
  }
}

TEST(TfsRequestReaderTest, MistakesOfExamples) {
  const Mistake mistakes[] = {
      {R"({"examples": [{"tag": "a"}]})",
       "the signature 'serving_default' has the method tensorflow/serving/predict, but this "
       "request "
       "needs one with tensorflow/serving/classify"},
      {R"({"signature_name": "classify"})", "the request needs 'examples'"},
      {R"({"signature_name": "classify", "examples": []})", "the request needs 'examples'"},
      {R"({"signature_name": "classify", "examples": [1]})", "element 0 of 'examples' must be an"},
      {R"({"signature_name": "classify", "context": 1, "examples": [{}]})",
       "'context' must be an object"},
      {R"({"signature_name": "classify", "context": {"tag": "a"}, "examples": [{"tag": "a"}]})",
       "the feature 'tag' is in 'context' and in an element of 'examples'"},
  };
  for (const Mistake& mistake : mistakes) {
    EXPECT_THAT(ErrorOf(ThreeInputs(), mistake.json, TfsMethod::kClassify),
                HasSubstr(mistake.error))
        << mistake.json;
  }
}

TEST(TfsRequestReaderTest, ElementsMustFitTheirType) {
  struct Case {
    DataType type;
    const char* value;
  };
  for (const Case& c :
       {Case{DataType::kFp32, R"("1")"}, Case{DataType::kFp32, "1e39"},
        Case{DataType::kFp32, "null"}, Case{DataType::kInt8, "128"}, Case{DataType::kInt8, "1.0"},
        Case{DataType::kUint16, "-1"}, Case{DataType::kUint64, "18446744073709551616"},
        Case{DataType::kInt32, "NaN"}, Case{DataType::kBool, "1"}, Case{DataType::kBytes, "1"},
        Case{DataType::kBytes, R"({"b64": 1})"}, Case{DataType::kBytes, R"({"b65": "AA=="})"}}) {
    const std::string json = absl::StrCat(R"({"inputs": {"x": [)", c.value, "]}}");
    EXPECT_THAT(ErrorOf(OneInput(c.type), json),
                HasSubstr(absl::StrCat("the input 'x' takes elements of ", DataTypeName(c.type))))
        << json;
  }
  EXPECT_THAT(ErrorOf(OneInput(DataType::kBytes), R"({"inputs": [{"b64": "*"}]})"),
              HasSubstr("the input 'x' has a value of 'b64' that is not Base64"));
  EXPECT_THAT(ErrorOf(OneInput(DataType::kFp16), R"({"inputs": [1]})"),
              HasSubstr("takes FP16, for which this API has no form in JSON"));
}

TEST(TfsRequestReaderTest, RaggedListsAreNoTensor) {
  for (const char* rows :
       {"[[1, 2], [3]]", "[[1], 2]", "[1, [2]]", "[[[1]], [[2], [3]]]", "[[], [1]]"}) {
    EXPECT_THAT(ErrorOf(OneInput(DataType::kFp32), absl::StrCat(R"({"instances": )", rows, "}")),
                HasSubstr("the input 'x' is no tensor, because its lists differ"))
        << rows;
  }
}

// A context that stands in many examples must cost neither time nor memory before it is refused.
TEST(TfsRequestReaderTest, AContextDoesNotMultiply) {
  std::string context = "0";
  std::string examples = "{}";
  for (int i = 0; i < 100'000; ++i) {
    context += ",0";
    examples += ",{}";
  }
  for (const bool strings : {false, true}) {
    if (strings) context = R"("a")" + std::string(300'000, ' ');
    Result result(OneInput(strings ? DataType::kBytes : DataType::kFp32));
    result.limits.max_input_size = 100'000;
    const std::string json = absl::StrCat(R"({"signature_name": "classify", "context": {"x": [)",
                                          context, R"(]}, "examples": [)", examples, "]}");
    EXPECT_THAT(std::string(result.Read(json, TfsMethod::kClassify).message()),
                HasSubstr("has more than 100000 bytes"));
  }
}

TEST(TfsRequestReaderTest, SizesAreLimited) {
  Result numbers(OneInput(DataType::kFp64));
  numbers.limits.max_input_size = 8;
  EXPECT_THAT(std::string(numbers.Read(R"({"inputs": [1, 2]})").message()),
              HasSubstr("has more than 8 bytes of FP64"));
  Result strings(OneInput(DataType::kBytes));
  strings.limits.max_input_size = 8;
  EXPECT_THAT(std::string(strings.Read(R"({"inputs": ["", "", ""]})").message()),
              HasSubstr("has more than 8 bytes of BYTES"));
  Result deep(OneInput(DataType::kFp32));
  const std::string json =
      absl::StrCat(R"({"inputs": )", std::string(200, '['), std::string(200, ']'), "}");
  EXPECT_THAT(std::string(deep.Read(json).message()), HasSubstr("JSON nesting depth exceeds"));
}

// ---- The two readers

std::string FastText(const CompiledModel& model, absl::string_view json) {
  const codec_testing::PaddedBytes padded(json);
  RequestBuffers buffers;
  TfsCall call;
  TfsFastTensor tensor;
  if (!ReadTfsFast(padded.view(), RequestLimits(), model, &buffers, &call, &tensor)) return "";
  return absl::StrCat(call.rows ? "rows " : "columns ", ShapeToString(tensor.shape), " ",
                      absl::BytesToHexString({tensor.bytes, tensor.size}));
}

std::string CarefulText(CompiledModel model, absl::string_view json) {
  Result result(std::move(model));
  const absl::Status status =
      ReadTfsCarefully(json, result.limits, &result.request, &result.buffers, &result.call);
  if (!status.ok()) return std::string(status.message());
  return absl::StrCat(result.call.rows ? "rows " : "columns ", result.ShapeOf("x"), " ",
                      absl::BytesToHexString(result.Bytes("x")));
}

constexpr DataType kNumbers[] = {DataType::kBool,   DataType::kUint8,  DataType::kUint16,
                                 DataType::kUint32, DataType::kUint64, DataType::kInt8,
                                 DataType::kInt16,  DataType::kInt32,  DataType::kInt64,
                                 DataType::kFp32,   DataType::kFp64};

TEST(TfsReadersTest, TheFastOneReadsTheUsualBodies) {
  for (const DataType type : kNumbers) {
    const CompiledModel model = OneInput(type);
    const std::string one = type == DataType::kBool ? "true" : "1";
    for (const char* body : {R"({"instances": [[$, $], [$, $]]})", R"({"inputs": [$]})",
                             R"({"inputs": {"x": [[[$]], [[$]]]}})",
                             R"({"signature_name": "regress", "instances": [$]})"}) {
      const std::string json = absl::StrReplaceAll(body, {{"$", one}});
      EXPECT_NE(FastText(model, json), "") << json;
      EXPECT_EQ(FastText(model, json), CarefulText(model, json)) << json;
    }
  }
}

// Bodies from pieces that are right and wrong.
TEST(TfsReadersTest, WhatTheFastOneReadsTheCarefulOneReadsAlike) {
  constexpr const char* kPieces[] = {"[",
                                     "]",
                                     "[",
                                     "]",
                                     ",",
                                     ",",
                                     "1",
                                     "0.5",
                                     "-0",
                                     "true",
                                     "300",
                                     "-7",
                                     "1e39",
                                     "1e400",
                                     "NaN",
                                     "01",
                                     "[1,2]",
                                     "[]",
                                     "[[1],2]",
                                     "null",
                                     R"("1")",
                                     "{}",
                                     "65536",
                                     "1.5e-45",
                                     "18446744073709551615",
                                     "0.1000000000000000055511151"};
  uint32_t state = 1;
  const auto next = [&state](size_t below) {
    state = state * 1664525 + 1013904223;
    return (state >> 8) % below;
  };
  int read = 0;
  for (int i = 0; i < 60'000; ++i) {
    std::string value = "[";
    const size_t count = 1 + next(6);
    for (size_t j = 0; j < count; ++j) {
      absl::StrAppend(&value, j > 0 && next(4) > 0 ? "," : "", kPieces[next(std::size(kPieces))]);
    }
    value += next(8) > 0 ? "]" : "";
    const char* const forms[] = {R"({"instances":$})",
                                 R"({"inputs":$})",
                                 R"({"inputs":{"x":$}})",
                                 R"({"inputs":{"y":$}})",
                                 R"({"inputs":$,"signature_name":"s"})",
                                 R"({"inputs":{"x":$},"a":1})",
                                 R"({"inputs":$} )",
                                 R"({"inputs":$}})",
                                 R"({"inputs":{"x":$,"x":$}})",
                                 R"({"signature_name":"s","instances":$})"};
    const std::string json = absl::StrReplaceAll(forms[next(std::size(forms))], {{"$", value}});
    const CompiledModel model = OneInput(kNumbers[next(std::size(kNumbers))]);
    const std::string fast = FastText(model, json);
    if (fast.empty()) continue;
    ++read;
    ASSERT_EQ(fast, CarefulText(model, json)) << json;
  }
  EXPECT_GT(read, 500);
}

}  // namespace
}  // namespace nereid
