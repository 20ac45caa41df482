// SPDX-License-Identifier: Apache-2.0
// Requests with far too many inputs, outputs, parameters and so on, for both JSON readers and the
// generate reader. The model limits what is kept, whatever the client sends.
#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

#include <string>

#include "frontends/codec/codec_testing.h"
#include "frontends/codec/generate_request_reader.h"
#include "frontends/codec/json_readers_testing.h"
#include "frontends/codec/v2_request_reader.h"

namespace nereid {
namespace {

using codec_testing::PaddedBytes;

constexpr uint64_t kMostBytes = uint64_t{64} << 20;
constexpr int kMany = 100000;

std::string ListOf(int count, const std::string& before, const std::string& after) {
  std::string list;
  for (int i = 0; i < count; ++i) absl::StrAppend(&list, i > 0 ? "," : "", before, i, after);
  return list;
}

std::string InputList(int count) {
  return ListOf(count, R"({"name":"i)", R"(","datatype":"BOOL","shape":[1],"data":[true]})");
}

std::string OutputList(int count) { return ListOf(count, R"({"name":"o)", R"("})"); }

class RequestCountsTest : public ::testing::Test {
 protected:
  // A model with `inputs` inputs and two outputs.
  static std::shared_ptr<ServingModel> Model(int inputs) {
    CompiledModel config = codec_testing::MakeModel({DataType::kFp32, DataType::kFp32})->config();
    for (int i = 0; i < inputs; ++i) {
      InputSpec spec;
      spec.name = absl::StrCat("i", i);
      spec.data_type = DataType::kBool;
      spec.dims = {1};
      config.inputs.push_back(std::move(spec));
    }
    return std::make_shared<codec_testing::TestModel>(std::move(config), OutputLabels());
  }

  absl::Status Read(const std::string& json, const std::string& tail = "", int model_inputs = 1) {
    request_ = std::make_unique<InferRequest>(Model(model_inputs), -1);
    formats_ = OutputFormats();
    buffers_.Clear();
    body_ = std::make_unique<PaddedBytes>(json + tail, json.size());
    return ReadV2Request({body_->data(), body_->size(), json.size()}, RequestLimits{kMostBytes},
                         request_.get(), &buffers_, &formats_);
  }

  // Only the careful reader reads NaN.
  static std::string ForTheCarefulReader(const std::string& inputs) {
    return absl::StrCat(R"({"other":NaN,"inputs":[)", inputs, "]}");
  }

  absl::Status Generate(const std::string& json) {
    request_ = std::make_unique<InferRequest>(Model(1), -1);
    NonFinite non_finite = NonFinite::kLiteral;
    return ReadGenerateRequest(json, RequestLimits{kMostBytes}, request_.get(), &buffers_,
                               &non_finite);
  }

  std::unique_ptr<InferRequest> request_;
  std::unique_ptr<PaddedBytes> body_;
  RequestBuffers buffers_;
  OutputFormats formats_;
};

TEST_F(RequestCountsTest, OfManyInputsFewAreKept) {
  ASSERT_TRUE(Read(absl::StrCat(R"({"inputs":[)", InputList(kMany), "]}")).ok());
  EXPECT_EQ(request_->inputs().size(), kKeptTensors);
  ASSERT_TRUE(Read(ForTheCarefulReader(InputList(kMany))).ok());
  EXPECT_EQ(request_->inputs().size(), kKeptTensors);
  ASSERT_TRUE(Read(ForTheCarefulReader(InputList(kMany)), "", /*model_inputs=*/40).ok());
  EXPECT_EQ(request_->inputs().size(), 41u);
}

TEST_F(RequestCountsTest, AsManyInputsAsTheModelHasAreKept) {
  for (const int count : {1, 16, 17, 40}) {
    ASSERT_TRUE(Read(absl::StrCat(R"({"inputs":[)", InputList(count), "]}"), "", count).ok());
    EXPECT_EQ(request_->inputs().size(), static_cast<size_t>(count));
  }
}

TEST_F(RequestCountsTest, BothReadersCountAlike) {
  const std::string json =
      absl::StrCat(R"({"inputs":[)", InputList(50), R"(],"outputs":[)", OutputList(50), "]}");
  const PaddedBytes text(json);
  for (const size_t kept : {size_t{0}, size_t{1}, size_t{49}, size_t{50}, size_t{51}}) {
    const codec_testing::BothReaders both(text.view(), kMostBytes, kept);
    EXPECT_TRUE(both.fast_read());
    EXPECT_EQ(both.Difference(), "");
    EXPECT_EQ(both.fast().inputs.size(), std::min<size_t>(kept, 50));
    EXPECT_EQ(both.fast().unkept_inputs, 50 - both.fast().inputs.size());
  }
}

TEST_F(RequestCountsTest, ManyBinaryInputsNeedNoBinaryPart) {
  const std::string inputs =
      ListOf(kMany, R"({"name":"i)",
             R"(","datatype":"UINT8","shape":[1],"parameters":{"binary_data_size":1}})");
  const std::string json = absl::StrCat(R"({"inputs":[)", inputs, "]}");
  ASSERT_TRUE(Read(json, std::string(kMany, 'x')).ok());
  EXPECT_EQ(request_->inputs().size(), kKeptTensors);
  // The inputs that are kept must still be complete.
  EXPECT_EQ(Read(json, "").message(),
            "unexpected size for input 'i0', expecting 1 additional bytes for model 'm'");
}

