// SPDX-License-Identifier: Apache-2.0
#include "server/answer_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace nereid {
namespace {

class AnswerCacheTest : public ::testing::Test {
 protected:
  std::string Get(absl::string_view question) {
    const auto answer = cache_.Get(question, [&]() -> AnswerCache::Answer {
      return std::string(question) + std::to_string(++made_);
    });
    return answer.ok() ? *answer : answer.status().ToString();
  }

  FakeClock clock_;
  AnswerCache cache_{&clock_};
  std::atomic<int> made_{0};
};

TEST_F(AnswerCacheTest, AnAnswerIsKeptForItsTime) {
  EXPECT_EQ(Get("a"), "a1");
  clock_.Advance(AnswerCache::kKept - Duration(1));
  EXPECT_EQ(Get("a"), "a1");
  clock_.Advance(Duration(1));
  EXPECT_EQ(Get("a"), "a2");
}

TEST_F(AnswerCacheTest, EachQuestionHasItsOwn) {
  EXPECT_EQ(Get("a"), "a1");
  EXPECT_EQ(Get("b"), "b2");
  EXPECT_EQ(Get("a"), "a1");
  EXPECT_EQ(cache_.size(), 2u);
}

TEST_F(AnswerCacheTest, WhatNobodyAsksForIsForgotten) {
  for (int i = 0; i < 100; ++i) Get(std::to_string(i));
  EXPECT_EQ(cache_.size(), 100u);
  clock_.Advance(AnswerCache::kKept);
  Get("a");
  EXPECT_EQ(cache_.size(), 1u);
}

TEST_F(AnswerCacheTest, ErrorsAreNotKept) {
  const auto fail = []() -> AnswerCache::Answer { return absl::NotFoundError("no"); };
  EXPECT_EQ(cache_.Get("a", fail).status().message(), "no");
  EXPECT_EQ(Get("a"), "a1");
}

TEST_F(AnswerCacheTest, ManyWatchersCostOne) {
  std::vector<std::thread> watchers;
  for (int i = 0; i < 8; ++i) {
    watchers.emplace_back([this] {
      for (int k = 0; k < 100; ++k) EXPECT_EQ(Get("a"), "a1");
    });
  }
  for (std::thread& watcher : watchers) watcher.join();
  EXPECT_EQ(made_, 1);
}

}  // namespace
}  // namespace nereid
