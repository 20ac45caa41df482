// SPDX-License-Identifier: Apache-2.0
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
    counter.Reset(true, false);
    for (size_t at = 0; at < bytes.size(); at += size) {
      EXPECT_EQ(counter.complete(), at == 0 || at == 9 || at == 14) << at;
      counter.Add(absl::string_view(bytes).substr(at, size));
    }
    EXPECT_EQ(counter.whole(), 3u);
    EXPECT_TRUE(counter.complete());
    EXPECT_EQ(counter.stream_errors(), 1u);
    EXPECT_EQ(counter.error(), "no");
    EXPECT_FALSE(counter.compressed());
  }
  GrpcMessageCounter counter;
  counter.Add("\1\0\0\0\0"s);
  EXPECT_TRUE(counter.compressed());
}

// A ModelStreamInferResponse whose parameters say whether it is the last one; then a long tensor.
std::string WithFlag(bool final) {
  const std::string entry = "\x0a\x15triton_final_response\x12\x02\x08"s + (final ? '\1' : '\0');
  const std::string parameter = "\x22"s + static_cast<char>(entry.size()) + entry;
  const std::string response = kFields + parameter + "\x32\xb8\x17"s + std::string(3000, 'x');
  const std::string size{static_cast<char>((response.size() & 0x7f) | 0x80),
                         static_cast<char>(response.size() >> 7)};
  return "\x12" + size + response;
}

TEST(StreamMessageTest, SaysWhetherItIsTheLastOne) {
  EXPECT_TRUE(ReadStreamMessage(WithFlag(true)).final);
  EXPECT_FALSE(ReadStreamMessage(WithFlag(false)).final);
  EXPECT_TRUE(ReadStreamMessage(WithFlag(true).substr(0, 100)).final) << "cut off";
  EXPECT_FALSE(ReadStreamMessage(WithFlag(true).substr(0, 40)).final) << "cut off too early";
  EXPECT_FALSE(ReadStreamMessage("").final);
  EXPECT_FALSE(ReadStreamMessage("\x12").final);
}

TEST(StreamMessageTest, BringsAnErrorAndTheEnd) {
  const std::string bytes = "\x0a\x02no" + WithFlag(true);
  const StreamMessage message = ReadStreamMessage(bytes);
  EXPECT_TRUE(message.failed);
  EXPECT_EQ(message.error, "no");
  EXPECT_TRUE(message.final);
  EXPECT_EQ(ReadStreamMessage("\x0a\x7fno").error, "no") << "cut off";
}

TEST(GrpcMessageCounterTest, WatchesForTheLastResponse) {
  const std::string bytes = WithGrpcPrefix(WithFlag(false)) + WithGrpcPrefix(WithFlag(true));
  for (const size_t size : {size_t{1}, size_t{7}, bytes.size()}) {
    GrpcMessageCounter counter;
    counter.Reset(true, true);
    for (size_t at = 0; at < bytes.size(); at += size) {
      EXPECT_FALSE(counter.final());
      counter.Add(absl::string_view(bytes).substr(at, size));
    }
    EXPECT_TRUE(counter.final());
    counter.Reset(true, true);
    EXPECT_FALSE(counter.final());
  }
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
