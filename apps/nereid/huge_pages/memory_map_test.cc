// SPDX-License-Identifier: Apache-2.0
#include "huge_pages/memory_map.h"

#include <gtest/gtest.h>

#include <sstream>

namespace nereid {
namespace {

constexpr char kSmaps[] =
    "55d0c0000000-55d0c0400000 r-xp 00000000 fe:01 131                        /usr/bin/nereid\n"
    "Size:               4096 kB\n"
    "Anonymous:             0 kB\n"
    "AnonHugePages:         0 kB\n"
    "VmFlags: rd ex mr mw me\n"
    "55d0c1000000-55d0c1400000 rw-p 00400000 fe:01 131                        /usr/bin/nereid\n"
    "Anonymous:          4096 kB\n"
    "AnonHugePages:         0 kB\n"
    "55d0c2000000-55d0c2600000 rw-p 00000000 00:00 0                          [heap]\n"
    "Size:               6144 kB\n"
    "Rss:                5000 kB\n"
    "Anonymous:          5000 kB\n"
    "AnonHugePages:      2048 kB\n"
    "VmFlags: rd wr mr mw me ac\n"
    "7f0000000000-7f0040000000 ---p 00000000 00:00 0 \n"
    "Anonymous:             0 kB\n"
    "7f0040000000-7f0080000000 rw-p 00000000 00:00 0 \n"
    "Anonymous:        123456 kB\n"
    "AnonHugePages:         0 kB\n"
    "7f0080000000-7f0080200000 rw-s 00000000 00:01 42                         /dev/zero (deleted)\n"
    "Anonymous:             0 kB\n"
    "7f0080400000-7f0080600000 rw-s 00000000 00:00 0 \n"
    "Anonymous:          2048 kB\n";

TEST(AnonymousMappingsTest, ArePrivateWritableAndWithoutAFile) {
  std::istringstream smaps(kSmaps);
  const std::vector<Mapping> mappings = AnonymousMappings(smaps);
  ASSERT_EQ(mappings.size(), 2U);
  EXPECT_EQ(mappings[0].begin, 0x55d0c2000000U);
  EXPECT_EQ(mappings[0].end, 0x55d0c2600000U);
  EXPECT_EQ(mappings[0].anonymous, 5000U << 10);
  EXPECT_EQ(mappings[0].huge, 2048U << 10);
  EXPECT_EQ(mappings[1].begin, 0x7f0040000000U);
  EXPECT_EQ(mappings[1].anonymous, 123456U << 10);
  EXPECT_EQ(mappings[1].huge, 0U);
}

TEST(AnonymousMappingsTest, OtherTextHasNone) {
  for (const char* text : {"", "\n\n", "Anonymous: 4 kB\n", "zz-00 rw-p 0 0 0\n", "10-20 rw-p 0\n",
                           "10-20 r 0 0:0 0\n"}) {
    std::istringstream smaps(text);
    EXPECT_TRUE(AnonymousMappings(smaps).empty()) << text;
  }
}

TEST(AnonymousBytesTest, AreThoseResidentWithoutThoseOfFiles) {
  EXPECT_EQ(AnonymousBytes("1000 300 100 10 0 500 0\n", 4096), 200U * 4096);
  EXPECT_EQ(AnonymousBytes("1000 100 300 10 0 500 0\n", 4096), 0U);
  EXPECT_EQ(AnonymousBytes("", 4096), std::nullopt);
  EXPECT_EQ(AnonymousBytes("1000 300", 4096), std::nullopt);
  EXPECT_EQ(AnonymousBytes("1000 many 100 10", 4096), std::nullopt);
}

constexpr uint64_t kOwn = uint64_t{0x8100} << 48;  // present, and mapped once

TEST(AllOwnAndPresentTest, EachPageCounts) {
  std::vector<uint64_t> entries(512, kOwn | 0x1234);
  EXPECT_TRUE(AllOwnAndPresent(entries));
  const uint64_t others[] = {
      0,                              // never touched, or given back
      uint64_t{0x4000} << 48,         // swapped out
      kOwn | uint64_t{0x2000} << 48,  // of a file
      uint64_t{0x8000} << 48,         // shared with a child process, or the page of zeros
  };
  for (const uint64_t other : others) {
    entries[511] = other;
    EXPECT_FALSE(AllOwnAndPresent(entries)) << other;
  }
}

TEST(HugePagesAllowedTest, ReadsTheChoiceInBrackets) {
  EXPECT_TRUE(HugePagesAllowed("always [madvise] never\n"));
  EXPECT_TRUE(HugePagesAllowed("[always] madvise never\n"));
  EXPECT_FALSE(HugePagesAllowed("always madvise [never]\n"));
  EXPECT_FALSE(HugePagesAllowed(""));
}

}  // namespace
}  // namespace nereid
