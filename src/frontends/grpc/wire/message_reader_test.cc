// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/wire/message_reader.h"

#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "infer/request_cost.h"

namespace nereid {
namespace {

constexpr MessageLimit kMaxMessage{8 << 20};
constexpr uint64_t kStep = 64 << 10;

std::string Framed(absl::string_view message, bool compressed = false) {
  return absl::StrCat(MessagePrefix(compressed, static_cast<uint32_t>(message.size())).text(),
                      message);
}

std::string Numbered(size_t size) {
  std::string text(size, '\0');
  for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 31 + i / 256);
  return text;
}

// Collects what a reader hands over.
struct Messages {
  bool Add(ReceivedMessageBytes message) {
    if (!message.refused.ok()) {
      refusals.push_back(message.refused);
      texts_of_refused.push_back(message.bytes == nullptr ? ""
                                                          : std::string(message.bytes->text()));
      return !pauses;
    }
    texts.push_back(absl::StrCat(message.compressed ? "z:" : "", message.bytes->text()));
    bodies.push_back(std::move(message.bytes));
    return !pauses;
  }
  bool pauses = false;
  std::vector<std::string> texts;
  std::vector<std::shared_ptr<ReceivedBody>> bodies;
  std::vector<absl::Status> refusals;
  std::vector<std::string> texts_of_refused;
};

absl::Status Append(MessageReader* reader, absl::string_view bytes, Messages* messages) {
  return reader->Append(bytes,
                        [messages](ReceivedMessageBytes m) { return messages->Add(std::move(m)); });
}

bool Ignore(ReceivedMessageBytes) { return true; }

TEST(MessageReaderTest, EverySplitIntoThree) {
  const std::string bytes = absl::StrCat(Framed("one"), Framed(""), Framed("packed", true),
                                         Framed("", true), Framed(Numbered(70)));
  const std::vector<std::string> expected = {"one", "", "z:packed", "z:", Numbered(70)};
  for (size_t first = 0; first <= bytes.size(); ++first) {
    for (size_t second = first; second <= bytes.size(); ++second) {
      MessageReader reader(nullptr, kMaxMessage);
      Messages messages;
      const absl::string_view view = bytes;
      ASSERT_TRUE(Append(&reader, view.substr(0, first), &messages).ok());
      ASSERT_TRUE(Append(&reader, view.substr(first, second - first), &messages).ok());
      ASSERT_TRUE(Append(&reader, view.substr(second), &messages).ok());
      ASSERT_EQ(messages.texts, expected) << first << " " << second;
      ASSERT_FALSE(reader.in_message());
    }
  }
}

TEST(MessageReaderTest, BytesMayBeReceivedInTheMessage) {
  const std::string message = Numbered(3 * kStep + 5);
  const std::string bytes = Framed(message);
  MessageReader reader(nullptr, kMaxMessage);
  Messages messages;
  EXPECT_EQ(reader.body(), nullptr);
  ASSERT_TRUE(Append(&reader, absl::string_view(bytes).substr(0, 100), &messages).ok());
  for (size_t at = 100; at < bytes.size();) {
    const std::shared_ptr<ReceivedBody> body = reader.body();
    ASSERT_NE(body, nullptr);
    ASSERT_GT(body->room(), 0u);
    const size_t size = std::min(body->room(), bytes.size() - at);
    // Every second piece begins behind the place where it belongs.
    const size_t behind = at % 2 == 0 && size > 50 ? 50 : 0;
    char* const place = body->mutable_end() + behind;
    std::memcpy(place, bytes.data() + at, size - behind);
    ASSERT_TRUE(Append(&reader, absl::string_view(place, size - behind), &messages).ok());
    at += size - behind;
  }
  EXPECT_EQ(messages.texts, std::vector<std::string>{message});
  EXPECT_EQ(reader.body(), nullptr);
}

TEST(MessageReaderTest, ByteByByteAcrossSteps) {
  const std::string large = Numbered(3 * kStep + 7);
  const std::string bytes = absl::StrCat(Framed(large), Framed("next"));
  Budget budget("bytes", 0);
  MessageReader reader(&budget, kMaxMessage);
  Messages messages;
  for (size_t i = 0; i < bytes.size(); ++i) {
    ASSERT_TRUE(Append(&reader, absl::string_view(bytes).substr(i, 1), &messages).ok());
    const bool between = i + 1 == MessagePrefix::kBytes + large.size() || i + 1 == bytes.size();
    ASSERT_EQ(reader.in_message(), !between) << i;
  }
  ASSERT_EQ(messages.texts.size(), 2u);
  EXPECT_TRUE(messages.texts[0] == large);
  EXPECT_EQ(messages.texts[1], "next");
  EXPECT_EQ(budget.used(), large.size() + 4 + 2 * kRequestCost);
}

TEST(MessageReaderTest, PaysInSteps) {
  Budget budget("bytes", 0);
  MessageReader reader(&budget, kMaxMessage);
  const std::string message = Numbered(1'000'000);
  const std::string bytes = Framed(message);
  Messages messages;
  absl::string_view rest = bytes;
  const auto send = [&](size_t n) {
    ASSERT_TRUE(Append(&reader, rest.substr(0, n), &messages).ok());
    rest.remove_prefix(std::min(n, rest.size()));
  };
  send(4);
  EXPECT_EQ(reader.held(), 0u) << "the length is not yet known";
  EXPECT_TRUE(reader.in_message());
  send(1);
  EXPECT_EQ(reader.held(), kStep + kRequestCost);
  send(kStep - 1);
  EXPECT_EQ(reader.held(), kStep + kRequestCost);
  send(1);
  EXPECT_EQ(reader.held(), 2 * kStep + kRequestCost);
  send(kStep);
  EXPECT_EQ(reader.held(), 4 * kStep + kRequestCost) << "as much as has come";
  send(rest.size());
  EXPECT_EQ(reader.held(), 0u);
  ASSERT_EQ(messages.bodies.size(), 1u);
  EXPECT_EQ(messages.bodies[0]->charged(), message.size() + kRequestCost);
  EXPECT_TRUE(messages.texts[0] == message);
  EXPECT_EQ(budget.used(), message.size() + kRequestCost);
  messages.bodies.clear();
  EXPECT_EQ(budget.used(), 0u);
}

TEST(MessageReaderTest, SmallMessagesCostWhatTheyNeed) {
  Budget budget("bytes", 0);
  MessageReader reader(&budget, kMaxMessage);
  Messages messages;
  ASSERT_TRUE(Append(&reader, absl::StrCat(Framed(""), Framed("1234")), &messages).ok());
  ASSERT_EQ(messages.bodies.size(), 2u);
  EXPECT_EQ(messages.bodies[0]->charged(), kRequestCost);
  EXPECT_EQ(messages.bodies[0]->capacity(), 0u);
  EXPECT_EQ(messages.bodies[1]->charged(), 4 + kRequestCost);
  EXPECT_EQ(messages.bodies[1]->capacity(), 4u);
}

TEST(MessageReaderTest, BytesEndAlignedAndPadded) {
  MessageReader reader(nullptr, kMaxMessage);
  Messages messages;
  std::vector<size_t> sizes = {0, 1, 63, 64, 65, 4096, 100'001};
  for (const size_t size : sizes) {
    ASSERT_TRUE(Append(&reader, Framed(Numbered(size)), &messages).ok());
    const ReceivedBody& body = *messages.bodies.back();
    const char* const end = body.data() + body.size();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(end) % ReceivedBody::kAlignment, 0u) << size;
    EXPECT_EQ(std::count(end, end + ReceivedBody::kPadding, '\0'),
              static_cast<ptrdiff_t>(ReceivedBody::kPadding));
  }
}

TEST(MessageReaderTest, ErrorsAreFinal) {
  Budget budget("bytes", 0);
  MessageReader reader(&budget, {10});
  Messages messages;
  const absl::Status error = Append(
      &reader, absl::StrCat(Framed("good"), Framed("12345678901"), Framed("more")), &messages);
  EXPECT_EQ(error, absl::ResourceExhaustedError("Received message larger than max (11 vs. 10)"));
  EXPECT_EQ(messages.texts, std::vector<std::string>{"good"});
  EXPECT_FALSE(reader.in_message());
  EXPECT_EQ(Append(&reader, Framed("more"), &messages), error);
  EXPECT_EQ(Append(&reader, "", &messages), error);
  EXPECT_EQ(messages.texts.size(), 1u);
}

TEST(MessageReaderTest, LimitIsInclusiveAndNamedWithTheLongestLength) {
  MessageReader exact(nullptr, {10});
  EXPECT_TRUE(exact.Append(Framed("1234567890"), Ignore).ok());
  EXPECT_EQ(exact.Append(MessagePrefix(false, UINT32_MAX).text(), Ignore).message(),
            "Received message larger than max (4294967295 vs. 10)");
}

// Before anything is reserved or charged for the message: its prefix is all that has come.
TEST(MessageReaderTest, TheErrorNamesMethodLengthLimitAndOption) {
  Budget budget("bytes", 0);
  MessageReader limited(&budget, {1000, "/a.B/Method", "--option"});
  EXPECT_EQ(limited.Append(MessagePrefix(false, 1001).text(), Ignore),
            absl::ResourceExhaustedError(
                "Received message larger than max (1001 vs. 1000): '/a.B/Method' takes messages of "
                "at most 1000 bytes, which --option sets"));
  MessageReader fixed(&budget, {1000, "/a.B/Method"});
  EXPECT_EQ(fixed.Append(MessagePrefix(true, 1 << 30).text(), Ignore).message(),
            "Received message larger than max (1073741824 vs. 1000): '/a.B/Method' takes messages "
            "of at most 1000 bytes");
  EXPECT_EQ(budget.used(), 0u);
}

TEST(MessageReaderTest, UnknownFlags) {
  for (const int flag : {2, 0x7f, 0x80, 0xff}) {
    MessageReader reader(nullptr, kMaxMessage);
    const char byte = static_cast<char>(flag);
    EXPECT_EQ(reader.Append(absl::string_view(&byte, 1), Ignore),
              absl::InternalError(absl::StrCat("a message begins with an unknown flag: ", flag)));
  }
}

TEST(MessageReaderTest, RefusalInTheMiddleOfAMessage) {
  Budget budget("in-flight bytes", 1 << 20, "--limit");
  MessageReader reader(&budget, kMaxMessage, std::make_shared<Holder>());
  Messages messages;
  const std::string bytes = Framed(Numbered(600'000));
  const absl::string_view view = bytes;
  ASSERT_TRUE(Append(&reader, view.substr(0, 100'000), &messages).ok());
  const uint64_t held = reader.held();
  EXPECT_GT(held, 100'000u);
  BudgetUnits others = *budget.Take(budget.limit() - budget.used() - kStep);
  ASSERT_TRUE(Append(&reader, view.substr(100'000, 200'000), &messages).ok());
  ASSERT_EQ(messages.refusals.size(), 1u) << "before the last byte has arrived";
  const absl::Status refused = messages.refusals[0];
  EXPECT_EQ(refused.code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(refused.message().find("server limit 'in-flight bytes' of 1048576 is exhausted"),
            std::string::npos)
      << refused;
  EXPECT_NE(refused.message().find("by a client that holds"), std::string::npos) << refused;
  EXPECT_EQ(reader.held(), 0u);
  EXPECT_EQ(budget.used(), others.amount()) << "nothing is kept of a refused message";
  EXPECT_TRUE(reader.in_message());
  others.Return();
  ASSERT_TRUE(Append(&reader, view.substr(300'000), &messages).ok());
  EXPECT_FALSE(reader.in_message());
  EXPECT_TRUE(messages.texts.empty());
  ASSERT_TRUE(Append(&reader, Framed("next"), &messages).ok());
  EXPECT_EQ(messages.texts, std::vector<std::string>{"next"});
  EXPECT_EQ(messages.refusals.size(), 1u);
}

TEST(MessageReaderTest, SmallRefusedMessagesAreReadAllTheSame) {
  Budget budget("bytes", 1 << 20);
  const BudgetUnits others = *budget.Take(budget.limit());
  for (const size_t size : {0, 1, 4096, 4097}) {
    MessageReader reader(&budget, kMaxMessage);
    Messages messages;
    const std::string message = Numbered(size);
    for (const char byte : Framed(message)) {
      ASSERT_TRUE(Append(&reader, absl::string_view(&byte, 1), &messages).ok());
    }
    ASSERT_EQ(messages.refusals.size(), 1u);
    EXPECT_EQ(messages.texts_of_refused[0], size <= 4096 ? message : "") << size;
    EXPECT_FALSE(reader.in_message());
  }
}

TEST(MessageReaderTest, RefusesAtOnceWhatTheBudgetCanNeverPayFor) {
  Budget budget("in-flight bytes", 1 << 20, "--limit");
  const uint64_t most = budget.most_for_one(ShareUse::kAdmission) - kRequestCost;
  MessageReader reader(&budget, kMaxMessage);
  Messages refused;
  ASSERT_TRUE(
      Append(&reader, MessagePrefix(false, static_cast<uint32_t>(most + 1)).text(), &refused).ok());
  ASSERT_EQ(refused.refusals.size(), 1u);
  EXPECT_EQ(refused.refusals[0],
            absl::UnavailableError(absl::StrCat(
                "server limit 'in-flight bytes' of 1048576 is exhausted: 0 in use and ",
                most + 1 + kRequestCost, " more asked for; try again later or raise --limit")));
  EXPECT_EQ(budget.used(), 0u);
  MessageReader lucky(&budget, kMaxMessage);
  Messages messages;
  EXPECT_TRUE(Append(&lucky, Framed(Numbered(most)), &messages).ok());
  EXPECT_EQ(messages.texts.size(), 1u);
}

TEST(MessageReaderTest, WhatTheClientHoldsElsewhereCounts) {
  Budget budget("bytes", 1 << 20);
  const auto client = std::make_shared<Holder>();
  BudgetUnits others = *budget.Take((1 << 20) * 3 / 4);
  MessageReader newcomer(&budget, kMaxMessage, client);
  EXPECT_TRUE(newcomer.Append(Framed("small"), Ignore).ok());
  BudgetUnits held = *budget.TakeFor(client, 120'000, ShareUse::kAdmission);
  Messages messages;
  ASSERT_TRUE(Append(&newcomer, Framed("small"), &messages).ok());
  ASSERT_EQ(messages.refusals.size(), 1u);
  EXPECT_EQ(messages.refusals[0].code(), absl::StatusCode::kUnavailable);
}

TEST(MessageReaderTest, PausesBehindAMessage) {
  const std::string bytes = absl::StrCat(Framed("one"), Framed(""), Framed("three"));
  MessageReader reader(nullptr, kMaxMessage);
  Messages messages;
  messages.pauses = true;
  const auto add = [&](ReceivedMessageBytes m) { return messages.Add(std::move(m)); };
  absl::string_view rest = bytes;
  for (const size_t left : {Framed("").size() + Framed("three").size(), Framed("three").size(),
                            static_cast<size_t>(0)}) {
    size_t unread = 1;
    ASSERT_TRUE(reader.Append(rest, add, &unread).ok());
    EXPECT_EQ(unread, left);
    rest = rest.substr(rest.size() - unread);
  }
  EXPECT_EQ(messages.texts, (std::vector<std::string>{"one", "", "three"}));
}

TEST(MessageReaderTest, UnitsReturnWithTheReader) {
  Budget budget("bytes", 0);
  {
    MessageReader reader(&budget, kMaxMessage);
    ASSERT_TRUE(reader.Append(Framed("unfinished").substr(0, 9), Ignore).ok());
    EXPECT_EQ(budget.used(), 10 + kRequestCost);
  }
  EXPECT_EQ(budget.used(), 0u);
}

}  // namespace
}  // namespace nereid
