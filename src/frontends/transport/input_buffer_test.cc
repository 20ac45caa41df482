// SPDX-License-Identifier: Apache-2.0
#include "frontends/transport/input_buffer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace nereid::transport {
namespace {

void Receive(InputBuffer* buffer, size_t n, size_t max_capacity) {
  const absl::Span<char> space = buffer->Prepare(max_capacity);
  ASSERT_GE(space.size(), n);
  for (size_t i = 0; i < n; ++i) space[i] = static_cast<char>('a' + i % 26);
  buffer->Commit(n);
}

TEST(InputBufferTest, HasRoomUntilMaxCapacityBytesWait) {
  InputBuffer buffer;
  Receive(&buffer, 100, 100);
  EXPECT_TRUE(buffer.Prepare(100).empty());
  buffer.Consume(1);
  EXPECT_EQ(buffer.Prepare(100).size(), 1u);
  EXPECT_EQ(std::string(buffer.data(), 3), "bcd");
}

// Found by fuzzing: a connection that had read ahead did not read any more if the limit for heads
// was smaller than what it had read.
TEST(InputBufferTest, HasRoomWhenASmallerCapacityIsAskedForThanBefore) {
  InputBuffer buffer;
  Receive(&buffer, 1500, 8192);
  buffer.Consume(1400);
  EXPECT_EQ(buffer.Prepare(1000).size(), 900u);
  EXPECT_EQ(buffer.size(), 100u);
}

}  // namespace
}  // namespace nereid::transport
