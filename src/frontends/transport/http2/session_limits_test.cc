// SPDX-License-Identifier: Apache-2.0
// How a session ends, and what it does about clients that send too much, or nothing that is HTTP/2.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "frontends/transport/http2/session.h"
#include "frontends/transport/http2/testing/client_session.h"
#include "frontends/transport/http2/testing/recording_server.h"

namespace nereid::http2 {
namespace {

using testing::HasSubstr;

class SessionLimitsTest : public testing::Test {
 protected:
  void Start(const SessionOptions& options) {
    server_ = std::make_unique<RecordingServer>(options);
    client_ = std::make_unique<ClientSession>(ClientSession::Options{});
  }
  void SetUp() override { Start({}); }
  absl::Status Talk(size_t step = 1 << 20) { return Exchange(client_.get(), server_.get(), step); }
  RecordingUser& user(size_t i) { return *server_->users.at(i); }
  // Frames of the client that have no client: its start and `frames`. Returns how many of them
  // count as costly.
  int CountControlFrames(const std::string& frames) {
    Start({});
    EXPECT_TRUE(server_->session->Receive(RawStart()).ok());
    server_->Output();
    const int before = server_->control_frames;
    EXPECT_TRUE(server_->session->Receive(frames).ok());
    return server_->control_frames - before;
  }

