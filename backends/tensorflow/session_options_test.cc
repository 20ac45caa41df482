// SPDX-License-Identifier: Apache-2.0
#include "backends/tensorflow/session_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/sdk/testing/fake_server.h"
#include "backends/tensorflow/data_types.h"
#include "backends/tensorflow/settings.h"
#include "backends/tensorflow/signature.h"
#include "backends/tensorflow/worker_log.h"

namespace nereid_backend {
namespace {

using nereid_tensorflow::LoadReply;
using nereid_tensorflow::ModelFormat;
using nereid_tensorflow::TensorDescription;
using ::testing::HasSubstr;

Result<SessionOptions> From(const std::string& json) {
  const Result<ModelConfig> config = ParseModelConfig(json);
  EXPECT_TRUE(config.ok());
  return SessionOptions::FromConfig(*config);
}
Result<SessionOptions> WithParameter(const std::string& key, const std::string& value) {
  return From("{\"name\":\"m\",\"parameters\":{\"" + key + "\":{\"string_value\":\"" + value +
              "\"}}}");
}
std::string ErrorOf(Result<SessionOptions> options) {
  return options.ok() ? "" : options.error().message();
}

TEST(SessionOptionsTest, Parameters) {
  const Result<SessionOptions> defaults = From("{}");
  EXPECT_EQ(defaults->graph_tag, "serve");
  EXPECT_EQ(defaults->signature, "");
  EXPECT_EQ(WithParameter("TF_NUM_INTRA_THREADS", "3")->intra_op_threads, 3);
  EXPECT_EQ(WithParameter("TF_NUM_INTER_THREADS", "2")->inter_op_threads, 2);
  EXPECT_EQ(WithParameter("TF_GRAPH_TAG", "mine")->graph_tag, "mine");
  EXPECT_EQ(WithParameter("TF_SIGNATURE_DEF", "s")->signature, "s");
  EXPECT_EQ(WithParameter("TF_INIT_OPS_FILE", "f.json")->init_ops_file, "f.json");
  EXPECT_TRUE(WithParameter("TF_USE_PER_SESSION_THREADS", "On").ok());
  EXPECT_TRUE(WithParameter("MAX_SESSION_SHARE_COUNT", "4").ok());
}

TEST(SessionOptionsTest, BadValuesNameTheParameter) {
  EXPECT_THAT(ErrorOf(WithParameter("TF_NUM_INTRA_THREADS", "-1")),
              HasSubstr("'TF_NUM_INTRA_THREADS' of model 'm'"));
  EXPECT_THAT(ErrorOf(WithParameter("TF_NUM_INTER_THREADS", "many")),
              HasSubstr("'TF_NUM_INTER_THREADS' of model 'm'"));
  EXPECT_THAT(ErrorOf(WithParameter("TF_USE_PER_SESSION_THREADS", "maybe")),
              HasSubstr("'TF_USE_PER_SESSION_THREADS'"));
  EXPECT_THAT(ErrorOf(WithParameter("MAX_SESSION_SHARE_COUNT", "0")),
              HasSubstr("'MAX_SESSION_SHARE_COUNT'"));
}

TEST(SessionOptionsTest, Accelerators) {
  const auto with = [](const std::string& kind, const std::string& name) {
    return ErrorOf(From(R"({"optimization":{"execution_accelerators":{")" + kind +
                        R"(":[{"name":")" + name + R"("}]}}})"));
  };
  EXPECT_EQ(with("gpu_execution_accelerator", "tensorrt"), "") << "ignored with a warning";
  EXPECT_EQ(with("gpu_execution_accelerator", "warp"),
            "unknown Execution Accelerator 'warp' is requested");
  EXPECT_EQ(with("cpu_execution_accelerator", "openvino"),
            "CPU Execution Accelerator is not supported in TensorFlow backend");
}

// The bytes that protobuf makes of {intra_op_parallelism_threads: 2,
// inter_op_parallelism_threads: -1, allow_soft_placement: true}.
TEST(SessionOptionsTest, ConfigProto) {
  BackendSettings settings;
  settings.budget.threads = 2;
  SessionOptions options;
  EXPECT_EQ(options.ConfigProto(settings),
            std::string("\x10\x02\x28\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x38\x01"));
  options.intra_op_threads = 300;
  options.inter_op_threads = 4;
  settings.soft_placement = false;
  options.jit_level = 2;
  EXPECT_EQ(options.ConfigProto(settings),
            std::string("\x10\xac\x02\x28\x04\x38\x00\x52\x04\x1a\x02\x28\x02", 13));
}

