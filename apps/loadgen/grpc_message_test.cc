#include "apps/loadgen/grpc_message.h"

#include <gtest/gtest.h>

#include <string>

namespace nereid::bench {
namespace {

using std::string_literals::operator""s;

TEST(GrpcPrefixTest, IsAFlagAndALength) {
  const std::string framed = WithGrpcPrefix(std::string(0x010203, 'x'));
  EXPECT_EQ(framed.substr(0, kGrpcPrefixBytes), "\0\0\1\2\3"s);
  EXPECT_EQ(framed.size(), kGrpcPrefixBytes + 0x010203);
  const auto length = GrpcMessageLength(framed.substr(0, kGrpcPrefixBytes));
  ASSERT_TRUE(length.ok());
  EXPECT_EQ(*length, 0x010203u);
  EXPECT_FALSE(GrpcMessageLength("\1\0\0\0\1"s).ok());
}

// Fields of a response: model_name; a fixed64, a fixed32 and a varint that no response has;
// raw_output_contents.
constexpr char kFields[] =
    "\x0a\x01m\x39"
    "12345678"
    "\x3d"
    "1234"
    "\x40\x80\x01";

TEST(SoleRawOutputTest, IsFoundAmongOtherFields) {
  const std::string response = kFields + "\x32\x04"s + "data\x0a\x01n";
  const auto found = SoleRawOutput(response);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(*found, "data");
}

TEST(SoleRawOutputTest, RefusesNoneAndSeveral) {
  EXPECT_FALSE(SoleRawOutput("").ok());
  EXPECT_FALSE(SoleRawOutput(kFields).ok());
  EXPECT_FALSE(SoleRawOutput("\x32\x01"
                             "a"
                             "\x32\x01"
                             "b")
                   .ok());
}

TEST(SoleRawOutputTest, RefusesWhatIsNoMessage) {
  EXPECT_FALSE(SoleRawOutput("\x32\x05"
                             "data")
                   .ok())
      << "longer than the message";
  EXPECT_FALSE(SoleRawOutput("\x32\x01"
                             "a"
                             "\x33")
                   .ok())
      << "a group";
  EXPECT_FALSE(SoleRawOutput("\x30\x01").ok()) << "another wire type";
  EXPECT_FALSE(SoleRawOutput("\x32\x01"
                             "a"
                             "\x80")
                   .ok())
      << "half a varint";
  EXPECT_FALSE(SoleRawOutput("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01").ok()) << "too long";
}

// Two messages of four bytes and an empty one, in pieces of every size.
TEST(GrpcMessageCounterTest, CountsInPiecesOfAnySize) {
  const std::string bytes =
      WithGrpcPrefix("\x12\x02ok") + WithGrpcPrefix("") + WithGrpcPrefix("\x0a\x02no");
  for (size_t size = 1; size <= bytes.size(); ++size) {
    GrpcMessageCounter counter;
    for (size_t at = 0; at < bytes.size(); at += size) {
      EXPECT_EQ(counter.complete(), at == 0 || at == 9 || at == 14) << at;
      counter.Add(absl::string_view(bytes).substr(at, size));
    }
    EXPECT_EQ(counter.whole(), 3u);
    EXPECT_TRUE(counter.complete());
    EXPECT_EQ(counter.stream_errors(), 1u);
    EXPECT_FALSE(counter.compressed());
  }
  GrpcMessageCounter counter;
  counter.Add("\1\0\0\0\0"s);
  EXPECT_TRUE(counter.compressed());
}

// A ModelStreamInferResponse with these raw outputs, and its prefix.
std::string Streamed(const std::string& data) {
  const std::string response = kFields + "\x32"s + static_cast<char>(data.size()) + data;
  return WithGrpcPrefix("\x12"s + static_cast<char>(response.size()) + response);
}

TEST(JoinedRawOutputsTest, AreThoseOfAllMessages) {
  EXPECT_EQ(JoinedRawOutputs(Streamed("one") + Streamed("") + Streamed("two")).value(), "onetwo");
  EXPECT_FALSE(JoinedRawOutputs(Streamed("one") + "\0\0\0"s).ok()) << "half a prefix";
  EXPECT_FALSE(JoinedRawOutputs(WithGrpcPrefix("\x0a\x02no")).ok()) << "an error";
  EXPECT_FALSE(JoinedRawOutputs(WithGrpcPrefix("")).ok());
}

}  // namespace
}  // namespace nereid::bench
