#include "backends/onnxruntime/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/sdk/testing/fake_server.h"

namespace nereid_backend {
namespace {

using ::testing::HasSubstr;

OnnxTensor Tensor(const std::string& name, TRITONSERVER_DataType type, Shape dims) {
  OnnxTensor tensor;
  tensor.name = name;
  tensor.type = type;
  tensor.dims = std::move(dims);
  return tensor;
}

Signature TwoInputs() {
  Signature signature;
  signature.inputs = {Tensor("A", TRITONSERVER_TYPE_FP32, {-1, 3}),
                      Tensor("B", TRITONSERVER_TYPE_BYTES, {-1, -1})};
  signature.outputs = {Tensor("Y", TRITONSERVER_TYPE_INT64, {-1, 5})};
  return signature;
}

constexpr const char* kA = R"({"name":"A","data_type":"TYPE_FP32","dims":[3]})";
constexpr const char* kB = R"({"name":"B","data_type":"TYPE_STRING","dims":[-1]})";
constexpr const char* kY = R"({"name":"Y","data_type":"TYPE_INT64","dims":[5]})";

// Message of the check, "" when it passes.
std::string Check(const std::string& inputs, const std::string& outputs,
                  const Signature& signature = TwoInputs(), int64_t max_batch_size = 8,
                  const std::string& more = "") {
  const Result<ModelConfig> config =
      ParseModelConfig("{\"name\":\"m\",\"max_batch_size\":" + std::to_string(max_batch_size) +
                       ",\"input\":[" + inputs + "],\"output\":[" + outputs + "]" + more + "}");
  EXPECT_TRUE(config.ok());
  const Error error = CheckConfig(*config, signature);
  return error.ok() ? "" : error.message();
}

std::string Both(const std::string& a, const std::string& b) { return a + "," + b; }

TEST(CheckConfigTest, AgreementPasses) {
  EXPECT_EQ(Check(Both(kA, kB), kY), "");
  EXPECT_EQ(Check(Both(kA, kB), ""), "") << "not every output has to be served";
}

TEST(CheckConfigTest, UnknownTensorsAreNamedWithTheKnownOnes) {
  EXPECT_EQ(Check(Both(kA, R"({"name":"C","data_type":"TYPE_FP32","dims":[3]})"), kY),
            "unable to load model 'm': input 'C' is not in the model, which has: A, B");
  EXPECT_EQ(Check(Both(kA, kB), R"({"name":"Z","data_type":"TYPE_FP32","dims":[3]})"),
            "unable to load model 'm': output 'Z' is not in the model, which has: Y");
}

TEST(CheckConfigTest, TypesAndShapesAreCompared) {
  EXPECT_EQ(Check(Both(R"({"name":"A","data_type":"TYPE_INT8","dims":[3]})", kB), kY),
            "unable to load model 'm': input 'A' is configured as TYPE_INT8, the model has "
            "TYPE_FP32");
  EXPECT_EQ(Check(Both(R"({"name":"A","data_type":"TYPE_FP32","dims":[4]})", kB), kY),
            "unable to load model 'm': input 'A' is configured with shape [-1,4] (the batch "
            "dimension included), the model has [-1,3]");
  EXPECT_THAT(Check(Both(R"({"name":"A","data_type":"TYPE_FP32","dims":[3,1]})", kB), kY),
              HasSubstr("[-1,3,1]"));
}

TEST(CheckConfigTest, TheReshapedFormCounts) {
  EXPECT_EQ(
      Check(
          Both(R"({"name":"A","data_type":"TYPE_FP32","dims":[1,3],"reshape":{"shape":[3]}})", kB),
          kY),
      "");
}

TEST(CheckConfigTest, EveryInputOfTheModelNeedsASource) {
  EXPECT_EQ(Check(kA, kY),
            "unable to load model 'm': input 'B' of the model (TYPE_STRING, shape [-1,-1]) is not "
            "in the configuration");
  EXPECT_EQ(
      Check(kA, kY, TwoInputs(), 8, R"(,"sequence_batching":{"control_input":[{"name":"B"}]})"),
      "");
}

TEST(CheckConfigTest, BatchingNeedsAnOpenFirstDimension) {
  Signature signature;
  signature.inputs = {Tensor("A", TRITONSERVER_TYPE_FP32, {2, 3})};
  signature.outputs = {Tensor("Y", TRITONSERVER_TYPE_INT64, {2, 5})};
  EXPECT_THAT(Check(kA, "", signature), HasSubstr("max_batch_size 8 needs a first dimension"));
  EXPECT_EQ(Check(R"({"name":"A","data_type":"TYPE_FP32","dims":[2,3]})", "", signature, 0), "");
}

TEST(CheckConfigTest, AScalarIsOneElement) {
  Signature signature;
  signature.inputs = {Tensor("A", TRITONSERVER_TYPE_FP32, {})};
  EXPECT_EQ(Check(R"({"name":"A","data_type":"TYPE_FP32","dims":[1]})", "", signature, 0), "");
  EXPECT_NE(Check(R"({"name":"A","data_type":"TYPE_FP32","dims":[2]})", "", signature, 0), "");
}

TEST(CheckConfigTest, StatesAreTensorsOfTheModel) {
  const std::string state = R"(,"sequence_batching":{"state":[{"input_name":"B","output_name":"S",)"
                            R"("data_type":"TYPE_STRING","dims":[-1]}]})";
  EXPECT_THAT(Check(kA, kY, TwoInputs(), 8, state),
              HasSubstr("state output 'S' is not in the model"));
}

TEST(CheckConfigTest, RaggedBatchesAreRefused) {
  EXPECT_THAT(
      Check(
          Both(R"({"name":"A","data_type":"TYPE_FP32","dims":[3],"allow_ragged_batch":true})", kB),
          kY),
      HasSubstr("allow_ragged_batch is not supported"));
}

}  // namespace
}  // namespace nereid_backend
