// SPDX-License-Identifier: Apache-2.0
// Requests and answers of a session; its windows are in session_flow_test.cc, what clients do
// wrong in session_limits_test.cc.
#include "frontends/transport/http2/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "frontends/transport/http2/testing/client_session.h"
#include "frontends/transport/http2/testing/recording_server.h"

namespace nereid::http2 {
namespace {

using testing::ElementsAre;
using testing::Pair;

constexpr std::array<Header, 2> kTrailers = {{{"grpc-status", "0", true}, {"made", "here"}}};
constexpr std::array<Header, 2> kTrailersOnly = {{{":status", "200", true}, {"grpc-status", "12"}}};

class SessionTest : public testing::Test {
 protected:
  absl::Status Talk(size_t step = 1 << 20) { return Exchange(&client_, &server_, step); }
  RecordingUser& user(size_t i) { return *server_.users.at(i); }
  static void Echo(RecordingUser* user) {
    user->on_end = [user] {
      user->stream->SendHead(kOkHead, /*end=*/false);
      user->stream->Append(user->body);
      user->stream->Finish(kTrailers);
    };
  }

  RecordingServer server_{SessionOptions{}};
  ClientSession client_{ClientSession::Options{}};
};

TEST_F(SessionTest, ARequestWithABodyIsAnsweredWithABodyAndTrailers) {
  server_.on_request = Echo;
  const int32_t id = client_.Request("/path", "the body", true, {{"x-one", "1"}, {"x-one", "2"}});
  ASSERT_TRUE(Talk().ok());

  ASSERT_EQ(server_.users.size(), 1u);
  EXPECT_EQ(user(0).body, "the body");
  EXPECT_EQ(user(0).ends, 1);
  EXPECT_EQ(user(0).closed, 1);
  EXPECT_TRUE(user(0).complete);
  EXPECT_EQ(server_.session->open_streams(), 0u);
  EXPECT_EQ(server_.requests_answered, 1);
  EXPECT_EQ(server_.answers_sent, 3);

  // The head of the request can be read as long as somebody refers to the stream.
  const Stream& stream = *user(0).stream;
  EXPECT_EQ(stream.id(), id);
  EXPECT_EQ(stream.FindHeader(":path"), "/path");
  EXPECT_EQ(stream.FindHeader("x-one"), "1");
  EXPECT_EQ(stream.FindHeader("x-two"), "");
  ASSERT_EQ(stream.header_count(), 6u);
  EXPECT_EQ(stream.header(5).name, "x-one");
  EXPECT_EQ(stream.header(5).value, "2");

  const ClientSession::Answer& answer = client_.answer(id);
  EXPECT_THAT(answer.head, ElementsAre(Pair(":status", "200"), Pair("content-type", "text/plain")));
  EXPECT_EQ(answer.body, "the body");
  EXPECT_THAT(answer.trailers, ElementsAre(Pair("grpc-status", "0"), Pair("made", "here")));
  EXPECT_EQ(answer.order, "hdh");
  EXPECT_TRUE(answer.ended);
  EXPECT_TRUE(answer.closed);
  EXPECT_EQ(answer.resets, 0);
}

TEST_F(SessionTest, TheSameBytesOneAtATime) {
  server_.on_request = Echo;
  std::vector<int32_t> ids;
  for (int i = 0; i < 3; ++i) ids.push_back(client_.Request("/path", "body " + std::to_string(i)));
  ASSERT_TRUE(Talk(1).ok());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(client_.answer(ids[i]).body, "body " + std::to_string(i));
    EXPECT_TRUE(user(i).complete);
    EXPECT_EQ(user(i).ends, 1);
  }
}

TEST_F(SessionTest, ARequestWithoutABodyEndsWithItsHead) {
  server_.on_request = Echo;
  const int32_t id = client_.Request("/path");
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(user(0).ends, 1);
  EXPECT_EQ(user(0).body, "");
  EXPECT_EQ(client_.answer(id).Header("grpc-status"), "0");
  EXPECT_EQ(client_.answer(id).order, "hh");
  EXPECT_TRUE(client_.answer(id).closed);
}

// RFC 9113 calls such a request malformed, but the metadata of gRPC may look like this.
TEST_F(SessionTest, BlanksAroundAValueAreDropped) {
  server_.on_request = Echo;
  const int32_t id =
      client_.Request("/path", "body", true, {{"a", " b c\t"}, {"blank", "  "}, {"d", "e"}});
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(user(0).stream->FindHeader("a"), "b c");
  EXPECT_EQ(user(0).stream->FindHeader("blank"), "");
  EXPECT_EQ(user(0).stream->FindHeader("d"), "e");
  EXPECT_EQ(client_.answer(id).body, "body");
}

TEST_F(SessionTest, TrailersOfARequestEndItAndAreNotHeaders) {
  server_.on_request = Echo;
  const int32_t id = client_.Request("/path", "body", false);
  client_.Send(id, "", true, {{"checksum", "7"}});
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(user(0).ends, 1);
  EXPECT_EQ(user(0).stream->FindHeader("checksum"), "");
  EXPECT_EQ(client_.answer(id).body, "body");
}

TEST_F(SessionTest, AHeadMayBeTheWholeAnswer) {
  server_.on_request = [](RecordingUser* user) {
    user->on_end = [user] { user->stream->SendHead(kTrailersOnly, /*end=*/true); };
  };
  const int32_t id = client_.Request("/path", "body");
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(client_.answer(id).order, "h");
  EXPECT_TRUE(client_.answer(id).ended);
  EXPECT_EQ(client_.answer(id).Header("grpc-status"), "12");
  EXPECT_TRUE(user(0).complete);
}

TEST_F(SessionTest, AnAnswerMayEndWithoutTrailers) {
  server_.on_request = [](RecordingUser* user) {
    user->on_end = [user] {
      user->stream->SendHead(kOkHead, /*end=*/false);
      user->stream->Append("body");
      user->stream->Finish({});
    };
  };
  const int32_t id = client_.Request("/path");
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(client_.answer(id).order, "hd");
  EXPECT_EQ(client_.answer(id).body, "body");
  EXPECT_TRUE(client_.answer(id).ended);
  EXPECT_TRUE(user(0).complete);
}

TEST_F(SessionTest, WhatIsNotLastingIsCopied) {
  const int32_t id = client_.Request("/path");
  ASSERT_TRUE(Talk().ok());
  {
    const std::string name(100, 'n'), value(100, 'v');
    const std::vector<Header> head = {{":status", "200", true}, {name, value}};
    const std::vector<Header> trailers = {{value, name}};
    user(0).stream->SendHead(head, /*end=*/false);
    user(0).stream->Append(std::string(100, 'b'));
    user(0).stream->Finish(trailers);
  }
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(client_.answer(id).Header(std::string(100, 'n')), std::string(100, 'v'));
  EXPECT_EQ(client_.answer(id).Header(std::string(100, 'v')), std::string(100, 'n'));
}

TEST_F(SessionTest, StreamsTakeTurns) {
  std::vector<int32_t> ids;
  for (int i = 0; i < 5; ++i) ids.push_back(client_.Request("/" + std::to_string(i), "", false));
  ASSERT_TRUE(Talk().ok());
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 5; ++i) client_.Send(ids[i], std::to_string(10 * i + round) + ",", false);
    ASSERT_TRUE(Talk().ok());
    for (int i = 4; i >= 0; --i) {
      Stream& stream = *user(i).stream;
      if (round == 0) stream.SendHead(kOkHead, /*end=*/false);
      stream.Append(user(i).body);
      stream.Flush();
      user(i).body.clear();
    }
    ASSERT_TRUE(Talk().ok());
  }
  for (int i = 0; i < 5; ++i) {
    client_.Send(ids[i], "", true);
    user(i).stream->Finish(kTrailers);
  }
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(client_.answer(ids[0]).body, "0,1,2,3,");
  EXPECT_EQ(client_.answer(ids[4]).body, "40,41,42,43,");
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(user(i).complete);
    EXPECT_EQ(user(i).closed, 1);
  }
}

