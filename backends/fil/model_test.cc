// SPDX-License-Identifier: Apache-2.0
#include "backends/fil/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "backends/sdk/testing/fake_server.h"

namespace nereid_backend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::filesystem::path kFilTestdata = NEREID_FIL_TESTDATA;

// Stump: x < 0.5 has the score 0.25, all else (and nothing) 0.75.
constexpr std::string_view kStump =
    "tree\nversion=v4\nnum_tree_per_iteration=1\nmax_feature_idx=1\nobjective=regression\n\n"
    "Tree=0\nnum_leaves=2\nsplit_feature=0\nthreshold=0.5\ndecision_type=8\nleft_child=-1\n"
    "right_child=-2\nleaf_value=0.25 0.75\n\nend of trees\n";

class FilModelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    backend_state_.default_max_batch_size = 4;
    backend_.state = &backend_state_;
    handle_.backend = &backend_;
    handle_.name = "m";
    handle_.directory = ::testing::TempDir() + "/" +
                        ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(handle_.directory);
    std::filesystem::create_directories(handle_.directory + "/1");
  }
  void TearDown() override {
    model_.reset();
    EXPECT_EQ(testing::LiveErrors(), 0);
  }

  void Write(const std::string& name, std::string_view bytes) {
    std::ofstream(handle_.directory + "/1/" + name, std::ios::binary) << bytes;
  }

  // Loads with one parameter per pair; "" or the error.
  std::string Load(int width, const std::vector<std::pair<std::string, std::string>>& parameters,
                   int features = 2) {
    Json given;
    for (const auto& [key, value] : parameters) {
      Json text;
      text.Set("string_value", value);
      given.Set(key, text);
    }
    handle_.config = StrCat(
        R"({"name":"m","max_batch_size":8,"input":[{"name":"input__0","data_type":"TYPE_FP32","dims":[)",
        features, R"(]}],"output":[{"name":"output__0","data_type":"TYPE_FP32","dims":[)", width,
        R"(]}],"parameters":)", parameters.empty() ? "{}" : given.Write(), "}");
    Result<std::unique_ptr<FilModel>> model = FilModel::Create(&handle_);
    if (!model.ok()) return model.error().message();
    model_ = std::move(*model);
    return "";
  }

  std::vector<float> Predict(std::vector<float> rows) {
    const size_t count = rows.size() / model_->features();
    std::vector<float> results(count * model_->width());
    model_->Predict(rows.data(), count, results.data());
    return results;
  }

  FilBackend backend_state_;
  TRITONBACKEND_Backend backend_;
  TRITONBACKEND_Model handle_;
  std::unique_ptr<FilModel> model_;
};

TEST_F(FilModelTest, ParametersChooseTheOutput) {
  Write("model.txt", kStump);
  const std::vector<float> rows = {0, 0, 1, 0};
  ASSERT_EQ(Load(1, {}), "");
  EXPECT_THAT(Predict(rows), ElementsAre(0.25f, 0.75f));
  ASSERT_EQ(Load(1, {{"output_class", "true"}}), "");
  EXPECT_THAT(Predict(rows), ElementsAre(0, 1));
  ASSERT_EQ(Load(1, {{"is_classifier", "true"}, {"threshold", "0.2"}}), "");
  EXPECT_THAT(Predict(rows), ElementsAre(1, 1));
  ASSERT_EQ(Load(1, {{"output_class", "true"}, {"threshold", "0.75"}}), "");
  EXPECT_THAT(Predict(rows), ElementsAre(0, 0));
  ASSERT_EQ(Load(1, {{"output_class", "true"}, {"predict_proba", "true"}}), "");
  EXPECT_THAT(Predict(rows), ElementsAre(0.25f, 0.75f));
  ASSERT_EQ(Load(2, {{"predict_proba", "true"}}), "");
  EXPECT_THAT(Predict(rows), ElementsAre(0.75f, 0.25f, 0.25f, 0.75f));
}

TEST_F(FilModelTest, SeveralClassesGiveOneScoreEach) {
  std::filesystem::copy_file(kFilTestdata / "xgb_softmax.json",
                             handle_.directory + "/1/xgboost.json");
  const std::vector<float> row = {5, 5, 5, 0, 1};
  ASSERT_EQ(Load(1, {}, 5), "");  // multi:softmax predicts the class
  EXPECT_THAT(Predict(row), ElementsAre(2));
  ASSERT_EQ(Load(3, {{"predict_proba", "1"}}, 5), "");
  const std::vector<float> scores = Predict(row);
  EXPECT_NEAR(scores[0] + scores[1] + scores[2], 1, 1e-6);
  EXPECT_GT(scores[2], scores[1]);
}

