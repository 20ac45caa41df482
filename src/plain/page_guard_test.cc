// SPDX-License-Identifier: Apache-2.0
#include "plain/page_guard.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace nereid {
namespace {

const size_t kPage = static_cast<size_t>(sysconf(_SC_PAGESIZE));

// A mapping of a file that the test can truncate.
class PageGuardTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fd_ = memfd_create("page_guard_test", MFD_CLOEXEC);
    ASSERT_EQ(ftruncate(fd_, static_cast<off_t>(kBytes)), 0);
    void* const base = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    ASSERT_NE(base, MAP_FAILED);
    data_ = static_cast<char*>(base);
    std::memset(data_, 'x', kBytes);
  }
  void TearDown() override {
    munmap(data_, kBytes);
    close(fd_);
  }

  const size_t kBytes = 4 * kPage;
  int fd_ = -1;
  char* data_ = nullptr;
};

TEST_F(PageGuardTest, VanishedPagesAreZeros) {
  const std::optional<PageGuard> guard = PageGuard::Make(data_, kBytes);
  ASSERT_TRUE(guard.has_value());
  EXPECT_FALSE(guard->damaged());
  ASSERT_EQ(ftruncate(fd_, static_cast<off_t>(kPage)), 0);
  EXPECT_EQ(data_[kPage - 1], 'x');
  EXPECT_FALSE(guard->damaged());
  EXPECT_EQ(data_[2 * kPage + 5], 0);
  EXPECT_TRUE(guard->damaged());
  // The rest is memory of its own. What is before can vanish, too.
  std::memset(data_ + 2 * kPage, 'y', 2 * kPage);
  EXPECT_EQ(data_[kBytes - 1], 'y');
  EXPECT_EQ(data_[kPage], 0);
  EXPECT_EQ(data_[0], 'x');
}

TEST_F(PageGuardTest, ManyThreadsMeetTheSameHole) {
  const std::optional<PageGuard> guard = PageGuard::Make(data_, kBytes);
  ASSERT_TRUE(guard.has_value());
  ASSERT_EQ(ftruncate(fd_, 0), 0);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 4; ++i) {
    threads.emplace_back([this, i] {
      for (size_t page = 4; page-- > 0;) data_[page * kPage + i] = static_cast<char>(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(guard->damaged());
}

TEST_F(PageGuardTest, MovesAndIsUsedAgain) {
  std::optional<PageGuard> first = PageGuard::Make(data_, kBytes);
  ASSERT_TRUE(first.has_value());
  PageGuard moved = *std::move(first);
  ASSERT_EQ(ftruncate(fd_, 0), 0);
  EXPECT_EQ(data_[0], 0);
  EXPECT_TRUE(moved.damaged());
  moved = *PageGuard::Make(data_, kBytes);
  EXPECT_FALSE(moved.damaged());
}

TEST_F(PageGuardTest, ThereIsAnEndOfThem) {
  std::vector<PageGuard> guards;
  for (size_t i = 0; i < PageGuard::kMaxGuards; ++i) {
    guards.push_back(*PageGuard::Make(data_, kBytes));
  }
  EXPECT_FALSE(PageGuard::Make(data_, kBytes).has_value());
  EXPECT_EQ(errno, ENOMEM);
  guards.pop_back();
  EXPECT_TRUE(PageGuard::Make(data_, kBytes).has_value());
}

using PageGuardDeathTest = PageGuardTest;

TEST_F(PageGuardDeathTest, OtherMemoryEndsTheProcessAsBefore) {
  const std::optional<PageGuard> guard = PageGuard::Make(data_, kPage);
  ASSERT_TRUE(guard.has_value());
  ASSERT_EQ(ftruncate(fd_, 0), 0);
  volatile char* const outside = data_ + kPage;
  EXPECT_DEATH(*outside = 1, "");
}

TEST_F(PageGuardDeathTest, ASignalThatSomebodySendsEndsTheProcess) {
  const std::optional<PageGuard> guard = PageGuard::Make(data_, kPage);
  ASSERT_TRUE(guard.has_value());
  EXPECT_DEATH(raise(SIGBUS), "");
}

}  // namespace
}  // namespace nereid
