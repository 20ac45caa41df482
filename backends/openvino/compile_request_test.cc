// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/compile_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid_backend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;

Result<CompileRequest> From(const std::string& parameters) {
  const Result<ModelConfig> config =
      ParseModelConfig("{\"name\":\"m\",\"parameters\":{" + parameters + "}}");
  EXPECT_TRUE(config.ok());
  return CompileRequest::FromConfig(*config);
}
std::string Entry(const std::string& key, const std::string& value) {
  return "\"" + key + "\":{\"string_value\":\"" + value + "\"}";
}
Result<CompileRequest> With(const std::string& key, const std::string& value) {
  return From(Entry(key, value));
}
std::string ErrorOf(Result<CompileRequest> request) {
  return request.ok() ? "" : request.error().message();
}

TEST(CompileRequestTest, ValuesInAnyCase) {
  EXPECT_EQ(With("INFERENCE_NUM_THREADS", "3")->inference_threads, 3);
  EXPECT_EQ(*With("NUM_STREAMS", "auto")->streams, ov::streams::AUTO);
  EXPECT_EQ(*With("NUM_STREAMS", "NUMA")->streams, ov::streams::NUMA);
  EXPECT_EQ(With("NUM_STREAMS", "4")->streams->num, 4);
  EXPECT_EQ(*With("PERFORMANCE_HINT", "Latency")->performance, ov::hint::PerformanceMode::LATENCY);
  EXPECT_EQ(*With("PERFORMANCE_HINT", "CUMULATIVE_THROUGHPUT")->performance,
            ov::hint::PerformanceMode::THROUGHPUT);
  EXPECT_EQ(*With("HINT_BF16", "YES")->precision, ov::element::bf16);
  EXPECT_EQ(*With("INFERENCE_PRECISION_HINT", "F32")->precision, ov::element::f32);
  EXPECT_TRUE(With("RESHAPE_IO_LAYERS", "yes")->reshape);
  EXPECT_TRUE(With("RESHAPE_IO_LAYERS", "true")->reshape);
  EXPECT_FALSE(With("RESHAPE_IO_LAYERS", "no")->reshape);
  EXPECT_THAT(ErrorOf(With("RESHAPE_IO_LAYERS", "maybe")), HasSubstr("RESHAPE_IO_LAYERS"));
  EXPECT_EQ(With("CACHE_DIR", "/Cache")->cache_dir, "/Cache");
  EXPECT_EQ(With("MAX_SEQUENCE_STATES", "7")->sequence_states, 7);
  EXPECT_TRUE(With("terminate_late_runs", "true")->terminate_late_runs);
  EXPECT_EQ(ErrorOf(With("TARGET_DEVICE", "auto")), "");
  EXPECT_EQ(ErrorOf(With("somebody_elses", "?")), "");
}

TEST(CompileRequestTest, FixedBatchSizes) {
  EXPECT_EQ(From("")->fixed_batch_sizes, std::nullopt);
  EXPECT_EQ(With("FIXED_BATCH_SIZES", "Auto")->fixed_batch_sizes, std::nullopt);
  EXPECT_THAT(With("FIXED_BATCH_SIZES", "NONE")->fixed_batch_sizes, Optional(IsEmpty()));
  EXPECT_THAT(With("FIXED_BATCH_SIZES", "8,1,32")->fixed_batch_sizes,
              Optional(ElementsAre(8, 1, 32)));
  EXPECT_THAT(With("FIXED_BATCH_SIZES", "4,8")->fixed_batch_sizes, Optional(ElementsAre(4, 8)));
  for (const char* wrong : {"some", "", "1,", ",1", "1;2", "-1", "1.5", "1,2,3,4,5,6,7,8,9"}) {
    EXPECT_EQ(
        ErrorOf(With("FIXED_BATCH_SIZES", wrong)),
        StrCat("expected the parameter 'FIXED_BATCH_SIZES' to be AUTO, NONE, or up to 8 numbers "
               "with commas between them, got ",
               wrong));
  }
  EXPECT_THAT(ErrorOf(With("FIXED_BATCH_SIZES", "0")), HasSubstr("FIXED_BATCH_SIZES"));
  EXPECT_THAT(ErrorOf(With("FIXED_BATCH_SIZES", "99999999999999999999")),
              HasSubstr("FIXED_BATCH_SIZES"));
}

