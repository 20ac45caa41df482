// SPDX-License-Identifier: Apache-2.0
#include "apps/loadgen/output_queue.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>

namespace nereid::bench {
namespace {

class OutputQueueTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends_.data()), 0); }
  void TearDown() override {
    for (const int end : ends_) close(end);
  }

  std::string Receive() {
    std::string all(1 << 20, 0);
    const ssize_t got = recv(ends_[1], all.data(), all.size(), MSG_DONTWAIT);
    all.resize(got > 0 ? static_cast<size_t>(got) : 0);
    return all;
  }

  std::array<int, 2> ends_;
  OutputQueue queue_;
};

TEST_F(OutputQueueTest, KeepsTheOrderOfSmallAndLarge) {
  const std::string large(OutputQueue::kCopiedBytes + 1, 'L');
  const std::string small = "small";
  queue_.Append("head ");
  queue_.AppendLasting(small);
  queue_.AppendLasting(large);
  queue_.Append("");
  queue_.Append(" tail");
  ASSERT_TRUE(queue_.WriteTo(ends_[0]).ok());
  EXPECT_TRUE(queue_.empty());
  EXPECT_EQ(Receive(), "head small" + large + " tail");
}

TEST_F(OutputQueueTest, GoesOnWhereTheSocketStopped) {
  std::string large(8 << 20, 0);
  for (size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * 31 >> 3);
  queue_.Append("head");
  queue_.AppendLasting(large);
  queue_.AppendLasting(large);
  queue_.Append("tail");
  EXPECT_EQ(queue_.queued(), 2 * large.size() + 8);
  std::string received;
  int writes = 0;
  for (; !queue_.empty(); ++writes) {
    ASSERT_TRUE(queue_.WriteTo(ends_[0]).ok());
    const size_t before = received.size();
    received += Receive();
    ASSERT_GT(received.size(), before);
    EXPECT_GE(queue_.written(), received.size());
    EXPECT_EQ(queue_.written() == queue_.queued(), queue_.empty());
  }
  EXPECT_GT(writes, 2);
  for (std::string more = Receive(); !more.empty(); more = Receive()) received += more;
  EXPECT_TRUE(received == "head" + large + large + "tail");
}

TEST_F(OutputQueueTest, ALostConnectionIsAnError) {
  close(ends_[1]);
  ends_[1] = -1;
  queue_.Append("x");
  EXPECT_EQ(queue_.WriteTo(ends_[0]).code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace nereid::bench
