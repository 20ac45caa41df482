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
  const auto foretold = static_cast<double>(TreeCost(bytes));
  EXPECT_GE(foretold, taken) << bytes.size();
  EXPECT_LE(foretold, most * taken + 2048) << bytes.size();
}

TEST(TreeCostTest, EmptyObjectsCostWhatTheyBecome) {
  std::string inputs, outputs;
  for (int i = 0; i < 10'000; ++i) {
    inputs += std::string("\x2a\x00", 2);
    outputs += std::string("\x32\x00", 2);
  }
  EXPECT_GT(TreeCost(inputs), 50 * inputs.size());
  ExpectEnough(inputs, 3);
  ExpectEnough(outputs, 4);
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

TEST(TreeCostTest, BytesThatAreNoMessageAreNotTrusted) {
  EXPECT_LT(TreeCost(std::string(1000, '\xff')), 1000u);
  // A length beyond the end.
  EXPECT_LT(TreeCost("\x2a\xff\xff\xff\xff\x0f"), 1000u);
}

}  // namespace
}  // namespace nereid