TEST(BackendSettingsTest, FromJson) {
  const auto from = [](const std::string& text) {
    const Result<Json> json = Json::Parse(text);
    EXPECT_TRUE(json.ok());
    return BackendSettings::FromJson(*json);
  };
  EXPECT_TRUE(from("{}")->soft_placement);
  EXPECT_EQ(from("{}")->default_max_batch_size, 4);
  EXPECT_FALSE(from(R"({"allow-soft-placement":"false"})")->soft_placement);
  EXPECT_EQ(from(R"({"default-max-batch-size":"0"})")->default_max_batch_size, 0);
  EXPECT_TRUE(from(R"({"version":"2","gpu-memory-fraction":"0.5"})").ok());
  EXPECT_FALSE(from(R"({"version":"1"})").ok());
  EXPECT_EQ(from(R"({"load-timeout-seconds":"5"})")->load_timeout_seconds, 5);
}

TensorDescription Tensor(const std::string& name, int32_t type, bool has_default = false) {
  TensorDescription tensor;
  tensor.name = name;
  tensor.type = type;
  tensor.has_default = has_default;
  tensor.dims = {-1, 2};
  return tensor;
}

TEST(MakeSignatureTest, AGraphDefIsServedWithThePlaceholdersThatAreNamed) {
  LoadReply loaded;
  loaded.inputs = {Tensor("a", 1), Tensor("b", 20), Tensor("c", 1, true)};
  loaded.outputs = {Tensor("y", 1)};
  const auto names = [&](const std::string& json, ModelFormat format) -> std::string {
    const Result<ModelConfig> config = ParseModelConfig(json);
    EXPECT_TRUE(config.ok());
    Result<Signature> signature = MakeSignature(*config, format, loaded);
    if (!signature.ok()) return signature.error().message();
    return Signature::Names(signature->inputs) + " | " + Signature::Names(signature->defaulted);
  };
  const std::string only_a = R"({"name":"m","input":[{"name":"a"}]})";
  EXPECT_EQ(names(only_a, ModelFormat::kGraphDef), "a | ");
  EXPECT_EQ(
      names(only_a, ModelFormat::kSavedModel),
      "unable to load model 'm': input 'b' has the type DT_RESOURCE, which can not be served");
  EXPECT_EQ(
      names(R"({"name":"m"})", ModelFormat::kGraphDef),
      "unable to load model 'm': input 'b' has the type DT_RESOURCE, which can not be served");
  loaded.inputs[1].type = 0;
  EXPECT_EQ(names(R"({"name":"m"})", ModelFormat::kGraphDef),
            "unable to load model 'm': input 'b' is a sparse or composite tensor, which can not be "
            "served");
  loaded.inputs[1].type = 14;
  EXPECT_EQ(names(R"({"name":"m"})", ModelFormat::kGraphDef), "a, b | c");
}

TEST(DataTypesTest, EveryTypeOfTheProtocolHasOne) {
  int found = 0;
  for (int32_t type = 0; type < 40; ++type) {
    found += FromTensorflowType(type) != TRITONSERVER_TYPE_INVALID ? 1 : 0;
  }
  EXPECT_EQ(found, 14);
  EXPECT_EQ(FromTensorflowType(-1), TRITONSERVER_TYPE_INVALID);
  EXPECT_EQ(FromTensorflowType(14), TRITONSERVER_TYPE_BF16);
  EXPECT_EQ(TensorflowTypeName(21), "DT_VARIANT");
  EXPECT_EQ(TensorflowTypeName(99), "data type 99");
}

TEST(WorkerLogTest, FatalLinesAreKept) {
  WorkerLog log("m");
  log.Add("E0000 00:00:1.5 7 a.cc:1] an error\nF0000 00:00:1.5 7 b.cc:2] Check");
  EXPECT_EQ(log.fatal(), "") << "not complete";
  log.Add(" failed: x\nFirst of all\nF\n");
  EXPECT_EQ(log.fatal(), "b.cc:2] Check failed: x");
  log.Add(std::string(100'000, 'x'));  // such a long line is passed on in pieces
  log.Add("\n");
}

}  // namespace
}  // namespace nereid_backend
