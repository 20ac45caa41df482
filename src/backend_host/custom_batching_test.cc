// SPDX-License-Identifier: Apache-2.0
#include "backend_host/custom_batching.h"

#include <gtest/gtest.h>

#include <string>

#include "backend_host/backend_model.h"
#include "backend_host/backend_registry.h"
#include "backend_host/testing/test_config.h"
#include "infer/testing/fake_model.h"
#include "infer/testing/test_request.h"

namespace nereid {
namespace {

class CustomBatchingTest : public ::testing::Test {
 protected:
  CustomBatchingTest() {
    auto library = PluginLibrary::Load("backend", "b", NEREID_TEST_PLUGINS "/batcher.so");
    EXPECT_TRUE(library.ok()) << library.status();
    library_ = *std::move(library);
  }

  absl::StatusOr<std::unique_ptr<BatchStrategy>> Make(const std::string& name) {
    ParsedConfig config = MakeTestConfig(name, "fake");
    auto backend = registry_.Get(config, "", 1);
    EXPECT_TRUE(backend.ok()) << backend.status();
    model_ = std::make_unique<BackendModel>(*backend, std::move(config), BackendModelOptions());
    return CustomBatching::Make(*FindBatchingEntryPoints(*library_, "batcher.so", name), "fake",
                                name, reinterpret_cast<TRITONBACKEND_Model*>(model_.get()));
  }

  bool Include(BatchStrategy* strategy, const std::string& id) {
    TestRequest request(serving_);
    request->set_id(id);
    return strategy->Include(request.get());
  }

  std::string Journal() {
    return library_->library().Function<const char* (*)()>("nereid_batcher_journal")();
  }

  const std::shared_ptr<FakeModel> serving_ = FakeModel::Make(ModelBuilder("m"));
  std::unique_ptr<PluginLibrary> library_;
  BackendRegistry registry_{{.directory = NEREID_TEST_PLUGINS, .settings = {}}};
  std::unique_ptr<BackendModel> model_;
};

TEST_F(CustomBatchingTest, PassesEveryCallOn) {
  auto strategy = Make("m");
  ASSERT_TRUE(strategy.ok()) << strategy.status();
  (*strategy)->Begin();
  EXPECT_TRUE(Include(strategy->get(), "1"));
  EXPECT_TRUE(Include(strategy->get(), "2"));
  (*strategy)->End();
  strategy->reset();
  EXPECT_EQ(Journal(),
            "batcher_initialize batch_initialize include:1 include:2 batch_finalize "
            "batcher_finalize ");
}

TEST_F(CustomBatchingTest, AnAnswerThatWasNotGivenMeansNo) {
  auto strategy = Make("m");
  ASSERT_TRUE(strategy.ok()) << strategy.status();
  (*strategy)->Begin();
  EXPECT_FALSE(Include(strategy->get(), "refused"));
  (*strategy)->End();
}

TEST_F(CustomBatchingTest, AnErrorMeansNo) {
  auto strategy = Make("m");
  ASSERT_TRUE(strategy.ok()) << strategy.status();
  (*strategy)->Begin();
  EXPECT_FALSE(Include(strategy->get(), "broken"));
  (*strategy)->End();
}

TEST_F(CustomBatchingTest, AnErrorOfTheBatcherFailsTheLoad) {
  EXPECT_EQ(Make("batcher_refused").status(), absl::InternalError("no batcher for this model"));
}

}  // namespace
}  // namespace nereid
