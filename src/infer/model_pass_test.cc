// SPDX-License-Identifier: Apache-2.0
#include "infer/serving_model.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>

#include "infer/testing/fake_model.h"

namespace nereid {
namespace {

TEST(ModelPassTest, KeepsTheModelOpen) {
  const auto model = FakeModel::Make(ModelBuilder("m"));
  std::optional<ModelPass> pass = ModelPass::Enter(model);
  ASSERT_TRUE(*pass);
  EXPECT_EQ(pass->model(), model);
  bool closed = false;
  model->lifetime().Close([&] { closed = true; });
  EXPECT_FALSE(ModelPass::Enter(model)) << "a closed one";
  std::optional<ModelPass> other = pass->Another();
  pass.reset();
  EXPECT_FALSE(closed);
  EXPECT_TRUE(ModelPass::Join(model)) << "as long as somebody is inside";
  other.reset();
  EXPECT_TRUE(closed);
  EXPECT_FALSE(ModelPass::Join(model));
}

TEST(ModelPassTest, TheLastPassMayKeepTheModel) {
  std::weak_ptr<ServingModel> gone;
  {
    ModelPass pass;
    {
      const auto model = FakeModel::Make(ModelBuilder("m"));
      gone = model;
      pass = ModelPass::Enter(model);
    }
    EXPECT_FALSE(gone.expired());
    pass = ModelPass();  // the pass leaves the gate before the model destroys it
    EXPECT_TRUE(gone.expired());
  }
}

TEST(ModelPassTest, ALimitIsKept) {
  const auto model = FakeModel::Make(ModelBuilder("m"));
  Gate::Entry entry;
  const ModelPass first = ModelPass::EnterFairly(model, 1, 0, /*join=*/false, &entry);
  EXPECT_EQ(entry, Gate::Entry::kInside);
  EXPECT_FALSE(ModelPass::EnterFairly(model, 1, 0, /*join=*/false, &entry));
  EXPECT_EQ(entry, Gate::Entry::kFull);
}

TEST(ModelPassTest, SwapsAreFollowedUpToABound) {
  int attempts = 0;
  const auto third = RetryOverSwaps([&]() -> std::optional<int> {
    if (++attempts < 3) return std::nullopt;
    return attempts;
  });
  EXPECT_EQ(third, 3);
  attempts = 0;
  EXPECT_EQ(RetryOverSwaps([&]() -> std::optional<int> {
              ++attempts;
              return std::nullopt;
            }),
            std::nullopt);
  EXPECT_EQ(attempts, kMostSwaps);
}

}  // namespace
}  // namespace nereid
