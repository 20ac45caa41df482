// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/graph/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/sdk/testing/fake_server.h"

namespace nereid_backend {
namespace {

using ::testing::HasSubstr;

ModelTensor Tensor(const std::string& name, TRITONSERVER_DataType type, Shape dims) {
  ModelTensor tensor;
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

TEST(CheckConfigTest, AnyShapeWillDoWhereTheModelDoesNotSay) {
  Signature signature = TwoInputs();
  signature.inputs[0].dims = {};
  signature.inputs[0].any_shape = true;
  EXPECT_EQ(Check(Both(kA, kB), kY, signature), "");
  EXPECT_EQ(
      Check(Both(R"({"name":"A","data_type":"TYPE_FP32","dims":[3,4,5]})", kB), kY, signature), "");
  EXPECT_THAT(Check(Both(R"({"name":"A","data_type":"TYPE_INT8","dims":[3]})", kB), kY, signature),
              HasSubstr("datatype TYPE_INT8 for input 'A', model provides TYPE_FP32"));
}

TEST(CheckConfigTest, UnknownTensorsAreNamedWithTheKnownOnes) {
  EXPECT_EQ(Check(Both(kA, R"({"name":"C","data_type":"TYPE_FP32","dims":[3]})"), kY),
            "unable to load model 'm', unexpected inference input 'C', allowed inputs are: A, B");
  EXPECT_EQ(Check(Both(kA, kB), R"({"name":"Z","data_type":"TYPE_FP32","dims":[3]})"),
            "unable to load model 'm', unexpected inference output 'Z', allowed outputs are: Y");
}

TEST(CheckConfigTest, TypesAndShapesAreCompared) {
  EXPECT_EQ(Check(Both(R"({"name":"A","data_type":"TYPE_INT8","dims":[3]})", kB), kY),
            "unable to load model 'm', configuration expects datatype TYPE_INT8 for input 'A', "
            "model provides TYPE_FP32");
  EXPECT_EQ(Check(Both(R"({"name":"A","data_type":"TYPE_FP32","dims":[4]})", kB), kY),
            "unable to load model 'm', tensor 'A': the model expects 2 dimensions (shape [-1,3]) "
            "but the model configuration specifies 2 dimensions (an initial batch dimension "
            "because max_batch_size > 0 followed by the explicit tensor shape, making complete "
            "shape [-1,4])");
  EXPECT_THAT(Check(Both(R"({"name":"A","data_type":"TYPE_FP32","dims":[3,1]})", kB), kY),
              HasSubstr("[-1,3,1]"));
}

TEST(CheckConfigTest, ATypeThatCannotBeServedIsCalledByItsName) {
  Signature signature = TwoInputs();
  signature.inputs[0].type = TRITONSERVER_TYPE_INVALID;
  signature.inputs[0].type_name = "u4";
  EXPECT_EQ(Check(Both(kA, kB), kY, signature),
            "unable to load model 'm', input 'A' has a type in the model that can not be served "
            "(u4)");
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
            "unable to load model 'm', configuration expects 1 inputs, model provides 2: input 'B' "
            "of the model (TYPE_STRING, shape [-1,-1]) is not in the configuration");
}

TEST(CheckConfigTest, TooManyInputsAreCountedToo) {
  const std::string c = R"({"name":"C","data_type":"TYPE_FP32","dims":[3]})";
  EXPECT_EQ(Check(Both(Both(kA, kB), c), kY),
            "unable to load model 'm', configuration expects 3 inputs, model provides 2: "
            "unexpected inference input 'C', allowed inputs are: A, B");
}

TEST(CheckConfigTest, ControlsAreInputsOfTheModel) {
  const auto check = [](const std::string& control, Signature signature) {
    return Check(
        Both(kA, kB), kY, signature, 8,
        R"(,"sequence_batching":{"control_input":[{"name":"S","control":[)" + control + "]}]}");
  };
  const auto with = [](TRITONSERVER_DataType type, Shape dims) {
    Signature signature = TwoInputs();
    signature.inputs.push_back(Tensor("S", type, std::move(dims)));
    return signature;
  };
  const std::string start = R"({"int32_false_true":[0,1]})";
  const std::string id = R"({"kind":"CONTROL_SEQUENCE_CORRID","data_type":"TYPE_UINT64"})";
  EXPECT_EQ(check(start, with(TRITONSERVER_TYPE_INT32, {-1, 1})), "");
  EXPECT_EQ(check(id, with(TRITONSERVER_TYPE_UINT64, {-1, -1})), "");
  EXPECT_EQ(check(start, TwoInputs()),
            "unable to load model 'm', configuration expects 3 inputs, model provides 2: "
            "unexpected inference CONTROL_SEQUENCE_START input 'S', allowed inputs are: A, B");
  EXPECT_EQ(check(start, with(TRITONSERVER_TYPE_FP32, {-1, 1})),
            "unable to load model 'm', configuration expects datatype TYPE_INT32 for "
            "CONTROL_SEQUENCE_START input 'S', model provides TYPE_FP32");
  EXPECT_EQ(check(id, with(TRITONSERVER_TYPE_UINT64, {-1})),
            "unable to load model 'm', tensor 'S': the model expects 1 dimensions (shape [-1]) but "
            "the model configuration specifies 2 dimensions (an initial batch dimension because "
            "max_batch_size > 0 followed by the explicit tensor shape, making complete shape "
            "[-1,1])");
}

TEST(CheckConfigTest, BatchingNeedsAnOpenFirstDimension) {
  Signature signature;
  signature.inputs = {Tensor("A", TRITONSERVER_TYPE_FP32, {2, 3})};
  signature.outputs = {Tensor("Y", TRITONSERVER_TYPE_INT64, {2, 5})};
  EXPECT_THAT(
      Check(kA, "", signature),
      HasSubstr("the first dimension must be -1; but shape expected by the model is [2,3]; set "
                "max_batch_size to 0"));
  EXPECT_EQ(Check(R"({"name":"A","data_type":"TYPE_FP32","dims":[2,3]})", "", signature, 0), "");
}

TEST(CheckConfigTest, AScalarIsOneElement) {
  Signature signature;
  signature.inputs = {Tensor("A", TRITONSERVER_TYPE_FP32, {})};
  EXPECT_EQ(Check(R"({"name":"A","data_type":"TYPE_FP32","dims":[1]})", "", signature, 0), "");
  EXPECT_EQ(Check(R"({"name":"A","data_type":"TYPE_FP32","dims":[1,1]})", "", signature, 0), "");
  EXPECT_EQ(Check(R"({"name":"A","data_type":"TYPE_FP32","dims":[2]})", "", signature, 0),
            "unable to load model 'm', scalar tensor 'A', should only provide 1 in the model "
            "configuration when the model doesn't support batching. Model configuration provided: "
            "[2].");
}

TEST(CheckConfigTest, StatesAreTensorsOfTheModel) {
  const std::string state = R"(,"sequence_batching":{"state":[{"input_name":"B","output_name":"S",)"
                            R"("data_type":"TYPE_STRING","dims":[-1]}]})";
  EXPECT_THAT(Check(kA, kY, TwoInputs(), 8, state),
              HasSubstr("unexpected inference state output 'S', allowed outputs are: Y"));
}

// X is ragged; OFFSETS and SHAPES are computed from it; Y holds the results of all requests.
Signature Ragged() {
  Signature signature;
  signature.inputs = {Tensor("X", TRITONSERVER_TYPE_FP32, {-1}),
                      Tensor("OFFSETS", TRITONSERVER_TYPE_INT32, {-1}),
                      Tensor("SHAPES", TRITONSERVER_TYPE_FP32, {-1, 2})};
  signature.outputs = {Tensor("Y", TRITONSERVER_TYPE_FP32, {-1})};
  return signature;
}

std::string CheckRagged(const std::string& offsets, const std::string& shapes,
                        const Signature& signature = Ragged()) {
  return Check(
      R"({"name":"X","data_type":"TYPE_FP32","dims":[-1,3],"allow_ragged_batch":true})",
      R"({"name":"Y","data_type":"TYPE_FP32","dims":[-1,3]})", signature, 8,
      R"(,"batch_input":[{"kind":"BATCH_ACCUMULATED_ELEMENT_COUNT","data_type":"TYPE_INT32",)"
      R"("source_input":["X"],"target_name":[)" +
          offsets +
          R"(]},)"
          R"({"kind":"BATCH_ITEM_SHAPE","data_type":"TYPE_FP32","source_input":["X"],)"
          R"("target_name":[)" +
          shapes +
          R"(]}],)"
          R"("batch_output":[{"source_input":["X"],"target_name":["Y"]}])");
}

TEST(CheckConfigTest, RaggedInputsAndWhatIsComputedFromThem) {
  EXPECT_EQ(CheckRagged(R"("OFFSETS")", R"("SHAPES")"), "");
  EXPECT_EQ(CheckRagged(R"("OFFSETS","NONE")", R"("SHAPES")"),
            "unable to load model 'm', configuration expects 4 inputs, model provides 3: "
            "unexpected inference batch input 'NONE', allowed inputs are: X, OFFSETS, SHAPES");
  EXPECT_EQ(CheckRagged("", R"("SHAPES")"),
            "unable to load model 'm', configuration expects 2 inputs, model provides 3: input "
            "'OFFSETS' of the model (TYPE_INT32, shape [-1]) is not in the configuration");
  EXPECT_EQ(CheckRagged(R"("SHAPES")", ""),
            "unable to load model 'm', configuration expects 2 inputs, model provides 3: "
            "configuration expects datatype TYPE_INT32 for batch input 'SHAPES', model provides "
            "TYPE_FP32");
  EXPECT_THAT(CheckRagged(R"("OFFSETS")", R"("X")"),
              HasSubstr("batch input 'X' is an input of the configuration too"));
}

TEST(CheckConfigTest, TheModelTakesRaggedInputsAsOneDimension) {
  Signature signature = Ragged();
  signature.inputs[0].dims = {-1, -1};
  EXPECT_EQ(
      CheckRagged(R"("OFFSETS")", R"("SHAPES")", signature),
      "unable to load model 'm', input 'X' has allow_ragged_batch, so that the model gets one "
      "dimension of variable size, the elements of all requests; the model has [-1,-1]");
  signature = Ragged();
  signature.inputs[2].dims = {-1};
  EXPECT_EQ(CheckRagged(R"("OFFSETS")", R"("SHAPES")", signature),
            "unable to load model 'm', batch input 'SHAPES' has the shape [-1,2], the model has "
            "[-1]");
}

TEST(CheckConfigTest, AnInputWithAValueInTheFileNeedsNoSource) {
  Signature signature = TwoInputs();
  signature.defaulted = {Tensor("D", TRITONSERVER_TYPE_FP32, {-1, 3})};
  EXPECT_EQ(Check(Both(kA, kB), kY, signature), "");
  const std::string both = Both(kA, kB);
  EXPECT_EQ(Check(Both(both, R"({"name":"D","data_type":"TYPE_FP32","dims":[3],"optional":true})"),
                  kY, signature),
            "");
  EXPECT_THAT(
      Check(Both(both, R"({"name":"D","data_type":"TYPE_FP32","dims":[4]})"), kY, signature),
      HasSubstr("the model expects 2 dimensions (shape [-1,3])"));
}

}  // namespace
}  // namespace nereid_backend
