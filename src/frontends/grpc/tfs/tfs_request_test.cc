// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/tfs/tfs_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "frontends/codec/binary_tensor.h"
#include "frontends/grpc/tfs/tensor_proto.h"
#include "frontends/tfs/tfs_testing.h"

namespace nereid {
namespace {

namespace serving = tensorflow::serving;
using tensorflow::TensorProto;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using tfs_testing::MakeConfig;
using tfs_testing::MakeTfsModel;
using tfs_testing::TestTensor;

class TfsRequestTest : public ::testing::Test {
 protected:
  void Make(const std::vector<TestTensor>& inputs, int32_t max_batch_size = 8) {
    model_ = MakeTfsModel(MakeConfig(inputs, {{"y"}, {"z"}}, max_batch_size));
  }

  absl::Status Read(TfsMethod method, const google::protobuf::Message& message) {
    read_ = std::make_unique<TfsRequest>(method);
    const absl::Status parsed = read_->Parse(message.SerializeAsString(), nullptr, nullptr);
    if (!parsed.ok()) return parsed;
    buffers_.Clear();
    request_ = std::make_unique<InferRequest>(model_, -1);
    answer_ = TfsAnswer();
    return read_->Read(request_.get(), &buffers_, &answer_);
  }
  absl::Status Predict() { return Read(TfsMethod::kPredict, predict_); }
  std::string ErrorOfPredict() { return std::string(Predict().message()); }
  absl::Status Classify() {
    classify_.mutable_model_spec()->set_signature_name("classify");
    return Read(TfsMethod::kClassify, classify_);
  }

  // The tensor "x", fresh.
  TensorProto* Tensor(tensorflow::DataType type, const std::vector<int64_t>& shape) {
    TensorProto* const tensor = &(*predict_.mutable_inputs())["x"];
    tensor->Clear();
    tensor->set_dtype(type);
    tensor->mutable_tensor_shape();
    for (const int64_t dim : shape) tensor->mutable_tensor_shape()->add_dim()->set_size(dim);
    return tensor;
  }
  tensorflow::Feature* FeatureOf(tensorflow::Example* example, const std::string& key) {
    return &(*example->mutable_features()->mutable_feature())[key];
  }
  tensorflow::Example* AddExample() {
    return classify_.mutable_input()->mutable_example_list()->add_examples();
  }

