// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/wire/message_decompression.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "base/status_macros.h"

namespace nereid {
namespace {

constexpr uint64_t kNoPause = UINT64_MAX;

std::shared_ptr<ReceivedBody> Received(absl::string_view bytes) {
  std::shared_ptr<ReceivedBody> body = ReceivedBody::Reserve(bytes.size(), 0);
  body->Grant(bytes.size(), BudgetUnits());
  std::memcpy(body->mutable_end(), bytes.data(), bytes.size());
  body->Extend(bytes.size());
  body->Seal();
  return body;
}

std::string Packed(MessageCoding coding, absl::string_view text) {
  return *CompressMessage(coding, GrpcCompression::kHigh, {text});
}

class MessageDecompressionTest : public testing::Test {
 protected:
  absl::StatusOr<std::string> Plain(MessageCoding coding, absl::string_view compressed,
                                    uint64_t max_size) {
    MessageDecompression decompression(coding, Received(compressed), {max_size}, &budget_);
    ASSIGN_OR_RETURN(const bool done, decompression.Run(kNoPause));
    EXPECT_TRUE(done);
    return std::string(decompression.Finish()->text());
  }

  Budget budget_{"bytes", 1 << 20};
};

TEST_F(MessageDecompressionTest, LimitsTheSize) {
  const std::string packed = Packed(MessageCoding::kGzip, std::string(10'000, 'x'));
  EXPECT_EQ(Plain(MessageCoding::kGzip, packed, 10'000)->size(), 10'000u);
  EXPECT_EQ(Plain(MessageCoding::kGzip, packed, 9'999).status(),
            absl::ResourceExhaustedError(
                "Received message larger than max (more than 9999 bytes after decompression vs. "
                "9999)"));
  EXPECT_EQ(Plain(MessageCoding::kGzip, packed, 0).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST_F(MessageDecompressionTest, TheBudgetMayRefuse) {
  const std::string packed = Packed(MessageCoding::kDeflate, std::string(2 << 20, 'x'));
  EXPECT_EQ(Plain(MessageCoding::kDeflate, packed, 4 << 20).status().code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(budget_.used(), 0u);
}

TEST_F(MessageDecompressionTest, Damaged) {
  const std::string packed = Packed(MessageCoding::kGzip, std::string(10'000, 'x'));
  for (const std::string& bad : {std::string("plain text"), packed.substr(0, packed.size() - 1),
                                 packed + "tail", std::string(1, '\x1f')}) {
    EXPECT_EQ(Plain(MessageCoding::kGzip, bad, 1 << 20).status(),
              absl::InternalError(
                  "a message compressed with gzip is damaged; it cannot be decompressed"));
  }
  EXPECT_EQ(Plain(MessageCoding::kDeflate, packed, 1 << 20).status().code(),
            absl::StatusCode::kInternal);
}

TEST_F(MessageDecompressionTest, MarkedWithoutCompression) {
  EXPECT_EQ(Plain(MessageCoding::kIdentity, "x", 10).status(),
            absl::InternalError("a message is marked as compressed, but 'grpc-encoding' of the "
                                "call names no compression"));
  for (const auto coding :
       {MessageCoding::kIdentity, MessageCoding::kGzip, MessageCoding::kDeflate}) {
    EXPECT_EQ(*Plain(coding, "", 10), "") << "nothing to decompress";
  }
}

TEST_F(MessageDecompressionTest, PausesAndGoesOn) {
  const std::string text(300'000, 'y');
  MessageDecompression decompression(
      MessageCoding::kGzip, Received(Packed(MessageCoding::kGzip, text)), {1 << 20}, &budget_);
  EXPECT_EQ(*decompression.Run(100'000), false);
  EXPECT_EQ(decompression.filled(), 100'000u);
  EXPECT_GE(budget_.used(), 100'000u);
  EXPECT_EQ(*decompression.Run(kNoPause), true);
  EXPECT_TRUE(decompression.Finish()->text() == text);
  EXPECT_EQ(budget_.used(), 0u);
}

}  // namespace
}  // namespace nereid
