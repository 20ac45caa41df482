// SPDX-License-Identifier: Apache-2.0
#include "config/tfs_spec.h"

#include <absl/status/status.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "config/compiled_model.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

// A model with the inputs A and x=1, and the outputs P (FP32), L (BYTES) and N (INT32).
CompiledModel Model(std::map<std::string, std::string> parameters) {
  CompiledModel model;
  for (const char* name : {"A", "x=1"}) {
    InputSpec input;
    input.name = name;
    model.inputs.push_back(std::move(input));
  }
  for (const auto& [name, type] :
       {std::pair("P", DataType::kFp32), {"L", DataType::kBytes}, {"N", DataType::kInt32}}) {
    OutputSpec output;
    output.name = name;
    output.data_type = type;
    model.outputs.push_back(std::move(output));
  }
  model.parameters = std::move(parameters);
  return model;
}

TfsSpec Read(std::map<std::string, std::string> parameters) {
  CompiledModel model = Model(std::move(parameters));
  EXPECT_EQ(ReadTfsParameters(&model), absl::OkStatus());
  return model.tfs;
}

// As "key:index key:index".
std::string Text(const std::vector<TfsTensor>& tensors) {
  std::string text;
  for (const TfsTensor& tensor : tensors) {
    text += (text.empty() ? "" : " ") + tensor.key + ":" + std::to_string(tensor.index);
  }
  return text;
}

TEST(TfsSpecTest, AModelHasADefaultSignatureOfAllItsTensors) {
  const TfsSpec spec = Read({{"other", "tfs."}});
  ASSERT_EQ(spec.signatures.size(), 1U);
  const TfsSignature& signature = spec.signatures.at("serving_default");
  EXPECT_EQ(signature.method, TfsMethod::kPredict);
  EXPECT_EQ(Text(signature.inputs), "A:0 x=1:1");
  EXPECT_EQ(Text(signature.outputs), "P:0 L:1 N:2");
  EXPECT_TRUE(spec.version_labels.empty());
}

TEST(TfsSpecTest, SignaturesRenameAndChoose) {
  const TfsSpec spec = Read({
      {"tfs.signature.s", " predict  x=1 , a = A->y=P "},
      {"tfs.signature.tensorflow/serving/classify", "classify A -> scores=P,classes=L"},
      {"tfs.signature.serving_default", "regress A -> P"},
  });
  ASSERT_EQ(spec.signatures.size(), 3U);
  EXPECT_EQ(Text(spec.signatures.at("s").inputs), "x=1:1 a:0");
  EXPECT_EQ(Text(spec.signatures.at("s").outputs), "y:0");
  const TfsSignature& classify = spec.signatures.at("tensorflow/serving/classify");
  EXPECT_EQ(classify.method, TfsMethod::kClassify);
  EXPECT_EQ(Text(classify.outputs), "scores:0 classes:1");
  EXPECT_EQ(spec.signatures.at("serving_default").method, TfsMethod::kRegress);
}

TEST(TfsSpecTest, LabelsStandForVersions) {
  EXPECT_THAT(Read({{"tfs.version_labels", "stable=1, canary = 12"}}).version_labels,
              ElementsAre(Pair("canary", 12), Pair("stable", 1)));
}

struct Mistake {
  const char* parameter;
  const char* value;
  const char* error;
};

TEST(TfsSpecTest, MistakesAreNamed) {
  const Mistake mistakes[] = {
      {"tfs.signatures", "predict", "is not known: parameters that begin with tfs. are"},
      {"tfs.signature.", "predict", "is not known"},
      {"tfs.signature.s", "", "begins with '', which is no method"},
      {"tfs.signature.s", "guess A -> P", "begins with 'guess', which is no method"},
      {"tfs.signature.s", "predict A", "write INPUTS -> OUTPUTS"},
      {"tfs.signature.s", "predict -> P", "write INPUTS -> OUTPUTS"},
      {"tfs.signature.s", "predict B -> P", "names 'B' as an input"},
      {"tfs.signature.s", "predict A -> y=Q", "is an output of the model: P, L, N"},
      {"tfs.signature.s", "predict =A -> P", "names '=A' as an input"},
      {"tfs.signature.s", "predict A, -> P", "names '' as an input"},
      {"tfs.signature.s", "predict A, b=A -> P", "names the input 'b' twice"},
      {"tfs.signature.s", "predict a=A, a=x=1 -> P", "names the input 'a' twice"},
      {"tfs.signature.s", "regress A -> N", "needs exactly one output, of FP32 or FP64"},
      {"tfs.signature.s", "regress", "needs exactly one output, of FP32 or FP64"},
      {"tfs.signature.s", "classify A -> P", "'P' is neither"},
      {"tfs.signature.s", "classify A -> scores=N", "'scores' is neither"},
      {"tfs.signature.s", "classify A -> classes=P", "'classes' is neither"},
      {"tfs.version_labels", "", "has the item ''"},
      {"tfs.version_labels", "stable", "has the item 'stable': write LABEL=VERSION"},
      {"tfs.version_labels", "stable=0", "has the item 'stable=0'"},
      {"tfs.version_labels", "=1", "has the item '=1'"},
      {"tfs.version_labels", "a=1,a=2", "has the label 'a' twice"},
  };
  for (const Mistake& mistake : mistakes) {
    CompiledModel model = Model({{mistake.parameter, mistake.value}});
    const absl::Status status = ReadTfsParameters(&model);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << mistake.value;
    EXPECT_THAT(status.message(), HasSubstr(mistake.parameter)) << mistake.value;
    EXPECT_THAT(status.message(), HasSubstr(mistake.error)) << mistake.value;
  }
}

}  // namespace
}  // namespace nereid
