// SPDX-License-Identifier: Apache-2.0
#include "server/reports.h"

#include <gtest/gtest.h>

#include <string>

namespace nereid {
namespace {

TEST(ReportsTest, ServerMetadata) {
  EXPECT_EQ(ToJson(ServerMetadata{"nereid", "1.2.3", {"classification", "statistics"}}),
            R"({"name":"nereid","version":"1.2.3","extensions":["classification","statistics"]})");
  EXPECT_EQ(ToJson(ServerMetadata{}), R"({"name":"","version":"","extensions":[]})");
}

TEST(ReportsTest, ModelMetadata) {
  ModelMetadata metadata;
  metadata.name = "a \"model\"";
  metadata.versions = {1, 20};
  metadata.platform = "onnxruntime_onnx";
  metadata.inputs = {{"in", DataType::kFp32, {-1, 16}}, {"text", DataType::kBytes, {1}}};
  metadata.outputs = {{"out", DataType::kInt64, {}}};
  EXPECT_EQ(ToJson(metadata),
            R"({"name":"a \"model\"","versions":["1","20"],"platform":"onnxruntime_onnx",)"
            R"("inputs":[{"name":"in","datatype":"FP32","shape":[-1,16]},)"
            R"({"name":"text","datatype":"BYTES","shape":[1]}],)"
            R"("outputs":[{"name":"out","datatype":"INT64","shape":[]}]})");
}

TEST(ReportsTest, StatisticsOfNothing) {
  EXPECT_EQ(ToJson(std::vector<ModelStatisticsReport>{}), R"({"model_stats":[]})");
}

TEST(ReportsTest, Statistics) {
  ModelStatisticsReport report;
  report.name = "m";
  report.version = 3;
  StatisticsSnapshot& s = report.statistics;
  s.last_inference_ms = 1700000000000;
  s.inference_count = 6;
  s.execution_count = 2;
  s.success = {3, 300};
  s.fail = {1, 50};
  s.queue = {3, 30};
  s.compute_input = {3, 31};
  s.compute_infer = {3, 32};
  s.compute_output = {3, 33};
  s.batches[2] = {{1, 11}, {1, 12}, {1, 13}};
  s.batches[4] = {{1, 21}, {1, 22}, {1, 23}};
  s.responses[0].success = {2, 7};
  s.responses[0].compute_infer = {2, 5};
  s.responses[0].compute_output = {2, 2};
  s.responses[1].empty_response = {1, 9};
  s.responses[1].fail = {1, 8};
  s.responses[1].cancel = {1, 6};
  report.memory_usage = {{"CPU", 0, 1024}, {"GPU", 1, 4096}};
  EXPECT_EQ(
      ToJson(std::vector<ModelStatisticsReport>{report}),
      R"({"model_stats":[{"name":"m","version":"3","last_inference":1700000000000,)"
      R"("inference_count":6,"execution_count":2,"inference_stats":{)"
      R"("success":{"count":3,"ns":300},"fail":{"count":1,"ns":50},"queue":{"count":3,"ns":30},)"
      R"("compute_input":{"count":3,"ns":31},"compute_infer":{"count":3,"ns":32},)"
      R"("compute_output":{"count":3,"ns":33},"cache_hit":{"count":0,"ns":0},)"
      R"("cache_miss":{"count":0,"ns":0}},"response_stats":{)"
      R"("0":{"compute_infer":{"count":2,"ns":5},"compute_output":{"count":2,"ns":2},)"
      R"("success":{"count":2,"ns":7},"fail":{"count":0,"ns":0},)"
      R"("empty_response":{"count":0,"ns":0},"cancel":{"count":0,"ns":0}},)"
      R"("1":{"compute_infer":{"count":0,"ns":0},"compute_output":{"count":0,"ns":0},)"
      R"("success":{"count":0,"ns":0},"fail":{"count":1,"ns":8},)"
      R"("empty_response":{"count":1,"ns":9},"cancel":{"count":1,"ns":6}}},"batch_stats":[)"
      R"({"batch_size":2,"compute_input":{"count":1,"ns":11},"compute_infer":{"count":1,"ns":12},)"
      R"("compute_output":{"count":1,"ns":13}},)"
      R"({"batch_size":4,"compute_input":{"count":1,"ns":21},"compute_infer":{"count":1,"ns":22},)"
      R"("compute_output":{"count":1,"ns":23}}],"memory_usage":[)"
      R"({"type":"CPU","id":0,"byte_size":1024},{"type":"GPU","id":1,"byte_size":4096}]}]})");
}

TEST(ReportsTest, RepositoryIndex) {
  const std::vector<IndexEntry> index = {{"a", 1, "READY", ""},
                                         {"a", 2, "UNAVAILABLE", "unloaded"},
                                         {"b", -1, "UNAVAILABLE", "bad \"config\"\nline"},
                                         {"c", -1, "", ""}};
  EXPECT_EQ(ToJson(index),
            R"([{"name":"a","version":"1","state":"READY"},)"
            R"({"name":"a","version":"2","state":"UNAVAILABLE","reason":"unloaded"},)"
            R"({"name":"b","state":"UNAVAILABLE","reason":"bad \"config\"\nline"},)"
            R"({"name":"c"}])");
  EXPECT_EQ(ToJson(std::vector<IndexEntry>{}), "[]");
}

}  // namespace
}  // namespace nereid
