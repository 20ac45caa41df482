// SPDX-License-Identifier: Apache-2.0
#include "backend_host/backend_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "backend_host/backend_registry.h"
#include "backend_host/testing/fake_backend.h"
#include "backend_host/testing/test_config.h"
#include "base/testing/temp_dir.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class BackendModelTest : public ::testing::Test {
 protected:
  std::unique_ptr<BackendModel> Make(const std::string& name, const std::string& more = "") {
    ParsedConfig config = MakeTestConfig(name, "fake", more);
    auto backend = registry_.Get(config, dir_.path(), 1);
    EXPECT_TRUE(backend.ok()) << backend.status();
    fake_.Forget();
    BackendModelOptions options;
    options.repository_dir = dir_.path();
    options.version = 1;
    return std::make_unique<BackendModel>(*backend, std::move(config), std::move(options));
  }

  // The result of making the batch strategy of a model with `more` in its configuration.
  absl::Status StrategyStatus(const std::string& more = "") {
    const auto model = Make("m", more);
    return model->MakeBatchStrategy(*model->config().Compile(1)).status();
  }

  static std::string StrategyPath(const std::string& path) {
    return "parameters { key: \"TRITON_BATCH_STRATEGY_PATH\" value { string_value: \"" + path +
           "\" } }";
  }

  TempDir dir_;
  FakeBackend fake_;
  BackendRegistry registry_{{.directory = NEREID_TEST_PLUGINS, .settings = {}}};
};

// ---- Life

TEST_F(BackendModelTest, IsFinalisedOnce) {
  auto model = Make("m");
  ASSERT_TRUE(model->Initialize().ok());
  model->FinalizeOnce();
  model->FinalizeOnce();
  model.reset();
  EXPECT_THAT(fake_.Journal(), ElementsAre("model_initialize m", "model_finalize m"));
}

TEST_F(BackendModelTest, IsFinalisedAtTheLatestWhenItGoes) {
  auto model = Make("m");
  ASSERT_TRUE(model->Initialize().ok());
  model.reset();
  EXPECT_THAT(fake_.Journal(), ElementsAre("model_initialize m", "model_finalize m"));
}

TEST_F(BackendModelTest, AModelThatWasNotInitialisedIsNotFinalised) {
  Make("m").reset();
  EXPECT_THAT(fake_.Journal(), IsEmpty());
}

TEST_F(BackendModelTest, ARefusedModelIsNotFinalised) {
  auto model = Make("refused");
  EXPECT_EQ(model->Initialize(), absl::InternalError("the fake backend refuses this model"));
  model.reset();
  EXPECT_THAT(fake_.Journal(), ElementsAre("model_initialize refused"));
}

TEST_F(BackendModelTest, AnExceptionIsAnError) {
  EXPECT_EQ(Make("throws")->Initialize(),
            absl::InternalError("backend 'fake' threw an exception in "
                                "TRITONBACKEND_ModelInitialize of model 'throws': thrown by the "
                                "fake backend"));
}

TEST_F(BackendModelTest, TheConfigurationCanOnlyBeSetDuringInitialisation) {
  const auto model = Make("m");
  EXPECT_EQ(model->SetConfig(1, "{}"),
            absl::UnavailableError("model 'm': its configuration can only be set inside "
                                   "TRITONBACKEND_ModelInitialize"));
  ASSERT_TRUE(model->Initialize().ok());
  EXPECT_EQ(model->SetConfig(1, "{}").code(), absl::StatusCode::kUnavailable);
}

TEST_F(BackendModelTest, OnlyDuringInitialisationAModelSaysThatItIsBrief) {
  const auto model = Make("brief");
  EXPECT_FALSE(model->executes_briefly());
  ASSERT_TRUE(model->Initialize().ok());
  EXPECT_TRUE(model->executes_briefly());
  const auto other = Make("m");
  ASSERT_TRUE(other->Initialize().ok());
  EXPECT_EQ(other->SetExecutesBriefly(),
            absl::InvalidArgumentError("model 'm': NEREID_ModelExecutesBriefly can only be called "
                                       "inside TRITONBACKEND_ModelInitialize"));
  EXPECT_FALSE(other->executes_briefly());
}

