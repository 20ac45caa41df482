// SPDX-License-Identifier: Apache-2.0
#include "base/wake_batch.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <utility>

namespace nereid {
namespace {

class CountingSleeper final : public WakeBatch::Sleeper {
 public:
  void Wake() noexcept override {
    ++woken;
    was_open = WakeBatch::IsOpen();
  }
  int woken = 0;
  bool was_open = false;
};

class WakeBatchTest : public testing::Test {
 protected:
  const std::shared_ptr<CountingSleeper> a_ = std::make_shared<CountingSleeper>();
  const std::shared_ptr<CountingSleeper> b_ = std::make_shared<CountingSleeper>();
};

TEST_F(WakeBatchTest, WakesEachOnceAtTheEnd) {
  EXPECT_FALSE(WakeBatch::IsOpen());
  {
    const WakeBatch batch;
    EXPECT_TRUE(WakeBatch::IsOpen());
    for (int i = 0; i < 3; ++i) {
      WakeBatch::PutOff(a_);
      WakeBatch::PutOff(b_);
    }
    EXPECT_EQ(a_->woken + b_->woken, 0);
  }
  EXPECT_FALSE(WakeBatch::IsOpen());
  EXPECT_EQ(a_->woken, 1);
  EXPECT_EQ(b_->woken, 1);
  // What a wake-up may cause on this thread is not put off to a scope that ends.
  EXPECT_FALSE(b_->was_open);
}

TEST_F(WakeBatchTest, TheOutermostScopeCounts) {
  const auto outer = std::make_unique<WakeBatch>();
  {
    const WakeBatch inner;
    WakeBatch::PutOff(a_);
  }
  EXPECT_TRUE(WakeBatch::IsOpen());
  EXPECT_EQ(a_->woken, 0);
}

TEST_F(WakeBatchTest, MuchIsNotKeptUntilTheEnd) {
  {
    const WakeBatch batch;
    WakeBatch::PutOff(b_);
    for (int i = 0; i < 39; ++i) WakeBatch::PutOff(a_);
    // By 16 and 32 of the 40.
    EXPECT_EQ(a_->woken, 2);
    EXPECT_EQ(b_->woken, 1);
  }
  EXPECT_EQ(a_->woken, 3);
  EXPECT_EQ(b_->woken, 1);
}

TEST_F(WakeBatchTest, AFlushWakesThemEarlierAndTheScopeGoesOn) {
  WakeBatch::Flush();  // no scope: nothing to do
  const WakeBatch batch;
  WakeBatch::PutOff(a_);
  WakeBatch::Flush();
  EXPECT_EQ(a_->woken, 1);
  WakeBatch::PutOff(a_);
  EXPECT_EQ(a_->woken, 1);
}

TEST_F(WakeBatchTest, AScopeIsThatOfItsThread) {
  const WakeBatch batch;
  std::thread([] { EXPECT_FALSE(WakeBatch::IsOpen()); }).join();
}

TEST_F(WakeBatchTest, KeepsASleeperUntilItIsWoken) {
  auto last = std::make_shared<CountingSleeper>();
  const std::weak_ptr<CountingSleeper> watched = last;
  {
    const WakeBatch batch;
    WakeBatch::PutOff(std::exchange(last, nullptr));
    EXPECT_FALSE(watched.expired());
  }
  EXPECT_TRUE(watched.expired());
}

}  // namespace
}  // namespace nereid
