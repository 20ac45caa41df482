// SPDX-License-Identifier: Apache-2.0
#include "backends/pytorch/signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid_backend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ModelConfig Parse(const std::string& text) {
  Result<ModelConfig> config = ParseModelConfig(text);
  EXPECT_TRUE(config.ok());
  config->name = "m";
  return std::move(*config);
}

Forward Gives(ValueKind kind) {
  Forward forward;
  forward.arguments.push_back({{"texts"}, ValueKind::kStrings, false, "List[str]"});
  forward.returned.push_back({{}, kind});
  forward.text = "forward(texts: List[str])";
  return forward;
}

TEST(TorchSignatureTest, TypesAndShapesAreTheConfigurations) {
  const Result<Signature> signature = SignatureFromConfig(Parse(
      R"({"max_batch_size":4,
          "input":[{"name":"x","data_type":"TYPE_FP16","dims":[3,-1]},
                   {"name":"r","data_type":"TYPE_INT8","dims":[2],"allow_ragged_batch":true},
                   {"name":"o","data_type":"TYPE_INT8","dims":[2],"optional":true}],
          "output":[{"name":"y","data_type":"TYPE_BOOL","dims":[1],"reshape":{"shape":[]}}]})"));
  ASSERT_TRUE(signature.ok());
  EXPECT_THAT(signature->inputs[0].dims, ElementsAre(-1, 3, -1));
  EXPECT_THAT(signature->inputs[1].dims, ElementsAre(-1));
  EXPECT_EQ(signature->defaulted[0].name, "o");
  EXPECT_THAT(signature->outputs[0].dims, ElementsAre(-1));
}

TEST(TorchSignatureTest, StringsHaveOneDimension) {
  const std::string text = R"("input":[{"name":"x","data_type":"TYPE_STRING","dims":[-1]}]})";
  EXPECT_TRUE(SignatureFromConfig(Parse("{" + text)).ok());
  Result<Signature> batched = SignatureFromConfig(Parse(R"({"max_batch_size":2,)" + text));
  ASSERT_FALSE(batched.ok());
  EXPECT_STREQ(batched.error().message(),
               "Triton only supports 1 dimensional List of String as input for 'x' for model 'm'");
}

TEST(TorchSignatureTest, WhatTheFileTellsIsFilledIn) {
  const Result<Json> strings = CompleteConfig(Parse("{}"), Gives(ValueKind::kStrings));
  ASSERT_TRUE(strings.ok());
  EXPECT_EQ((*strings)["input"].Write(),
            R"([{"name":"texts","data_type":"TYPE_STRING","dims":[-1]}])");
  EXPECT_EQ((*strings)["output"].Write(),
            R"([{"name":"OUTPUT__0","data_type":"TYPE_STRING","dims":[-1]}])");
}

TEST(TorchSignatureTest, OtherwiseTheErrorSaysWhatToWrite) {
  Result<Json> tensors = CompleteConfig(Parse("{}"), Gives(ValueKind::kTensor));
  ASSERT_FALSE(tensors.ok());
  EXPECT_THAT(tensors.error().message(),
              HasSubstr("output [ { name: \"OUTPUT__0\" data_type: TYPE_FP32 dims: [ -1 ] } ]"));
  // A list of strings does not say how a batch is divided, so a batching model is not completed.
  EXPECT_FALSE(CompleteConfig(Parse(R"({"max_batch_size":2})"), Gives(ValueKind::kStrings)).ok());
}

}  // namespace
}  // namespace nereid_backend
