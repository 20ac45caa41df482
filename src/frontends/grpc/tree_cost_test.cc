#include "frontends/grpc/tree_cost.h"

#include <gtest/gtest.h>

#include <string>

#include "grpc_service.pb.h"

namespace nereid {
namespace {

using inference::ModelInferRequest;

// What protobuf takes for `bytes`, and what is foretold.
void ExpectEnough(const std::string& bytes, double most) {
  ModelInferRequest read;
  ASSERT_TRUE(read.ParseFromString(bytes));
  const auto taken = static_cast<double>(read.SpaceUsedLong());
  const auto foretold = static_cast<double>(TreeCost(bytes).value_or(0));
  EXPECT_GE(foretold, taken) << bytes.size();
  EXPECT_LE(foretold, most * taken + 2048) << bytes.size();
}

TEST(TreeCostTest, EmptyObjectsCostWhatTheyBecome) {
  std::string inputs, outputs;
  for (int i = 0; i < 10'000; ++i) {
    inputs += std::string("\x2a\x00", 2);
    outputs += std::string("\x32\x00", 2);
  }
  EXPECT_GT(TreeCost(inputs).value_or(0), 50 * inputs.size());
  ExpectEnough(inputs, 3);
  ExpectEnough(outputs, 4);
}

TEST(TreeCostTest, WhatFollowsAnUnknownGroupIsCounted) {
  // Field 15 begins and ends.
  std::string bytes = "\x7b\x7c";
  for (int i = 0; i < 10'000; ++i) bytes += std::string("\x2a\x00", 2);
  ExpectEnough(bytes, 3);
}

TEST(TreeCostTest, UnknownFields) {
  for (const std::string field : {"\x78\x01", "\x7b\x7c", "\x7d\x01\x01\x01\x01", "\x7a\x01x"}) {
    std::string bytes;
    for (int i = 0; i < 10'000; ++i) bytes += field;
    ExpectEnough(bytes, 10);
    std::string input;
    for (int i = 0; i < 20; ++i) input += field;
    bytes.clear();
    for (int i = 0; i < 1000; ++i)
      bytes += "\x2a" + std::string(1, static_cast<char>(input.size())) + input;
    ExpectEnough(bytes, 10);
  }
}

TEST(TreeCostTest, TypedValues) {
  for (const int count : {1, 1000, 100'000}) {
    for (const int kind : {0, 1, 2, 3, 4, 5}) {
      ModelInferRequest request;
      auto* const contents = request.add_inputs()->mutable_contents();
      for (int i = 0; i < count; ++i) {
        if (kind == 0) contents->add_bool_contents(true);
        if (kind == 1) contents->add_int_contents(i % 100);
        if (kind == 2) contents->add_int64_contents(i % 100);
        if (kind == 3) contents->add_fp32_contents(1.5f);
        if (kind == 4) contents->add_bytes_contents("");
        if (kind == 5) contents->add_uint64_contents(UINT64_MAX);
      }
      ExpectEnough(request.SerializeAsString(), 3);
    }
  }
}

TEST(TreeCostTest, ParametersAndShapes) {
  ModelInferRequest request;
  auto* const input = request.add_inputs();
  for (int i = 0; i < 1000; ++i) {
    input->add_shape(1);
    (*request.mutable_parameters())[std::to_string(i)].set_bool_param(true);
    (*input->mutable_parameters())[std::string(100, 'x') + std::to_string(i)].set_string_param("y");
  }
  ExpectEnough(request.SerializeAsString(), 3);
}

// protobuf takes memory for what such messages claim before it finds them wrong: a text of 24 bytes
// made it reserve 50 MB.
TEST(TreeCostTest, MessagesThatAreCutOffAreRefused) {
  const std::string huge = "\xff\xff\xff\x1f";
  for (const std::string& bytes :
       {"\x2a" + huge,                                         // an input
        "\x2a\x06\x2a" + huge,                                 // contents, as long as the input
        "\x2a\x05\x2a" + huge,                                 // contents, longer than the input
        "\x22\x08\x0a\x01k\x12" + huge,                        // a parameter
        "\x2a\x0a\x22\x08\x0a\x01k\x12" + huge,                // a parameter of an input
        "\x32\x0c\x12\x0a\x0a\x01k\x12\x05\x1a" + huge,        // the text of an output's parameter
        std::string("\x2a\x02\x2c\x2c"), std::string("\x2f"),  // ends of groups; no wire type
        std::string(1000, '\xff')}) {
    EXPECT_EQ(TreeCost(bytes), std::nullopt) << testing::PrintToString(bytes);
    EXPECT_FALSE(ModelInferRequest().ParseFromString(bytes));
  }
}

}  // namespace
}  // namespace nereid
