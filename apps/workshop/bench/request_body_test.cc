// SPDX-License-Identifier: Apache-2.0
#include "bench/request_body.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "bench/error_counts.h"
#include "bench/model_description.h"
#include "bench/row_run.h"
#include "bench/shared_regions.h"
#include "frontends/tracing/protobuf_text.h"

namespace nereid::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

ModelDescription Model() {
  ModelDescription model;
  model.name = "m";
  model.outputs = {{"Y", DataType::kFp32, {-1, 2}}};
  return model;
}

const RequestInputs kInputs = {{"A", DataType::kInt8, {1, 2}, "\1\2"}};
const RequestPlaces kPlaces = {{{"in", 64, 2}}, {{"out", 0, 8}}};

TEST(HttpBodyTest, BinaryTensors) {
  const auto body = MakeHttpBody(Model(), kInputs, {}, false);
  ASSERT_TRUE(body.ok());
  const std::string json =
      R"({"inputs":[{"name":"A","datatype":"INT8","shape":[1,2],"parameters":{"binary_data_size":2}}],)"
      R"("outputs":[{"name":"Y","parameters":{"binary_data":true}}]})";
  EXPECT_EQ(body->bytes, json + "\1\2");
  EXPECT_EQ(body->header_length, static_cast<int64_t>(json.size()));
}

TEST(HttpBodyTest, JsonTensors) {
  EXPECT_EQ(MakeHttpBody(Model(), kInputs, {}, true)->bytes,
            R"({"inputs":[{"name":"A","datatype":"INT8","shape":[1,2],"data":[1,2]}]})");
  const RequestInputs half = {{"A", DataType::kFp16, {1}, "12"}};
  EXPECT_THAT(MakeHttpBody(Model(), half, {}, true).status().message(), HasSubstr("FP16"));
}

ModelDescription Shaped(const std::vector<int64_t>& shape) {
  ModelDescription model;
  model.inputs = {{"A", DataType::kInt8, shape}};
  return model;
}

TEST(GenerateBodyTest, InputsAreMembers) {
  const RequestInputs inputs = {{"A", DataType::kInt8, {1, 2}, "\1\2"},
                                {"B\"", DataType::kBytes, {1}, std::string("\1\0\0\0x", 5)}};
  EXPECT_EQ(*MakeGenerateBody(Model(), inputs), R"({"A":[1,2],"B\"":["x"]})");
  const RequestInputs half = {{"A", DataType::kFp16, {1}, "12"}};
  EXPECT_THAT(MakeGenerateBody(Model(), half).status().message(),
              HasSubstr("FP16 has no form in JSON; use a --url with grpc"));
}

TEST(GenerateBodyTest, ShapesAreThoseThatTheServerMakes) {
  for (const auto& [shape, fits] : std::map<std::vector<int64_t>, bool>{{{-1, 2}, true},
                                                                        {{1, 2}, true},
                                                                        {{-1, -1}, true},
                                                                        {{-1, 1}, false},
                                                                        {{2, 1}, false},
                                                                        {{-1}, false}}) {
    const auto body = MakeGenerateBody(Shaped(shape), kInputs);
    EXPECT_EQ(body.ok(), fits) << ShapeText(shape);
    if (fits) continue;
    EXPECT_THAT(body.status().message(), HasSubstr("which shall have the shape [1,2]"));
  }
}

TEST(HttpBodyTest, SharedMemory) {
  const auto body = MakeHttpBody(Model(), kInputs, kPlaces, false);
  EXPECT_EQ(body->header_length, -1);
  EXPECT_THAT(body->bytes, HasSubstr(R"("shared_memory_region":"in","shared_memory_byte_size":2,)"
                                     R"("shared_memory_offset":64)"));
  EXPECT_THAT(body->bytes, HasSubstr(R"("shared_memory_region":"out")"));
}

// The numbers of proto/grpc_service.proto.
TEST(GrpcMessageTest, RawTensors) {
  EXPECT_EQ(MakeGrpcMessage("m", "2", Model(), kInputs, {}, {}),
            "\x0a\x01m\x12\x01"
            "2\x2a\x0d\x0a\x01"
            "A\x12\x04INT8\x1a\x02\x01\x02\x3a\x02\x01\x02");
}

TEST(GrpcMessageTest, ParametersOfStreamsAndSharedMemory) {
  RequestParameters until_final;
  until_final.until_final = true;
  EXPECT_THAT(MakeGrpcMessage("m", "", Model(), kInputs, {}, until_final),
              HasSubstr("\x0a\x22triton_enable_empty_final_response\x12\x02\x08\x01"));
  const std::string message = MakeGrpcMessage("m", "", Model(), kInputs, kPlaces, {});
  EXPECT_THAT(message, HasSubstr("\x0a\x14shared_memory_region\x12\x04\x1a\x02in"));
  EXPECT_THAT(message, HasSubstr("\x0a\x14shared_memory_region\x12\x05\x1a\x03out"));
  EXPECT_THAT(message, HasSubstr("\x0a\x17shared_memory_byte_size\x12\x02\x10\x08"));
}

