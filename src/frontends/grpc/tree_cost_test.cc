// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/tree_cost.h"

#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>

#include "frontends/grpc/testing/methods.h"

namespace nereid {
namespace {

using inference::ModelInferRequest;

std::optional<TreeCost> OfInfer(const std::string& bytes, uint64_t most_work = UINT64_MAX) {
  return ForetellTree(*ModelInferRequest::descriptor(), bytes, most_work);
}

// What protobuf takes for `bytes`, and what is foretold.
void ExpectEnough(const std::string& bytes, double most) {
  ModelInferRequest read;
  ASSERT_TRUE(read.ParseFromString(bytes));
  const auto taken = static_cast<double>(read.SpaceUsedLong());
  const auto foretold = static_cast<double>(OfInfer(bytes).value_or(TreeCost()).bytes);
  EXPECT_GE(foretold, taken) << bytes.size();
  EXPECT_LE(foretold, most * taken + 2048) << bytes.size();
}

TEST(TreeCostTest, EmptyObjectsCostWhatTheyBecome) {
  std::string inputs, outputs;
  for (int i = 0; i < 10'000; ++i) {
    inputs += std::string("\x2a\x00", 2);
    outputs += std::string("\x32\x00", 2);
  }
  EXPECT_GT(OfInfer(inputs)->bytes, 50 * inputs.size());
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
    EXPECT_FALSE(OfInfer(bytes).has_value()) << testing::PrintToString(bytes);
    EXPECT_FALSE(ModelInferRequest().ParseFromString(bytes));
  }
}

// ---- Every type of request.

std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

// One field of a message of type `type`, known or not, with content that fits it or not.
std::string AnyField(const google::protobuf::Descriptor& type, int depth, std::mt19937* random);

std::string AnyFields(const google::protobuf::Descriptor& type, int depth, std::mt19937* random) {
  // Now and then the same field many times.
  std::string bytes;
  const uint32_t kinds = (*random)() % 4;
  for (uint32_t kind = 0; kind < kinds; ++kind) {
    const std::string field = AnyField(type, depth, random);
    const uint32_t times = (*random)() % 3 == 0 ? (*random)() % 300 : 1;
    for (uint32_t i = 0; i < times && bytes.size() < 20'000; ++i) bytes += field;
  }
  return bytes;
}

std::string AnyField(const google::protobuf::Descriptor& type, int depth, std::mt19937* random) {
  const uint32_t number = 1 + (*random)() % 10;
  switch ((*random)() % 8) {
    case 0:
      return Varint(number << 3) + Varint((*random)() >> (*random)() % 32);
    case 1:
      return Varint(number << 3 | 1) + std::string(8, 'd');
    case 2:
      return Varint(number << 3 | 5) + std::string(4, 'f');
    case 3:  // a group
      return Varint(number << 3 | 3) + Varint(number << 3 | 4);
    default:
      break;
  }
  std::string content((*random)() % 40, static_cast<char>((*random)() % 128));
  if (const auto* const field = type.FindFieldByNumber(static_cast<int>(number));
      field != nullptr && field->message_type() != nullptr) {
    content = depth < 6 ? AnyFields(*field->message_type(), depth + 1, random) : "";
  }
  return Varint(number << 3 | 2) + Varint(content.size()) + content;
}

// Parses `bytes` as the request of each method.
void ExpectEnoughForEveryMethod(const std::string& bytes) {
  for (const google::protobuf::MethodDescriptor* method : AllMethods()) {
    const auto request = NewRequest(*method);
    const std::optional<TreeCost> cost = ForetellTree(*method->input_type(), bytes);
    if (!request->ParseFromString(bytes)) continue;
    ASSERT_TRUE(cost.has_value()) << method->full_name();
    EXPECT_GE(cost->bytes, request->SpaceUsedLong())
        << method->full_name() << " " << testing::PrintToString(bytes.substr(0, 100));
    EXPECT_LE(cost->work, bytes.size()) << method->full_name();
  }
}

TEST(TreeCostTest, RandomRequestsOfEveryMethod) {
  std::mt19937 random(3);
  int read = 0;
  for (const google::protobuf::MethodDescriptor* method : AllMethods()) {
    for (int i = 0; i < 300; ++i) {
      const std::string bytes = AnyFields(*method->input_type(), 0, &random);
      const auto request = NewRequest(*method);
      if (!request->ParseFromString(bytes)) continue;
      ++read;
      const std::optional<TreeCost> cost = ForetellTree(*method->input_type(), bytes);
      ASSERT_TRUE(cost.has_value()) << method->full_name();
      EXPECT_GE(cost->bytes, request->SpaceUsedLong()) << method->full_name();
      EXPECT_LE(cost->work, bytes.size()) << method->full_name();
    }
  }
  EXPECT_GT(read, 5000);
}

// What becomes most for its size, at the top, in a message and in an entry of a map.
TEST(TreeCostTest, TheSmallestFieldsOfEveryMethod) {
  for (int number = 1; number <= 16; ++number) {
    const std::string tag = Varint(static_cast<uint64_t>(number) << 3 | 2);
    std::string empty, units, groups, packed;
    for (int i = 0; i < 5000; ++i) {
      empty += tag + std::string(1, '\0');
      units += Varint(static_cast<uint64_t>(number) << 3) + "\x01";
      groups += Varint(static_cast<uint64_t>(number) << 3 | 3) +
                Varint(static_cast<uint64_t>(number) << 3 | 4);
      packed += tag + "\x01\x01";
    }
    for (const std::string& bytes : {empty, units, groups, packed}) {
      ExpectEnoughForEveryMethod(bytes);
      for (int outer = 1; outer <= 8; ++outer) {
        const std::string outer_tag = Varint(static_cast<uint64_t>(outer) << 3 | 2);
        const std::string nested = outer_tag + Varint(bytes.size()) + bytes;
        ExpectEnoughForEveryMethod(nested);
        // The value of an entry.
        ExpectEnoughForEveryMethod(outer_tag + Varint(nested.size() + 3) + "\x0a\x01k" + nested);
      }
    }
  }
}

// Nested deeper than protobuf reads.
TEST(TreeCostTest, DepthIsLimited) {
  // The type of the sources' descriptions may contain itself.
  const google::protobuf::Descriptor& type = *google::protobuf::DescriptorProto::descriptor();
  for (const int depth : {90, 200, 20'000}) {
    std::string bytes;
    for (int i = 0; i < depth; ++i) bytes = "\x1a" + Varint(bytes.size()) + bytes;
    google::protobuf::DescriptorProto read;
    EXPECT_EQ(ForetellTree(type, bytes).has_value(), depth == 90);
    EXPECT_EQ(read.ParseFromString(bytes), depth == 90);
  }
}

// ---- How long parsing takes.

TEST(TreeCostTest, WorkIsWhatProtobufLooksAt) {
  ModelInferRequest floats;
  for (int i = 0; i < 100'000; ++i) {
    floats.add_inputs()->mutable_contents();
    floats.mutable_inputs(0)->mutable_contents()->add_fp32_contents(1);
    if (floats.inputs_size() > 1) floats.mutable_inputs()->RemoveLast();
  }
  EXPECT_LT(OfInfer(floats.SerializeAsString())->work, 400'000u / 16 + 100);
  ModelInferRequest numbers, texts, blob;
  numbers.add_inputs()->mutable_contents();
  texts.add_inputs()->mutable_contents();
  for (int i = 0; i < 100'000; ++i) {
    numbers.mutable_inputs(0)->mutable_contents()->add_int_contents(1);
    texts.mutable_inputs(0)->mutable_contents()->add_bytes_contents("");
  }
  blob.add_inputs()->mutable_contents()->add_bytes_contents(std::string(1'000'000, 'x'));
  EXPECT_GE(OfInfer(numbers.SerializeAsString())->work, 100'000u);
  EXPECT_GE(OfInfer(texts.SerializeAsString())->work, 200'000u);
  EXPECT_LT(OfInfer(blob.SerializeAsString())->work, 1'000'000u / 16 + 100);
}

TEST(TreeCostTest, AScanEndsWhenTheWorkIsTooMuch) {
  std::string unknown, nested;
  for (int i = 0; i < 100'000; ++i) unknown += "\x78\x01";
  nested = "\x2a" + Varint(unknown.size()) + unknown;
  for (const std::string& bytes : {unknown, nested}) {
    const std::optional<TreeCost> cost = OfInfer(bytes, 1000);
    EXPECT_GT(cost->work, 1000u);
    EXPECT_LT(cost->work, 1100u);
    EXPECT_EQ(OfInfer(bytes)->work, bytes.size());
  }
}

// ---- Charging.

TEST(TreeCostTest, ParsingIsPaidForBefore) {
  std::string bytes;
  for (int i = 0; i < 10'000; ++i) bytes += std::string("\x2a\x00", 2);
  Budget budget("bytes", 10 << 20);
  ModelInferRequest request;
  {
    const absl::StatusOr<BudgetUnits> units = ParseCharged(bytes, &budget, nullptr, &request);
    ASSERT_TRUE(units.ok()) << units.status();
    EXPECT_EQ(budget.used(), OfInfer(bytes)->bytes);
    EXPECT_EQ(request.inputs_size(), 10'000);
    ModelInferRequest other;
    EXPECT_TRUE(
        absl::IsInvalidArgument(ParseCharged("\x2a\x05", &budget, nullptr, &other).status()));
  }
  EXPECT_EQ(budget.used(), 0u);
  Budget small("bytes", 1 << 20);
  ModelInferRequest refused;
  EXPECT_TRUE(absl::IsUnavailable(ParseCharged(bytes, &small, nullptr, &refused).status()));
  EXPECT_EQ(refused.inputs_size(), 0);
  EXPECT_TRUE(ParseCharged(bytes, nullptr, nullptr, &refused).ok());
}

TEST(TreeCostTest, ATypicalMessageIsFree) {
  ModelInferRequest request;
  request.set_model_name("model");
  request.add_inputs()->set_name("INPUT0");
  (*request.mutable_parameters())["sequence_id"].set_int64_param(7);
  Budget budget("bytes", 1);
  ModelInferRequest read;
  EXPECT_TRUE(ParseCharged(request.SerializeAsString(), &budget, nullptr, &read).ok());
}

}  // namespace
}  // namespace nereid
