// SPDX-License-Identifier: Apache-2.0
#include "caches/redis/frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace nereid_cache {
namespace {

using testing::ElementsAre;

FramedValue Framed(const std::vector<std::string>& buffers) {
  std::vector<size_t> sizes;
  for (const std::string& buffer : buffers) sizes.push_back(buffer.size());
  FramedValue framed;
  MakeFrames(sizes, &framed);
  for (size_t i = 0; i < buffers.size(); ++i) {
    std::memcpy(framed.buffers[i], buffers[i].data(), buffers[i].size());
  }
  return framed;
}

TEST(FramesTest, BuffersComeBack) {
  const FramedValue three = Framed({"one", "", std::string(1000, 'x')});
  const auto read = ReadFrames(three.value);
  ASSERT_TRUE(read.has_value());
  EXPECT_THAT(*read, ElementsAre("one", "", std::string(1000, 'x')));
  const auto none = ReadFrames(Framed({}).value);
  ASSERT_TRUE(none.has_value());
  EXPECT_TRUE(none->empty());
}

TEST(FramesTest, AnythingElseIsRefused) {
  const std::string good = Framed({"ab", "cde"}).value;
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(ReadFrames(good.substr(0, size)).has_value()) << size;
  }
  EXPECT_FALSE(ReadFrames(good + "x").has_value());
  std::string other = good;
  other[0] = 'X';
  EXPECT_FALSE(ReadFrames(other).has_value());
  std::string many = good;
  many[7] = '\x7f';  // two thousand million buffers
  EXPECT_FALSE(ReadFrames(many).has_value());
  std::string huge = good;
  huge[15] = '\xff';  // the first has 2^63 bytes
  EXPECT_FALSE(ReadFrames(huge).has_value());
}

}  // namespace
}  // namespace nereid_cache
