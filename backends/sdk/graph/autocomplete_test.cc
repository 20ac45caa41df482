// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/graph/autocomplete.h"

#include <gtest/gtest.h>

#include "backends/sdk/testing/fake_server.h"

namespace nereid_backend {
namespace {

ModelTensor Tensor(const std::string& name, TRITONSERVER_DataType type, Shape dims) {
  ModelTensor tensor;
  tensor.name = name;
  tensor.type = type;
  tensor.dims = std::move(dims);
  return tensor;
}

Signature MakeSignature(Shape input_dims, Shape output_dims) {
  Signature signature;
  signature.inputs = {Tensor("X", TRITONSERVER_TYPE_FP32, std::move(input_dims))};
  signature.outputs = {Tensor("Y", TRITONSERVER_TYPE_INT64, std::move(output_dims))};
  return signature;
}

// The members that the completed form of `config` has besides `name`, as text.
std::string Completed(const std::string& config, const Signature& signature,
                      int64_t default_max_batch_size = 4) {
  const Result<ModelConfig> parsed = ParseModelConfig(config);
  EXPECT_TRUE(parsed.ok());
  const Result<Json> json = AutoCompleteConfig(*parsed, signature, default_max_batch_size);
  EXPECT_TRUE(json.ok());
  return json.ok() ? json->Write() : "";
}

TEST(AutoCompleteTest, NothingGivenAndBatchingPossible) {
  EXPECT_EQ(Completed("{}", MakeSignature({-1, 3}, {-1, 5})),
            R"({"max_batch_size":4,)"
            R"("input":[{"name":"X","data_type":"TYPE_FP32","dims":[3]}],)"
            R"("output":[{"name":"Y","data_type":"TYPE_INT64","dims":[5]}],)"
            R"("dynamic_batching":{}})");
}

TEST(AutoCompleteTest, AShapeThatTheModelDoesNotSayHasToBeListed) {
  Signature signature = MakeSignature({}, {-1, 5});
  signature.inputs[0].any_shape = true;
  const Result<ModelConfig> empty = ParseModelConfig(R"({"name":"m"})");
  ASSERT_TRUE(empty.ok());
  Result<Json> refused = AutoCompleteConfig(*empty, signature, 4);
  ASSERT_FALSE(refused.ok());
  EXPECT_STREQ(refused.error().message(),
               "unable to load model 'm': the model does not say which shape input 'X' has; list "
               "it in the configuration with its dims");
  EXPECT_EQ(Completed(R"({"max_batch_size":2,"input":[{"name":"X","dims":[7]}]})", signature),
            R"({"max_batch_size":2,"input":[{"name":"X","dims":[7],"data_type":"TYPE_FP32"}],)"
            R"("output":[{"name":"Y","data_type":"TYPE_INT64","dims":[5]}],)"
            R"("dynamic_batching":{}})");
}

TEST(AutoCompleteTest, AFixedFirstDimensionMeansNoBatching) {
  EXPECT_EQ(Completed("{}", MakeSignature({2, 3}, {-1, 5})),
            R"({"max_batch_size":0,)"
            R"("input":[{"name":"X","data_type":"TYPE_FP32","dims":[2,3]}],)"
            R"("output":[{"name":"Y","data_type":"TYPE_INT64","dims":[-1,5]}]})");
}

TEST(AutoCompleteTest, NoDynamicBatchingForBatchesOfOneOrAnotherScheduler) {
  const Signature signature = MakeSignature({-1, 3}, {-1, 5});
  EXPECT_EQ(Completed("{}", signature, 1).find("dynamic_batching"), std::string::npos);
  EXPECT_NE(Completed("{}", signature, 0).find(R"("max_batch_size":0)"), std::string::npos);
  EXPECT_EQ(Completed(R"({"sequence_batching":{}})", signature).find("dynamic_batching"),
            std::string::npos);
}

TEST(AutoCompleteTest, GivenValuesStay) {
  const std::string text =
      Completed(R"({"max_batch_size":16,"dynamic_batching":{"preferred_batch_size":[2]},)"
                R"("input":[{"name":"X","dims":[-1]}]})",
                MakeSignature({-1, 3}, {-1, 5}));
  EXPECT_NE(text.find(R"("max_batch_size":16)"), std::string::npos);
  EXPECT_NE(text.find(R"("preferred_batch_size":[2])"), std::string::npos);
  EXPECT_NE(text.find(R"({"name":"X","dims":[-1],"data_type":"TYPE_FP32"})"), std::string::npos);
}

TEST(AutoCompleteTest, FullShapesInTheConfigurationMeanNoBatching) {
  const std::string text =
      Completed(R"({"input":[{"name":"X","data_type":"TYPE_FP32","dims":[-1,3]}]})",
                MakeSignature({-1, 3}, {-1, 5}));
  EXPECT_NE(text.find(R"("max_batch_size":0)"), std::string::npos);
  EXPECT_NE(text.find(R"("dims":[-1,5])"), std::string::npos);
}

TEST(AutoCompleteTest, ABatchOfScalarsIsReshaped) {
  EXPECT_NE(Completed("{}", MakeSignature({-1}, {-1, 5}))
                .find(R"({"name":"X","data_type":"TYPE_FP32","dims":[1],"reshape":{"shape":[]}})"),
            std::string::npos);
}

// An output left out, no scheduler: the author wants it so.
TEST(AutoCompleteTest, AConfigurationThatIsCompleteStaysAsItIs) {
  Signature signature = MakeSignature({-1, 3}, {-1, 5});
  signature.outputs.push_back(Tensor("HIDDEN", TRITONSERVER_TYPE_FP32, {-1, 768}));
  for (const char* max_batch_size : {"0", "1", "8"}) {
    const std::string config = std::string(R"({"max_batch_size":)") + max_batch_size +
                               R"(,"input":[{"name":"X","data_type":"TYPE_FP32","dims":[-1,3]}],)"
                               R"("output":[{"name":"Y","data_type":"TYPE_INT64","dims":[-1,5]}]})";
    EXPECT_EQ(Completed(config, signature), config);
  }
}

TEST(AutoCompleteTest, TypesAndDimsOfCompleteListsAreFilled) {
  Signature signature = MakeSignature({-1, 3}, {-1, 5});
  signature.defaulted = {Tensor("D", TRITONSERVER_TYPE_INT32, {-1, 2})};
  EXPECT_EQ(Completed(R"({"input":[{"name":"X"},{"name":"D","optional":true}],)"
                      R"("output":[{"name":"Y"}],"max_batch_size":8})",
                      signature),
            R"({"input":[{"name":"X","data_type":"TYPE_FP32","dims":[3]},)"
            R"({"name":"D","optional":true,"data_type":"TYPE_INT32","dims":[2]}],)"
            R"("output":[{"name":"Y","data_type":"TYPE_INT64","dims":[5]}],"max_batch_size":8})");
}

TEST(AutoCompleteTest, AnOutputThatIsLeftOutMayHaveAnyType) {
  Signature signature = MakeSignature({-1, 3}, {-1, 5});
  signature.outputs.push_back(Tensor("COMPLEX", TRITONSERVER_TYPE_INVALID, {-1, 5}));
  const std::string text = Completed(R"({"output":[{"name":"Y"}]})", signature);
  EXPECT_EQ(text.find("COMPLEX"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("max_batch_size":4)"), std::string::npos) << text;
}

// A detector: as many boxes as it finds, whatever the number of images.
TEST(AutoCompleteTest, FirstDimensionsOfOtherNamesAreNoBatch) {
  Signature signature = MakeSignature({-1, 3}, {-1, 5});
  signature.inputs[0].first_name = "images";
  signature.outputs[0].first_name = "boxes";
  EXPECT_EQ(Completed("{}", signature),
            R"({"max_batch_size":0,)"
            R"("input":[{"name":"X","data_type":"TYPE_FP32","dims":[-1,3]}],)"
            R"("output":[{"name":"Y","data_type":"TYPE_INT64","dims":[-1,5]}]})");
  EXPECT_NE(Completed(R"({"max_batch_size":8})", signature).find(R"("max_batch_size":8)"),
            std::string::npos)
      << "what the author says holds";
  signature.outputs[0].first_name = "images";
  EXPECT_NE(Completed("{}", signature).find(R"("max_batch_size":4)"), std::string::npos);
  signature.outputs[0].first_name = "";
  EXPECT_NE(Completed("{}", signature).find(R"("max_batch_size":4)"), std::string::npos);
}

TEST(AutoCompleteTest, SoDoInputsOfOtherNames) {
  Signature signature = MakeSignature({-1, 3}, {-1, 5});
  signature.inputs.push_back(Tensor("BOXES", TRITONSERVER_TYPE_FP32, {-1, 4}));
  signature.inputs[0].first_name = "images";
  signature.inputs[1].first_name = "boxes";
  EXPECT_NE(Completed("{}", signature).find(R"("max_batch_size":0)"), std::string::npos);
  const char* const kState =
      R"({"sequence_batching":{"state":[{"input_name":"BOXES","output_name":"NONE"}]}})";
  EXPECT_NE(Completed(kState, signature).find(R"("max_batch_size":4)"), std::string::npos)
      << "a state is the server's";
}

TEST(AutoCompleteTest, AModelWithoutBatchDimensionHasNoBatches) {
  const Result<ModelConfig> config = ParseModelConfig(R"({"name":"m","max_batch_size":8})");
  Result<Json> json = AutoCompleteConfig(*config, MakeSignature({1, 3}, {-1, 5}), 4);
  ASSERT_FALSE(json.ok());
  EXPECT_EQ(json.error().code(), TRITONSERVER_ERROR_INVALID_ARG);
  EXPECT_STREQ(json.error().message(),
               "autofill failed for model 'm': model does not support batching while non-zero "
               "max_batch_size is specified: input 'X' has shape [1,3]; set max_batch_size to 0");
}

TEST(AutoCompleteTest, TensorsOfTheSequenceBatcherAreNotAdded) {
  Signature signature = MakeSignature({-1, 1}, {-1, 1});
  signature.inputs.push_back(Tensor("START", TRITONSERVER_TYPE_INT32, {-1, 1}));
  signature.inputs.push_back(Tensor("SI", TRITONSERVER_TYPE_INT32, {-1, 1}));
  signature.outputs.push_back(Tensor("SO", TRITONSERVER_TYPE_INT32, {-1, 1}));
  const std::string text =
      Completed(R"({"sequence_batching":{"control_input":[{"name":"START","control":[{}]}],)"
                R"("state":[{"input_name":"SI","output_name":"SO"}]}})",
                signature);
  EXPECT_NE(text.find(R"("input":[{"name":"X","data_type":"TYPE_FP32","dims":[1]}])"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(R"("output":[{"name":"Y","data_type":"TYPE_INT64","dims":[1]}])"),
            std::string::npos)
      << text;
}

TEST(AutoCompleteTest, OfRaggedRequestsTheFileKnowsOnlyTheType) {
  Signature signature = MakeSignature({-1}, {-1, 5});
  signature.inputs.push_back(Tensor("OFFSETS", TRITONSERVER_TYPE_INT32, {-1}));
  const std::string text =
      Completed(R"({"max_batch_size":4,"input":[{"name":"X","allow_ragged_batch":true}],)"
                R"("batch_input":[{"target_name":["OFFSETS"]}]})",
                signature);
  EXPECT_NE(text.find(R"("input":[{"name":"X","allow_ragged_batch":true,)"
                      R"("data_type":"TYPE_FP32","dims":[-1]}])"),
            std::string::npos)
      << text;
}

TEST(AutoCompleteTest, OutputsThatAreNoTensorsAreLeftOut) {
  Signature signature = MakeSignature({-1, 3}, {-1, 5});
  ModelTensor map;
  map.name = "probabilities";
  map.is_tensor = false;
  signature.outputs.push_back(map);
  const std::string text = Completed("{}", signature);
  EXPECT_EQ(text.find("probabilities"), std::string::npos);
  EXPECT_NE(text.find(R"("max_batch_size":4)"), std::string::npos);
}

TEST(AutoCompleteTest, AnInputOfUnknownTypeIsAnError) {
  Signature signature = MakeSignature({-1, 3}, {-1, 5});
  signature.inputs[0].type = TRITONSERVER_TYPE_INVALID;
  const Result<ModelConfig> config = ParseModelConfig("{}");
  Result<Json> json = AutoCompleteConfig(*config, signature, 4);
  ASSERT_FALSE(json.ok());
  EXPECT_EQ(json.error().code(), TRITONSERVER_ERROR_UNSUPPORTED);
}

}  // namespace
}  // namespace nereid_backend
