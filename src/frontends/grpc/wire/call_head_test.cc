// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/wire/call_head.h"

#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "frontends/grpc/wire/testing/call_head_decoding.h"

namespace nereid {
namespace {

using namespace std::chrono_literals;

std::optional<Duration> Timeout(absl::string_view value) {
  const auto timeout = ParseTimeout(value);
  EXPECT_TRUE(timeout.ok()) << timeout.status();
  return timeout.value_or(std::nullopt);
}

TEST(CallHeadTest, TimeoutInEachUnit) {
  EXPECT_EQ(Timeout("2H"), 2h);
  EXPECT_EQ(Timeout("3M"), 3min);
  EXPECT_EQ(Timeout("4S"), 4s);
  EXPECT_EQ(Timeout("5m"), 5ms);
  EXPECT_EQ(Timeout("6u"), 6us);
  EXPECT_EQ(Timeout("7n"), 7ns);
  EXPECT_EQ(Timeout("0S"), 0s);
  EXPECT_EQ(Timeout("00000010m"), 10ms);
  EXPECT_EQ(Timeout("99999999n"), 99'999'999ns);
  EXPECT_EQ(Timeout("99999999S"), 99'999'999s);
}

TEST(CallHeadTest, NoTimeout) { EXPECT_EQ(Timeout(""), std::nullopt); }

TEST(CallHeadTest, TimeoutSaturates) {
  EXPECT_EQ(Timeout("875999H"), 875'999h);
  EXPECT_EQ(Timeout("876000H"), kLongestTimeout);
  EXPECT_EQ(Timeout("876001H"), kLongestTimeout);
  EXPECT_EQ(Timeout("99999999H"), kLongestTimeout);
  EXPECT_EQ(Timeout("99999999M"), kLongestTimeout);
  // A century after the start of the machine, it can still be added to the time.
  EXPECT_GT(TimePoint(kLongestTimeout) + kLongestTimeout, TimePoint(kLongestTimeout));
}

TEST(CallHeadTest, MalformedTimeouts) {
  for (const absl::string_view value :
       {"S", "1", "12", "1s", "1h", "1 S", " 1S", "1S ", "-1S", "+1S", "1.5S", "123456789n", "1SS",
        "S1", "0x1S", "1\xff"}) {
    EXPECT_EQ(ParseTimeout(value).status().code(), absl::StatusCode::kInvalidArgument) << value;
  }
  EXPECT_EQ(ParseTimeout("1\ns").status().message(),
            "'grpc-timeout' is '1\\ns', expected 1 to 8 digits and one of the units H, M, S, m, u, "
            "n");
  EXPECT_LT(ParseTimeout(std::string(100'000, '\x01')).status().message().size(), 400u);
}

TEST(CallHeadTest, ContentTypes) {
  for (const char* type :
       {"application/grpc", "application/grpc+proto", "application/grpc+json",
        "application/grpc;charset=utf-8", "Application/GRPC", "APPLICATION/grpc+"}) {
    EXPECT_TRUE(IsGrpcContentType(type)) << type;
  }
  for (const char* type : {"", "application/json", "application/grp", "application/grpc-web",
                           "application/grpc-web+proto", " application/grpc", "application/grpc ",
                           "application/grpcx", "text/application/grpc"}) {
    EXPECT_FALSE(IsGrpcContentType(type)) << type;
  }
}

TEST(CallHeadTest, PercentEncodes) {
  EXPECT_EQ(EncodeStatusMessage(""), "");
  EXPECT_EQ(EncodeStatusMessage(" plain ~ text '\"&+"), " plain ~ text '\"&+");
  EXPECT_EQ(EncodeStatusMessage("100%"), "100%25");
  EXPECT_EQ(EncodeStatusMessage("a\r\nb\t"), "a%0D%0Ab%09");
  EXPECT_EQ(EncodeStatusMessage(absl::string_view("\0\x1f\x7f\x80\xff", 5)), "%00%1F%7F%80%FF");
  EXPECT_EQ(EncodeStatusMessage("\xc3\xbc"), "%C3%BC");
}

TEST(CallHeadTest, EachBytePassesThroughPercentEncoding) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  const std::string encoded = EncodeStatusMessage(bytes);
  for (const char c : encoded) EXPECT_TRUE(c >= 0x20 && c <= 0x7E) << static_cast<int>(c);
  EXPECT_EQ(DecodeStatusMessage(encoded), bytes);
}

TEST(CallHeadTest, FieldsWithOneValue) {
  for (const absl::string_view field : SingleFields()) {
    const std::string name = absl::StrCat(field, field.back() == '-' ? "key" : "");
    EXPECT_TRUE(IsSingleField(name));
    const absl::Status refused = CheckRepeated(name, "a", "b\x01");
    EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument) << name;
    EXPECT_EQ(refused.message(), absl::StrCat("the metadata '", name,
                                              "' may stand in a call once, "
                                              "but it is given as 'a' and as 'b\\x01'"));
    EXPECT_TRUE(CheckRepeated(name, "a", "a").ok()) << name;
    EXPECT_FALSE(IsSingleField(absl::StrCat("x-", name))) << name;
  }
  EXPECT_FALSE(IsSingleField("x-mine"));
}

TEST(CallHeadTest, BinaryMetadata) {
  EXPECT_EQ(EncodeBinaryMetadata(""), "");
  EXPECT_EQ(EncodeBinaryMetadata("a"), "YQ");
  EXPECT_EQ(EncodeBinaryMetadata("ab"), "YWI");
  EXPECT_EQ(EncodeBinaryMetadata("abc"), "YWJj");
  EXPECT_EQ(EncodeBinaryMetadata("\xfb\xff\xbf"), "+/+/");
  std::string bytes;
  for (int i = 0; i < 256; ++i) {
    bytes.push_back(static_cast<char>(i));
    EXPECT_EQ(DecodeBinaryMetadata(EncodeBinaryMetadata(bytes)), bytes);
  }
}

}  // namespace
}  // namespace nereid
