// SPDX-License-Identifier: Apache-2.0
#include "frontends/tfs/tfs_response_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "frontends/codec/binary_tensor.h"
#include "frontends/tfs/tfs_testing.h"

namespace nereid {
namespace {

using ::testing::HasSubstr;
using tfs_testing::MakeConfig;
using tfs_testing::MakeTfsModel;
using tfs_testing::TestTensor;
using std::string_literals::operator""s;

class TfsResponseWriterTest : public ::testing::Test {
 protected:
  // A response of a model with `outputs`, which the default signature has all.
  void Make(const std::vector<TestTensor>& outputs, int32_t max_batch_size = 8,
            OutputLabels labels = {}) {
    auto model = MakeTfsModel(MakeConfig({{"x"}}, outputs, max_batch_size), std::move(labels));
    call_.signature = &model->config().tfs.signatures.at(kTfsDefaultSignature);
    response_ =
        std::make_unique<InferResponse>(nullptr, std::move(model), "", &allocator_, nullptr);
  }

  void Add(const char* name, DataType type, const Shape& shape, absl::string_view bytes) {
    ResponseOutput* const output = *response_->AddClientOutput(name, type, shape);
    ASSERT_TRUE(output->Allocate(bytes.size(), MemoryPlace{}).ok());
    if (!bytes.empty()) std::memcpy(output->buffer().base, bytes.data(), bytes.size());
  }
  void AddFloats(const char* name, const Shape& shape, const std::vector<float>& values) {
    Add(name, DataType::kFp32, shape,
        {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
  }
  void AddStrings(const char* name, const Shape& shape, const std::vector<std::string>& values) {
    std::string bytes;
    for (const std::string& value : values) AppendBytesElement(value, &bytes);
    Add(name, DataType::kBytes, shape, bytes);
  }

  absl::Status Write(NonFinite non_finite = NonFinite::kLiteral) {
    text_.clear();
    return AppendTfsResponse(*response_, call_, non_finite, &text_);
  }
  // The answer to a request in rows, or in columns.
  std::string Text(bool rows) {
    call_.rows = rows;
    EXPECT_EQ(Write(), absl::OkStatus());
    return text_;
  }
  std::string Text(TfsMethod method) {
    call_.method = method;
    EXPECT_EQ(Write(), absl::OkStatus());
    return text_;
  }
  std::string ErrorOf(absl::StatusCode code) {
    const absl::Status status = Write();
    EXPECT_EQ(status.code(), code);
    return std::string(status.message());
  }

  HeapOutputAllocator allocator_{nullptr};
  TfsCall call_;
  std::unique_ptr<InferResponse> response_;
  std::string text_;
};

TEST_F(TfsResponseWriterTest, OneOutputHasNoName) {
  Make({{"y"}});
  AddFloats("y", {2, 1, 2}, {1, 2.5, -3, 4});
  EXPECT_EQ(Text(true), R"({"predictions":[[[1.0,2.5]],[[-3.0,4.0]]]})");
  EXPECT_EQ(Text(false), R"({"outputs":[[[1.0,2.5]],[[-3.0,4.0]]]})");
}

TEST_F(TfsResponseWriterTest, SeveralOutputsAreObjectsInRowsAndOneObjectInColumns) {
  Make({{"y"}, {"z", DataType::kBytes}});
  AddFloats("y", {2}, {1, 2});
  AddStrings("z", {2, 2}, {"a", "b\"", "", "d"});
  EXPECT_EQ(Text(true), R"({"predictions":[{"y":1.0,"z":["a","b\""]},{"y":2.0,"z":["","d"]}]})");
  EXPECT_EQ(Text(false), R"({"outputs":{"y":[1.0,2.0],"z":[["a","b\""],["","d"]]}})");
}

TEST_F(TfsResponseWriterTest, ARowOfAReshapedElementIsAScalar) {
  Make({{"y", DataType::kFp32, {1}, Shape{}}});
  AddFloats("y", {3, 1}, {3.5, 4, 5.5});
  EXPECT_EQ(Text(true), R"({"predictions":[3.5,4.0,5.5]})");
  Make({{"y", DataType::kFp32, {1}}});
  AddFloats("y", {1, 1}, {3.5});
  EXPECT_EQ(Text(true), R"({"predictions":[[3.5]]})");
}

TEST_F(TfsResponseWriterTest, ScalarsAreColumns) {
  Make({{"y", DataType::kFp32, {}}}, 0);
  AddFloats("y", {}, {7});
  EXPECT_EQ(Text(false), R"({"outputs":7.0})");
  call_.rows = true;
  EXPECT_EQ(ErrorOf(absl::StatusCode::kInternal),
            "the output 'y' is a scalar, which has no rows: use 'inputs' instead of 'instances'");
}

TEST_F(TfsResponseWriterTest, RowsMustBeAsMany) {
  Make({{"y"}, {"z"}}, 0);
  AddFloats("y", {2}, {1, 2});
  AddFloats("z", {1}, {1});
  EXPECT_EQ(Text(false), R"({"outputs":{"y":[1.0,2.0],"z":[1.0]}})");
  call_.rows = true;
  EXPECT_EQ(ErrorOf(absl::StatusCode::kInternal),
            "the output 'z' has 1 rows and 'y' has 2: use 'inputs' instead of 'instances'");
}

