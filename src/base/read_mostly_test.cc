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
  value.Set(std::make_shared<const int>(2));
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
  value.Set(std::make_shared<const int>(2));
  EXPECT_FALSE(watch.expired());
  EXPECT_EQ(*seen, 1) << "valid until the next Get";
  value.Get();
  EXPECT_TRUE(watch.expired());
}

TEST(ReadMostlyTest, AnotherThreadSeesTheNewValue) {
  ReadMostly<int> value(std::make_shared<const int>(1));
  EXPECT_EQ(*value.Get(), 1);
  std::thread([&] { value.Set(std::make_shared<const int>(2)); }).join();
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
  for (int i = 1; i <= 2000; ++i) value.Set(std::make_shared<const int>(i));
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(*value.Get(), 2000);
}

}  // namespace
}  // namespace nereid