  std::string Bytes() const {
    std::string bytes;
    for (const InputBuffer& buffer : request_->inputs().front().buffers()) {
      bytes.append(static_cast<const char*>(buffer.base), buffer.byte_size);
    }
    return bytes;
  }
  template <typename T>
  std::vector<T> Values() const {
    const std::string bytes = Bytes();
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  Shape ReadShape() const {
    const auto shape = request_->inputs().front().sent_shape();
    return Shape(shape.begin(), shape.end());
  }

  std::shared_ptr<ServingModel> model_;
  serving::PredictRequest predict_;
  serving::ClassificationRequest classify_;
  std::unique_ptr<TfsRequest> read_;
  std::unique_ptr<InferRequest> request_;
  RequestBuffers buffers_;
  TfsAnswer answer_;
};

TEST_F(TfsRequestTest, ValuesOfEachType) {
  Make({{"x", DataType::kFp32}}, 0);
  TensorProto* tensor = Tensor(tensorflow::DT_FLOAT, {2});
  tensor->add_float_val(1.5);
  tensor->add_float_val(-2);
  ASSERT_EQ(Predict(), absl::OkStatus());
  EXPECT_THAT(Values<float>(), ElementsAre(1.5, -2));
  EXPECT_EQ(ReadShape(), Shape({2}));

  Make({{"x", DataType::kInt8}}, 0);
  tensor = Tensor(tensorflow::DT_INT8, {2});
  tensor->add_int_val(-128);
  tensor->add_int_val(127);
  ASSERT_EQ(Predict(), absl::OkStatus());
  EXPECT_THAT(Values<int8_t>(), ElementsAre(-128, 127));
  tensor->set_int_val(1, 128);
  EXPECT_THAT(ErrorOfPredict(), HasSubstr("has the value 128 as element 1"));

  Make({{"x", DataType::kUint64}}, 0);
  Tensor(tensorflow::DT_UINT64, {1})->add_uint64_val(UINT64_MAX);
  ASSERT_EQ(Predict(), absl::OkStatus());
  EXPECT_THAT(Values<uint64_t>(), ElementsAre(UINT64_MAX));

  Make({{"x", DataType::kFp16}}, 0);
  Tensor(tensorflow::DT_HALF, {1})->add_half_val(0x3c00);
  ASSERT_EQ(Predict(), absl::OkStatus());
  EXPECT_THAT(Values<uint16_t>(), ElementsAre(0x3c00));

  Make({{"x", DataType::kBool}}, 0);
  Tensor(tensorflow::DT_BOOL, {1})->add_bool_val(true);
  ASSERT_EQ(Predict(), absl::OkStatus());
  EXPECT_EQ(Bytes(), "\x01");

  Make({{"x", DataType::kBytes}}, 0);
  tensor = Tensor(tensorflow::DT_STRING, {2});
  tensor->add_string_val("a");
  tensor->add_string_val("");
  std::string expected;
  AppendBytesElement("a", &expected);
  AppendBytesElement("", &expected);
  ASSERT_EQ(Predict(), absl::OkStatus());
  EXPECT_EQ(Bytes(), expected);
}

TEST_F(TfsRequestTest, ContentAsItLiesInMemory) {
  Make({{"x", DataType::kInt32}}, 0);
  TensorProto* const tensor = Tensor(tensorflow::DT_INT32, {2});
  const int32_t values[] = {-1, 7};
  tensor->set_tensor_content(values, sizeof(values));
  ASSERT_EQ(Predict(), absl::OkStatus());
  EXPECT_THAT(Values<int32_t>(), ElementsAre(-1, 7));
  tensor->set_tensor_content("123");
  EXPECT_THAT(ErrorOfPredict(), HasSubstr("has 3 bytes of tensor_content, but 2 elements of 4"));
  Make({{"x", DataType::kBytes}}, 0);
  Tensor(tensorflow::DT_STRING, {1})->set_tensor_content("a");
  EXPECT_THAT(ErrorOfPredict(), HasSubstr("they must be in string_val"));
}

TEST_F(TfsRequestTest, TheLastValueStandsForTheRest) {
  Make({{"x", DataType::kInt64}}, 0);
  TensorProto* tensor = Tensor(tensorflow::DT_INT64, {4});
  ASSERT_EQ(Predict(), absl::OkStatus());
  EXPECT_THAT(Values<int64_t>(), ElementsAre(0, 0, 0, 0));
  tensor->add_int64_val(3);
  tensor->add_int64_val(5);
  ASSERT_EQ(Predict(), absl::OkStatus());
  EXPECT_THAT(Values<int64_t>(), ElementsAre(3, 5, 5, 5));
  EXPECT_TRUE(read_->ReadsQuickly());
  tensor->mutable_tensor_shape()->mutable_dim(0)->set_size(100'000);
  ASSERT_EQ(Predict(), absl::OkStatus());
  EXPECT_FALSE(read_->ReadsQuickly());
  tensor->mutable_tensor_shape()->mutable_dim(0)->set_size(1);
  EXPECT_THAT(ErrorOfPredict(), HasSubstr("has 2 values, but its shape has 1 elements"));
  tensor->mutable_tensor_shape()->mutable_dim(0)->set_size(int64_t{1} << 40);
  EXPECT_THAT(ErrorOfPredict(), HasSubstr("has more than 67108864 bytes"));

  Make({{"x", DataType::kBytes}}, 0);
  tensor = Tensor(tensorflow::DT_STRING, {3});
  tensor->add_string_val("ab");
  // Values that are none of the tensor's do not count.
  tensor->add_int_val(1);
  std::string expected;
  for (int i = 0; i < 3; ++i) AppendBytesElement("ab", &expected);
  ASSERT_EQ(Predict(), absl::OkStatus());
  EXPECT_EQ(Bytes(), expected);
}

TEST_F(TfsRequestTest, ShapesThatAreNone) {
  Make({{"x", DataType::kFp32}}, 0);
  TensorProto* const tensor = Tensor(tensorflow::DT_FLOAT, {-1});
  EXPECT_THAT(ErrorOfPredict(), HasSubstr("has the shape [-1], which no tensor has"));
  tensor->mutable_tensor_shape()->mutable_dim(0)->set_size(INT64_MAX);
  tensor->mutable_tensor_shape()->add_dim()->set_size(2);
  EXPECT_THAT(ErrorOfPredict(), HasSubstr("which no tensor has"));
  tensor->mutable_tensor_shape()->set_unknown_rank(true);
  EXPECT_THAT(ErrorOfPredict(), HasSubstr("has an unknown rank"));
}

TEST_F(TfsRequestTest, TypesAndNamesThatAreWrong) {
  Make({{"x", DataType::kFp32}}, 0);
  EXPECT_EQ(ErrorOfPredict(), "the request lacks the input 'x' of the signature");
  Tensor(tensorflow::DT_INT32, {0});
  EXPECT_EQ(ErrorOfPredict(), "the input 'x' takes DT_FLOAT, but the request has DT_INT32");
  (*predict_.mutable_inputs())["w"];
  EXPECT_EQ(ErrorOfPredict(), "the request has the input 'w', which is none of the signature: 'x'");
  predict_.mutable_model_spec()->set_signature_name("none");
  EXPECT_THAT(ErrorOfPredict(), HasSubstr("\"none\" not found"));
}

TEST_F(TfsRequestTest, OutputsAreThoseAskedFor) {
  Make({{"x", DataType::kFp32}}, 0);
  Tensor(tensorflow::DT_FLOAT, {0});
  ASSERT_EQ(Predict(), absl::OkStatus());
  EXPECT_EQ(answer_.outputs.size(), 2);
  EXPECT_EQ(answer_.signature_name, "serving_default");
  predict_.add_output_filter("z");
  ASSERT_EQ(Predict(), absl::OkStatus());
  ASSERT_EQ(answer_.outputs.size(), 1);
  EXPECT_EQ(answer_.outputs.front().key, "z");
  predict_.add_output_filter("q");
  EXPECT_EQ(ErrorOfPredict(),
            "the request has the output 'q', which is none of the signature: 'y', 'z'");
}

TEST_F(TfsRequestTest, FeaturesBecomeRows) {
  Make({{"x", DataType::kFp32, {2}}});
  EXPECT_THAT(Classify().message(), HasSubstr("needs examples"));
  tensorflow::Example* const first = AddExample();
  FeatureOf(first, "x")->mutable_float_list()->add_value(1.5);
  FeatureOf(first, "x")->mutable_float_list()->add_value(2);
  FeatureOf(first, "more");  // is ignored
  tensorflow::Example* const second = AddExample();
  EXPECT_THAT(Classify().message(), HasSubstr("lacks the feature 'x'"));
  FeatureOf(second, "x")->mutable_int64_list()->add_value(-3);
  EXPECT_THAT(Classify().message(), HasSubstr("its features differ"));
  FeatureOf(second, "x")->mutable_int64_list()->add_value(4);
  ASSERT_EQ(Classify(), absl::OkStatus());
  EXPECT_EQ(ReadShape(), Shape({2, 2}));
  EXPECT_THAT(Values<float>(), ElementsAre(1.5, 2, -3, 4));
  FeatureOf(second, "x")->mutable_bytes_list()->add_value("a");
  FeatureOf(second, "x")->mutable_bytes_list()->add_value("b");
  EXPECT_THAT(Classify().message(), HasSubstr("takes elements of FP32"));
}

TEST_F(TfsRequestTest, FeaturesOfIntegersAndBytes) {
  Make({{"x", DataType::kUint8, {1}}});
  FeatureOf(AddExample(), "x")->mutable_int64_list()->add_value(255);
  ASSERT_EQ(Classify(), absl::OkStatus());
  EXPECT_EQ(Bytes(), "\xff");
  for (const int64_t wrong : {int64_t{-1}, int64_t{256}}) {
    classify_.mutable_input()->Clear();
    FeatureOf(AddExample(), "x")->mutable_int64_list()->add_value(wrong);
    EXPECT_THAT(Classify().message(), HasSubstr("takes elements of UINT8"));
  }
  Make({{"x", DataType::kUint64, {1}}});
  EXPECT_EQ(Classify(), absl::OkStatus());
  classify_.mutable_input()->Clear();
  FeatureOf(AddExample(), "x")->mutable_int64_list()->add_value(-1);
  EXPECT_THAT(Classify().message(), HasSubstr("takes elements of UINT64"));
  Make({{"x", DataType::kFp16, {1}}});
  EXPECT_THAT(Classify().message(), HasSubstr("takes FP16, which no feature of an example has"));
  Make({{"x", DataType::kBytes, {1}}});
  classify_.mutable_input()->Clear();
  FeatureOf(AddExample(), "x")->mutable_bytes_list()->add_value("ab");
  std::string expected;
  AppendBytesElement("ab", &expected);
  ASSERT_EQ(Classify(), absl::OkStatus());
  EXPECT_EQ(Bytes(), expected);
}

TEST_F(TfsRequestTest, WhatTheContextHasAllRowsHave) {
  Make({{"x", DataType::kFp32, {1}}});
  auto* const input = classify_.mutable_input()->mutable_example_list_with_context();
  input->add_examples();
  tensorflow::Example* const second = input->add_examples();
  FeatureOf(input->mutable_context(), "x")->mutable_float_list()->add_value(5);
  ASSERT_EQ(Classify(), absl::OkStatus());
  EXPECT_THAT(Values<float>(), ElementsAre(5, 5));
  FeatureOf(second, "x")->mutable_float_list()->add_value(1);
  EXPECT_THAT(Classify().message(), HasSubstr("is in the context and in an example"));
}

TEST_F(TfsRequestTest, AModelThatParsesExamplesGetsThem) {
  Make({{"examples", DataType::kBytes, {1}}});
  auto* const input = classify_.mutable_input()->mutable_example_list_with_context();
  FeatureOf(input->add_examples(), "x")->mutable_float_list()->add_value(1);
  FeatureOf(input->mutable_context(), "c")->mutable_int64_list()->add_value(2);
  ASSERT_EQ(Classify(), absl::OkStatus());
  EXPECT_EQ(ReadShape(), Shape({1, 1}));
  const std::string bytes = Bytes();
  BytesElements elements(bytes);
  absl::string_view element;
  ASSERT_TRUE(elements.Next(&element));
  EXPECT_TRUE(elements.complete());
  tensorflow::Example example;
  ASSERT_TRUE(example.ParseFromArray(element.data(), static_cast<int>(element.size())));
  EXPECT_EQ(FeatureOf(&example, "x")->float_list().value(0), 1);
  EXPECT_EQ(FeatureOf(&example, "c")->int64_list().value(0), 2);
}

TEST_F(TfsRequestTest, ASharedContextIsLimited) {
  Make({{"x", DataType::kBytes, {1}}});
  auto* const input = classify_.mutable_input()->mutable_example_list_with_context();
  for (int i = 0; i < 100; ++i) input->add_examples();
  FeatureOf(input->mutable_context(), "x")
      ->mutable_bytes_list()
      ->add_value(std::string(1 << 20, 'a'));
  EXPECT_THAT(Classify().message(), HasSubstr("has more than 67108864 bytes"));
  EXPECT_FALSE(read_->ReadsQuickly());
}

}  // namespace
}  // namespace nereid