TEST_F(TfsResponseWriterTest, BytesAreBase64UnderTheirSuffix) {
  Make({{"image_bytes", DataType::kBytes}});
  AddStrings("image_bytes", {2}, {"\0\xff"s, "a"});
  EXPECT_EQ(Text(true), R"({"predictions":[{"b64":"AP8="},{"b64":"YQ=="}]})");
  Make({{"image", DataType::kBytes}});
  AddStrings("image", {1}, {"\xff"});
  EXPECT_THAT(ErrorOf(absl::StatusCode::kInvalidArgument),
              HasSubstr("the output 'image' has an element that is not UTF-8"));
}

TEST_F(TfsResponseWriterTest, NumbersThatAreNotFinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  Make({{"y"}});
  AddFloats("y", {3}, {std::numeric_limits<float>::quiet_NaN(), infinity, -infinity});
  EXPECT_EQ(Text(true), R"({"predictions":[NaN,Infinity,-Infinity]})");
  ASSERT_EQ(Write(NonFinite::kNull), absl::OkStatus());
  EXPECT_EQ(text_, R"({"predictions":[null,null,null]})");
  EXPECT_EQ(Write(NonFinite::kError).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(TfsResponseWriterTest, ClassesHaveLabelsOfTheOutput) {
  Make({{"scores"}, {"classes", DataType::kBytes}});
  AddFloats("scores", {2, 2}, {0.5, 0.25, 1, 0});
  AddStrings("classes", {2, 2}, {"cat", "dog", "dog", "cat"});
  EXPECT_EQ(Text(TfsMethod::kClassify),
            R"({"results":[[["cat",0.5],["dog",0.25]],[["dog",1.0],["cat",0.0]]]})");
}

TEST_F(TfsResponseWriterTest, ClassesHaveLabelsOfTheModelOrNone) {
  Make({{"scores"}}, 8, {{"scores", {"cat"}}});
  AddFloats("scores", {1, 2}, {0.5, 0.25});
  EXPECT_EQ(Text(TfsMethod::kClassify), R"({"results":[[["cat",0.5],["",0.25]]]})");
  Make({{"classes", DataType::kBytes}});
  AddStrings("classes", {2}, {"cat", "dog"});
  EXPECT_EQ(Text(TfsMethod::kClassify), R"({"results":[[["cat",0.0]],[["dog",0.0]]]})");
}

TEST_F(TfsResponseWriterTest, ClassesAndScoresMustBeAsMany) {
  Make({{"scores"}, {"classes", DataType::kBytes}});
  AddFloats("scores", {1, 2}, {0.5, 0.25});
  AddStrings("classes", {1, 1}, {"cat"});
  call_.method = TfsMethod::kClassify;
  EXPECT_EQ(
      ErrorOf(absl::StatusCode::kInternal),
      "the output 'classes' has 1 elements in each of the 1 rows, and the other output has 2");
}

TEST_F(TfsResponseWriterTest, ARegressionIsOneValueInEachRow) {
  Make({{"y"}});
  AddFloats("y", {2, 1}, {3.5, 4});
  EXPECT_EQ(Text(TfsMethod::kRegress), R"({"results":[3.5,4.0]})");
  Make({{"y"}});
  AddFloats("y", {1, 2}, {3.5, 4});
  EXPECT_EQ(ErrorOf(absl::StatusCode::kInternal),
            "the output 'y' has the shape [1,2]: a regression has one value in each row");
}

TEST_F(TfsResponseWriterTest, WhatTheModelSendsIsChecked) {
  Make({{"y"}});
  EXPECT_EQ(ErrorOf(absl::StatusCode::kInternal),
            "the output 'y' is missing in the model's response");
  AddFloats("y", {3}, {1, 2});
  EXPECT_EQ(ErrorOf(absl::StatusCode::kInternal),
            "the output 'y' does not have as many elements as its shape [3]");
  Make({{"y", DataType::kFp16}});
  Add("y", DataType::kFp16, {1}, "ab");
  EXPECT_THAT(ErrorOf(absl::StatusCode::kInvalidArgument), HasSubstr("has the type FP16"));
}

// A small response with a hostile shape must not look small.
TEST_F(TfsResponseWriterTest, TheEstimateCountsBrackets) {
  Make({{"y"}});
  AddFloats("y", {100, 2}, std::vector<float>(200));
  EXPECT_GE(EstimateTfsSize(*response_, call_), Text(true).size());
  Make({{"y"}});
  Add("y", DataType::kFp32, {1'000'000'000, 1'000'000'000, 0}, "");
  EXPECT_GT(EstimateTfsSize(*response_, call_), 1'000'000'000'000'000'000U);
  Make({{"y"}});
  Add("y", DataType::kFp32, {int64_t{1} << 40, int64_t{1} << 40, 0}, "");
  EXPECT_EQ(EstimateTfsSize(*response_, call_), std::numeric_limits<int64_t>::max());
}

}  // namespace
}  // namespace nereid