TEST_F(RequestCountsTest, AMistakeInAnInputThatIsNotKeptIsNamed) {
  const absl::Status status =
      Read(absl::StrCat(R"({"inputs":[)", InputList(20), R"(,{"name":"x"}]})"));
  EXPECT_EQ(status.message(),
            "Input must set only one of the following fields: 'data', 'binary_data_size' in "
            "'parameters', 'shared_memory_region' in 'parameters'. But no field is set");
}

TEST_F(RequestCountsTest, OfManyOutputsFewAreKept) {
  const std::string outputs = absl::StrCat(R"("inputs":[],"outputs":[)", OutputList(kMany), "]}");
  for (const char* start : {"{", R"({"other":NaN,)"}) {
    ASSERT_TRUE(Read(start + outputs).ok());
    EXPECT_EQ(request_->asked_outputs().size(), kKeptTensors);
    EXPECT_EQ(formats_.named.size(), kKeptTensors);
  }
}

TEST_F(RequestCountsTest, ParametersAreLimited) {
  const auto document = [](int count) {
    return absl::StrCat(R"({"inputs":[],"parameters":{)", ListOf(count, "\"p", "\":1"), "}}");
  };
  ASSERT_TRUE(Read(document(1024)).ok());
  EXPECT_EQ(request_->parameters().size(), 1024u);
  EXPECT_EQ(
      Read(document(kMany)),
      absl::InvalidArgumentError("the request has 100000 parameters, at most 1024 are allowed"));
}

TEST_F(RequestCountsTest, ParametersOfTensorsAreLimited) {
  const auto parameters = [](int count) { return ListOf(count, "\"p", "\":1"); };
  const auto input = [&](int count) {
    return absl::StrCat(R"({"inputs":[{"name":"I","datatype":"BOOL","shape":[0],"data":[],)",
                        R"("parameters":{)", parameters(count), "}}]}");
  };
  const auto output = [&](int count) {
    return absl::StrCat(R"({"inputs":[],"outputs":[{"name":"O","parameters":{)", parameters(count),
                        "}}]}");
  };
  EXPECT_TRUE(Read(input(1024)).ok());
  EXPECT_EQ(Read(input(1025)).message(), "an input has 1025 parameters, at most 1024 are allowed");
  EXPECT_TRUE(Read(output(1024)).ok());
  EXPECT_EQ(Read(output(1025)).message(),
            "an output has 1025 parameters, at most 1024 are allowed");
}

TEST_F(RequestCountsTest, GenerateTakesNoMoreParameters) {
  ASSERT_TRUE(Generate(absl::StrCat("{", ListOf(1024, "\"p", "\":1"), "}")).ok());
  EXPECT_EQ(request_->parameters().size(), 1024u);
  EXPECT_EQ(Generate(absl::StrCat("{", ListOf(kMany, "\"p", "\":1"), "}")).message(),
            "the request has 1025 parameters, at most 1024 are allowed");
  EXPECT_EQ(
      Generate(absl::StrCat(R"({"parameters":{)", ListOf(2000, "\"p", "\":1"), "}}")).message(),
      "Converting keyword: 'parameters': the request has 1025 parameters, at most 1024 are "
      "allowed");
}

// A request with a text of `fits` bytes, which is accepted; one byte more gives `error`.
struct LongText {
  std::string before, after;
  size_t fits;
  std::string error;
};

TEST_F(RequestCountsTest, TextsAreLimited) {
  const std::string rest = R"("datatype":"BOOL","shape":[0],"data":[]}]})";
  const std::string id = "the id of the request has 1025 bytes, at most 1024 are allowed";
  for (const LongText& text : {
           LongText{R"({"inputs":[],"id":")", "\"}", 1024, id},
           LongText{R"({"inputs":[{"name":")", "\"," + rest, 1024,
                    "the name of an input has 1025 bytes, at most 1024 are allowed"},
           LongText{R"({"inputs":[],"outputs":[{"name":")", "\"}]}", 1024,
                    "the name of an output has 1025 bytes, at most 1024 are allowed"},
           LongText{R"({"inputs":[],"parameters":{")", R"(":1}})", 1024,
                    "the name of a parameter has 1025 bytes, at most 1024 are allowed"},
           LongText{R"({"inputs":[],"parameters":{"p":")", "\"}}", 1 << 20,
                    "the parameter 'p' has 1048577 bytes, at most 1048576 are allowed"},
       }) {
    EXPECT_TRUE(Read(text.before + std::string(text.fits, 'x') + text.after).ok()) << text.error;
    EXPECT_EQ(Read(text.before + std::string(text.fits + 1, 'x') + text.after),
              absl::InvalidArgumentError(text.error));
  }
  EXPECT_EQ(Generate(R"({"id":")" + std::string(1025, 'x') + "\"}").message(), id);
}

TEST_F(RequestCountsTest, DimensionsAreLimited) {
  const auto shape = [](int count) {
    std::string dims = "1";
    for (int i = 1; i < count; ++i) dims += ",1";
    return absl::StrCat(R"({"inputs":[{"name":"I","datatype":"BOOL","data":[true],"shape":[)", dims,
                        "]}]}");
  };
  EXPECT_TRUE(Read(shape(128)).ok());
  EXPECT_EQ(Read(shape(kMany)),
            absl::InvalidArgumentError(
                "the shape of 'I' has 100000 dimensions, at most 128 are allowed"));
}

}  // namespace
}  // namespace nereid
