// SPDX-License-Identifier: Apache-2.0
// What a session sends and lets the client send, and when: windows, bodies that come in parts,
// bytes that are not copied, and what users do from inside their calls.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "frontends/transport/http2/session.h"
#include "frontends/transport/http2/testing/client_session.h"
#include "frontends/transport/http2/testing/recording_server.h"

namespace nereid::http2 {
namespace {

constexpr std::array<Header, 1> kOkTrailers = {{{"grpc-status", "0", true}}};

std::string Pattern(size_t n) {
  std::string bytes(n, '\0');
  for (size_t i = 0; i < n; ++i) bytes[i] = static_cast<char>(i * 31 + i / 251);
  return bytes;
}

class SessionFlowTest : public testing::Test {
 protected:
  void Start(const SessionOptions& options, const ClientSession::Options& client = {}) {
    server_ = std::make_unique<RecordingServer>(options);
    client_ = std::make_unique<ClientSession>(client);
  }
  absl::Status Talk(size_t step = 1 << 20) { return Exchange(client_.get(), server_.get(), step); }
  RecordingUser& user(size_t i) { return *server_->users.at(i); }
  // Begins a request, and its answer.
  int32_t Begin(bool end = true) {
    const int32_t id = client_->Request("/path", "", end);
    EXPECT_TRUE(Talk().ok());
    server_->users.back()->stream->SendHead(kOkHead, /*end=*/false);
    EXPECT_TRUE(Talk().ok());
    return id;
  }