TEST_F(BackendModelTest, AMemoryReportReplacesTheLastOne) {
  const auto model = Make("m");
  EXPECT_THAT(model->memory(), IsEmpty());
  TRITONSERVER_BufferAttributes usage;
  usage.byte_size = 5;
  model->ReportMemory({usage, usage});
  model->ReportMemory({usage});
  ASSERT_EQ(model->memory().size(), 1u);
  EXPECT_EQ(model->memory()[0].byte_size, 5u);
}

// ---- Batching libraries

TEST_F(BackendModelTest, WithoutALibraryThereIsNoStrategy) {
  const auto model = Make("m");
  const auto strategy = model->MakeBatchStrategy(*model->config().Compile(1));
  ASSERT_TRUE(strategy.ok()) << strategy.status();
  EXPECT_EQ(*strategy, nullptr);
}

TEST_F(BackendModelTest, ALibraryInTheVersionOrModelDirectoryIsUsed) {
  for (const std::string file : {"batchstrategy.so", "1/batchstrategy.so"}) {
    const std::string path = dir_.Copy(NEREID_TEST_PLUGINS "/batcher.so", file);
    const auto model = Make("m");
    const auto strategy = model->MakeBatchStrategy(*model->config().Compile(1));
    ASSERT_TRUE(strategy.ok()) << strategy.status();
    EXPECT_NE(*strategy, nullptr) << file;
    std::filesystem::remove(path);
  }
}

TEST_F(BackendModelTest, AConfiguredLibraryIsUsed) {
  const std::string path = dir_.Copy(NEREID_TEST_PLUGINS "/batcher.so", "my_batcher.so");
  for (const std::string& configured : {path, std::string("my_batcher.so")}) {
    const auto model = Make("m", StrategyPath(configured));
    const auto strategy = model->MakeBatchStrategy(*model->config().Compile(1));
    ASSERT_TRUE(strategy.ok()) << strategy.status();
    EXPECT_NE(*strategy, nullptr) << configured;
  }
}

TEST_F(BackendModelTest, AConfiguredPathMayBeginInTheWorkingDirectory) {
  dir_.Copy(NEREID_TEST_PLUGINS "/batcher.so", "my_batcher.so");
  const std::string path =
      std::filesystem::proximate(dir_.Path("my_batcher.so"), std::filesystem::current_path())
          .string();
  EXPECT_TRUE(StrategyStatus(StrategyPath(path)).ok()) << path;
  EXPECT_EQ(
      StrategyStatus(StrategyPath(path + ".none")),
      absl::NotFoundError("Batching library path not found: " + dir_.Path("my_batcher.so.none")));
}

TEST_F(BackendModelTest, TheNextLoadTakesTheLibraryAsItIsThen) {
  const std::string path = dir_.Copy(NEREID_TEST_PLUGINS "/batcher.so", "batchstrategy.so");
  const auto first = Make("m");
  const auto strategy = first->MakeBatchStrategy(*first->config().Compile(1));
  ASSERT_TRUE(strategy.ok()) << strategy.status();
  std::filesystem::remove(path);
  dir_.Copy(NEREID_TEST_PLUGINS "/incomplete_batcher.so", "batchstrategy.so");
  EXPECT_EQ(StrategyStatus().message(),
            path + " does not define all required custom batching functions for model m");
}

TEST_F(BackendModelTest, AConfiguredLibraryMustLieInTheModelsDirectory) {
  const absl::Status escapes =
      absl::InvalidArgumentError("Batching library path escapes model repository.");
  EXPECT_EQ(StrategyStatus(StrategyPath(NEREID_TEST_PLUGINS "/batcher.so")), escapes);
  EXPECT_EQ(StrategyStatus(StrategyPath(dir_.path() + "/../batcher.so")), escapes);
  EXPECT_EQ(StrategyStatus(StrategyPath("../batcher.so")), escapes);
  EXPECT_EQ(StrategyStatus(StrategyPath(dir_.path() + "_other/batcher.so")), escapes);
}

TEST_F(BackendModelTest, AConfiguredLibraryMustBeThere) {
  const std::string path = dir_.Path("none.so");
  EXPECT_EQ(StrategyStatus(StrategyPath(path)),
            absl::NotFoundError("Batching library path not found: " + path));
}

TEST_F(BackendModelTest, AnIncompleteLibraryFailsTheLoad) {
  dir_.Copy(NEREID_TEST_PLUGINS "/incomplete_batcher.so", "batchstrategy.so");
  const absl::Status status = StrategyStatus();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("does not define all required custom batching functions for model m"));
}

}  // namespace
}  // namespace nereid
