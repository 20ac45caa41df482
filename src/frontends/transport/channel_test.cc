// SPDX-License-Identifier: Apache-2.0
#include "frontends/transport/channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <vector>

#include "frontends/transport/testing/certificates.h"
#include "frontends/transport/testing/test_connection.h"

namespace nereid::transport {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Kind = IoResult::Kind;
namespace fs = std::filesystem;

iovec Piece(absl::string_view text) { return {const_cast<char*>(text.data()), text.size()}; }

std::string RandomText(size_t size) {
  std::mt19937 random(7);
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

class ChannelTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { authority_ = new Authority("authority"); }
  static void TearDownTestSuite() {
    delete authority_;
    authority_ = nullptr;
  }

  ChannelTest() {
    folder_ = fs::path(testing::TempDir()) / "channel_test";
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    files_ = {folder_ / "pem", folder_ / "key", folder_ / "root"};
    const Identity identity = authority_->Issue("server");
    WriteFile(files_.certificate, identity.certificate);
    WriteFile(files_.key, identity.key);
    WriteFile(files_.root, authority_->certificate());
  }
  ~ChannelTest() override { fs::remove_all(folder_); }

  std::shared_ptr<TlsContext> Context(const std::vector<std::string>& alpn = {"h2", "http/1.1"}) {
    absl::StatusOr<std::shared_ptr<TlsContext>> context =
        TlsContext::Create(files_, alpn, Clock::Real());
    EXPECT_TRUE(context.ok()) << context.status();
    return context.ok() ? *context : nullptr;
  }

  static Authority* authority_;
  fs::path folder_;
  TlsFiles files_;
};

Authority* ChannelTest::authority_ = nullptr;

TEST_F(ChannelTest, PlainBytesGoBothWays) {
  SocketPair sockets;
  Channel channel(sockets.TakeSocket(), nullptr);
  EXPECT_TRUE(channel.handshake_done());
  EXPECT_EQ(channel.alpn(), "");
  char space[10];
  EXPECT_EQ(channel.Read(absl::MakeSpan(space)).kind, Kind::kWouldBlock);
  EXPECT_TRUE(channel.WantsRead());
  EXPECT_FALSE(channel.WantsWrite());
  ASSERT_EQ(send(sockets.peer(), "hello", 5, 0), 5);
  const IoResult read = channel.Read(absl::MakeSpan(space));
  EXPECT_EQ(read.kind, Kind::kOk);
  EXPECT_EQ(absl::string_view(space, read.bytes), "hello");
  EXPECT_FALSE(channel.WantsRead());
  EXPECT_FALSE(channel.HasBuffered());

  std::vector<iovec> pieces(3000, Piece(""));  // more than one call may have
  pieces.push_back(Piece("wor"));
  pieces.push_back(Piece("ld"));
  EXPECT_EQ(channel.Write(pieces).bytes, 5u);
  EXPECT_EQ(recv(sockets.peer(), space, 10, 0), 5);
  EXPECT_EQ(absl::string_view(space, 5), "world");
  EXPECT_EQ(channel.Write({}).kind, Kind::kOk);

  channel.ShutdownWrite();
  EXPECT_EQ(recv(sockets.peer(), space, 10, 0), 0);
  shutdown(sockets.peer(), SHUT_WR);
  EXPECT_EQ(channel.Read(absl::MakeSpan(space)).kind, Kind::kEnd);
}

// What AsyncRead reports, once it has something to report.
std::vector<Kind> ReadAsync(Channel* channel, SocketPair* sockets, absl::Span<char> space) {
  std::vector<Kind> results;
  channel->AsyncRead(space, [&results](IoResult result) { results.push_back(result.kind); });
  EXPECT_TRUE(results.empty());
  sockets->context().restart();
  sockets->context().run();
  return results;
}

TEST_F(ChannelTest, AsyncReadOfPlainBytes) {
  SocketPair sockets;
  Channel before(sockets.TakeSocket(), nullptr);
  Channel channel(std::move(before));
  char space[10];
  ASSERT_EQ(send(sockets.peer(), "hello", 5, 0), 5);
  EXPECT_THAT(ReadAsync(&channel, &sockets, absl::MakeSpan(space)), ElementsAre(Kind::kOk));
  EXPECT_EQ(absl::string_view(space, 5), "hello");
  shutdown(sockets.peer(), SHUT_WR);
  EXPECT_THAT(ReadAsync(&channel, &sockets, absl::MakeSpan(space)), ElementsAre(Kind::kEnd));
  channel.Close();
  EXPECT_THAT(ReadAsync(&channel, &sockets, absl::MakeSpan(space)), ElementsAre(Kind::kFailed));
}

TEST_F(ChannelTest, AsyncReadThroughTls) {
  TestConnection connection(Context(), {.root = authority_->certificate()});
  ASSERT_TRUE(connection.Handshake());
  Channel channel(std::move(connection.channel()));
  connection.client().Write("hello");
  connection.client().Pump();
  char space[4];
  SocketPair* const sockets = &connection.sockets();
  EXPECT_THAT(ReadAsync(&channel, sockets, absl::MakeSpan(space)), ElementsAre(Kind::kOk));
  EXPECT_EQ(absl::string_view(space, 4), "hell");
  // The rest is decrypted already, so that the socket has nothing more.
  EXPECT_TRUE(channel.HasBuffered());
  EXPECT_THAT(ReadAsync(&channel, sockets, absl::MakeSpan(space)), ElementsAre(Kind::kOk));
  EXPECT_EQ(space[0], 'o');
}

TEST_F(ChannelTest, PlainWriteStopsWhenTheSocketIsFull) {
  SocketPair sockets;
  Channel channel(sockets.TakeSocket(), nullptr);
  const std::string text(1 << 20, 'x');
  const std::vector<iovec> pieces(8, Piece(text));
  IoResult result{Kind::kOk, 0};
  while (result.kind == Kind::kOk) result = channel.Write(pieces);
  EXPECT_EQ(result.kind, Kind::kWouldBlock);
  EXPECT_TRUE(channel.WantsWrite());
  EXPECT_FALSE(channel.WantsRead());
}

TEST_F(ChannelTest, PlainFailsWhenThePeerHasGone) {
  SocketPair sockets;
  Channel channel(sockets.TakeSocket(), nullptr);
  sockets.ClosePeer();
  const iovec piece = Piece("x");
  EXPECT_EQ(channel.Write({&piece, 1}).kind, Kind::kFailed);
  EXPECT_THAT(channel.error_text(), StartsWith("sending failed: "));
}

TEST_F(ChannelTest, AClosedChannelFails) {
  TestConnection plain(nullptr);
  TestConnection tls(Context());
  ASSERT_TRUE(tls.Handshake());
  for (Channel* channel : {&plain.channel(), &tls.channel()}) {
    channel->Close();
    channel->ShutdownWrite();
    char space[1];
    EXPECT_EQ(channel->Read(absl::MakeSpan(space)).kind, Kind::kFailed);
    EXPECT_EQ(channel->Write({}).kind, Kind::kFailed);
    EXPECT_FALSE(channel->HasBuffered());
    EXPECT_FALSE(channel->WantsRead());
    EXPECT_EQ(channel->alpn(), "");
  }
}

TEST_F(ChannelTest, TheHandshakeMayArriveInSingleBytes) {
  SocketPair sockets;
  Channel channel(sockets.TakeSocket(), Context());
  TlsClient client(sockets.peer(), {.root = authority_->certificate()});
  std::string got;
  for (int turn = 0; turn < 5 && got.empty(); ++turn) {
    if (client.Handshake()) client.Write("first request");
    for (const char byte : client.TakeOutput()) {
      ASSERT_EQ(send(sockets.peer(), &byte, 1, 0), 1);
      char space[100];
      const IoResult read = channel.Read(absl::MakeSpan(space));
      if (read.kind == Kind::kOk) {
        got.append(space, read.bytes);
      } else {
        ASSERT_EQ(read.kind, Kind::kWouldBlock) << channel.error_text();
        ASSERT_TRUE(channel.WantsRead());
        ASSERT_FALSE(channel.WantsWrite());
        ASSERT_FALSE(channel.HasBuffered()) << "it would be asked again and again";
      }
    }
    ASSERT_TRUE(client.Pump());
  }
  EXPECT_EQ(got, "first request");
  EXPECT_TRUE(channel.handshake_done());
}

// Much text both ways at once through small buffers. The writer comes again with the rest at
// another address and cut in another way.
class ChannelTransfer : public ChannelTest, public testing::WithParamInterface<int> {};

TEST_P(ChannelTransfer, BothWaysAtOnceThroughSmallBuffers) {
  const std::string text = RandomText(8 << 20);
  TestConnection connection(Context(),
                            {.max_version = TLS1_3_VERSION, .max_fragment_code = GetParam()});
  Channel& channel = connection.channel();
  ShrinkBuffers(channel.socket().native_handle());
  ShrinkBuffers(connection.sockets().peer());
  ASSERT_TRUE(connection.Handshake());
  if (GetParam() != 0) {
    EXPECT_EQ(SSL_SESSION_get_max_fragment_length(SSL_get0_session(connection.client().ssl())),
              GetParam());
  }

  std::mt19937 random(1);
  std::string received, answered;
  size_t given = 0, sent = 0;
  while (received.size() < text.size() || answered.size() < text.size()) {
    if (given < text.size()) {
      const size_t part = std::min<size_t>(text.size() - given, 100'000);
      connection.client().Write(absl::string_view(text).substr(given, part));
      given += part;
    }
    ASSERT_TRUE(connection.client().Pump());

    std::string space(1 + random() % 50'000, '\0');
    const IoResult read = channel.Read(absl::MakeSpan(space.data(), space.size()));
    ASSERT_TRUE(read.kind == Kind::kOk || read.kind == Kind::kWouldBlock) << channel.error_text();
    received.append(space, 0, read.bytes);

    if (sent < text.size()) {
      std::string rest = text.substr(sent, 300'000);
      std::vector<iovec> pieces;
      for (size_t at = 0; at < rest.size();) {
        const size_t limit = random() % 4 == 0 ? 60'000 : 300;
        const size_t size = std::min<size_t>(rest.size() - at, random() % limit);
        pieces.push_back(Piece(absl::string_view(rest).substr(at, size)));
        at += size;
      }
      const IoResult written = channel.Write(pieces);
      ASSERT_TRUE(written.kind == Kind::kOk || written.kind == Kind::kWouldBlock)
          << channel.error_text();
      EXPECT_TRUE(written.bytes == rest.size() || channel.WantsWrite());
      sent += written.bytes;
    }
    answered += connection.ClientReads();
  }
  EXPECT_TRUE(received == text);
  EXPECT_TRUE(answered == text);
  EXPECT_EQ(sent, text.size());
}

INSTANTIATE_TEST_SUITE_P(RecordSizes, ChannelTransfer,
                         testing::Values(0, TLSEXT_max_fragment_length_512));

TEST_F(ChannelTest, ReportsNothingAsWrittenThatTheSocketHasNotTaken) {
  TestConnection connection(Context());
  Channel& channel = connection.channel();
  ShrinkBuffers(channel.socket().native_handle());
  ASSERT_TRUE(connection.Handshake());
  const std::string text = RandomText(200'000);
  size_t sent = 0, last = 1;
  while (last > 0) {
    last = connection.ServerWrites(absl::string_view(text).substr(sent)).bytes;
    sent += last;
  }
  EXPECT_LT(sent, text.size());
  // Nothing but what is in the socket can arrive now.
  char space[65536];
  std::string arrived;
  ssize_t got;
  while ((got = recv(connection.sockets().peer(), space, sizeof(space), 0)) > 0) {
    arrived.append(space, static_cast<size_t>(got));
  }
  EXPECT_GE(arrived.size(), sent);
  connection.client().GiveInput(arrived);
  EXPECT_EQ(connection.ServerWrites(absl::string_view(text).substr(sent, 1)).bytes, 1u)
      << "the socket has room again";
}

TEST_F(ChannelTest, OneWriteIsOneCallAndSmallPiecesAreOneRecord) {
  TestConnection connection(Context(), {}, SOCK_SEQPACKET);
  ASSERT_TRUE(connection.Handshake());
  connection.ClientReads();
  std::vector<char> message(1 << 20);
  const auto records = [&](absl::Span<const iovec> pieces) {
    EXPECT_EQ(connection.channel().Write(pieces).kind, Kind::kOk);
    const ssize_t size = recv(connection.sockets().peer(), message.data(), message.size(), 0);
    std::vector<size_t> sizes;
    for (ssize_t at = 0; at + 5 <= size;) {
      const size_t length = static_cast<uint8_t>(message[static_cast<size_t>(at) + 3]) * 256u +
                            static_cast<uint8_t>(message[static_cast<size_t>(at) + 4]);
      sizes.push_back(length - 17);  // the type of the content, and the tag
      at += static_cast<ssize_t>(5 + length);
    }
    EXPECT_LT(recv(connection.sockets().peer(), message.data(), 1, 0), 0) << "a second call";
    return sizes;
  };
  const std::string text(40'000, 'x');
  EXPECT_THAT(records({{Piece("head"), Piece(""), Piece("body"), Piece("\r\n")}}),
              testing::ElementsAre(10));
  EXPECT_THAT(records({{Piece("head"), Piece(text)}}),
              testing::ElementsAre(16384, 16384, 40'004 - 2 * 16384));
}

TEST_F(ChannelTest, KnowsWhenItHoldsMoreThanWasRead) {
  TestConnection connection(Context());
  ASSERT_TRUE(connection.Handshake());
  Channel& channel = connection.channel();
  EXPECT_FALSE(channel.HasBuffered());
  connection.client().Write("one");
  connection.client().Write("two");
  connection.client().Pump();
  char space[3];
  EXPECT_EQ(channel.Read(absl::MakeSpan(space).first(2)).bytes, 2u);
  EXPECT_TRUE(channel.HasBuffered()) << "the rest of a record";
  EXPECT_EQ(channel.Read(absl::MakeSpan(space).first(1)).bytes, 1u);
  EXPECT_TRUE(channel.HasBuffered()) << "the second record";
  EXPECT_EQ(channel.Read(absl::MakeSpan(space)).bytes, 3u);
  EXPECT_FALSE(channel.HasBuffered());

  connection.client().Write("three");
  const std::string record = connection.client().TakeOutput();
  ASSERT_GT(send(connection.sockets().peer(), record.data(), 10, 0), 0);
  EXPECT_EQ(channel.Read(absl::MakeSpan(space)).kind, Kind::kWouldBlock);
  EXPECT_FALSE(channel.HasBuffered()) << "part of a record is nothing to read";
}

TEST_F(ChannelTest, ARequestThatArrivesWithTheHandshakeOfAWriteIsNotForgotten) {
  TestConnection connection(Context());
  Channel& channel = connection.channel();
  connection.client().Handshake();
  connection.client().Pump();
  EXPECT_EQ(connection.ServerWrites("hello").kind, Kind::kWouldBlock);
  EXPECT_TRUE(channel.WantsRead());
  connection.client().Pump();
  ASSERT_TRUE(connection.client().Handshake());
  connection.client().Write("request");
  connection.client().Pump();
  EXPECT_EQ(connection.ServerWrites("hello").bytes, 5u);
  EXPECT_TRUE(channel.HasBuffered());
  EXPECT_EQ(connection.ServerReads(), "request");
  EXPECT_EQ(connection.ClientReads(), "hello");
}

TEST_F(ChannelTest, Alpn) {
  const struct {
    std::vector<std::string> ours, offered;
    bool accepted;
    std::string chosen;
  } cases[] = {
      {{"h2", "http/1.1"}, {"h2"}, true, "h2"},
      {{"h2", "http/1.1"}, {"http/1.1", "h2"}, true, "h2"},
      {{"h2", "http/1.1"}, {"spdy/3", "http/1.1"}, true, "http/1.1"},
      {{"h2", "http/1.1"}, {"spdy/3"}, false, ""},
      {{"h2", "http/1.1"}, {}, true, ""},
      {{}, {"h2"}, true, ""},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(testing::PrintToString(one.offered));
    TestConnection connection(Context(one.ours), {.alpn = one.offered});
    EXPECT_EQ(connection.Handshake(), one.accepted);
    EXPECT_EQ(connection.channel().alpn(), one.chosen);
    EXPECT_EQ(connection.client().alpn(), one.chosen);
    EXPECT_EQ(connection.last_kind() == Kind::kFailed, !one.accepted);
  }
}

TEST_F(ChannelTest, CertificatesOfClients) {
  files_.mutual = true;
  const Authority stranger("authority");  // the name alone does not help
  const struct {
    const char* what;
    Identity identity;
    std::string error;  // empty: accepted
  } cases[] = {
      {"the right authority", authority_->Issue("client"), ""},
      {"none", {}, "peer did not return a certificate"},
      {"a wrong authority", stranger.Issue("client"), "certificate verify failed"},
  };
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    for (const auto& one : cases) {
      SCOPED_TRACE(one.what);
      TestConnection connection(Context(), {.identity = one.identity, .max_version = version});
      EXPECT_EQ(connection.Handshake(), one.error.empty());
      EXPECT_EQ(connection.channel().handshake_done(), one.error.empty());
      EXPECT_THAT(connection.channel().error_text(), HasSubstr(one.error));
      connection.ClientReads();
      EXPECT_EQ(connection.client().failed(), !one.error.empty()) << "it is told";
    }
  }
}

TEST_F(ChannelTest, VersionsOfTls) {
  TestConnection newest(Context());
  ASSERT_TRUE(newest.Handshake());
  EXPECT_EQ(SSL_version(newest.client().ssl()), TLS1_3_VERSION);
  TestConnection older(Context(), {.max_version = TLS1_2_VERSION});
  ASSERT_TRUE(older.Handshake());
  EXPECT_EQ(SSL_version(older.client().ssl()), TLS1_2_VERSION);
  TestConnection oldest(Context(), {.min_version = TLS1_VERSION, .max_version = TLS1_1_VERSION});
  EXPECT_FALSE(oldest.Handshake());
  EXPECT_EQ(oldest.channel().error_text(), "TLS failed: unsupported protocol");
}

TEST_F(ChannelTest, RefusesToNegotiateAgain) {
  TestConnection connection(Context(), {.max_version = TLS1_2_VERSION});
  ASSERT_TRUE(connection.Handshake());
  ASSERT_EQ(SSL_renegotiate(connection.client().ssl()), 1);
  connection.client().Handshake();
  connection.client().Pump();
  connection.ServerReads();
  connection.ClientReads();
  EXPECT_TRUE(connection.client().failed());
}

TEST_F(ChannelTest, ThePeerEndsTlsAndStillReads) {
  TestConnection connection(Context());
  ASSERT_TRUE(connection.Handshake());
  connection.client().Write("bye");
  SSL_shutdown(connection.client().ssl());
  connection.client().Pump();
  EXPECT_EQ(connection.ServerReads(), "bye");
  EXPECT_EQ(connection.last_kind(), Kind::kEnd);
  EXPECT_EQ(connection.ServerReads(), "");
  EXPECT_EQ(connection.last_kind(), Kind::kEnd) << "and so it stays";
  EXPECT_EQ(connection.ServerWrites("answer").bytes, 6u);
  EXPECT_EQ(connection.ClientReads(), "answer");
}

TEST_F(ChannelTest, ShutdownWriteEndsTls) {
  TestConnection connection(Context());
  ASSERT_TRUE(connection.Handshake());
  EXPECT_EQ(connection.ServerWrites("last").bytes, 4u);
  connection.channel().ShutdownWrite();
  EXPECT_EQ(connection.ClientReads(), "last");
  EXPECT_TRUE(connection.client().ended());
  EXPECT_FALSE(connection.client().Pump()) << "the socket has ended, too";
}

TEST_F(ChannelTest, ThePeerGoesInTheMiddle) {
  const std::shared_ptr<TlsContext> context = Context();
  TestConnection early(context);
  early.client().Handshake();
  early.client().Pump();
  early.ServerReads();
  early.sockets().ClosePeer();
  EXPECT_EQ(early.ServerReads(), "");
  EXPECT_EQ(early.last_kind(), Kind::kFailed);

  TestConnection silent(context);
  silent.sockets().ClosePeer();
  EXPECT_EQ(silent.ServerReads(), "");
  EXPECT_EQ(silent.last_kind(), Kind::kFailed);
  EXPECT_EQ(silent.channel().error_text(),
            "the peer closed the connection during the TLS handshake");

  TestConnection late(context);
  ASSERT_TRUE(late.Handshake());
  late.client().Write("half a requ");
  late.ClientReads();  // and sends; nothing unread is left in its socket
  late.sockets().ClosePeer();
  EXPECT_EQ(late.ServerReads(), "half a requ");
  EXPECT_EQ(late.last_kind(), Kind::kFailed);
  EXPECT_EQ(late.channel().error_text(), "the peer closed the connection without ending TLS");

  TestConnection writing(context);
  ASSERT_TRUE(writing.Handshake());
  writing.sockets().ClosePeer();
  EXPECT_EQ(writing.ServerWrites("x").kind, Kind::kFailed);
  EXPECT_THAT(writing.channel().error_text(), StartsWith("sending failed: "));
}

TEST_F(ChannelTest, SomethingElseThanTls) {
  const std::string random = RandomText(100'000);
  for (const std::string& text :
       {std::string("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
        std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), random, std::string(2000, '\0'),
        std::string("\x16\x03\x01\xff\xff") + random}) {
    SCOPED_TRACE(text.substr(0, 10));
    SocketPair sockets;
    Channel channel(sockets.TakeSocket(), Context());
    ASSERT_GT(send(sockets.peer(), text.data(), text.size(), 0), 0);
    char space[100];
    EXPECT_EQ(channel.Read(absl::MakeSpan(space)).kind, Kind::kFailed);
    EXPECT_THAT(channel.error_text(), StartsWith("TLS failed: "));
    EXPECT_FALSE(channel.handshake_done());
    EXPECT_EQ(channel.Write({}).kind, Kind::kFailed);
    channel.ShutdownWrite();
  }
}

// Any byte of what a client sends may be wrong: the connection fails or waits, nothing else.
TEST_F(ChannelTest, DamagedHandshakesAndRecords) {
  const std::shared_ptr<TlsContext> context = Context();
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    TestConnection connection(context, {.alpn = {"h2"}});
    const int damaged_turn = static_cast<int>(random() % 3);
    std::string got;
    for (int turn = 0; turn < 4; ++turn) {
      if (connection.client().Handshake()) connection.client().Write("text");
      std::string output = connection.client().TakeOutput();
      if (turn == damaged_turn && !output.empty()) {
        output[random() % output.size()] ^= static_cast<char>(1 + random() % 255);
      }
      send(connection.sockets().peer(), output.data(), output.size(), MSG_NOSIGNAL);
      got += connection.ServerReads();
      if (!connection.client().Pump()) break;
    }
    EXPECT_TRUE(got.size() % 4 == 0 && got.find_first_not_of("tex") == std::string::npos);
  }
}

// Each change of keys makes TLS answer. Whoever never reads the answers is not read any more, but
// goes on as soon as it reads.
TEST_F(ChannelTest, AFloodOfAnswersThatNobodyReadsIsBounded) {
  TestConnection connection(Context());
  ASSERT_TRUE(connection.Handshake());
  Channel& channel = connection.channel();
  ShrinkBuffers(channel.socket().native_handle());
  const auto change_keys = [&] {
    SSL_key_update(connection.client().ssl(), SSL_KEY_UPDATE_REQUESTED);
    connection.client().Handshake();
    return connection.client().TakeOutput();
  };
  std::string unsent;
  int changes = 0;
  char space[10];
  for (; changes < 50'000 && (unsent.empty() || changes < 100); ++changes) {
    unsent += change_keys();
    const ssize_t sent = send(connection.sockets().peer(), unsent.data(), unsent.size(), 0);
    if (sent > 0) unsent.erase(0, static_cast<size_t>(sent));
    ASSERT_EQ(channel.Read(absl::MakeSpan(space)).kind, Kind::kWouldBlock) << channel.error_text();
  }
  ASSERT_LT(changes, 50'000) << "it never stopped to read";
  EXPECT_GT(changes, 5'000);
  EXPECT_TRUE(channel.WantsWrite());
  EXPECT_FALSE(channel.WantsRead());
  EXPECT_FALSE(channel.HasBuffered());

  connection.client().Write("sorry");
  unsent += connection.client().TakeOutput();
  std::string got;
  for (int turn = 0; turn < 10'000 && got.empty(); ++turn) {
    EXPECT_EQ(connection.ClientReads(), "");
    const ssize_t sent = send(connection.sockets().peer(), unsent.data(), unsent.size(), 0);
    if (sent > 0) unsent.erase(0, static_cast<size_t>(sent));
    got = connection.ServerReads();
  }
  EXPECT_EQ(got, "sorry");
}

}  // namespace
}  // namespace nereid::transport
