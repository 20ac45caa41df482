// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/infer_request_reader.h"

#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "frontends/codec/codec_testing.h"
#include "frontends/codec/request_limits.h"
#include "frontends/grpc/infer_parameters.h"

namespace nereid {
namespace {

constexpr int kMany = 100000;

class InferRequestReaderTest : public ::testing::Test {
 protected:
  absl::Status Read() {
    request_ = std::make_unique<InferRequest>(
        codec_testing::MakeModelWithInputs({{"i0", DataType::kInt32, {1}}}), -1);
    formats_ = OutputFormats();
    return ReadInferRequest({message_, split_}, request_.get(), &buffers_, &formats_);
  }
  std::string TextOfRead() { return std::string(Read().message()); }

  inference::ModelInferRequest::InferInputTensor* AddInput(const std::string& name) {
    auto* const input = message_.add_inputs();
    input->set_name(name);
    input->set_datatype("INT32");
    input->add_shape(1);
    input->mutable_contents()->add_int_contents(7);
    return input;
  }

  inference::ModelInferRequest message_;
  SplitInferRequest split_;
  std::unique_ptr<InferRequest> request_;
  RequestBuffers buffers_;
  OutputFormats formats_;
};

TEST_F(InferRequestReaderTest, OfManyInputsFewAreKept) {
  for (int i = 0; i < kMany; ++i) AddInput(absl::StrCat("i", i));
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(request_->inputs().size(), kKeptTensors);
}

TEST_F(InferRequestReaderTest, OfManyOutputsFewAreKept) {
  AddInput("i0");
  for (int i = 0; i < kMany; ++i) {
    auto* const output = message_.add_outputs();
    output->set_name(absl::StrCat("o", i));
    (*output->mutable_parameters())["classification"].set_int64_param(1);
  }
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(request_->asked_outputs().size(), kKeptTensors);
  EXPECT_EQ(formats_.named.size(), kKeptTensors);
}

TEST_F(InferRequestReaderTest, RepeatedTensorsAreRefused) {
  for (int i = 0; i < 2; ++i) AddInput("i0");
  EXPECT_EQ(TextOfRead(), "[request id: <id_unknown>] input 'i0' already exists in request");
  message_.clear_inputs();
  for (int i = 0; i < 2; ++i) message_.add_outputs()->set_name("o");
  EXPECT_EQ(TextOfRead(), "[request id: <id_unknown>] output 'o' already exists in request");
}

TEST_F(InferRequestReaderTest, ParametersAreLimited) {
  inference::ModelInferRequest::InferInputTensor* const input = AddInput("i0");
  GrpcParameters parameters;
  for (int i = 0; i < 1024; ++i) parameters[absl::StrCat("p", i)].set_bool_param(true);
  *input->mutable_parameters() = parameters;
  EXPECT_TRUE(Read().ok());
  parameters["one more"].set_bool_param(true);
  *input->mutable_parameters() = parameters;
  EXPECT_EQ(TextOfRead(), "an input has 1025 parameters, at most 1024 are allowed");

  message_.clear_inputs();
  *message_.add_outputs()->mutable_parameters() = parameters;
  EXPECT_EQ(TextOfRead(), "an output has 1025 parameters, at most 1024 are allowed");

  message_.clear_outputs();
  *message_.mutable_parameters() = parameters;
  EXPECT_EQ(TextOfRead(), "the request has 1025 parameters, at most 1024 are allowed");
}

TEST_F(InferRequestReaderTest, TextsAreLimited) {
  const std::string fits(1024, 'x');
  message_.set_id(fits);
  (*message_.mutable_parameters())[fits].set_string_param(std::string(1 << 20, 'x'));
  AddInput(fits);
  message_.add_outputs()->set_name(fits);
  EXPECT_TRUE(Read().ok());

  message_.mutable_outputs(0)->set_name(fits + "x");
  EXPECT_EQ(TextOfRead(), "the name of an output has 1025 bytes, at most 1024 are allowed");
  message_.mutable_inputs(0)->set_name(fits + "x");
  EXPECT_EQ(TextOfRead(), "the name of an input has 1025 bytes, at most 1024 are allowed");
  (*message_.mutable_parameters())["p"].set_string_param(std::string((1 << 20) + 1, 'x'));
  EXPECT_EQ(TextOfRead(), "the parameter 'p' has 1048577 bytes, at most 1048576 are allowed");
  message_.clear_parameters();
  (*message_.mutable_parameters())[fits + "x"].set_bool_param(true);
  EXPECT_EQ(TextOfRead(), "the name of a parameter has 1025 bytes, at most 1024 are allowed");
  message_.set_id(fits + "x");
  EXPECT_EQ(TextOfRead(), "the id of the request has 1025 bytes, at most 1024 are allowed");
}

TEST_F(InferRequestReaderTest, DimensionsAreLimited) {
  auto* const input = AddInput("i0");
  while (input->shape_size() < 128) input->add_shape(1);
  EXPECT_TRUE(Read().ok());
  input->add_shape(1);
  EXPECT_EQ(TextOfRead(), "the shape of 'i0' has 129 dimensions, at most 128 are allowed");
}

}  // namespace
}  // namespace nereid
