// SPDX-License-Identifier: Apache-2.0
#include "backends/pytorch/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/sdk/testing/fake_server.h"

namespace nereid_backend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class NamesTest : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(testing::LiveErrors(), 0); }

  static Forward Takes(std::vector<std::string> names) {
    Forward forward;
    for (std::string& name : names) {
      forward.arguments.push_back({{std::move(name)}, ValueKind::kTensor, false, "Tensor"});
    }
    forward.returned.resize(2);
    forward.text = "forward(...)";
    return forward;
  }
  static ModelConfig Config(const std::vector<std::string>& inputs, const std::string& more = "") {
    std::string text = R"({"input":[)";
    for (size_t i = 0; i < inputs.size(); ++i) {
      text += StrCat(i > 0 ? "," : "", R"({"name":")", inputs[i],
                     R"(","data_type":"TYPE_FP32","dims":[1]})");
    }
    Result<ModelConfig> config = ParseModelConfig(text + "]" + more + "}");
    EXPECT_TRUE(config.ok());
    config->name = "m";
    return std::move(*config);
  }
  static std::vector<size_t> Indices(const ModelConfig& config, const Forward& forward) {
    Result<std::vector<Named>> named = NameInputs(config, forward);
    EXPECT_TRUE(named.ok()) << named.TakeError().message();
    std::vector<size_t> indices;
    for (const Named& tensor : *named) indices.push_back(tensor.index);
    return indices;
  }
  static std::string Failure(const ModelConfig& config, const Forward& forward) {
    Result<std::vector<Named>> named = NameInputs(config, forward);
    EXPECT_FALSE(named.ok());
    return named.ok() ? "" : named.TakeError().message();
  }
  static std::string Sequence(const std::string& control, const std::string& state_in,
                              const std::string& state_out) {
    return R"(,"output":[{"name":"O__0","data_type":"TYPE_FP32","dims":[1]}],
              "sequence_batching":{"control_input":[{"name":")" +
           control + R"(","control":[{"kind":"CONTROL_SEQUENCE_START","fp32_false_true":[0,1]}]}],
              "state":[{"input_name":")" +
           state_in + R"(","output_name":")" + state_out +
           R"(","data_type":"TYPE_FP32","dims":[1]}]})";
  }
};

TEST_F(NamesTest, ArgumentsComeFirst) {
  EXPECT_THAT(Indices(Config({"b", "a"}), Takes({"a", "b"})), ElementsAre(1, 0));
  // This also holds for names that look like NAME__INDEX.
  EXPECT_THAT(Indices(Config({"x__1", "y__0"}), Takes({"x__1", "y__0"})), ElementsAre(0, 1));
}

TEST_F(NamesTest, IndexFollowsTheFirstSeparator) {
  EXPECT_THAT(Indices(Config({"X__1", "Y__0"}), Takes({"a", "b"})), ElementsAre(1, 0));
  // "b__0" is no number, so the order of the list decides for all its names.
  EXPECT_THAT(Indices(Config({"a__b__0", "Y__0"}), Takes({"a", "b"})), ElementsAre(0, 1));
}

TEST_F(NamesTest, OneOddNameMeansOrder) {
  EXPECT_THAT(Indices(Config({"X__1", "b"}), Takes({"a", "b"})), ElementsAre(0, 1));
}

TEST_F(NamesTest, PlacesThatCanNotBe) {
  EXPECT_THAT(Failure(Config({"X__2", "Y__0"}), Takes({"a", "b"})),
              HasSubstr("input 'X__2' is argument 2 of the model, which has 2"));
  EXPECT_THAT(Failure(Config({"X__1", "Y__1"}), Takes({"a", "b"})),
              HasSubstr("inputs 'X__1' and 'Y__1' are both argument 1"));
  EXPECT_THAT(Failure(Config({"a"}), Takes({"a", "b"})),
              HasSubstr("configuration expects 1 inputs, model provides 2: no input for argument "
                        "'b' (Tensor)"));
  EXPECT_THAT(Failure(Config({}), Takes({"a"})), HasSubstr("at least one input"));
}

TEST_F(NamesTest, WhatHasADefaultMayBeLeftOut) {
  Forward forward = Takes({"a", "b"});
  forward.arguments[1].defaulted = true;
  EXPECT_THAT(Indices(Config({"a"}), forward), ElementsAre(0));
}

TEST_F(NamesTest, KindsHaveToAgree) {
  Forward forward = Takes({"a"});
  forward.arguments[0].kind = ValueKind::kStrings;
  EXPECT_THAT(Failure(Config({"a"}), forward),
              HasSubstr("configured as TYPE_FP32, but argument 'a' (Tensor) of the model is a "
                        "List[str]"));
}

TEST_F(NamesTest, ADictionaryTakesAnyNames) {
  Forward forward;
  forward.takes_dictionary = true;
  Result<std::vector<Named>> named = NameInputs(Config({"any", "X__7"}), forward);
  ASSERT_TRUE(named.ok());
  EXPECT_EQ((*named)[1].name, "X__7");
}

TEST_F(NamesTest, ControlsAndStates) {
  const Forward forward = Takes({"x", "start", "h"});
  EXPECT_THAT(Indices(Config({"X__0"}, Sequence("START__1", "H__2", "H_OUT__1")), forward),
              ElementsAre(0, 1, 2));
  EXPECT_THAT(Indices(Config({"x"}, Sequence("start", "h", "H__1")), forward),
              ElementsAre(0, 1, 2));
  EXPECT_THAT(Failure(Config({"X__0"}, Sequence("START", "H__2", "H__1")), forward),
              HasSubstr("input 'START' does not follow <name>__<index> naming convention."));
  EXPECT_THAT(Failure(Config({"X__0"}, Sequence("START__1", "H", "H__1")), forward),
              HasSubstr("state 'H' does not follow the <name>__<index>"));
  EXPECT_THAT(Failure(Config({"X"}, Sequence("START__1", "H__2", "H__1")), forward),
              HasSubstr("not all inputs and outputs follow the <name>__<index>"));
}

TEST_F(NamesTest, OutputsAndStates) {
  const Forward forward = Takes({"x", "start", "h"});
  Result<std::vector<Named>> named =
      NameOutputs(Config({"x"}, Sequence("start", "h", "H__1")), forward);
  ASSERT_TRUE(named.ok());
  ASSERT_EQ(named->size(), 2u);
  EXPECT_EQ((*named)[0].index, 0u);
  EXPECT_EQ((*named)[1].index, 1u);
  // One tensor that is an output and also a state.
  named = NameOutputs(Config({"x"}, Sequence("start", "h", "O__0")), forward);
  ASSERT_TRUE(named.ok());
  EXPECT_EQ(named->size(), 1u);
  Result<std::vector<Named>> beyond =
      NameOutputs(Config({"x"}, Sequence("start", "h", "H__5")), forward);
  ASSERT_FALSE(beyond.ok());
  EXPECT_THAT(beyond.error().message(), HasSubstr("an output index which doesn't exist. This "
                                                  "model has 2 outputs"));
}

}  // namespace
}  // namespace nereid_backend
