// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/http_body_stream.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>

namespace nereid {
namespace {

class CountingReader final : public HttpBodyStream::Reader {
 public:
  void OnBodyPieces() override { ++wakes; }
  std::atomic<int> wakes{0};
};

class HttpBodyStreamTest : public testing::Test {
 protected:
  HttpBodyStreamTest() { body_.Attach(reader_); }
  std::string Taken() {
    std::string text;
    const HttpBodyStream::Taken taken = body_.Take();
    for (const HttpBodyStream::Piece& piece : taken.pieces) text += piece.text + "|";
    return taken.ended ? text + "end" : text;
  }

  const std::shared_ptr<CountingReader> reader_ = std::make_shared<CountingReader>();
  const std::shared_ptr<ResponseCredit> credit_ =
      std::make_shared<ResponseCredit>(std::make_shared<ResponseCredit::Account>(0), 10);
  HttpBodyStream body_{/*max_waiting_bytes=*/10, credit_};
};

TEST_F(HttpBodyStreamTest, PiecesComeOutInOrderAndThenTheEnd) {
  body_.Append({"a", nullptr});
  body_.Append({"", nullptr});
  body_.Append({"b", nullptr});
  EXPECT_EQ(Taken(), "a|b|");
  EXPECT_EQ(Taken(), "");
  body_.Append({"c", nullptr});
  body_.End();
  EXPECT_EQ(Taken(), "c|end");
}

// What SetAtEnd's function was told: "<bytes>", with "cut" behind it if the reader had gone.
std::string* RecordEnd(HttpBodyStream* body, std::string* told) {
  body->SetAtEnd([told](uint64_t bytes, bool complete) {
    *told += std::to_string(bytes) + (complete ? "" : " cut");
  });
  return told;
}

TEST_F(HttpBodyStreamTest, TheEndIsToldOnce) {
  std::string told;
  body_.Append({"abc", nullptr});
  RecordEnd(&body_, &told);
  body_.Append({"de", nullptr});
  EXPECT_EQ(told, "");
  body_.End();
  EXPECT_EQ(told, "5");
  body_.Abort();
  EXPECT_EQ(told, "5");
}

TEST_F(HttpBodyStreamTest, AReaderThatGoesIsAnEnd) {
  std::string told;
  RecordEnd(&body_, &told);
  body_.Append({"abc", nullptr});
  body_.Abort();
  body_.Append({"dropped", nullptr});
  body_.End();
  EXPECT_EQ(told, "3 cut");
}

TEST_F(HttpBodyStreamTest, AnEndThatWasBeforeIsToldAtOnce) {
  std::string told;
  body_.Append({"abc", nullptr});
  body_.End();
  EXPECT_EQ(*RecordEnd(&body_, &told), "3");
}

TEST_F(HttpBodyStreamTest, TheReaderIsWokenOnceAfterItFoundNothing) {
  body_.Append({"a", nullptr});
  EXPECT_EQ(reader_->wakes, 0) << "it has not looked yet";
  EXPECT_EQ(Taken(), "a|");
  body_.Append({"b", nullptr});
  EXPECT_EQ(reader_->wakes, 0) << "it looks again when a is sent";
  EXPECT_EQ(Taken(), "b|");
  EXPECT_EQ(Taken(), "");
  body_.Append({"c", nullptr});
  body_.Append({"d", nullptr});
  EXPECT_EQ(reader_->wakes, 1);
  EXPECT_EQ(Taken(), "c|d|");
  EXPECT_EQ(Taken(), "");
  body_.End();
  EXPECT_EQ(reader_->wakes, 2);
}

TEST_F(HttpBodyStreamTest, ManyPiecesAreTakenBitByBit) {
  for (int i = 0; i < 1000; ++i) body_.Append({"x", nullptr});
  body_.End();
  size_t pieces = 0;
  int takes = 0;
  for (bool ended = false; !ended; ++takes) {
    const HttpBodyStream::Taken taken = body_.Take();
    pieces += taken.pieces.size();
    ended = taken.ended;
  }
  EXPECT_EQ(pieces, 1000u);
  EXPECT_GT(takes, 3);
}

TEST_F(HttpBodyStreamTest, CreditIsGoneUntilHalfIsSent) {
  body_.Append({"12345678", nullptr});
  EXPECT_TRUE(credit_->has_credit());
  body_.Append({"12345678", nullptr});
  EXPECT_FALSE(credit_->has_credit());
  EXPECT_EQ(credit_->held(), 16u);
  int woken = 0;
  credit_->OnCredit([&] { ++woken; });
  EXPECT_EQ(Taken(), "12345678|12345678|");
  EXPECT_FALSE(credit_->has_credit()) << "taken is not sent";
  EXPECT_EQ(Taken(), "");
  EXPECT_TRUE(credit_->has_credit());
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(credit_->held(), 0u);
}

TEST_F(HttpBodyStreamTest, NobodyWaitsForAReaderThatIsGone) {
  const auto owner = std::make_shared<int>();
  int woken = 0;
  body_.Append({std::string(100, 'x'), owner});
  credit_->OnCredit([&] { ++woken; });
  body_.Abort();
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(owner.use_count(), 1);
  body_.Append({std::string(100, 'x'), owner});
  EXPECT_EQ(owner.use_count(), 1);
  EXPECT_TRUE(credit_->has_credit());
  EXPECT_EQ(credit_->held(), 0u);
  body_.End();
  EXPECT_EQ(reader_->wakes, 0);
}

TEST_F(HttpBodyStreamTest, AnEarlyEndDropsWhatWasNotTaken) {
  const auto owner = std::make_shared<int>();
  std::string told;
  RecordEnd(&body_, &told);
  body_.Append({"abc", nullptr});
  EXPECT_EQ(Taken(), "abc|");
  body_.Append({std::string(100, 'x'), owner});
  EXPECT_TRUE(body_.EndWith({"error", nullptr}));
  EXPECT_EQ(owner.use_count(), 1);
  EXPECT_EQ(told, "8");
  body_.Append({"more", nullptr});
  EXPECT_FALSE(body_.EndWith({"more", nullptr}));
  EXPECT_EQ(Taken(), "error|end");
}

}  // namespace
}  // namespace nereid