TEST_F(SessionTest, ASessionTellsThatItHasSomethingToSend) {
  client_.Request("/path");
  ASSERT_TRUE(Talk().ok());
  const auto tells = [&](const std::function<void()>& step) {
    const int before = server_.outputs;
    step();
    return server_.outputs > before;
  };
  Stream& stream = *user(0).stream;
  EXPECT_TRUE(tells([&] { stream.SendHead(kOkHead, /*end=*/false); }));
  ASSERT_TRUE(Talk().ok());
  stream.Append("x");
  EXPECT_TRUE(tells([&] { stream.Flush(); }));
  ASSERT_TRUE(Talk().ok());
  EXPECT_TRUE(tells([&] { stream.Finish(kTrailers); }));
  EXPECT_TRUE(tells([&] { stream.Reset(ErrorCode::kCancel); }));
  EXPECT_TRUE(tells([&] { server_.session->SendPing(); }));
  EXPECT_TRUE(tells([&] { server_.session->Announce(); }));
  EXPECT_TRUE(tells([&] { server_.session->EndAnnouncement(); }));
  EXPECT_TRUE(tells([&] { server_.session->Terminate(ErrorCode::kNoError, ""); }));
}

// ---- Ends that are not the usual ones

TEST_F(SessionTest, AnAnswerBeforeTheEndOfTheRequestStopsTheRequest) {
  server_.on_request = [](RecordingUser* user) {
    user->stream->SendHead(kTrailersOnly, /*end=*/true);
  };
  const int32_t id = client_.Request("/path", "first", false);
  const std::string request = client_.Output();
  client_.Send(id, std::string(20'000, 'x'), false);
  const std::string on_its_way = client_.Output();
  ASSERT_FALSE(on_its_way.empty());
  ASSERT_TRUE(server_.session->Receive(request).ok());
  const std::string answer = server_.Output();
  EXPECT_EQ(user(0).closed, 1);
  EXPECT_TRUE(user(0).complete);
  EXPECT_EQ(server_.requests_answered, 1);

  // What the client had sent already does no harm.
  ASSERT_TRUE(server_.session->Receive(on_its_way).ok());
  EXPECT_EQ(user(0).body, "first");
  ASSERT_TRUE(client_.Receive(answer));
  EXPECT_EQ(client_.answer(id).order, "hr");
  EXPECT_EQ(client_.answer(id).reset_code, static_cast<uint32_t>(ErrorCode::kNoError));
  ASSERT_TRUE(Talk().ok());
  EXPECT_FALSE(client_.broken());

  server_.on_request = Echo;
  const int32_t next = client_.Request("/path", "next");
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(client_.answer(next).body, "next");
}

TEST_F(SessionTest, AnAnswerWithABodyBeforeTheEndOfTheRequestAlso) {
  const int32_t id = client_.Request("/path", "first", false);
  ASSERT_TRUE(Talk().ok());
  user(0).stream->SendHead(kOkHead, /*end=*/false);
  user(0).stream->Append("body");
  user(0).stream->Finish(kTrailers);
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(client_.answer(id).order, "hdhr");
  EXPECT_EQ(client_.answer(id).reset_code, static_cast<uint32_t>(ErrorCode::kNoError));
  EXPECT_TRUE(user(0).complete);
  EXPECT_EQ(user(0).ends, 0);
}

TEST_F(SessionTest, NothingCanBeDoneWithAStreamThatTheClientHasReset) {
  const auto owner = std::make_shared<std::string>("shared");
  const int32_t id = client_.Request("/path", "first", false);
  ASSERT_TRUE(Talk().ok());
  Stream& stream = *user(0).stream;
  stream.SendHead(kOkHead, /*end=*/false);
  ASSERT_TRUE(Talk().ok());
  stream.AppendShared(*owner, owner);
  EXPECT_EQ(owner.use_count(), 2);
  client_.Cancel(id);
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(user(0).closed, 1);
  EXPECT_FALSE(user(0).complete);
  EXPECT_TRUE(stream.closed());
  EXPECT_EQ(owner.use_count(), 1);
  EXPECT_EQ(server_.requests_answered, 0);
  EXPECT_EQ(server_.control_frames, 3);  // SETTINGS twice, one an answer, and RST_STREAM

  const int outputs = server_.outputs;
  stream.Consume(5);
  stream.SendHead(kOkHead, /*end=*/true);
  stream.Append("more");
  stream.AppendShared(*owner, owner);
  stream.Flush();
  stream.Finish(kTrailers);
  stream.Reset(ErrorCode::kInternalError);
  EXPECT_EQ(stream.unsent(), 0u);
  EXPECT_EQ(owner.use_count(), 1);
  EXPECT_EQ(server_.outputs, outputs);
  EXPECT_EQ(server_.Output(), "");
  EXPECT_EQ(user(0).closed, 1);
}

TEST_F(SessionTest, AnAnswerThatWaitsIsDroppedWhenTheClientResetsTheStream) {
  const int32_t id = client_.Request("/path");
  ASSERT_TRUE(Talk().ok());
  user(0).stream->SendHead(kOkHead, /*end=*/false);
  user(0).stream->Append("body");
  user(0).stream->Finish(kTrailers);
  client_.Cancel(id);
  ASSERT_TRUE(server_.session->Receive(client_.Output()).ok());
  EXPECT_EQ(user(0).closed, 1);
  EXPECT_FALSE(user(0).complete);
  EXPECT_EQ(server_.Output(), "");
}

TEST_F(SessionTest, AStreamThatIsResetIsClosedOnce) {
  const int32_t id = client_.Request("/path", "first", false);
  ASSERT_TRUE(Talk().ok());
  Stream& stream = *user(0).stream;
  stream.SendHead(kOkHead, /*end=*/false);
  stream.Append("lost");
  stream.Reset(ErrorCode::kEnhanceYourCalm);
  stream.Append("lost");
  stream.Finish(kTrailers);
  stream.Reset(ErrorCode::kCancel);
  const std::string code = {0, 0, 0, 11};
  EXPECT_EQ(server_.Output(), RawFrame(NGHTTP2_RST_STREAM, 0, static_cast<uint32_t>(id), code));
  EXPECT_EQ(user(0).closed, 1);
  EXPECT_FALSE(user(0).complete);
}

TEST_F(SessionTest, WhatArrivesForAStreamThatWasResetIsNotGivenToIt) {
  const int32_t id = client_.Request("/path", "first", false);
  ASSERT_TRUE(Talk().ok());
  user(0).stream->Reset(ErrorCode::kCancel);
  client_.Send(id, "second", true);
  ASSERT_TRUE(server_.session->Receive(client_.Output()).ok());
  EXPECT_EQ(user(0).body, "first");
  EXPECT_EQ(user(0).ends, 0);
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(user(0).closed, 1);
}

// An error's text may be long. What the library cannot send must not leave the client waiting.
TEST_F(SessionTest, ATrailerThatIsTooLongEndsTheStreamWithAnError) {
  const int32_t id = client_.Request("/path");
  ASSERT_TRUE(Talk().ok());
  const std::string text(100'000, 't');
  const std::vector<Header> trailers = {{"grpc-message", text}};
  user(0).stream->SendHead(kOkHead, /*end=*/false);
  user(0).stream->Append("body");
  user(0).stream->Finish(trailers);
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(client_.answer(id).order, "hdr");
  EXPECT_EQ(client_.answer(id).reset_code, static_cast<uint32_t>(ErrorCode::kInternalError));
  EXPECT_EQ(user(0).closed, 1);
  EXPECT_FALSE(user(0).complete);
}

TEST_F(SessionTest, AHeadThatIsTooLongEndsTheStreamWithAnError) {
  const int32_t id = client_.Request("/path");
  ASSERT_TRUE(Talk().ok());
  const std::string text(100'000, 't');
  const std::vector<Header> head = {{":status", "200"}, {"grpc-message", text}};
  user(0).stream->SendHead(head, /*end=*/true);
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(client_.answer(id).order, "r");
  EXPECT_EQ(client_.answer(id).reset_code, static_cast<uint32_t>(ErrorCode::kInternalError));
  EXPECT_EQ(user(0).closed, 1);
  EXPECT_FALSE(user(0).complete);
}

TEST_F(SessionTest, TheEndOfTheSessionClosesItsStreamsOnce) {
  server_.on_request = [](RecordingUser* user) {
    // What a user does when its stream closes has no effect, on other streams neither.
    user->on_closed = [user] {
      user->stream->SendHead(kOkHead, /*end=*/true);
      user->stream->Reset(ErrorCode::kCancel);
    };
  };
  for (int i = 0; i < 3; ++i) client_.Request("/path", "body", i == 0);
  ASSERT_TRUE(Talk().ok());
  user(1).stream->SendHead(kOkHead, /*end=*/false);
  user(1).stream->Append("waits");
  server_.session.reset();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(user(i).closed, 1);
    EXPECT_FALSE(user(i).complete);
    EXPECT_TRUE(user(i).stream->closed());
    user(i).stream->Append("after the session");
    user(i).stream->Finish(kTrailers);
  }
}

TEST_F(SessionTest, NothingIsReadOrSentOnceTheStreamsAreClosed) {
  std::vector<int32_t> ids;
  for (int i = 0; i < 3; ++i) ids.push_back(client_.Request("/path", "body", false));
  ASSERT_TRUE(Talk().ok());
  for (int i = 0; i < 3; ++i) {
    user(i).drop_when_closed = true;
    user(i).stream->SendHead(kOkHead, /*end=*/false);
    user(i).stream->Append("waits");
  }
  server_.session->CloseStreams();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(user(i).closed, 1);
  EXPECT_EQ(server_.session->open_streams(), 0u);
  EXPECT_TRUE(server_.session->ended());

  client_.Send(ids[0], "more", true);
  client_.Cancel(ids[1]);
  client_.Request("/path", "new");
  EXPECT_FALSE(server_.session->Receive(client_.Output()).ok());
  EXPECT_EQ(server_.Output(), "");
  server_.session->CloseStreams();
  EXPECT_EQ(server_.users.size(), 3u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(user(i).closed, 1);
}

TEST_F(SessionTest, TheStreamsMayBeClosedFromInsideAnyCall) {
  for (const std::string where : {"request", "data", "end", "sent", "closed", "reset", "ping"}) {
    RecordingServer server{SessionOptions{}};
    ClientSession client{ClientSession::Options{}};
    const auto close = [&] { server.session->CloseStreams(); };
    const auto answer = [](RecordingUser* user) {
      user->stream->SendHead(kOkHead, /*end=*/false);
      const bool ends = user->stream->FindHeader(":path") == "/0";
      user->stream->Append(std::string(ends ? 1000 : 300'000, 'b'));
      if (ends) user->stream->Finish(kTrailers);
    };
    server.on_request = [&](RecordingUser* user) {
      user->drop_when_closed = true;
      if (user->stream->FindHeader(":path") != "/1") return;
      if (where == "request") close();
      if (where == "data") user->on_data = [close](absl::string_view) { close(); };
      if (where == "end") user->on_end = close;
      if (where == "sent") user->on_sent = close;
      if (where == "reset") user->on_closed = close;
    };
    server.on_ping = [&](bool) {
      if (where == "ping") close();
    };
    std::vector<int32_t> ids;
    for (int i = 0; i < 3; ++i) {
      ids.push_back(client.Request("/" + std::to_string(i), "body"));
    }
    client.AddToWindow(0, 1 << 20);
    client.SetStreamWindow(1 << 20);
    (void)Exchange(&client, &server);
    if (!server.session->ended()) {
      if (where == "closed") server.users[0]->on_closed = close;
      for (const auto& user : server.users) answer(user.get());
      if (where == "ping") client.Ping();
      if (where == "reset") client.Cancel(ids[1]);
      (void)Exchange(&client, &server);
    }
    EXPECT_TRUE(server.session->ended()) << where;
    for (const auto& user : server.users) EXPECT_EQ(user->closed, 1) << where;
  }
}

TEST_F(SessionTest, SweepTellsAllUsersTheTime) {
  for (int i = 0; i < 3; ++i) client_.Request("/path");
  ASSERT_TRUE(Talk().ok());
  user(1).stream->SendHead(kOkHead, /*end=*/true);
  ASSERT_TRUE(Talk().ok());
  server_.session->Sweep(FromNanos(77));
  EXPECT_EQ(user(0).swept, FromNanos(77));
  EXPECT_EQ(user(1).swept, TimePoint{});
  EXPECT_EQ(user(2).swept, FromNanos(77));
}

TEST_F(SessionTest, OnClosedIsTheLastCallThoughASweepIsUnderWay) {
  for (int i = 0; i < 3; ++i) client_.Request("/path");
  ASSERT_TRUE(Talk().ok());
  int swept = 0;
  for (int i = 0; i < 3; ++i) {
    user(i).on_sweep = [&] {
      ++swept;
      server_.session->CloseStreams();
    };
  }
  server_.session->Sweep(FromNanos(77));
  EXPECT_EQ(swept, 1);
}

TEST_F(SessionTest, ARequestMayBeAnsweredWithoutAUser) {
  server_.ignore_requests = true;
  server_.on_request = [](RecordingUser* user) {
    user->stream->SendHead(kOkHead, /*end=*/false);
    user->stream->Append("text");
    user->stream->Finish({});
  };
  const int32_t id = client_.Request("/path", std::string(200'000, 'x'));
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(client_.answer(id).body, "text");
  EXPECT_TRUE(client_.answer(id).closed);
  EXPECT_EQ(user(0).body, "");
  EXPECT_EQ(user(0).ends + user(0).closed, 0);
  EXPECT_EQ(server_.requests_answered, 1);
}

}  // namespace
}  // namespace nereid::http2
