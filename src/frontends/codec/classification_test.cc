// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/classification.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "frontends/codec/binary_tensor.h"
#include "frontends/codec/codec_testing.h"

namespace nereid {
namespace {

using codec_testing::MakeModel;

const char* NoLabel(size_t) { return nullptr; }

template <typename T>
ScoreTensor Scores(DataType type, const std::vector<T>& values, absl::Span<const int64_t> shape,
                   bool batched) {
  return {
      type, shape,
      absl::string_view(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)),
      batched};
}

std::vector<std::string> Texts(const Classification& classes) {
  BytesElements elements(classes.tensor);
  absl::string_view element;
  std::vector<std::string> texts;
  while (elements.Next(&element)) texts.emplace_back(element);
  EXPECT_TRUE(elements.complete());
  return texts;
}

using Strings = std::vector<std::string>;

TEST(ClassificationTest, BestOfEachBatchItem) {
  const std::vector<float> values = {1, 2, 4, 3};
  const Shape shape = {2, 2};
  const auto classes = Classify(Scores(DataType::kFp32, values, shape, true), 1, NoLabel);
  ASSERT_TRUE(classes.ok());
  EXPECT_EQ(classes->shape, (Shape{2, 1}));
  EXPECT_EQ(Texts(*classes), (Strings{"2.000000:1", "4.000000:0"}));
}

TEST(ClassificationTest, WithoutBatchingTheWholeTensorIsOneItem) {
  const std::vector<int32_t> values = {1, 2, -4, 3};
  const Shape shape = {2, 2};
  const auto classes = Classify(Scores(DataType::kInt32, values, shape, false), 9, NoLabel);
  ASSERT_TRUE(classes.ok());
  EXPECT_EQ(classes->shape, (Shape{4}));
  EXPECT_EQ(Texts(*classes), (Strings{"3:3", "2:1", "1:0", "-4:2"}));
}

TEST(ClassificationTest, EqualScoresStayInOrderAndNaNIsLast) {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  const std::vector<double> values = {nan, 1, 1, nan, 3, -inf, inf};
  const Shape shape = {7};
  const auto classes = Classify(Scores(DataType::kFp64, values, shape, false), 7, NoLabel);
  ASSERT_TRUE(classes.ok());
  EXPECT_EQ(Texts(*classes), (Strings{"inf:6", "3.000000:4", "1.000000:1", "1.000000:2", "-inf:5",
                                      "nan:0", "nan:3"}));
}

TEST(ClassificationTest, EveryNumberTypeIsPrintedPlainly) {
  const Shape shape = {2};
  const auto text = [&](auto low, auto high, DataType type) {
    const std::vector<decltype(low)> values = {low, high};
    return Texts(*Classify(Scores(type, values, shape, false), 2, NoLabel));
  };
  EXPECT_EQ(text(uint8_t{0}, uint8_t{255}, DataType::kUint8), (Strings{"255:1", "0:0"}));
  EXPECT_EQ(text(int8_t{-128}, int8_t{127}, DataType::kInt8), (Strings{"127:1", "-128:0"}));
  EXPECT_EQ(text(uint16_t{1}, uint16_t{65535}, DataType::kUint16), (Strings{"65535:1", "1:0"}));
  EXPECT_EQ(text(int16_t{-1}, int16_t{32767}, DataType::kInt16), (Strings{"32767:1", "-1:0"}));
  EXPECT_EQ(text(uint32_t{1}, uint32_t{4294967295}, DataType::kUint32),
            (Strings{"4294967295:1", "1:0"}));
  EXPECT_EQ(text(uint64_t{1}, std::numeric_limits<uint64_t>::max(), DataType::kUint64),
            (Strings{"18446744073709551615:1", "1:0"}));
  EXPECT_EQ(text(std::numeric_limits<int64_t>::min(), int64_t{0}, DataType::kInt64),
            (Strings{"0:1", "-9223372036854775808:0"}));
}

TEST(ClassificationTest, LabelsFollowTheIndex) {
  const std::vector<float> values = {0.25f, 0.5f};
  const Shape shape = {2};
  const auto label = [](size_t index) { return index == 1 ? "dog" : nullptr; };
  const auto classes = Classify(Scores(DataType::kFp32, values, shape, false), 2, label);
  ASSERT_TRUE(classes.ok());
  EXPECT_EQ(Texts(*classes), (Strings{"0.500000:1:dog", "0.250000:0"}));
}

TEST(ClassificationTest, EmptyItemsHaveNoClasses) {
  const Shape empty_item = {2, 0}, empty_batch = {0, 3};
  const std::vector<float> none;
  const auto item = Classify(Scores(DataType::kFp32, none, empty_item, true), 5, NoLabel);
  ASSERT_TRUE(item.ok());
  EXPECT_EQ(item->shape, (Shape{2, 0}));
  const auto batch = Classify(Scores(DataType::kFp32, none, empty_batch, true), 5, NoLabel);
  ASSERT_TRUE(batch.ok());
  EXPECT_EQ(batch->shape, (Shape{0, 0}));
  EXPECT_TRUE(batch->tensor.empty());
}

TEST(ClassificationTest, TypesWithoutScoresAreRefused) {
  const std::vector<uint16_t> values = {1};
  const std::vector<uint8_t> bytes = {1};
  const Shape shape = {1};
  const auto refused = [](absl::string_view type) {
    return absl::InvalidArgumentError(
        absl::StrCat("class result not available for output due to unsupported type '", type, "'"));
  };
  EXPECT_EQ(Classify(Scores(DataType::kFp16, values, shape, false), 1, NoLabel).status(),
            refused("FP16"));
  EXPECT_EQ(Classify(Scores(DataType::kBf16, values, shape, false), 1, NoLabel).status(),
            refused("BF16"));
  EXPECT_EQ(Classify(Scores(DataType::kBool, bytes, shape, false), 1, NoLabel).status(),
            refused("BOOL"));
  EXPECT_EQ(Classify(Scores(DataType::kBytes, bytes, shape, false), 1, NoLabel).status(),
            refused("BYTES"));
}

TEST(ClassificationTest, OneMillionElementsAndNoMore) {
  std::vector<uint8_t> values(1000001);
  const Shape most = {1000000}, too_many = {1000001};
  EXPECT_EQ(Classify(Scores(DataType::kUint8, values, too_many, false), 1, NoLabel).status(),
            absl::InvalidArgumentError("classification output tensor too large"));
  values.pop_back();
  EXPECT_TRUE(Classify(Scores(DataType::kUint8, values, most, false), 1, NoLabel).ok());
}

TEST(ClassificationTest, BytesHaveToFitTheShape) {
  const std::vector<float> values = {1, 2, 3};
  for (const Shape& shape : {Shape{4}, Shape{2}, Shape{-1}}) {
    EXPECT_EQ(Classify(Scores(DataType::kFp32, values, shape, false), 1, NoLabel).status().code(),
              absl::StatusCode::kInternal);
  }
  const std::vector<float> one = {1};
  EXPECT_EQ(Classify(Scores(DataType::kFp32, one, Shape{}, true), 1, NoLabel).status().code(),
            absl::StatusCode::kInternal);
}

TEST(ClassificationTest, ResponseOutputTakesLabelsAndBatchingOfItsModel) {
  const HeapOutputAllocator allocator(nullptr);
  const auto model = MakeModel({DataType::kFp32}, 8, {{"OUTPUT0", {"cat", "dog"}}});
  InferResponse response(nullptr, model, "", &allocator, nullptr);
  ResponseOutput* output = *response.AddOutput("OUTPUT0", DataType::kFp32, {2, 2});
  ASSERT_TRUE(output->Allocate(16, MemoryPlace{}).ok());
  const float values[] = {1, 2, 4, 3};
  std::memcpy(output->buffer().base, values, sizeof(values));
  const auto classes = ClassifyOutput(response, *output, 2);
  ASSERT_TRUE(classes.ok());
  EXPECT_EQ(classes->shape, (Shape{2, 2}));
  EXPECT_EQ(Texts(*classes),
            (Strings{"2.000000:1:dog", "1.000000:0:cat", "4.000000:0:cat", "3.000000:1:dog"}));
}

}  // namespace
}  // namespace nereid
