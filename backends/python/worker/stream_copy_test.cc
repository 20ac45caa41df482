// SPDX-License-Identifier: Apache-2.0
#include "backends/python/worker/stream_copy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <string>

namespace nereid_python::worker {
namespace {

constexpr size_t kRoom = 1024;

std::string Pattern(size_t size) {
  std::string bytes(size, '\0');
  std::iota(bytes.begin(), bytes.end(), '\1');
  return bytes;
}

TEST(StreamCopyTest, CopiesFromAnywhereToAnywhere) {
  const std::string source = Pattern(kRoom);
  for (size_t to = 0; to < 70; ++to) {
    for (const size_t from : {0, 1, 13, 64}) {
      for (const size_t size : {0, 1, 63, 64, 65, 127, 128, 500}) {
        std::string target(kRoom, '\0');
        StreamCopy(target.data() + to, source.data() + from, size);
        std::string expected(kRoom, '\0');
        std::memcpy(expected.data() + to, source.data() + from, size);
        ASSERT_EQ(target, expected) << to << " " << from << " " << size;
      }
    }
  }
}

TEST(StreamCopyTest, RangesMayOverlap) {
  for (const size_t to : {0, 100, 130, 200}) {
    std::string bytes = Pattern(kRoom);
    std::string expected = bytes;
    StreamCopy(bytes.data() + to, bytes.data() + 120, 500);
    std::memmove(expected.data() + to, expected.data() + 120, 500);
    EXPECT_EQ(bytes, expected) << to;
  }
}

TEST(StreamCopyTest, ACacheHasASize) {
  EXPECT_GE(BytesUntilCold(), uint64_t{1} << 20);
  EXPECT_LE(BytesUntilCold(), uint64_t{16} << 30);
}

}  // namespace
}  // namespace nereid_python::worker