TEST(CompileRequestTest, OldNamesMeanTheSame) {
  EXPECT_EQ(With("CPU_THREADS_NUM", "2")->inference_threads, 2);
  EXPECT_EQ(*With("CPU_THROUGHPUT_STREAMS", "AUTO")->streams, ov::streams::AUTO);
  EXPECT_EQ(*With("ENFORCE_BF16", "NO")->precision, ov::element::f32);
  EXPECT_EQ(ErrorOf(With("CPU_BIND_THREAD", "NUMA")), "");
  EXPECT_EQ(ErrorOf(With("ENABLE_BATCH_PADDING", "YES")), "");
}

TEST(CompileRequestTest, BadValuesAreToldInTheWordsOfTheOriginal) {
  EXPECT_EQ(
      ErrorOf(With("INFERENCE_NUM_THREADS", "Two")),
      "expected the parameter 'INFERENCE_NUM_THREADS' to be a non-negative number, got two (it is "
      "from 0 to 4096)");
  EXPECT_EQ(
      ErrorOf(With("COMPILATION_NUM_THREADS", "-1")),
      "expected the parameter 'COMPILATION_NUM_THREADS' to be a non-negative number, got -1 (it is "
      "from 0 to 4096)");
  EXPECT_EQ(ErrorOf(With("HINT_BF16", "NO")),
            "expected the parameter 'HINT_BF16' to be YES, got no");
  EXPECT_EQ(ErrorOf(With("NUM_STREAMS", "many")),
            "expected the parameter 'NUM_STREAMS' to be either AUTO/NUMA/<int_value>, got many");
  EXPECT_EQ(ErrorOf(With("PERFORMANCE_HINT", "fast")),
            "expected the parameter 'PERFORMANCE_HINT' to be "
            "LATENCY/THROUGHPUT/CUMULATIVE_THROUGHPUT, got fast");
  EXPECT_THAT(ErrorOf(With("INFERENCE_PRECISION_HINT", "i8")), HasSubstr("f32/bf16/f16, got i8"));
  EXPECT_THAT(ErrorOf(With("INFERENCE_NUM_THREADS", "99999999999999999999")),
              HasSubstr("'INFERENCE_NUM_THREADS'"));
  EXPECT_THAT(ErrorOf(With("MAX_SEQUENCE_STATES", "0")), HasSubstr("from 1 to"));
  EXPECT_EQ(
      ErrorOf(With("TARGET_DEVICE", "GPU")),
      "unable to load model 'm': parameter 'TARGET_DEVICE' is 'GPU', and this backend has CPU "
      "alone; AUTO means that too");
}

TEST(CompileRequestTest, TwoPrecisionsContradict) {
  EXPECT_THAT(
      ErrorOf(From(Entry("HINT_BF16", "YES") + "," + Entry("INFERENCE_PRECISION_HINT", "f32"))),
      HasSubstr("asks for f32, another one for bf16"));
}

TEST(CompileRequestTest, ThreadsAreThoseOfTheBudgetUnlessToldOtherwise) {
  const Result<std::unique_ptr<Environment>> environment = Environment::Create(Json());
  ASSERT_TRUE(environment.ok());
  const auto threads = [&](const CompileRequest& request) {
    return request.Build(**environment).at(ov::inference_num_threads.name()).as<int32_t>();
  };
  EXPECT_EQ(threads(*From("")), (*environment)->budget().threads);
  EXPECT_EQ(threads(*With("INFERENCE_NUM_THREADS", "0")), (*environment)->budget().threads);
  EXPECT_EQ(threads(*With("INFERENCE_NUM_THREADS", "3")), 3);
  EXPECT_EQ(From("")->Build(**environment).count(ov::cache_dir.name()), 0u);
}

TEST(CompileRequestTest, TheModelsCacheFolderWins) {
  const Result<Json> settings = Json::Parse(R"({"cache-dir":"/all","default-max-batch-size":"0"})");
  const Result<std::unique_ptr<Environment>> environment = Environment::Create(*settings);
  ASSERT_TRUE(environment.ok());
  EXPECT_EQ((*environment)->settings().default_max_batch_size, 1);
  const auto folder = [&](const CompileRequest& request) {
    return request.Build(**environment).at(ov::cache_dir.name()).as<std::string>();
  };
  EXPECT_EQ(folder(*From("")), "/all");
  EXPECT_EQ(folder(*With("CACHE_DIR", "/own")), "/own");
}

}  // namespace
}  // namespace nereid_backend