TEST_F(FilModelTest, ConfigurationsThatDoNotFitAreRefused) {
  Write("model.txt", kStump);
  EXPECT_THAT(Load(3, {}), HasSubstr("output__0"));
  EXPECT_THAT(Load(1, {}, 3), HasSubstr("input__0"));
  EXPECT_THAT(Load(1, {{"threshold", "much"}}), HasSubstr("'much'; it has to be a number"));
  EXPECT_THAT(Load(1, {{"model_type", "sklearn"}}), HasSubstr("model_type"));
  EXPECT_THAT(Load(1, {{"model_type", "xgboost_json"}}), HasSubstr("xgboost.json"));
}

TEST_F(FilModelTest, FilesOfOtherKindsAreRefusedWithAWayOut) {
  Write("xgboost.model", "binf and more");
  EXPECT_THAT(Load(1, {}), HasSubstr("old binary format is not read; load the model with"));
  EXPECT_THAT(Load(1, {{"model_type", "xgboost"}}), HasSubstr("old binary format is not read"));
  Write("xgboost.json", "");
  EXPECT_THAT(Load(1, {}), HasSubstr("it is neither JSON or UBJSON of XGBoost, nor text"));
  EXPECT_THAT(Load(1, {{"model_type", "xgboost_json"}}), HasSubstr("it is not JSON of XGBoost"));
}

TEST_F(FilModelTest, CheckpointsOfTreeliteAreKnownByTheirContent) {
  std::filesystem::copy_file(kFilTestdata / "tl_forest.tl", handle_.directory + "/1/checkpoint.tl");
  const std::vector<float> row = {5, 5, 5, 0, 1};
  ASSERT_EQ(Load(3, {}, 5), "");
  const std::vector<float> scores = Predict(row);
  ASSERT_EQ(Load(1, {{"model_type", "treelite_checkpoint"}, {"output_class", "true"}}, 5), "");
  const auto greatest = std::max_element(scores.begin(), scores.end()) - scores.begin();
  EXPECT_THAT(Predict(row), ElementsAre(greatest));
  Write("checkpoint.tl", std::string_view("\3\0\0\0\x9\0\0\0", 8));
  EXPECT_THAT(Load(3, {}, 5), HasSubstr("it ends before the end of its version"));
}

TEST_F(FilModelTest, TargetsHaveNoClass) {
  std::filesystem::copy_file(kFilTestdata / "tl_targets.tl",
                             handle_.directory + "/1/checkpoint.tl");
  ASSERT_EQ(Load(2, {}, 5), "");
  EXPECT_THAT(Load(1, {{"output_class", "true"}}, 5),
              HasSubstr("asks for a class, but the model has 2 targets; it has to be false"));
}

TEST_F(FilModelTest, RequestsOfABatchAreAnsweredOneByOne) {
  Write("model.txt", kStump);
  ASSERT_EQ(Load(1, {}), "");
  TRITONBACKEND_ModelInstance handle;
  Result<std::unique_ptr<FilInstance>> instance = FilInstance::Create(&handle, *model_);
  ASSERT_TRUE(instance.ok());
  for (int round = 0; round < 3; ++round) {  // later ones write into the response
    TRITONBACKEND_Request one, two;
    const std::vector<float> rows = {0, 0, 1, 0, 0, 0};
    const std::string data(reinterpret_cast<const char*>(rows.data()), rows.size() * 4);
    one.inputs.push_back(
        testing::MakeInput("input__0", TRITONSERVER_TYPE_FP32, {2, 2}, data.substr(0, 16)));
    two.inputs.push_back(
        testing::MakeInput("input__0", TRITONSERVER_TYPE_FP32, {1, 2}, data.substr(16)));
    one.wanted_outputs = two.wanted_outputs = {"output__0"};
    TRITONBACKEND_Request* requests[] = {&one, &two};
    const uint32_t count = round == 2 ? 1 : 2;
    EXPECT_EQ(RunBatch(&handle, requests, count,
                       [&](Batch& batch) { return (*instance)->Execute(&batch); }),
              nullptr);
    const testing::SeenOutput& output = one.responses.at(0).outputs.at(0);
    EXPECT_THAT(output.shape, ElementsAre(2, 1));
    float values[2];
    ASSERT_EQ(output.data.size(), sizeof(values));
    memcpy(values, output.data.data(), sizeof(values));
    EXPECT_THAT(values, ElementsAre(0.25f, 0.75f));
    if (count == 2) {
      EXPECT_THAT(two.responses.at(0).outputs.at(0).shape, ElementsAre(1, 1));
    }
  }
}

}  // namespace
}  // namespace nereid_backend
