// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/plain_request.h"

#include <gmock/gmock.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "grpc_service.pb.h"

namespace nereid {
namespace {

using google::protobuf::util::MessageDifferencer;
using inference::ModelInferRequest;
using ::testing::ElementsAre;

bool IsPlain(const std::string& bytes) {
  PlainRequest plain;
  return ReadPlainRequest(bytes, &plain);
}

bool IsPlain(const ModelInferRequest& message) { return IsPlain(message.SerializeAsString()); }

// The message that a plain request stands for.
ModelInferRequest ToMessage(const PlainRequest& plain) {
  ModelInferRequest message;
  message.set_model_name(std::string(plain.model_name));
  message.set_model_version(std::string(plain.model_version));
  message.set_id(std::string(plain.id));
  for (const PlainInput& from : plain.inputs) {
    ModelInferRequest::InferInputTensor* const input = message.add_inputs();
    input->set_name(std::string(from.name));
    input->set_datatype(std::string(from.data_type));
    for (const int64_t dim : from.shape) input->add_shape(dim);
  }
  for (const absl::string_view name : plain.outputs) {
    message.add_outputs()->set_name(std::string(name));
  }
  return message;
}

ModelInferRequest Example() {
  ModelInferRequest message;
  message.set_model_name("model");
  message.set_model_version("3");
  message.set_id("request 7");
  ModelInferRequest::InferInputTensor* const input = message.add_inputs();
  input->set_name("IN");
  input->set_datatype("FP32");
  input->add_shape(-1);
  input->add_shape(int64_t{1} << 40);
  message.add_inputs()->set_name("SCALAR");
  message.add_outputs()->set_name("OUT");
  message.add_outputs()->set_name("OTHER");
  return message;
}

TEST(PlainRequest, ReadsAllFields) {
  const std::string bytes = Example().SerializeAsString();
  PlainRequest plain;
  ASSERT_TRUE(ReadPlainRequest(bytes, &plain));
  EXPECT_EQ(plain.model_name, "model");
  EXPECT_EQ(plain.model_version, "3");
  EXPECT_EQ(plain.id, "request 7");
  ASSERT_EQ(plain.inputs.size(), 2u);
  EXPECT_EQ(plain.inputs[0].name, "IN");
  EXPECT_EQ(plain.inputs[0].data_type, "FP32");
  EXPECT_THAT(plain.inputs[0].shape, ElementsAre(-1, int64_t{1} << 40));
  EXPECT_EQ(plain.inputs[1].name, "SCALAR");
  EXPECT_TRUE(plain.inputs[1].shape.empty());
  EXPECT_THAT(plain.outputs, ElementsAre("OUT", "OTHER"));
}

TEST(PlainRequest, NothingIsPlain) { EXPECT_TRUE(IsPlain("")); }

TEST(PlainRequest, ShapeThatIsNotPacked) {
  PlainRequest plain;
  ASSERT_TRUE(ReadPlainRequest("\x2a\x04\x18\x05\x18\x07", &plain));
  EXPECT_THAT(plain.inputs[0].shape, ElementsAre(5, 7));
}

TEST(PlainRequest, WhatIsLeftToProtobuf) {
  ModelInferRequest parameter = Example();
  (*parameter.mutable_parameters())["priority"].set_int64_param(1);
  EXPECT_FALSE(IsPlain(parameter));
  ModelInferRequest of_input = Example();
  (*of_input.mutable_inputs(0)->mutable_parameters())["a"].set_bool_param(true);
  EXPECT_FALSE(IsPlain(of_input));
  ModelInferRequest of_output = Example();
  (*of_output.mutable_outputs(0)->mutable_parameters())["classification"].set_int64_param(1);
  EXPECT_FALSE(IsPlain(of_output));
  ModelInferRequest contents = Example();
  contents.mutable_inputs(0)->mutable_contents()->add_fp32_contents(1);
  EXPECT_FALSE(IsPlain(contents));
  ModelInferRequest umlaut = Example();
  umlaut.set_model_name("M\xc3\xbcller");
  EXPECT_FALSE(IsPlain(umlaut));
  const std::string bytes = Example().SerializeAsString();
  EXPECT_FALSE(IsPlain(bytes + bytes)) << "names that are there twice";
  EXPECT_FALSE(IsPlain(bytes + "\x7a\x01x")) << "an unknown field";
  EXPECT_FALSE(IsPlain(bytes.substr(0, bytes.size() - 1))) << "a message that is cut off";
  EXPECT_FALSE(IsPlain(std::string("\x0a\x81\x80\x80\x80\x00m", 7))) << "a length of five bytes";
}

TEST(PlainRequest, LimitsWhatItKeeps) {
  ModelInferRequest message;
  for (size_t i = 0; i < PlainRequest::kMostTensors; ++i) {
    ModelInferRequest::InferInputTensor* const input = message.add_inputs();
    for (size_t dim = 0; dim < PlainRequest::kMostDimensions; ++dim) input->add_shape(1);
    message.add_outputs();
  }
  EXPECT_TRUE(IsPlain(message));
  ModelInferRequest inputs = message;
  inputs.add_inputs();
  EXPECT_FALSE(IsPlain(inputs));
  ModelInferRequest outputs = message;
  outputs.add_outputs();
  EXPECT_FALSE(IsPlain(outputs));
  ModelInferRequest dims = message;
  dims.mutable_inputs(3)->add_shape(1);
  EXPECT_FALSE(IsPlain(dims));
}

// What is plain after some damage, protobuf reads in the same way.
TEST(PlainRequest, AgreesWithProtobufOnDamagedMessages) {
  const google::protobuf::LogSilencer silencer;
  std::mt19937 random(11);
  const std::string whole = Example().SerializeAsString();
  int understood = 0;
  for (int round = 0; round < 50000; ++round) {
    std::string bytes = whole;
    const int damages = std::uniform_int_distribution<int>(1, 3)(random);
    for (int i = 0; i < damages; ++i) {
      const size_t at = std::uniform_int_distribution<size_t>(0, bytes.size() - 1)(random);
      bytes[at] = static_cast<char>(std::uniform_int_distribution<int>(0, 255)(random));
    }
    PlainRequest plain;
    if (!ReadPlainRequest(bytes, &plain)) continue;
    ++understood;
    ModelInferRequest expected;
    ASSERT_TRUE(expected.ParseFromString(bytes)) << "round " << round;
    ASSERT_TRUE(MessageDifferencer::Equals(ToMessage(plain), expected)) << "round " << round;
  }
  EXPECT_GT(understood, 1000);
}

}  // namespace
}  // namespace nereid