  std::unique_ptr<RecordingServer> server_;
  std::unique_ptr<ClientSession> client_;
};

// ---- Where requests are received

// A session with an open request 1, whose user has a place for `size` bytes.
std::unique_ptr<RecordingServer> ServerWithPlace(size_t size) {
  auto server = std::make_unique<RecordingServer>(SessionOptions{.least_in_place = 50});
  server->on_request = [size](RecordingUser* user) {
    user->place = std::make_shared<std::string>(size, '\0');
  };
  const std::string head = RawFrame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, RawRequestHead());
  EXPECT_TRUE(server->session->Receive(RawStart() + head).ok());
  return server;
}

// The session hears of the first `size` bytes of its place, which the client has sent.
absl::Status ReceiveInPlace(RecordingServer* server, absl::string_view bytes) {
  const DataPlace place = server->session->PlaceForData();
  if (place.room.size() < bytes.size()) return absl::OutOfRangeError("no room");
  std::copy(bytes.begin(), bytes.end(), place.room.begin());
  return server->session->Receive(absl::string_view(place.room.data(), bytes.size()));
}

TEST_F(SessionFlowTest, TheRestOfAFrameHasAPlace) {
  const auto server = ServerWithPlace(1000);
  Session& session = *server->session;
  RecordingUser& user = *server->users.at(0);
  EXPECT_TRUE(session.PlaceForData().room.empty()) << "nobody knows what comes next";
  const std::string body = Pattern(300);
  const std::string frame = RawFrame(NGHTTP2_DATA, 0, 1, body);
  constexpr size_t kHead = 9;
  ASSERT_TRUE(session.Receive(absl::string_view(frame).substr(0, kHead - 1)).ok());
  EXPECT_TRUE(session.PlaceForData().room.empty());
  ASSERT_TRUE(session.Receive(absl::string_view(frame).substr(kHead - 1, 1)).ok());
  EXPECT_EQ(session.PlaceForData().room.size(), 300u);
  ASSERT_TRUE(session.Receive(absl::string_view(frame).substr(kHead, 100)).ok());
  EXPECT_EQ(session.PlaceForData().room.data(), user.place->data() + 100);
  EXPECT_EQ(session.PlaceForData().owner, user.place);
  const char* received = nullptr;
  user.on_data = [&](absl::string_view bytes) { received = bytes.data(); };
  ASSERT_TRUE(ReceiveInPlace(server.get(), absl::string_view(body).substr(100, 150)).ok());
  EXPECT_EQ(received, user.place->data() + 100) << "the user gets the bytes where they are";
  EXPECT_EQ(session.PlaceForData().room.size(), 50u) << "no more than the frame has";
  ASSERT_TRUE(ReceiveInPlace(server.get(), absl::string_view(body).substr(250)).ok());
  EXPECT_TRUE(session.PlaceForData().room.empty()) << "the next frame may be any";
  const std::string small = RawFrame(NGHTTP2_DATA, 0, 1, Pattern(59));
  ASSERT_TRUE(session.Receive(absl::string_view(small).substr(0, kHead + 10)).ok());
  EXPECT_TRUE(session.PlaceForData().room.empty()) << "too little";
  EXPECT_EQ(user.body, body + Pattern(10));
}

TEST_F(SessionFlowTest, WhatIsNoDataOfAUserHasNoPlace) {
  const auto rest_of = [](const std::string& frame, RecordingServer* server) {
    EXPECT_TRUE(server->session->Receive(absl::string_view(frame).substr(0, 20)).ok());
    return server->session->PlaceForData().room.size();
  };
  const std::string body = Pattern(300);
  EXPECT_EQ(rest_of(RawFrame(NGHTTP2_DATA, 0, 1, body), ServerWithPlace(1000).get()), 289u);
  EXPECT_EQ(rest_of(RawFrame(NGHTTP2_DATA, 0, 1, body), ServerWithPlace(30).get()), 19u);
  EXPECT_EQ(
      rest_of(RawFrame(NGHTTP2_DATA, NGHTTP2_FLAG_PADDED, 1, body), ServerWithPlace(1000).get()),
      0u);
  EXPECT_EQ(rest_of(RawFrame(NGHTTP2_PRIORITY_UPDATE, 0, 0, body), ServerWithPlace(1000).get()),
            0u);
  const auto closed = ServerWithPlace(1000);
  closed->users.at(0)->stream->Reset(ErrorCode::kCancel);
  (void)closed->Output();
  EXPECT_EQ(rest_of(RawFrame(NGHTTP2_DATA, 0, 1, body), closed.get()), 0u);
}

// ---- Answers

TEST_F(SessionFlowTest, AnAnswerThatIsLargerThanTheWindowGoesOnWhenTheClientAllowsIt) {
  Start({}, {.stream_window = 1000, .consume = false});
  const int32_t id = Begin();
  const std::string body = Pattern(5500);
  user(0).stream->Append(body);
  user(0).stream->Finish(kOkTrailers);
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(client_->answer(id).body.size(), 1000u);
  EXPECT_EQ(user(0).stream->unsent(), 4500u);
  for (size_t expected = 2000; expected <= 5000; expected += 1000) {
    client_->Consume(id, 1000);
    ASSERT_TRUE(Talk().ok());
    ASSERT_EQ(client_->answer(id).body.size(), expected);
    ASSERT_EQ(user(0).closed, 0);
  }
  client_->Consume(id, 1000);
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(client_->answer(id).body, body);
  EXPECT_EQ(client_->answer(id).Header("grpc-status"), "0");
  EXPECT_TRUE(user(0).complete);
}

TEST_F(SessionFlowTest, AWindowOfZeroHoldsTheBodyButNotTheHead) {
  Start({}, {.stream_window = 0, .consume = false});
  const int32_t id = Begin();
  user(0).stream->Append("body");
  user(0).stream->Finish(kOkTrailers);
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(client_->answer(id).order, "h");
  client_->SetStreamWindow(4);
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(client_->answer(id).body, "body");
  EXPECT_TRUE(client_->answer(id).ended);
}

TEST_F(SessionFlowTest, TheWindowOfTheConnectionIsSharedByItsStreams) {
  Start({}, {.stream_window = 1 << 20, .consume = false});
  std::vector<int32_t> ids;
  for (int i = 0; i < 3; ++i) {
    ids.push_back(Begin());
    user(i).stream->Append(Pattern(40'000));
    user(i).stream->Finish(kOkTrailers);
  }
  ASSERT_TRUE(Talk().ok());
  size_t received = 0;
  for (const int32_t id : ids) received += client_->answer(id).body.size();
  EXPECT_EQ(received, 65'535u);
  client_->AddToWindow(0, 200'000);
  ASSERT_TRUE(Talk().ok());
  for (const int32_t id : ids) EXPECT_EQ(client_->answer(id).body, Pattern(40'000));
}

TEST_F(SessionFlowTest, AStreamThatIsResetWhileItsAnswerWaitsLetsOthersGoOn) {
  Start({}, {.stream_window = 1 << 20, .consume = false});
  const int32_t first = Begin(), second = Begin();
  user(0).stream->Append(Pattern(100'000));
  ASSERT_TRUE(Talk().ok() && (user(0).stream->Flush(), Talk().ok()));
  user(1).stream->Append("second");
  user(1).stream->Finish(kOkTrailers);
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(client_->answer(first).body.size(), 65'535u);
  EXPECT_EQ(client_->answer(second).body, "");
  client_->Cancel(first);
  client_->AddToWindow(0, 1000);
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(client_->answer(second).body, "second");
  EXPECT_EQ(user(0).closed, 1);
  EXPECT_FALSE(user(0).complete);
  EXPECT_TRUE(user(1).complete);
}

TEST_F(SessionFlowTest, AppendedBytesGoWhenFlushed) {
  Start({});
  const int32_t id = Begin();
  Stream& stream = *user(0).stream;
  std::string all;
  for (int i = 0; i < 20; ++i) {
    stream.Append(std::to_string(i));
    stream.Append(";");
    all += std::to_string(i) + ";";
    EXPECT_GT(stream.unsent(), 0u);
    stream.Flush();
    ASSERT_TRUE(Talk().ok());
    EXPECT_EQ(stream.unsent(), 0u);
    EXPECT_EQ(client_->answer(id).body, all);
    EXPECT_EQ(user(0).sent, i + 1);
  }
  stream.Flush();  // with nothing new
  EXPECT_EQ(server_->Output(), "");
  stream.Finish(kOkTrailers);
  ASSERT_TRUE(Talk().ok());
  EXPECT_TRUE(user(0).complete);
  EXPECT_EQ(user(0).sent, 20);
}

TEST_F(SessionFlowTest, OnSentComesWhenTheLastByteHasLeftTheStream) {
  Start({}, {.stream_window = 1000, .consume = false});
  const int32_t id = Begin();
  user(0).stream->Append(Pattern(2500));
  user(0).stream->Flush();
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(user(0).sent, 0);
  client_->Consume(id, 1000);
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(user(0).sent, 0);
  client_->Consume(id, 1000);
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(user(0).sent, 1);
  EXPECT_EQ(user(0).stream->unsent(), 0u);
}

TEST_F(SessionFlowTest, SharedBytesAreNotCopiedAndReleasedWhenTheyHaveLeft) {
  Start({}, {.stream_window = 1 << 20});
  const int32_t id = Begin();
  client_->AddToWindow(0, 1 << 20);
  ASSERT_TRUE(Talk().ok());
  auto owner = std::make_shared<std::string>(Pattern(100'000));
  const std::weak_ptr<std::string> watch = owner;
  const char* const begin = owner->data();
  user(0).stream->Append("copied");
  user(0).stream->AppendShared(*owner, owner);
  user(0).stream->Finish(kOkTrailers);
  owner.reset();

  OutputQueue output;
  server_->session->Fill(&output, 1 << 20);
  EXPECT_FALSE(watch.expired());
  std::array<iovec, 64> pieces{};
  const size_t count = output.Gather(absl::MakeSpan(pieces));
  std::string bytes;
  size_t shared = 0;
  for (const iovec& piece : absl::MakeConstSpan(pieces).first(count)) {
    const auto* const at = static_cast<const char*>(piece.iov_base);
    if (at == begin + shared) shared += piece.iov_len;
    bytes.append(at, piece.iov_len);
  }
  EXPECT_EQ(shared, 100'000u);
  ASSERT_TRUE(client_->Receive(bytes));
  EXPECT_EQ(client_->answer(id).body, "copied" + Pattern(100'000));
  EXPECT_TRUE(client_->answer(id).ended);

  output.Consume(output.size() - 10);  // the rest is of the trailers
  EXPECT_TRUE(watch.expired());
}

TEST_F(SessionFlowTest, OutputOutlivesItsStream) {
  Start({});
  Begin();
  auto owner = std::make_shared<std::string>("shared");
  user(0).stream->AppendShared(*owner, owner);
  user(0).stream->Finish(kOkTrailers);
  OutputQueue output;
  server_->session->Fill(&output, 1 << 20);
  EXPECT_EQ(user(0).closed, 1);
  EXPECT_EQ(owner.use_count(), 2);
  server_->session.reset();
  output.Consume(output.size());
  EXPECT_EQ(owner.use_count(), 1);
}

TEST_F(SessionFlowTest, FillStopsWhenThereIsEnough) {
  Start({}, {.stream_window = 1 << 30});
  client_->AddToWindow(0, 1 << 30);
  const int32_t id = Begin();
  const std::string body = Pattern(3 << 20);
  user(0).stream->Append(body);
  user(0).stream->Finish(kOkTrailers);
  OutputQueue output;
  server_->session->Fill(&output, 100'000);
  EXPECT_GE(output.size(), 100'000u);
  EXPECT_LT(output.size(), 140'000u);
  const size_t before = output.size();
  server_->session->Fill(&output, 100'000);
  EXPECT_EQ(output.size(), before);

  std::array<iovec, 1> piece{};
  while (output.Gather(absl::MakeSpan(piece)) > 0) {
    ASSERT_TRUE(client_->Receive({static_cast<char*>(piece[0].iov_base), piece[0].iov_len}));
    output.Consume(piece[0].iov_len);
    server_->session->Fill(&output, 100'000);
    ASSERT_LT(output.size(), 140'000u);
  }
  EXPECT_EQ(client_->answer(id).body, body);
  EXPECT_TRUE(user(0).complete);
}

TEST_F(SessionFlowTest, StreamsTakeTurnsWhenThereIsEnough) {
  Start({}, {.stream_window = 1 << 30});
  client_->AddToWindow(0, 1 << 30);
  const int32_t first = Begin(), second = Begin();
  for (int i = 0; i < 2; ++i) {
    user(i).stream->Append(Pattern(1 << 20));
    user(i).stream->Finish(kOkTrailers);
  }
  OutputQueue output;
  server_->session->Fill(&output, 200'000);
  std::array<iovec, 1> piece{};
  ASSERT_EQ(output.Gather(absl::MakeSpan(piece)), 1u);
  ASSERT_TRUE(client_->Receive({static_cast<char*>(piece[0].iov_base), piece[0].iov_len}));
  EXPECT_GT(client_->answer(first).body.size(), 60'000u);
  EXPECT_GT(client_->answer(second).body.size(), 60'000u);
}

// ---- Requests

TEST_F(SessionFlowTest, AClientMustStopWhenTheUserDoesNotConsume) {
  Start({.stream_window = 10'000});
  const int32_t id = Begin(/*end=*/false);  // and the client has seen the settings
  const std::string body = Pattern(35'000);
  client_->Send(id, body, true);
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(user(0).body.size(), 10'000u);
  EXPECT_EQ(client_->unsent(id), 25'000u);

  user(0).stream->Consume(10'000);
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(user(0).body.size(), 20'000u);
  user(0).on_data = [&](absl::string_view bytes) { user(0).stream->Consume(bytes.size()); };
  user(0).stream->Consume(10'000);
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(user(0).body, body);
  EXPECT_EQ(user(0).ends, 1);
}

TEST_F(SessionFlowTest, ABodyThatNobodyReadsFlows) {
  Start({.stream_window = 10'000});
  server_->ignore_requests = true;
  const int32_t id = Begin(/*end=*/false);
  client_->Send(id, Pattern(200'000), false);
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(client_->unsent(id), 0u);
  EXPECT_EQ(user(0).body, "");
}

TEST_F(SessionFlowTest, AStreamThatWaitsDoesNotHoldOthers) {
  Start({.stream_window = 100'000, .connection_window = 100'000});
  const int32_t waits = Begin(false), flows = Begin(false);
  client_->Send(waits, Pattern(500'000), true);
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(user(0).body.size(), 100'000u);
  user(1).on_data = [&](absl::string_view bytes) { user(1).stream->Consume(bytes.size()); };
  client_->Send(flows, Pattern(500'000), true);
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(user(1).body, Pattern(500'000));
}

TEST_F(SessionFlowTest, AWindowSmallerThanTheUsualOne) {
  Start({.stream_window = 1000, .connection_window = 3000});
  const int32_t id = Begin(false);
  user(0).on_data = [&](absl::string_view bytes) { user(0).stream->Consume(bytes.size()); };
  client_->Send(id, Pattern(200'000), true);
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(user(0).body, Pattern(200'000));
  EXPECT_FALSE(client_->broken());
}

// Bytes of requests that nobody reads any more count for the window of the connection too.
TEST_F(SessionFlowTest, RequestsThatAreGivenUpDoNotUseUpTheConnection) {
  Start({.stream_window = 60'000, .connection_window = 100'000});
  for (int i = 0; i < 40; ++i) {
    const int32_t id = Begin(false);
    client_->Send(id, Pattern(60'000), i % 2 == 0);
    const std::string request = client_->Output();
    if (i % 4 == 0) {
      ASSERT_TRUE(server_->session->Receive(request).ok());
      user(i).stream->Reset(ErrorCode::kCancel);
    } else if (i % 4 == 1) {  // with the reset sent before the body arrives
      user(i).stream->Reset(ErrorCode::kCancel);
      const std::string answer = server_->Output();
      ASSERT_TRUE(server_->session->Receive(request).ok());
      ASSERT_TRUE(client_->Receive(answer));
    } else if (i % 4 == 2) {  // in the middle of a frame
      ASSERT_TRUE(server_->session->Receive(absl::string_view(request).substr(0, 20'000)).ok());
      user(i).stream->Finish(kOkTrailers);
      const std::string answer = server_->Output();
      ASSERT_TRUE(server_->session->Receive(absl::string_view(request).substr(20'000)).ok());
      ASSERT_TRUE(client_->Receive(answer));
    } else {
      ASSERT_TRUE(server_->session->Receive(request).ok());
      client_->Cancel(id);
    }
    ASSERT_TRUE(Talk().ok());
    ASSERT_FALSE(client_->broken());
    ASSERT_EQ(user(i).closed, 1) << i;
  }
  const int32_t id = Begin(false);
  user(40).on_data = [&](absl::string_view bytes) { user(40).stream->Consume(bytes.size()); };
  client_->Send(id, Pattern(200'000), true);
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(user(40).body, Pattern(200'000));
}

// ---- Streams whose memory is used again

TEST_F(SessionFlowTest, AStreamKeepsNothingOfTheOneBefore) {
  Start({.max_header_bytes = 400, .kept_streams = 1});
  std::set<const Stream*> streams;
  for (int i = 0; i < 60; ++i) {
    const std::string number = std::to_string(i);
    const bool early = i % 5 == 1;
    const int32_t id = client_->Request(
        "/" + number, "body" + number, !early,
        i % 2 == 0 ? ClientSession::Headers{{"even", number}} : ClientSession::Headers{});
    ASSERT_TRUE(Talk().ok());
    RecordingUser& user = *server_->users.back();
    user.drop_when_closed = true;
    streams.insert(user.stream.get());
    ASSERT_EQ(user.stream->id(), id);
    ASSERT_FALSE(user.stream->closed());
    ASSERT_EQ(user.stream->unsent(), 0u);
    ASSERT_EQ(user.stream->FindHeader(":path"), "/" + number);
    ASSERT_EQ(user.stream->FindHeader("even"), i % 2 == 0 ? number : "");
    switch (i % 5) {
      case 2:  // the whole answer in a head
        user.stream->SendHead(kOkHead, /*end=*/true);
        break;
      case 3:  // reset with much of its body unsent
        user.stream->SendHead(kOkHead, /*end=*/false);
        user.stream->Append(Pattern(200'000));
        ASSERT_TRUE(Talk().ok());
        user.stream->Append("more");
        user.stream->Reset(ErrorCode::kInternalError);
        break;
      case 4:  // cancelled while the library waits for more of the body
        user.stream->SendHead(kOkHead, /*end=*/false);
        ASSERT_TRUE(Talk().ok());
        user.stream->Append("never sent");
        client_->Cancel(id);
        break;
      default:
        user.stream->SendHead(kOkHead, /*end=*/false);
        user.stream->Append("answer" + number);
        user.stream->Finish(i % 2 == 0 ? absl::MakeConstSpan(kOkTrailers)
                                       : absl::Span<const Header>());
    }
    ASSERT_TRUE(Talk().ok());
    ASSERT_EQ(user.closed, 1);
    ASSERT_EQ(user.complete, i % 5 < 3);
    ASSERT_EQ(user.body, "body" + number);
    ASSERT_EQ(user.ends, early ? 0 : 1);
    if (i % 5 == 0 || early) {
      ASSERT_EQ(client_->answer(id).body, "answer" + number);
      ASSERT_EQ(client_->answer(id).trailers.size(), i % 2 == 0 ? 1u : 0u);
    }
  }
  EXPECT_EQ(streams.size(), 1u);
}

TEST_F(SessionFlowTest, AStreamThatSomebodyRefersToIsNotUsedAgain) {
  Start({.kept_streams = 8});
  for (int i = 0; i < 3; ++i) {
    Begin();
    user(i).stream->Finish({});
    ASSERT_TRUE(Talk().ok());
  }
  EXPECT_NE(user(0).stream, user(1).stream);
  EXPECT_NE(user(1).stream, user(2).stream);
  EXPECT_EQ(user(0).stream->id(), 1);
  EXPECT_TRUE(user(0).stream->closed());
}

// ---- From inside the calls

TEST_F(SessionFlowTest, AUserMayAnswerFromInsideOnData) {
  Start({});
  server_->on_request = [](RecordingUser* user) {
    user->on_data = [user](absl::string_view bytes) {
      if (user->body.size() == bytes.size()) user->stream->SendHead(kOkHead, /*end=*/false);
      user->stream->Append(bytes);
      user->stream->Flush();
      user->stream->Consume(bytes.size());
    };
    user->on_end = [user] { user->stream->Finish(kOkTrailers); };
  };
  const std::string body = Pattern(300'000);
  const int32_t id = client_->Request("/path", body);
  ASSERT_TRUE(Talk(1000).ok());
  EXPECT_EQ(client_->answer(id).body, body);
  EXPECT_TRUE(client_->answer(id).ended);
  EXPECT_TRUE(user(0).complete);
}

TEST_F(SessionFlowTest, AUserMayResetFromInsideAnyCall) {
  for (const char* where : {"request", "data", "end", "sent"}) {
    Start({});
    const std::string place = where;
    server_->on_request = [&](RecordingUser* user) {
      const auto reset = [user] { user->stream->Reset(ErrorCode::kRefusedStream); };
      if (place == "request") reset();
      if (place == "data") user->on_data = [reset](absl::string_view) { reset(); };
      if (place == "end") user->on_end = reset;
      if (place == "sent") {
        user->on_end = [user] {
          user->stream->SendHead(kOkHead, /*end=*/false);
          user->stream->Append("text");
        };
        user->on_sent = reset;
      }
    };
    const int32_t id = client_->Request("/path", Pattern(40'000));
    ASSERT_TRUE(Talk(777).ok());
    EXPECT_EQ(user(0).closed, 1) << where;
    EXPECT_FALSE(user(0).complete) << where;
    EXPECT_EQ(client_->answer(id).resets, 1) << where;
    EXPECT_EQ(client_->answer(id).reset_code, 7u) << where;
    EXPECT_EQ(user(0).ends, place == "end" || place == "sent" ? 1 : 0) << where;
  }
}

TEST_F(SessionFlowTest, AUserMayAppendFromInsideOnSent) {
  Start({});
  server_->on_request = [](RecordingUser* user) {
    user->on_end = [user] {
      user->stream->SendHead(kOkHead, /*end=*/false);
      user->stream->Append("0,");
    };
    user->on_sent = [user] {
      if (user->sent == 50) return user->stream->Finish(kOkTrailers);
      user->stream->Append(std::to_string(user->sent) + ",");
      user->stream->Flush();
    };
  };
  const int32_t id = client_->Request("/path");
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(user(0).sent, 50);
  EXPECT_TRUE(client_->answer(id).ended);
  EXPECT_EQ(client_->answer(id).body.substr(0, 12), "0,1,2,3,4,5,");
  EXPECT_TRUE(user(0).complete);
}

TEST_F(SessionFlowTest, OnSentIsToldOnceThoughMoreWasAppendedInTheMeantime) {
  Start({});
  const int32_t id = Begin();
  Begin();
  user(0).stream->Append("a");
  user(0).stream->Flush();
  // The second stream ends in the same Fill, after the first one has nothing left.
  user(1).stream->Finish({});
  user(1).on_closed = [&] { user(0).stream->Append("b"); };
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(client_->answer(id).body, "ab");
  EXPECT_EQ(user(0).sent, 1);
  user(0).stream->Append("c");
  user(0).stream->Flush();
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(user(0).sent, 2);
}

TEST_F(SessionFlowTest, OtherStreamsMayBeUsedFromInsideOnClosed) {
  Start({});
  const int32_t first = client_->Request("/path", "", false);
  const int32_t second = client_->Request("/path"), third = client_->Request("/path");
  ASSERT_TRUE(Talk().ok());
  user(0).on_closed = [&] {
    user(1).stream->SendHead(kOkHead, /*end=*/false);
    user(1).stream->Append("text");
    user(1).stream->Finish(kOkTrailers);
    user(2).stream->Reset(ErrorCode::kCancel);
    // Of the stream itself nothing is left.
    user(0).stream->SendHead(kOkHead, /*end=*/true);
    user(0).stream->Append("text");
    user(0).stream->Reset(ErrorCode::kCancel);
  };
  client_->Cancel(first);
  ASSERT_TRUE(Talk().ok());
  EXPECT_EQ(client_->answer(first).order, "");
  EXPECT_EQ(client_->answer(second).body, "text");
  EXPECT_EQ(client_->answer(third).order, "r");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(user(i).closed, 1);
}

TEST_F(SessionFlowTest, AStreamsLastReferenceMayGoInsideItsCalls) {
  for (const char* where : {"end", "sent", "closed"}) {
    Start({.kept_streams = 0});
    const std::string place = where;
    server_->on_request = [&](RecordingUser* user) {
      user->on_end = [&, user] {
        user->stream->SendHead(kOkHead, /*end=*/false);
        user->stream->Append("text");
        if (place == "end") user->stream.reset();
      };
      user->on_sent = [&, user] {
        if (user->stream == nullptr) return;
        user->stream->Finish(kOkTrailers);
        if (place == "sent") user->stream.reset();
      };
      user->on_closed = [&, user] {
        user->stream.reset();
        server_->users.clear();  // and the user's too
      };
    };
    client_->Request("/path", "body");
    ASSERT_TRUE(Talk().ok());
    if (place == "end") server_->session->CloseStreams();
    EXPECT_TRUE(server_->users.empty()) << where;
    EXPECT_EQ(server_->session->open_streams(), 0u);
  }
}

}  // namespace
}  // namespace nereid::http2
