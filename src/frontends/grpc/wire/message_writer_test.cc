// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/wire/message_writer.h"

#include <gtest/gtest.h>

namespace nereid {
namespace {

TEST(MessagePrefixTest, FlagAndBigEndianLength) {
  EXPECT_EQ(MessagePrefix(false, 0).text(), absl::string_view("\0\0\0\0\0", 5));
  EXPECT_EQ(MessagePrefix(true, 1).text(), absl::string_view("\1\0\0\0\1", 5));
  EXPECT_EQ(MessagePrefix(false, 0x01020304).text(), absl::string_view("\0\1\2\3\4", 5));
  EXPECT_EQ(MessagePrefix(true, 0xfffefdfc).text(), absl::string_view("\1\xff\xfe\xfd\xfc", 5));
}

}  // namespace
}  // namespace nereid