TEST(RequestParametersTest, InBothProtocols) {
  RequestParameters parameters;
  parameters.sequence = 7;
  parameters.sequence_end = true;
  parameters.priority = 2;
  parameters.timeout_us = 300;
  EXPECT_THAT(MakeHttpBody(Model(), kInputs, {}, false, parameters)->bytes,
              HasSubstr(R"({"parameters":{"sequence_id":7,"sequence_start":false,)"
                        R"("sequence_end":true,"priority":2,"timeout":300},"inputs":)"));
  const std::string message = MakeGrpcMessage("m", "", Model(), kInputs, {}, parameters);
  EXPECT_THAT(message, HasSubstr("\x0a\x0bsequence_id\x12\x02\x10\x07"));
  EXPECT_THAT(message, HasSubstr("\x0a\x0csequence_end\x12\x02\x08\x01"));
  EXPECT_THAT(message, HasSubstr("\x0a\x07timeout\x12\x03\x10\xac\x02"));
  parameters.sequence_text = "camera \"1\"";
  parameters.sequence = 0;
  EXPECT_THAT(MakeHttpBody(Model(), kInputs, {}, false, parameters)->bytes,
              HasSubstr(R"("sequence_id":"camera \"1\"")"));
  EXPECT_THAT(MakeGrpcMessage("m", "", Model(), kInputs, {}, parameters),
              HasSubstr("\x0a\x0bsequence_id\x12\x0c\x1a\x0a"
                        "camera \"1\""));
}

TEST(OutputBytesTest, ByTheShapeWhereItIsKnown) {
  EXPECT_EQ(OutputBytes({"Y", DataType::kFp32, {-1, 2}}, 3, 100), 24u);
  EXPECT_EQ(OutputBytes({"Y", DataType::kFp32, {2, -1}}, 3, 100), 100u);
  EXPECT_EQ(OutputBytes({"Y", DataType::kBytes, {2}}, 3, 100), 100u);
}

TEST(DescriptionTest, FromJson) {
  auto model =
      MetadataFromJson(R"({"name":"m","inputs":[{"name":"A","datatype":"FP32","shape":[-1,2]}],)"
                       R"("outputs":[{"name":"Y","datatype":"BYTES","shape":[1]}]})");
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->inputs[0].type, DataType::kFp32);
  EXPECT_THAT(model->inputs[0].shape, ElementsAre(-1, 2));
  EXPECT_EQ(model->outputs[0].name, "Y");
  EXPECT_EQ(model->max_batch_size, std::nullopt);
  ASSERT_TRUE(AddConfigFromJson(R"({"max_batch_size":4,"input":[{"name":"A","optional":true}],)"
                                R"("model_transaction_policy":{"decoupled":true}})",
                                &*model)
                  .ok());
  EXPECT_EQ(model->max_batch_size, 4);
  EXPECT_TRUE(model->inputs[0].optional);
  EXPECT_TRUE(model->decoupled);
  EXPECT_FALSE(MetadataFromJson("[").ok());
}

TEST(DescriptionTest, FromProto) {
  ProtobufText tensor;
  tensor.Bytes(1, "A");
  tensor.Bytes(2, "INT64");
  tensor.Varint(3, static_cast<uint64_t>(-1));
  tensor.Bytes(3, "\x02\x03");  // packed
  ProtobufText metadata;
  metadata.Bytes(1, "m");
  metadata.Message(4, tensor);
  auto model = MetadataFromProto(metadata.text());
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->inputs[0].type, DataType::kInt64);
  EXPECT_THAT(model->inputs[0].shape, ElementsAre(-1, 2, 3));

  ProtobufText input;
  input.Bytes(1, "A");
  input.Varint(8, 1);
  ProtobufText policy;
  policy.Varint(1, 1);
  ProtobufText config;
  config.Varint(4, 4);
  config.Message(5, input);
  config.Message(19, policy);
  ProtobufText answer;
  answer.Message(1, config);
  ASSERT_TRUE(AddConfigFromProto(answer.text(), &*model).ok());
  EXPECT_EQ(model->max_batch_size, 4);
  EXPECT_TRUE(model->inputs[0].optional);
  EXPECT_TRUE(model->decoupled);
  EXPECT_FALSE(MetadataFromProto("\x0a\x7f").ok());
}

TEST(CountsTest, BothFormsAndTheirDifference) {
  const auto before = CountsFromJson("{}");
  const auto json = CountsFromJson(
      R"({"model_stats":[{"inference_count":6,"execution_count":2,)"
      R"("inference_stats":{"success":{"count":3,"ns":9},"queue":{"count":3,"ns":6000}}}]})");
  ASSERT_TRUE(before.ok() && json.ok());
  ProtobufText duration;
  duration.Varint(1, 3);
  duration.Varint(2, 6000);
  ProtobufText times;
  times.Message(3, duration);
  ProtobufText model;
  model.Varint(4, 6);
  model.Varint(5, 2);
  model.Message(6, times);
  ProtobufText answer;
  answer.Message(1, model);
  for (const auto& after : {*json, *CountsFromProto(answer.text())}) {
    const auto between = TimesBetween(*before, after);
    ASSERT_TRUE(between.has_value());
    EXPECT_EQ(between->batch_size, 3);
    EXPECT_EQ(between->queue, 2);
    EXPECT_EQ(between->compute_infer, 0);
    EXPECT_EQ(TimesBetween(after, after), std::nullopt);
  }
}

TEST(ErrorCountsTest, AreByTextAndBounded) {
  ErrorCounts counts;
  counts.Add("HTTP 400 Bad Request: {\"error\":\"no\\nway\"}");
  counts.Add("busy", 3);
  counts.Add("never", 0);
  EXPECT_THAT(counts.ByCount(),
              ElementsAre(Pair("busy", 3), Pair("HTTP 400 Bad Request: no way", 1)));
  for (int i = 0; i < 100; ++i) counts.Add(std::to_string(i));
  EXPECT_EQ(counts.ByCount().size(), ErrorCounts::kMostTexts + 1);
  EXPECT_EQ(counts.ByCount().back().first, "other errors");
  EXPECT_EQ(counts.total(), 104u);
}

}  // namespace
}  // namespace nereid::bench
