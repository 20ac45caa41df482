// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/infer_parameters.h"

#include <gtest/gtest.h>

#include <string>

namespace nereid {
namespace {

using inference::InferParameter;

std::string TextOf(const absl::Status& status) {
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

class RequestParametersTest : public testing::Test {
 protected:
  InferParameter& Set(const std::string& key) { return parameters_[key]; }
  absl::Status Read() { return ReadRequestParameters(parameters_, &request_); }

  GrpcParameters parameters_;
  InferRequest request_{nullptr, 1};
};

TEST_F(RequestParametersTest, Sequence) {
  Set("sequence_id").set_int64_param(-1);
  Set("sequence_start").set_bool_param(true);
  Set("sequence_end").set_bool_param(true);
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(request_.correlation_id(), CorrelationId(UINT64_MAX));
  EXPECT_EQ(request_.flags(), kRequestFlagSequenceStart | kRequestFlagSequenceEnd);
}

TEST_F(RequestParametersTest, FalseSetsNoFlag) {
  Set("sequence_start").set_bool_param(false);
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(request_.flags(), 0u);
}

TEST_F(RequestParametersTest, SequenceNamedByText) {
  Set("sequence_id").set_string_param(std::string(128, 'x'));
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(request_.correlation_id(), CorrelationId(std::string(128, 'x')));
  Set("sequence_id").set_string_param(std::string(129, 'x'));
  const absl::Status too_long = Read();
  EXPECT_EQ(too_long.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(too_long.message(), "string correlation ID cannot be longer than 128 characters");
}

TEST_F(RequestParametersTest, PriorityAndTimeout) {
  Set("priority").set_uint64_param(UINT64_MAX);
  Set("timeout").set_int64_param(250);
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(request_.timeout_us(), 250u);
  EXPECT_TRUE(request_.parameters().empty());
}

TEST_F(RequestParametersTest, TimeoutsAreNotNegative) {
  Set("timeout").set_int64_param(-1);
  EXPECT_EQ(TextOf(Read()), "invalid value for 'timeout', expected value >= 0.");
}

TEST_F(RequestParametersTest, OthersGoToTheModel) {
  Set("number").set_int64_param(7);
  ASSERT_TRUE(Read().ok());
  Set("flag").set_bool_param(true);
  Set("text").set_string_param("t");
  Set("real").set_double_param(0.5);
  InferRequest all(nullptr, 1);
  ASSERT_TRUE(ReadRequestParameters(parameters_, &all).ok());
  ASSERT_EQ(request_.parameters().size(), 1u);
  EXPECT_EQ(request_.parameters()[0].name, "number");
  EXPECT_EQ(request_.parameters()[0].value, ParameterValue(int64_t{7}));
  ASSERT_EQ(all.parameters().size(), 4u);
  for (const Parameter& parameter : all.parameters()) {
    if (parameter.name == "flag") {
      EXPECT_EQ(parameter.value, ParameterValue(true));
    }
    if (parameter.name == "text") {
      EXPECT_EQ(parameter.value, ParameterValue(std::string("t")));
    }
    if (parameter.name == "real") {
      EXPECT_EQ(parameter.value, ParameterValue(0.5));
    }
  }
}

TEST_F(RequestParametersTest, EmptyFinalResponseIsAllowed) {
  Set("triton_enable_empty_final_response").set_bool_param(true);
  EXPECT_TRUE(Read().ok());
  EXPECT_TRUE(request_.parameters().empty());
}

TEST_F(RequestParametersTest, Errors) {
  struct Case {
    std::string key;
    InferParameter value;
    std::string text;
  };
  const auto of_bool = [] {
    InferParameter p;
    p.set_bool_param(true);
    return p;
  };
  const auto of_int = [](int64_t v) {
    InferParameter p;
    p.set_int64_param(v);
    return p;
  };
  const auto of_text = [] {
    InferParameter p;
    p.set_string_param("x");
    return p;
  };
  const auto of_uint = [] {
    InferParameter p;
    p.set_uint64_param(1);
    return p;
  };
  const Case cases[] = {
      {"sequence_id", of_bool(),
       "invalid value type for 'sequence_id' parameter, expected int64_param or string_param."},
      {"sequence_start", of_text(),
       "invalid value type for 'sequence_start' parameter, expected bool_param."},
      {"sequence_end", of_int(1),
       "invalid value type for 'sequence_end' parameter, expected bool_param."},
      {"priority", of_int(-1), "invalid value for 'priority', expected value >= 0."},
      {"priority", of_text(),
       "invalid value type for 'priority' parameter, expected int64_param or uint64_param."},
      {"timeout", of_uint(), "invalid value type for 'timeout' parameter, expected int64_param."},
      {"triton_x", of_bool(),
       "parameter keys starting with 'triton_' are reserved for Triton usage. Only the following "
       "keys starting with 'triton_' are allowed: triton_enable_empty_final_response"},
      {"triton_enable_empty_final_response", of_int(1),
       "invalid value type for 'triton_enable_empty_final_response' parameter, expected "
       "bool_param."},
      {"mine", of_uint(),
       "invalid value type for 'mine' parameter, expected int64_param, bool_param, or "
       "string_param."},
      {"mine", InferParameter(),
       "invalid value type for 'mine' parameter, expected int64_param, bool_param, or "
       "string_param."},
  };
  for (const Case& c : cases) {
    GrpcParameters parameters;
    parameters[c.key] = c.value;
    InferRequest request(nullptr, 1);
    EXPECT_EQ(TextOf(ReadRequestParameters(parameters, &request)), c.text);
  }
}

TEST(SharedMemoryParameters, NoneAndNamed) {
  GrpcParameters parameters;
  EXPECT_FALSE(SharedMemoryOf("T", parameters).value().has_value());
  parameters["shared_memory_region"].set_string_param("r");
  parameters["shared_memory_byte_size"].set_int64_param(4);
  std::optional<SharedMemoryRange> range = SharedMemoryOf("T", parameters).value();
  ASSERT_TRUE(range.has_value());
  EXPECT_EQ(range->region, "r");
  EXPECT_EQ(range->offset, 0u);
  EXPECT_EQ(range->byte_size, 4u);
  parameters["shared_memory_offset"].set_int64_param(-8);
  range = SharedMemoryOf("T", parameters).value();
  ASSERT_TRUE(range.has_value());
  EXPECT_EQ(range->offset, ~uint64_t{7});
}

TEST(SharedMemoryParameters, Errors) {
  const auto error = [](const GrpcParameters& parameters) {
    return TextOf(SharedMemoryOf("T", parameters).status());
  };
  GrpcParameters parameters;
  parameters["shared_memory_region"].set_int64_param(1);
  EXPECT_EQ(error(parameters),
            "invalid value type for 'shared_memory_region' parameter for tensor 'T', expected "
            "string_param.");
  parameters["shared_memory_region"].set_string_param("r");
  EXPECT_EQ(error(parameters),
            "'shared_memory_byte_size' must be specified along with 'shared_memory_region' "
            "parameter for tensor 'T'");
  parameters["shared_memory_byte_size"].set_string_param("4");
  EXPECT_EQ(error(parameters),
            "invalid value type for 'shared_memory_byte_size' parameter for tensor 'T', expected "
            "int64_param.");
  parameters.clear();
  parameters["shared_memory_offset"].set_int64_param(1);
  EXPECT_EQ(error(parameters),
            "'shared_memory_offset' can not be specified without 'shared_memory_region' parameter "
            "for tensor 'T'");
}

TEST(ClassificationParameter, Values) {
  GrpcParameters parameters;
  EXPECT_EQ(ClassificationOf(parameters).value(), 0u);
  parameters["classification"].set_int64_param(3);
  EXPECT_EQ(ClassificationOf(parameters).value(), 3u);
  parameters["classification"].set_int64_param(0);
  EXPECT_EQ(TextOf(ClassificationOf(parameters).status()),
            "invalid value for 'classification' parameter, expected >= 0");
  parameters["classification"].set_string_param("two");
  EXPECT_EQ(TextOf(ClassificationOf(parameters).status()),
            "invalid value type for 'classification' parameter, expected int64_param");
}

}  // namespace
}  // namespace nereid
