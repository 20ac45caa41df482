// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/compression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "frontends/codec/compression_testing.h"

namespace nereid {
namespace {

constexpr uint64_t kNoLimit = 1 << 30;

std::string Mixed(size_t size) {
  std::mt19937 random(7);
  std::string text(size, 'a');
  for (size_t i = size / 2; i < size; ++i) text[i] = static_cast<char>(random());
  return text;
}

TEST(CompressionTest, RoundTripsInBothCodings) {
  for (const ContentCoding coding : {ContentCoding::kGzip, ContentCoding::kDeflate}) {
    for (const size_t size : {0, 1, 1000, 3'000'000}) {
      const std::string text = Mixed(size);
      const absl::string_view view = text;
      const auto packed = Compress(coding, {view.substr(0, size / 3), "", view.substr(size / 3)});
      ASSERT_TRUE(packed.ok()) << packed.status();
      const auto plain = DecompressToString(coding, *packed, kNoLimit);
      ASSERT_TRUE(plain.ok()) << plain.status();
      EXPECT_TRUE(*plain == text) << size;
    }
  }
}

TEST(CompressionTest, FormatsAreThoseOfTheProtocol) {
  EXPECT_EQ(Compress(ContentCoding::kGzip, {"x"})->substr(0, 2), "\x1f\x8b");
  EXPECT_EQ(Compress(ContentCoding::kDeflate, {"x"})->front(), '\x78');
}

TEST(CompressionTest, IdentityIsACopy) {
  EXPECT_EQ(*Compress(ContentCoding::kIdentity, {"a", "bc"}), "abc");
}

TEST(CompressionTest, MoreEffortMakesLess) {
  std::mt19937 random(7);
  std::string text(100'000, '\0');
  for (char& c : text) c = static_cast<char>('a' + random() % 4);
  const auto packed = [&](CompressionEffort effort) {
    const auto out = Compress(
        ContentCoding::kGzip, {text}, [] { return true; }, effort);
    EXPECT_EQ(*DecompressToString(ContentCoding::kGzip, *out, kNoLimit), text);
    return *out;
  };
  EXPECT_GT(packed(CompressionEffort::kLow).size(), packed(CompressionEffort::kUsual).size());
  EXPECT_EQ(packed(CompressionEffort::kUsual), *Compress(ContentCoding::kGzip, {text}));
}

TEST(CompressionTest, BoundHoldsForEachEffort) {
  const std::string text = Mixed(100'000).substr(50'000);  // cannot be compressed
  for (const auto effort : {CompressionEffort::kLow, CompressionEffort::kUsual}) {
    const auto out = Compress(
        ContentCoding::kGzip, {text}, [] { return true; }, effort);
    EXPECT_GE(CompressedBound(text.size()), out->capacity());
  }
}

TEST(CompressionTest, LimitsWhatComesOut) {
  const std::string packed = *Compress(ContentCoding::kGzip, {std::string(10'000, 'x')});
  EXPECT_EQ(DecompressToString(ContentCoding::kGzip, packed, 10'000)->size(), 10'000u);
  const absl::Status refused = DecompressToString(ContentCoding::kGzip, packed, 9'999).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(refused.message(),
            "Decompressed data size exceeds the maximum allowed value of 9999 bytes. Use "
            "--http-max-input-size to increase the limit.");
}

TEST(CompressionTest, AsksForRoomAsBytesComeOut) {
  const std::string packed = *Compress(ContentCoding::kGzip, {std::string(10'000'000, 'x')});
  std::string plain;
  uint64_t asked = 0;
  const auto make_room = [&](uint64_t filled, uint64_t wish) -> absl::StatusOr<absl::Span<char>> {
    EXPECT_LE(wish, std::max<uint64_t>(2 * filled, 2 * packed.size()));
    if (wish > 1'000'000) return absl::UnavailableError("no more");
    asked = wish;
    plain.resize(wish);
    return absl::MakeSpan(plain);
  };
  EXPECT_EQ(Decompress(ContentCoding::kGzip, packed, kNoLimit, make_room).status(),
            absl::UnavailableError("no more"));
  EXPECT_GT(asked, 0u);
  EXPECT_GE(CompressedBound(0), Compress(ContentCoding::kGzip, {""})->capacity());
}

TEST(CompressionTest, PausesAndGoesOnWhereItWas) {
  const std::string text = Mixed(1'000'000);
  for (const ContentCoding coding : {ContentCoding::kGzip, ContentCoding::kDeflate}) {
    const std::string packed = *Compress(coding, {text});
    for (const uint64_t step : {1000u, 4096u, 333'333u, 1'000'000u, 2'000'000u}) {
      std::string plain;
      const auto make_room = [&](uint64_t, uint64_t wish) -> absl::StatusOr<absl::Span<char>> {
        plain.resize(wish);
        return absl::MakeSpan(plain);
      };
      Decompressor decompressor(coding, packed, kNoLimit);
      uint64_t pause_at = 0;
      absl::StatusOr<bool> done = false;
      while (done.ok() && !*done) {
        EXPECT_EQ(decompressor.filled(), std::min<uint64_t>(pause_at, text.size())) << step;
        pause_at += step;
        done = decompressor.Run(pause_at, make_room);
      }
      ASSERT_TRUE(done.ok()) << done.status();
      plain.resize(decompressor.filled());
      EXPECT_TRUE(plain == text) << step;
    }
  }
}

TEST(CompressionTest, FindsDamageAfterAPause) {
  const std::string text = Mixed(100'000);
  const std::string packed = *Compress(ContentCoding::kGzip, {text});
  std::string plain;
  const auto make_room = [&](uint64_t, uint64_t wish) -> absl::StatusOr<absl::Span<char>> {
    plain.resize(wish);
    return absl::MakeSpan(plain);
  };
  for (const std::string& bad : {packed.substr(0, packed.size() - 1), packed + "tail"}) {
    Decompressor decompressor(ContentCoding::kGzip, bad, kNoLimit);
    EXPECT_EQ(*decompressor.Run(text.size() / 2, make_room), false);
    EXPECT_EQ(decompressor.Run(kNoLimit, make_room).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
  Decompressor limited(ContentCoding::kGzip, packed, text.size() - 1);
  EXPECT_EQ(*limited.Run(text.size() / 2, make_room), false);
  EXPECT_EQ(limited.Run(kNoLimit, make_room).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(CompressionTest, StopsWhenTheResultIsNotWantedAnyMore) {
  const std::string text = Mixed(10'000'000);
  int asked = 0;
  EXPECT_EQ(Compress(ContentCoding::kGzip, {text}, [&] { return ++asked < 3; }).status().code(),
            absl::StatusCode::kCancelled);
  EXPECT_EQ(asked, 3);
}

TEST(CompressionTest, RefusesDamagedData) {
  const std::string packed = *Compress(ContentCoding::kGzip, {Mixed(5000)});
  for (const std::string& bad :
       {std::string(), std::string("plain text"), packed.substr(0, packed.size() / 2),
        packed.substr(0, packed.size() - 1), packed + "tail"}) {
    EXPECT_EQ(DecompressToString(ContentCoding::kGzip, bad, kNoLimit).status().code(),
              absl::StatusCode::kInvalidArgument)
        << bad.size();
  }
  EXPECT_FALSE(DecompressToString(ContentCoding::kDeflate, packed, kNoLimit).ok());
}

TEST(CompressionTest, AcceptsSeveralGzipMembers) {
  const std::string packed =
      *Compress(ContentCoding::kGzip, {"one "}) + *Compress(ContentCoding::kGzip, {"two"});
  EXPECT_EQ(*DecompressToString(ContentCoding::kGzip, packed, kNoLimit), "one two");
}

TEST(CompressionTest, ContentEncodingNames) {
  EXPECT_EQ(*ParseContentEncoding(""), ContentCoding::kIdentity);
  EXPECT_EQ(*ParseContentEncoding("identity"), ContentCoding::kIdentity);
  EXPECT_EQ(*ParseContentEncoding("GZIP "), ContentCoding::kGzip);
  EXPECT_EQ(*ParseContentEncoding("deflate"), ContentCoding::kDeflate);
  for (const char* other : {"br", "gzip, deflate", "x-gzip"}) {
    EXPECT_EQ(ParseContentEncoding(other).status(),
              absl::UnimplementedError("Unsupported compression type"));
  }
}

TEST(CompressionTest, ChoosesByWeight) {
  struct Case {
    const char* header;
    ContentCoding choice;
  };
  for (const Case& c :
       {Case{"", ContentCoding::kIdentity}, Case{"gzip", ContentCoding::kGzip},
        Case{"deflate, gzip", ContentCoding::kDeflate},
        Case{"deflate;q=0.5, gzip;q=0.8", ContentCoding::kGzip},
        Case{"identity, gzip", ContentCoding::kIdentity},
        Case{"identity;q=0.5, GZIP", ContentCoding::kGzip},
        Case{"gzip;q=0", ContentCoding::kIdentity},
        Case{"br, *;q=0.9, gzip ; q=0.1", ContentCoding::kGzip},
        Case{"gzip;q=x, deflate;q=0.1", ContentCoding::kDeflate},
        Case{"gzip;q=7", ContentCoding::kIdentity}, Case{"*", ContentCoding::kIdentity}}) {
    EXPECT_EQ(ChooseContentCoding(c.header), c.choice) << c.header;
  }
}

}  // namespace
}  // namespace nereid