  std::unique_ptr<RecordingServer> server_;
  std::unique_ptr<ClientSession> client_;
};

constexpr uint8_t kEndStream = NGHTTP2_FLAG_END_STREAM;
constexpr uint8_t kEndHeaders = NGHTTP2_FLAG_END_HEADERS;

// ---- What heads cost

TEST_F(SessionLimitsTest, HeadsArePaidForUntilTheirStreamsEnd) {
  Budget budget("bytes in flight", 64 << 20);
  Start({.budget = &budget});
  const std::string value(20'000, 'x');
  for (int i = 0; i < 50; ++i) {
    client_->Request("/x", "", false, {{"a", value}, {"b", value}});
    ASSERT_TRUE(Talk().ok());
  }
  const uint64_t paid = budget.used();
  EXPECT_GE(paid, 50 * (2 * value.size() + kStreamCost));
  EXPECT_LE(paid, 50 * ((64u << 10) + kStreamCost) + transport::Account::kStep);
  // The memory is theirs to the end: short answers to the rest change nothing.
  user(0).stream->SendHead(kOkHead, /*end=*/true);
  ASSERT_TRUE(Talk().ok());
  EXPECT_LT(budget.used(), paid);
  server_->session->CloseStreams();
  EXPECT_EQ(budget.used(), 0u);
}

TEST_F(SessionLimitsTest, SmallRequestsArePaidForTogether) {
  Budget budget("bytes in flight", 64 << 20);
  Start({.budget = &budget});
  for (int i = 0; i < 100; ++i) client_->Request("/x", "", false);
  ASSERT_TRUE(Talk().ok());
  EXPECT_GE(budget.used(), 100 * kStreamCost - transport::Account::kFreeBytes);
  server_->session->CloseStreams();
  EXPECT_EQ(budget.used(), 0u);
}

TEST_F(SessionLimitsTest, ManySmallAnswersAreOneBigHolder) {
  Budget budget("bytes in flight", 16 << 20);
  Start({.budget = &budget});
  constexpr int kStreams = 64;
  constexpr uint64_t kAnswer = 1 << 20;
  for (int i = 0; i < kStreams; ++i) client_->Request("/x", "", false);
  ASSERT_TRUE(Talk().ok());
  int paid = 0;
  for (int i = 0; i < kStreams; ++i) paid += user(i).stream->PayForAnswer(kAnswer).ok() ? 1 : 0;
  EXPECT_GT(paid, 8);
  EXPECT_LT(paid, 15);
  // Somebody else has room for more than one of its answers.
  EXPECT_TRUE(budget.TakeFairly(kAnswer, 0, ShareUse::kAdmission).ok());
  const uint64_t all = budget.used();
  EXPECT_TRUE(user(0).stream->PayForAnswer(10).ok());
  EXPECT_LT(budget.used(), all - kAnswer / 2);
  server_->session->CloseStreams();
  EXPECT_EQ(budget.used(), 0u);
  EXPECT_TRUE(user(1).stream->PayForAnswer(kAnswer).ok()) << "has no effect any more";
  EXPECT_EQ(budget.used(), 0u);
}

TEST_F(SessionLimitsTest, ARequestThatCannotBePaidForIsRefusedUntouched) {
  Budget budget("bytes in flight", 1 << 20);
  auto others = *budget.Take(budget.limit());
  Start({.budget = &budget});
  ASSERT_TRUE(Talk().ok());
  const int before = server_->control_frames;
  const int32_t small = client_->Request("/x", "", false);
  const int32_t large = client_->Request("/x", "", false, {{"a", std::string(12'000, 'x')}});
  ASSERT_TRUE(Talk().ok());
  ASSERT_EQ(server_->users.size(), 1u);
  EXPECT_FALSE(client_->answer(small).closed);
  EXPECT_TRUE(client_->answer(large).closed);
  EXPECT_EQ(client_->answer(large).close_code, static_cast<uint32_t>(ErrorCode::kRefusedStream));
  EXPECT_EQ(server_->control_frames, before);  // it is not the client's fault
  others.Return();
  const int32_t again = client_->Request("/x", "", false, {{"a", std::string(12'000, 'x')}});
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(server_->users.size(), 2u);
  EXPECT_FALSE(client_->answer(again).closed);
  server_->session->CloseStreams();  // the budget goes first
}

TEST_F(SessionLimitsTest, WhoIsRefusedHearsWhyWhileItTakesSuchAnswers) {
  Budget budget("bytes in flight", 1 << 20);
  const auto others = *budget.Take(budget.limit());
  Start({.budget = &budget});
  server_->answers_without_room = true;
  ASSERT_TRUE(Talk().ok());
  client_->Request("/x", "", false);  // what a connection costs anyhow
  client_->Request("/x", "", false);
  const int32_t told = client_->Request("/told", "", true);
  const int32_t large = client_->Request("/x", "", true, {{"a", std::string(12'000, 'x')}});
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(client_->answer(told).body.find("/told: server limit 'bytes in flight'"), 0u)
      << client_->answer(told).body;
  EXPECT_EQ(client_->answer(large).close_code, static_cast<uint32_t>(ErrorCode::kRefusedStream));
  server_->session->CloseStreams();
}

// ---- The end of a connection

TEST_F(SessionLimitsTest, TellsItsSettings) {
  Start({.max_streams = 17,
         .stream_window = 123'456,
         .max_frame_bytes = 200'000,
         .max_header_bytes = 5000});
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(client_->ServerSetting(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS), 17u);
  EXPECT_EQ(client_->ServerSetting(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE), 123'456u);
  EXPECT_EQ(client_->ServerSetting(NGHTTP2_SETTINGS_MAX_FRAME_SIZE), 200'000u);
  EXPECT_EQ(client_->ServerSetting(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE), 5000u);
}

TEST_F(SessionLimitsTest, AnnouncedEndLetsOpenStreamsFinishAndRefusesNewOnes) {
  const int32_t open = client_->Request("/open", "", false);
  ASSERT_TRUE(Talk().ok());
  server_->session->Announce();
  server_->session->Announce();  // once is enough
  const std::string notice = server_->Output();

  // A request on its way while the client does not know yet.
  const int32_t crossing = client_->Request("/crossing");
  ASSERT_TRUE(server_->session->Receive(client_->Output()).ok());
  ASSERT_TRUE(client_->Receive(notice));
  ASSERT_EQ(client_->goaways.size(), 1u);
  EXPECT_EQ(client_->goaways[0].last_id, 0x7fffffff);
  EXPECT_EQ(client_->goaways[0].code, 0u);
  EXPECT_EQ(client_->pings, 1);
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(server_->ping_answers, 1);
  EXPECT_EQ(server_->users.size(), 2u);

  server_->session->EndAnnouncement();
  ASSERT_TRUE(Talk().ok());
  ASSERT_EQ(client_->goaways.size(), 2u);
  EXPECT_EQ(client_->goaways[1].last_id, crossing);
  // A client that begins another one all the same.
  const std::string refused =
      RawFrame(NGHTTP2_HEADERS, kEndStream | kEndHeaders, 7, RawRequestHead());
  ASSERT_TRUE(server_->session->Receive(refused).ok());
  EXPECT_EQ(server_->users.size(), 2u);
  EXPECT_FALSE(server_->session->ended());

  client_->Send(open, "end", true);
  for (int i = 0; i < 2; ++i) {
    user(i).stream->SendHead(kOkHead, /*end=*/false);
    user(i).stream->Append("text");
    user(i).stream->Finish({});
  }
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(user(0).body, "end");
  EXPECT_EQ(client_->answer(open).body, "text");
  EXPECT_EQ(client_->answer(crossing).body, "text");
  EXPECT_TRUE(user(0).complete && user(1).complete);
  EXPECT_TRUE(server_->session->ended());
}

TEST_F(SessionLimitsTest, ARequestThatCrossesTheSecondStepIsRefusedAndClosedOnce) {
  ASSERT_TRUE(Talk().ok());
  server_->session->Announce();
  ASSERT_TRUE(server_->session->Receive(client_->Output()).ok());
  const std::string notice = server_->Output();
  const int32_t id = client_->Request("/late", "body", false);
  const std::string late = client_->Output();
  server_->session->EndAnnouncement();
  ASSERT_TRUE(server_->session->Receive(late).ok());
  ASSERT_TRUE(client_->Receive(notice + server_->Output()));
  EXPECT_EQ(client_->answer(id).close_code, static_cast<uint32_t>(ErrorCode::kRefusedStream));
  for (const auto& user : server_->users) {
    EXPECT_EQ(user->closed, 1);
    EXPECT_FALSE(user->complete);
  }
  EXPECT_EQ(server_->session->open_streams(), 0u);
  EXPECT_TRUE(server_->session->ended());
}

TEST_F(SessionLimitsTest, AnAnnouncedEndWithoutStreamsIsTheEnd) {
  ASSERT_TRUE(Talk().ok());
  EXPECT_FALSE(server_->session->ended());
  server_->session->Announce();
  ASSERT_TRUE(Talk().ok());
  EXPECT_FALSE(server_->session->ended());
  server_->session->EndAnnouncement();
  EXPECT_FALSE(server_->session->ended());
  ASSERT_TRUE(Talk().ok());
  EXPECT_TRUE(server_->session->ended());
}

TEST_F(SessionLimitsTest, TerminateSaysWhyAndEndsAfterTheOpenStreams) {
  const int32_t id = client_->Request("/path");
  ASSERT_TRUE(Talk().ok());
  server_->session->Terminate(ErrorCode::kEnhanceYourCalm, "too_many_pings");
  ASSERT_TRUE(client_->Receive(server_->Output()));
  ASSERT_EQ(client_->goaways.size(), 1u);
  EXPECT_EQ(client_->goaways[0].code, 11u);
  EXPECT_EQ(client_->goaways[0].debug, "too_many_pings");
  EXPECT_EQ(client_->goaways[0].last_id, id);
  EXPECT_FALSE(server_->session->ended());
  user(0).stream->SendHead(kOkHead, /*end=*/true);
  ASSERT_TRUE(Talk().ok());
  EXPECT_TRUE(client_->answer(id).ended);
  EXPECT_TRUE(server_->session->ended());
}

TEST_F(SessionLimitsTest, TerminateFromInsideAnEvent) {
  ASSERT_TRUE(Talk().ok());
  server_->on_control_frame = [&] {
    server_->session->Terminate(ErrorCode::kEnhanceYourCalm, "enough");
  };
  for (int i = 0; i < 100; ++i) client_->Ping();
  client_->Request("/path", "body");
  ASSERT_TRUE(server_->session->Receive(client_->Output()).ok());
  ASSERT_TRUE(client_->Receive(server_->Output()));
  EXPECT_EQ(client_->goaways.at(0).debug, "enough");
}

TEST_F(SessionLimitsTest, AClientThatLeavesGetsItsAnswers) {
  const int32_t id = client_->Request("/path");
  ASSERT_TRUE(Talk().ok());
  ASSERT_TRUE(server_->session->Receive(RawFrame(NGHTTP2_GOAWAY, 0, 0, std::string(8, '\0'))).ok());
  EXPECT_FALSE(server_->session->ended());
  user(0).stream->SendHead(kOkHead, /*end=*/true);
  ASSERT_TRUE(Talk().ok());
  EXPECT_TRUE(client_->answer(id).ended);
  EXPECT_TRUE(server_->session->ended());
}

TEST_F(SessionLimitsTest, PingsOfBothSides) {
  client_->Ping();
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(client_->ping_answers, 1);
  EXPECT_EQ(server_->pings, 1);
  server_->session->SendPing();
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(client_->pings, 1);
  EXPECT_EQ(server_->ping_answers, 1);
}

// ---- Heads

TEST_F(SessionLimitsTest, TooManyHeadersAreAnswered431) {
  Start({.max_headers = 10});
  ClientSession::Headers six, seven;
  for (int i = 0; i < 7; ++i) {
    if (i < 6) six.emplace_back("x-" + std::to_string(i), "v");
    seven.emplace_back("x-" + std::to_string(i), "v");
  }
  const int32_t fits = client_->Request("/fits", "", true, six);
  const int32_t refused = client_->Request("/refused", "", true, seven);
  const int32_t with_body = client_->Request("/refused", std::string(200'000, 'x'), true, seven);
  ASSERT_TRUE(Talk().ok());
  ASSERT_EQ(server_->users.size(), 1u);
  EXPECT_EQ(user(0).stream->id(), fits);
  EXPECT_EQ(user(0).stream->header_count(), 10u);
  EXPECT_EQ(client_->answer(refused).Header(":status"), "431");
  EXPECT_EQ(client_->answer(refused).order, "h");
  EXPECT_EQ(client_->answer(with_body).Header(":status"), "431");
  EXPECT_TRUE(client_->answer(with_body).closed);
  EXPECT_EQ(server_->session->open_streams(), 1u);

  // The stream that it used is fit for another one.
  const int32_t next = client_->Request("/next");
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(user(1).stream->id(), next);
}

TEST_F(SessionLimitsTest, TooLongHeadsAreAnswered431) {
  Start({.max_header_bytes = 1000});
  client_->Request("/", "", true, {{"x", std::string(900, 'v')}});
  const int32_t refused = client_->Request("/", "", true, {{"x", std::string(1000, 'v')}});
  const int32_t in_sum =
      client_->Request("/", "", true, {{"x", std::string(500, 'v')}, {"y", std::string(500, 'v')}});
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(server_->users.size(), 1u);
  EXPECT_EQ(client_->answer(refused).Header(":status"), "431");
  EXPECT_EQ(client_->answer(in_sum).Header(":status"), "431");
}

// A small head may decode to much: references to an entry of the table cost a byte.
TEST_F(SessionLimitsTest, HeadsThatAreLongOnlyWhenDecodedAreAnswered431) {
  ASSERT_TRUE(server_->session->Receive(RawStart()).ok());
  std::string head = RawRequestHead();
  std::string indexed = RawHeader("bomb", std::string(3000, 'b'));
  indexed[0] = 0x40;  // with indexing
  head += indexed + std::string(300, '\xbe');
  ASSERT_TRUE(
      server_->session->Receive(RawFrame(NGHTTP2_HEADERS, kEndHeaders | kEndStream, 1, head)).ok());
  EXPECT_TRUE(server_->users.empty());
  server_->Output();
  EXPECT_EQ(server_->session->open_streams(), 0u);
  EXPECT_EQ(server_->requests_answered, 1);
}

TEST_F(SessionLimitsTest, AHeadMayComeInAFewContinuations) {
  ASSERT_TRUE(server_->session->Receive(RawStart()).ok());
  const std::string head = RawRequestHead();
  std::string frames = RawFrame(NGHTTP2_HEADERS, kEndStream, 1, head.substr(0, 10));
  frames += RawFrame(NGHTTP2_CONTINUATION, 0, 1, head.substr(10, 10));
  frames += RawFrame(NGHTTP2_CONTINUATION, kEndHeaders, 1, head.substr(20));
  ASSERT_TRUE(server_->session->Receive(frames).ok());
  ASSERT_EQ(server_->users.size(), 1u);
  EXPECT_EQ(user(0).stream->FindHeader(":path"), "/raw");
  EXPECT_EQ(user(0).ends, 1);
}

TEST_F(SessionLimitsTest, ManyContinuationsEndTheConnection) {
  for (const std::string& part : {std::string(), RawHeader("x", std::string(1000, 'v'))}) {
    Start({});
    ASSERT_TRUE(server_->session->Receive(RawStart()).ok());
    ASSERT_TRUE(
        server_->session->Receive(RawFrame(NGHTTP2_HEADERS, kEndStream, 1, RawRequestHead())).ok());
    absl::Status received;
    int sent = 0;
    while (received.ok() && sent < 1000) {
      received = server_->session->Receive(RawFrame(NGHTTP2_CONTINUATION, 0, 1, part));
      ++sent;
    }
    EXPECT_FALSE(received.ok());
    EXPECT_LT(sent, 100);
    EXPECT_TRUE(server_->users.empty());
    server_->Output();
  }
}

// ---- Bytes that are not HTTP/2

TEST_F(SessionLimitsTest, OtherProtocolsAreAnError) {
  for (const std::string text :
       {"GET / HTTP/1.1\r\nhost: a\r\n\r\n", "POST /v2 HTTP/1.1\r\n", "\x16\x03\x01\x02", "PRIx",
        "\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\r"}) {
    Start({});
    const absl::Status received = server_->session->Receive(text);
    EXPECT_EQ(received.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(received.message()), HasSubstr("not HTTP/2"));
    server_->Output();
    (void)server_->session->Receive(RawStart() + "more");
    EXPECT_TRUE(server_->users.empty());
  }
}

TEST_F(SessionLimitsTest, APrefaceMayBeCutAnywhere) {
  for (size_t cut = 0; cut <= kPreface.size(); ++cut) {
    Start({});
    ASSERT_TRUE(server_->session->Receive(kPreface.substr(0, cut)).ok()) << cut;
    server_->Output();
    EXPECT_FALSE(server_->session->ended());
    ASSERT_TRUE(server_->session->Receive(kPreface.substr(cut)).ok()) << cut;
    const std::string rest = RawFrame(NGHTTP2_SETTINGS, 0, 0, "") +
                             RawFrame(NGHTTP2_HEADERS, kEndHeaders, 1, RawRequestHead());
    ASSERT_TRUE(server_->session->Receive(rest).ok());
    EXPECT_EQ(server_->users.size(), 1u);

    // And what goes wrong after that.
    if (cut == kPreface.size()) continue;
    Start({});
    ASSERT_TRUE(server_->session->Receive(kPreface.substr(0, cut)).ok());
    EXPECT_FALSE(server_->session->Receive("?").ok()) << cut;
  }
}

TEST_F(SessionLimitsTest, TheFirstFrameMustBeSettings) {
  const std::string start = std::string(kPreface) + RawFrame(NGHTTP2_PING, 0, 0, "12345678");
  const absl::Status received = server_->session->Receive(start);
  server_->Output();
  EXPECT_TRUE(!received.ok() || server_->session->ended());
}

TEST_F(SessionLimitsTest, BrokenFramesEndTheConnectionWithAReason) {
  const std::string request = RawFrame(NGHTTP2_HEADERS, kEndHeaders, 1, RawRequestHead());
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"DATA of stream 0", RawFrame(NGHTTP2_DATA, 0, 0, "x")},
      {"DATA of an idle stream", RawFrame(NGHTTP2_DATA, 0, 9, "x")},
      {"HEADERS of an even stream", RawFrame(NGHTTP2_HEADERS, kEndHeaders, 2, RawRequestHead())},
      {"a short PING", RawFrame(NGHTTP2_PING, 0, 0, "1234567")},
      {"a CONTINUATION alone", RawFrame(NGHTTP2_CONTINUATION, kEndHeaders, 1, "")},
      {"RST_STREAM of an idle stream", RawFrame(NGHTTP2_RST_STREAM, 0, 9, std::string(4, '\0'))},
      {"a pad longer than the frame", RawFrame(NGHTTP2_DATA, NGHTTP2_FLAG_PADDED, 1, "\x7fxx")},
      {"bad HPACK", RawFrame(NGHTTP2_HEADERS, kEndHeaders, 3, "\xff\xff\xff\xff\xff")},
      {"PUSH_PROMISE", RawFrame(NGHTTP2_PUSH_PROMISE, kEndHeaders, 1, std::string(8, '\0'))},
      {"a window beyond 2^31",
       RawFrame(NGHTTP2_WINDOW_UPDATE, 0, 0, std::string("\x7f\xff\xff\xff", 4))},
      {"a frame that is too long", RawFrame(NGHTTP2_DATA, 0, 1, std::string(2 << 20, 'x'))}};
  for (const auto& [name, frame] : cases) {
    Start({});
    ASSERT_TRUE(server_->session->Receive(RawStart() + request).ok());
    server_->Output();
    const absl::Status received = server_->session->Receive(frame);
    const std::string output = server_->Output();
    if (received.ok()) {
      EXPECT_THAT(output, HasSubstr(std::string("\x7", 1) + std::string(5, '\0'))) << name;
      server_->session->CloseStreams();
    }
    EXPECT_TRUE(!received.ok() || server_->session->ended()) << name;
    server_->session.reset();
    EXPECT_EQ(user(0).closed, 1) << name;
    EXPECT_EQ(server_->users.size(), 1u) << name;
  }
}

TEST_F(SessionLimitsTest, BrokenRequestsEndOnlyTheirStream) {
  const auto end = [](const std::string& payload) {
    return RawFrame(NGHTTP2_HEADERS, kEndHeaders | kEndStream, 1, payload);
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"no :path", end(RawHeader(":method", "POST") + RawHeader(":scheme", "http"))},
      {"no head", end("")},
      {"upper case", end(RawRequestHead() + RawHeader("Upper", "1"))},
      {"a connection header", end(RawRequestHead() + RawHeader("connection", "close"))},
      {"a pseudo-header twice", end(RawRequestHead() + RawHeader(":path", "/2"))},
      {"a pseudo-header late", end(RawHeader("x", "1") + RawRequestHead())},
      {"less body than said", end(RawRequestHead() + RawHeader("content-length", "5"))}};
  for (const auto& [name, frame] : cases) {
    Start({});
    ASSERT_TRUE(server_->session->Receive(RawStart() + frame).ok()) << name;
    EXPECT_THAT(server_->Output(), HasSubstr(std::string("\0\0\4\3\0\0\0\0\1\0\0\0\1", 13)))
        << name;
    for (const auto& user : server_->users) {
      EXPECT_EQ(user->closed, 1) << name;
      EXPECT_EQ(user->ends, 0) << name;
    }
    EXPECT_EQ(server_->session->open_streams(), 0u) << name;
    EXPECT_FALSE(server_->session->ended()) << name;
    const std::string next =
        RawFrame(NGHTTP2_HEADERS, kEndHeaders | kEndStream, 3, RawRequestHead());
    ASSERT_TRUE(server_->session->Receive(next).ok()) << name;
    EXPECT_EQ(server_->users.back()->ends, 1) << name;
  }
}

TEST_F(SessionLimitsTest, MoreStreamsThanAllowedAreRefused) {
  Start({.max_streams = 3});
  for (int i = 0; i < 3; ++i) client_->Request("/path");
  ASSERT_TRUE(Talk().ok());
  client_->Request("/waits-for-another-to-end");
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(server_->users.size(), 3u);
  user(1).stream->SendHead(kOkHead, /*end=*/true);
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(server_->users.size(), 4u);

  const std::string fourth =
      RawFrame(NGHTTP2_HEADERS, kEndHeaders | kEndStream, 9, RawRequestHead());
  (void)server_->session->Receive(fourth);
  EXPECT_EQ(server_->users.size(), 4u);
}

// ---- Frames that cost the server work and the client nothing

TEST_F(SessionLimitsTest, CostlyFramesAreCounted) {
  const std::string request = RawFrame(NGHTTP2_HEADERS, kEndHeaders, 1, RawRequestHead());
  const std::string ping = RawFrame(NGHTTP2_PING, 0, 0, "12345678");
  const std::string settings = RawFrame(NGHTTP2_SETTINGS, 0, 0, "");
  const std::string priority = RawFrame(NGHTTP2_PRIORITY, 0, 3, std::string(5, '\0'));
  const std::string reset = RawFrame(NGHTTP2_RST_STREAM, 0, 1, std::string(4, '\0'));
  const std::string empty = RawFrame(NGHTTP2_DATA, 0, 1, "");
  EXPECT_EQ(CountControlFrames(ping + ping + ping), 3);
  EXPECT_EQ(CountControlFrames(settings + settings), 2);
  EXPECT_EQ(CountControlFrames(priority + priority), 2);
  EXPECT_EQ(CountControlFrames(request + reset), 1);
  EXPECT_EQ(CountControlFrames(request + reset + reset), 2);
  EXPECT_EQ(CountControlFrames(request + empty + empty), 2);
  const std::string in_parts = RawFrame(NGHTTP2_HEADERS, 0, 1, RawRequestHead()) +
                               RawFrame(NGHTTP2_CONTINUATION, 0, 1, "") +
                               RawFrame(NGHTTP2_CONTINUATION, kEndHeaders, 1, "");
  EXPECT_EQ(CountControlFrames(in_parts), 2);
  // Padding does not make a frame worth more.
  const std::string padded =
      RawFrame(NGHTTP2_DATA, NGHTTP2_FLAG_PADDED, 1, std::string("\3\0\0\0", 4));
  EXPECT_EQ(CountControlFrames(request + padded + padded), 2);
}

// Instead of resetting its streams, a client may make the server do so.
TEST_F(SessionLimitsTest, StreamsThatTheClientBreaksAreCounted) {
  ASSERT_TRUE(server_->session->Receive(RawStart()).ok());
  server_->Output();
  const int before = server_->control_frames;
  const std::string too_much("\x7f\xff\xff\xff", 4);
  for (uint32_t id = 1; id < 20; id += 2) {
    const std::string frames = RawFrame(NGHTTP2_HEADERS, kEndHeaders, id, RawRequestHead()) +
                               RawFrame(NGHTTP2_WINDOW_UPDATE, 0, id, too_much);
    ASSERT_TRUE(server_->session->Receive(frames).ok());
    server_->Output();
    EXPECT_EQ(server_->users.back()->closed, 1);
  }
  EXPECT_EQ(server_->control_frames - before, 10);

  // A reset of the server's own is not the client's fault.
  const std::string request = RawFrame(NGHTTP2_HEADERS, kEndHeaders, 21, RawRequestHead());
  ASSERT_TRUE(server_->session->Receive(request).ok());
  server_->users.back()->stream->Reset(ErrorCode::kCancel);
  server_->Output();
  EXPECT_EQ(server_->users.back()->closed, 1);
  EXPECT_EQ(server_->control_frames - before, 10);
}

// Each costs the server the head of a request.
TEST_F(SessionLimitsTest, RequestsBeyondTheLimitOfOpenOnesAreCounted) {
  Start({.max_streams = 3});
  ASSERT_TRUE(server_->session->Receive(RawStart()).ok());
  server_->Output();
  const int before = server_->control_frames;
  for (uint32_t id = 1; id < 20; id += 2) {
    const std::string request = RawFrame(NGHTTP2_HEADERS, kEndHeaders, id, RawRequestHead());
    ASSERT_TRUE(server_->session->Receive(request).ok());
    server_->Output();
  }
  EXPECT_EQ(server_->users.size(), 3u);
  EXPECT_EQ(server_->control_frames - before, 7);
}

TEST_F(SessionLimitsTest, UsefulFramesAreNotCounted) {
  const std::string request = RawFrame(NGHTTP2_HEADERS, kEndHeaders, 1, RawRequestHead());
  const std::string data = RawFrame(NGHTTP2_DATA, 0, 1, "x");
  const std::string padded = RawFrame(NGHTTP2_DATA, NGHTTP2_FLAG_PADDED, 1, "\1x1");
  const std::string end = RawFrame(NGHTTP2_DATA, kEndStream, 1, "");
  const std::string window = RawFrame(NGHTTP2_WINDOW_UPDATE, 0, 0, std::string("\0\0\0\1", 4));
  EXPECT_EQ(CountControlFrames(request + data + padded + window + data + end), 0);
  EXPECT_EQ(user(0).body, "xxx");
  EXPECT_EQ(user(0).ends, 1);
}

TEST_F(SessionLimitsTest, PingsThatAreNotReadEndTheConnection) {
  ASSERT_TRUE(server_->session->Receive(RawStart()).ok());
  absl::Status received;
  int sent = 0;
  while (received.ok() && sent < 100'000) {
    received = server_->session->Receive(RawFrame(NGHTTP2_PING, 0, 0, "12345678"));
    ++sent;
  }
  EXPECT_FALSE(received.ok());
  EXPECT_LE(sent, 1100);
}

}  // namespace
}  // namespace nereid::http2
