// SPDX-License-Identifier: Apache-2.0
#include "config/explain.h"

#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "filesystem/fake_file_system.h"

namespace nereid {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

class ExplainTest : public ::testing::Test {
 protected:
  ExplainTest() {
    fs_.WriteFile("/r/m/1/model.onnx", "bytes");
    source_.model_dir = "/r/m";
    source_.expected_name = "m";
  }

  ExplainedConfig Explain(const std::string& text) {
    fs_.WriteFile("/r/m/config.pbtxt", text);
    return ExplainModelConfig(fs_, source_);
  }

  // "<file>:<line>: <text>" for each problem.
  static std::vector<std::string> Problems(const ExplainedConfig& explained) {
    std::vector<std::string> texts;
    for (const ConfigProblem& problem : explained.problems) {
      texts.push_back(absl::StrCat(problem.file, ":", problem.line, ": ", problem.text));
    }
    return texts;
  }

  FakeFileSystem fs_;
  ConfigSource source_;
};

TEST_F(ExplainTest, SaysWhereEveryValueComesFrom) {
  const ExplainedConfig explained = Explain(
      "max_batch_size: 4\n"
      "dynamic_batching { }\n"
      "parameters { key: \"k\" value { string_value: \"v\" } }\n");
  EXPECT_THAT(explained.problems, IsEmpty());
  EXPECT_EQ(explained.file, "/r/m/config.pbtxt");
  EXPECT_TRUE(explained.file_exists);
  const std::string files = "from the files of the first version";
  for (const EffectiveField& field :
       {EffectiveField{"max_batch_size", "4", ""},
        EffectiveField{"name", "\"m\"", "name of the directory"},
        EffectiveField{"backend", "\"onnxruntime\"", files},
        EffectiveField{"default_model_filename", "\"model.onnx\"", files},
        EffectiveField{"dynamic_batching.preferred_batch_size[0]", "4", "default"},
        EffectiveField{"version_policy.latest.num_versions", "1", "default"},
        EffectiveField{"parameters[\"k\"].string_value", "\"v\"", ""},
        EffectiveField{"instance_group[0].count", "2",
                       "default, unless the backend prefers another"}}) {
    EXPECT_THAT(explained.fields, Contains(field));
  }
  EXPECT_THAT(explained.notes, Contains(HasSubstr("completed by the backend")));
}

TEST_F(ExplainTest, AFolderMayBeGivenAnotherName) {
  source_.rename = true;
  const EffectiveField given{"name", "\"m\"", "given for this folder"};
  for (const char* text : {"", "name: \"other\"\n"}) {
    const ExplainedConfig explained = Explain(text);
    EXPECT_THAT(explained.problems, IsEmpty()) << text;
    EXPECT_THAT(explained.fields, Contains(given)) << text;
  }
  EXPECT_THAT(Explain("name: \"m\"\n").fields, Contains(EffectiveField{"name", "\"m\"", ""}));
}

TEST_F(ExplainTest, AMissingFileStandsForNothing) {
  const ExplainedConfig explained = ExplainModelConfig(fs_, source_);
  EXPECT_FALSE(explained.file_exists);
  EXPECT_THAT(explained.problems, IsEmpty());
  source_.auto_complete = false;
  EXPECT_EQ(ExplainModelConfig(fs_, source_).problems.size(), 1u);
}

TEST_F(ExplainTest, EveryMistakeHasItsLine) {
  EXPECT_THAT(Problems(Explain("max_batch_size: 4\n"
                               "dynamic_batching {\n"
                               "  preferred_batch_size: [ 2, 8 ]\n"
                               "}\n"
                               "input {\n"
                               "  name: \"I\"\n"
                               "  data_type: TYPE_FP32\n"
                               "  dims: [ 1,\n"
                               "          0 ]\n"
                               "}\n"
                               "name: \"other\"\n")),
              ElementsAre("/r/m/config.pbtxt:3: dynamic batching preferred size must be <= max "
                          "batch size for other",
                          "/r/m/config.pbtxt:8: model input 'I' dimension must be integer >= 1, or "
                          "-1 to indicate a variable-size dimension for other",
                          "/r/m/config.pbtxt:11: unexpected directory name 'm' for model 'other', "
                          "directory name must equal model name"));
}

TEST_F(ExplainTest, WhatABackendMayCompleteIsNoProblem) {
  const std::string partial =
      "backend: 'dali' input { name: 'I' }\n"
      "output { name: 'O' data_type: TYPE_FP32 dims: [ 0 ] }\n";
  const ExplainedConfig explained = Explain(partial);
  EXPECT_THAT(explained.notes, IsSupersetOf({HasSubstr("input[0].data_type is not given"),
                                             HasSubstr("input[0].dims is not given")}));
  ASSERT_EQ(explained.problems.size(), 1u) << "what is given has to be right";
  EXPECT_THAT(explained.problems[0].text, HasSubstr("model output 'O' dimension must be"));
  source_.auto_complete = false;
  EXPECT_EQ(Explain(partial).problems.size(), 3u);
}

TEST_F(ExplainTest, SoHaveMistakesOfSpelling) {
  const ExplainedConfig explained = Explain("max_batch_size: 4\nmax_bach_size: 5\nnonsense: 1\n");
  ASSERT_EQ(explained.problems.size(), 2u);
  EXPECT_EQ(explained.problems[0].line, 2);
  EXPECT_THAT(explained.problems[0].text, HasSubstr("did you mean 'max_batch_size'?"));
  EXPECT_EQ(explained.problems[1].line, 3);
  EXPECT_FALSE(explained.config.has_value());
}

}  // namespace
}  // namespace nereid
