// SPDX-License-Identifier: Apache-2.0
#include "base/read_mostly.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace nereid {
namespace {

TEST(ReadMostlyTest, ReadsWhatWasSetLast) {
  ReadMostly<int> value(std::make_shared<const int>(1));
  EXPECT_EQ(*value.Get(), 1);
  EXPECT_EQ(*value.Get(), 1);
  (void)value.Set(std::make_shared<const int>(2));
  EXPECT_EQ(*value.Get(), 2);
}

TEST(ReadMostlyTest, ObjectsOfOneTypeDoNotMixUpTheirValues) {
  ReadMostly<int> first(std::make_shared<const int>(1));
  ReadMostly<int> second(std::make_shared<const int>(2));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(*first.Get(), 1);
    EXPECT_EQ(*second.Get(), 2);
  }
}

TEST(ReadMostlyTest, ANewObjectAtAnOldAddressHasItsOwnValue) {
  std::optional<ReadMostly<int>> slot;
  for (int i = 0; i < 3; ++i) {
    slot.emplace(std::make_shared<const int>(i));
    EXPECT_EQ(*slot->Get(), i);
    slot.reset();
  }
}

TEST(ReadMostlyTest, AReaderKeepsTheOldValueUntilItReadsAgain) {
  auto old = std::make_shared<const int>(1);
  const std::weak_ptr<const int> watch = old;
  ReadMostly<int> value(std::move(old));
  const int* const seen = value.Get();
  EXPECT_EQ(*value.Set(std::make_shared<const int>(2)), 1) << "for the caller to drop";
  EXPECT_FALSE(watch.expired());
  EXPECT_EQ(*seen, 1) << "valid until the next Get";
  value.Get();
  EXPECT_TRUE(watch.expired());
}

// The destructor of a value may do anything, such as read the current value. So it must not run
// under the lock of ReadMostly.
TEST(ReadMostlyTest, NoValueGoesUnderTheLock) {
  struct Reads {
    Reads(const ReadMostly<Reads>* from_in, bool* done_in) : from(from_in), done(done_in) {}
    ~Reads() {
      if (from != nullptr) *done = from->Get() != nullptr;
    }
    const ReadMostly<Reads>* const from;
    bool* const done;
  };
  const auto make = [](const ReadMostly<Reads>* from, bool* done) {
    return std::make_shared<const Reads>(from, done);
  };
  bool replaced = false;
  bool read_again = false;
  ReadMostly<Reads> value(make(nullptr, nullptr));
  (void)value.Set(make(&value, &replaced));
  (void)value.Set(make(nullptr, nullptr));
  EXPECT_TRUE(replaced);
  (void)value.Set(make(&value, &read_again));
  value.Get();
  (void)value.Set(make(nullptr, nullptr));
  EXPECT_FALSE(read_again);
  value.Get();
  EXPECT_TRUE(read_again);
}

TEST(ReadMostlyTest, AnotherThreadSeesTheNewValue) {
  ReadMostly<int> value(std::make_shared<const int>(1));
  EXPECT_EQ(*value.Get(), 1);
  std::thread([&] { (void)value.Set(std::make_shared<const int>(2)); }).join();
  EXPECT_EQ(*value.Get(), 2);
}

TEST(ReadMostlyTest, ReadersNeverSeeValuesGoBack) {
  ReadMostly<int> value(std::make_shared<const int>(0));
  std::atomic<bool> done{false};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      int last = 0;
      while (!done) {
        const int now = *value.Get();
        ASSERT_GE(now, last);
        last = now;
      }
    });
  }
  for (int i = 1; i <= 2000; ++i) (void)value.Set(std::make_shared<const int>(i));
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(*value.Get(), 2000);
}

}  // namespace
}  // namespace nereid
