// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/wire/message_compression.h"

#include <gtest/gtest.h>

#include <random>

#include "frontends/codec/compression_testing.h"

namespace nereid {
namespace {

TEST(MessageCompressionTest, NamesOfCodings) {
  for (const auto coding :
       {MessageCoding::kIdentity, MessageCoding::kGzip, MessageCoding::kDeflate}) {
    EXPECT_EQ(*ParseMessageCoding(MessageCodingName(coding)), coding);
    EXPECT_TRUE(Accepts(kReadableCodings, coding));
  }
  EXPECT_EQ(*ParseMessageCoding(""), MessageCoding::kIdentity);
}

TEST(MessageCompressionTest, UnknownCoding) {
  EXPECT_EQ(ParseMessageCoding("snappy").status(),
            absl::UnimplementedError("'grpc-encoding' is 'snappy', which is not supported; use "
                                     "identity, deflate or gzip"));
  for (const char* other : {"GZIP", " gzip", "gzip,deflate", "\xff"}) {
    EXPECT_EQ(ParseMessageCoding(other).status().code(), absl::StatusCode::kUnimplemented) << other;
  }
  EXPECT_LT(ParseMessageCoding(std::string(100'000, '\x01')).status().message().size(), 400u);
}

TEST(MessageCompressionTest, AcceptedCodings) {
  EXPECT_TRUE(Accepts("", MessageCoding::kIdentity));
  EXPECT_TRUE(Accepts("gzip", MessageCoding::kIdentity));
  EXPECT_FALSE(Accepts("", MessageCoding::kGzip));
  EXPECT_TRUE(Accepts("gzip", MessageCoding::kGzip));
  EXPECT_FALSE(Accepts("gzip", MessageCoding::kDeflate));
  EXPECT_TRUE(Accepts("identity,deflate,gzip", MessageCoding::kGzip));
  EXPECT_TRUE(Accepts("identity ,\tdeflate , gzip", MessageCoding::kDeflate));
  EXPECT_FALSE(Accepts("gzipped, xgzip", MessageCoding::kGzip));
  EXPECT_TRUE(Accepts(",,gzip,", MessageCoding::kGzip));
}

TEST(MessageCompressionTest, ChoosesByLevelAsTheLibraryDoes) {
  struct Case {
    const char* accepted;
    MessageCoding low;
    MessageCoding medium;
    MessageCoding high;
  };
  constexpr auto kIdentity = MessageCoding::kIdentity;
  constexpr auto kGzip = MessageCoding::kGzip;
  constexpr auto kDeflate = MessageCoding::kDeflate;
  for (const Case& c :
       {Case{"", kIdentity, kIdentity, kIdentity},
        Case{"identity", kIdentity, kIdentity, kIdentity}, Case{"gzip", kGzip, kGzip, kGzip},
        Case{"identity, deflate", kDeflate, kDeflate, kDeflate},
        Case{"identity, deflate, gzip", kGzip, kDeflate, kDeflate}}) {
    EXPECT_EQ(ChooseMessageCoding(GrpcCompression::kNone, c.accepted), kIdentity);
    EXPECT_EQ(ChooseMessageCoding(GrpcCompression::kLow, c.accepted), c.low) << c.accepted;
    EXPECT_EQ(ChooseMessageCoding(GrpcCompression::kMedium, c.accepted), c.medium) << c.accepted;
    EXPECT_EQ(ChooseMessageCoding(GrpcCompression::kHigh, c.accepted), c.high) << c.accepted;
  }
}

TEST(MessageCompressionTest, RoundTrips) {
  std::mt19937 random(7);
  std::string text(300'000, 'a');
  for (size_t i = text.size() / 2; i < text.size(); ++i) text[i] = static_cast<char>(random());
  const absl::string_view view = text;
  for (const auto coding : {MessageCoding::kGzip, MessageCoding::kDeflate}) {
    for (const auto level : {GrpcCompression::kNone, GrpcCompression::kLow,
                             GrpcCompression::kMedium, GrpcCompression::kHigh}) {
      const auto packed =
          CompressMessage(coding, level, {view.substr(0, 100'000), "", view.substr(100'000)});
      ASSERT_TRUE(packed.ok()) << packed.status();
      EXPECT_TRUE(*DecompressToString(ContentCodingOf(coding), *packed, text.size()) == text);
    }
    const std::string nothing = *CompressMessage(coding, GrpcCompression::kLow, {});
    EXPECT_EQ(*DecompressToString(ContentCodingOf(coding), nothing, 0), "");
  }
  EXPECT_EQ(*CompressMessage(MessageCoding::kIdentity, GrpcCompression::kLow, {"a", "bc"}), "abc");
}

TEST(MessageCompressionTest, LowMakesLongerMessages) {
  std::mt19937 random(7);
  std::string text(100'000, '\0');
  for (char& c : text) c = static_cast<char>('a' + random() % 4);
  const auto length = [&](GrpcCompression level) {
    return CompressMessage(MessageCoding::kGzip, level, {text})->size();
  };
  EXPECT_GT(length(GrpcCompression::kLow), length(GrpcCompression::kMedium));
  EXPECT_EQ(length(GrpcCompression::kMedium), length(GrpcCompression::kHigh));
}

TEST(MessageCompressionTest, StopsWhenNotWanted) {
  EXPECT_EQ(
      CompressMessage(MessageCoding::kGzip, GrpcCompression::kLow, {"text"}, [] { return false; })
          .status()
          .code(),
      absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace nereid
