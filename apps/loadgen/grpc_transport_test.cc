// SPDX-License-Identifier: Apache-2.0
#include "apps/loadgen/grpc_transport.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/string_view.h>
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/loadgen/grpc_message.h"

namespace nereid::bench {
namespace {

using std::string_literals::operator""s;

// The answers of the server below.
struct Behaviour {
  std::string body;               // with prefix; empty: the request's bytes
  std::string status = "200";     // HTTP
  std::string grpc_status = "0";  // empty: no trailers
  int streamed = 0;               // number of bodies per request on a stream; 0: unary
};

// One connection of a server that answers each request once it has arrived in full. The test's own
// thread runs it: the transport never blocks for longer than it is told to.
class FakeServer {
 public:
  FakeServer(int fd, const Behaviour* behaviour) : fd_(fd), behaviour_(behaviour) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, OnHeader);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, OnData);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, OnFrame);
    nghttp2_session_server_new(&session_, callbacks, this);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, nullptr, 0);
  }
  ~FakeServer() {
    nghttp2_session_del(session_);
    close(fd_);
  }

  void Step() {
    std::vector<uint8_t> input(1 << 20);
    const ssize_t got = recv(fd_, input.data(), input.size(), MSG_DONTWAIT);
    if (got > 0) nghttp2_session_mem_recv(session_, input.data(), static_cast<size_t>(got));
    for (;;) {
      const uint8_t* bytes = nullptr;
      const ssize_t size = nghttp2_session_mem_send(session_, &bytes);
      if (size <= 0) break;
      output_.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
    }
    const ssize_t sent = send(fd_, output_.data(), output_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) output_.erase(0, static_cast<size_t>(sent));
  }

  size_t answered = 0;
  std::map<std::string, std::string> last_headers;

 private:
  struct Stream {
    std::string body;
    size_t sent = 0;
    bool answering = false;
  };

  static int OnHeader(nghttp2_session*, const nghttp2_frame*, const uint8_t* name, size_t name_size,
                      const uint8_t* value, size_t value_size, uint8_t, void* self) {
    static_cast<FakeServer*>(self)
        ->last_headers[std::string(reinterpret_cast<const char*>(name), name_size)] =
        std::string(reinterpret_cast<const char*>(value), value_size);
    return 0;
  }

  static int OnData(nghttp2_session*, uint8_t, int32_t id, const uint8_t* data, size_t size,
                    void* self) {
    auto* server = static_cast<FakeServer*>(self);
    if (server->behaviour_->streamed > 0) {
      server->AnswerOnStream(id);
    } else {
      server->streams_[id].body.append(reinterpret_cast<const char*>(data), size);
    }
    return 0;
  }

  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* self) {
    const bool whole = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    if (whole && frame->hd.type == NGHTTP2_DATA)
      static_cast<FakeServer*>(self)->Answer(frame->hd.stream_id);
    return 0;
  }

  // nghttp2 copies name and value.
  static nghttp2_nv Header(absl::string_view name, absl::string_view value) {
    const auto bytes = [](absl::string_view text) {
      return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));
    };
    return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
  }

  void Answer(int32_t id) {
    ++answered;
    Stream& stream = streams_[id];
    if (!behaviour_->body.empty()) stream.body = behaviour_->body;
    const nghttp2_nv header = Header(":status", behaviour_->status);
    nghttp2_data_provider data{};
    data.source.ptr = &stream;
    data.read_callback = NextData;
    nghttp2_submit_response(session_, id, &header, 1, &data);
  }

  // In this test, a request is one DATA frame.
  void AnswerOnStream(int32_t id) {
    Stream& stream = streams_[id];
    for (int i = 0; i < behaviour_->streamed; ++i) stream.body += behaviour_->body;
    if (std::exchange(stream.answering, true)) {
      ++answered;
      nghttp2_session_resume_data(session_, id);
    } else {
      const std::string whole = std::exchange(stream.body, "");
      Answer(id);
      stream.body = whole;
    }
  }

  static ssize_t NextData(nghttp2_session* session, int32_t id, uint8_t* to, size_t size,
                          uint32_t* flags, nghttp2_data_source* source, void* self) {
    auto* stream = static_cast<Stream*>(source->ptr);
    const size_t taken = stream->body.copy(reinterpret_cast<char*>(to), size, stream->sent);
    stream->sent += taken;
    if (stream->sent < stream->body.size()) return static_cast<ssize_t>(taken);
    const Behaviour& behaviour = *static_cast<FakeServer*>(self)->behaviour_;
    if (behaviour.streamed > 0 && behaviour.grpc_status.empty()) {
      return taken > 0 ? static_cast<ssize_t>(taken) : ssize_t{NGHTTP2_ERR_DEFERRED};
    }
    *flags = NGHTTP2_DATA_FLAG_EOF;
    const std::string& status = static_cast<FakeServer*>(self)->behaviour_->grpc_status;
    if (!status.empty()) {
      *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
      const nghttp2_nv trailer = Header("grpc-status", status);
      nghttp2_submit_trailer(session, id, &trailer, 1);
    }
    return static_cast<ssize_t>(taken);
  }

  const int fd_;
  const Behaviour* const behaviour_;
  nghttp2_session* session_ = nullptr;
  std::map<int32_t, Stream> streams_;
  std::string output_;
};

class GrpcTransportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
    ASSERT_EQ(listen(listener_, 16), 0);
    socklen_t size = sizeof at;
    getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size);
    address_ = absl::StrCat("127.0.0.1:", ntohs(at.sin_port));
  }
  void TearDown() override { close(listener_); }

  void Connect(const std::string& request, int calls, int channels = 1, int responses = 0) {
    Open(request, calls, channels, GrpcTransport::Method(responses));
  }
  void Open(const std::string& request, int calls, int channels, const GrpcMethod& method) {
    auto transport = GrpcTransport::Connect(Server(), RequestScript(WithGrpcPrefix(request)), calls,
                                            channels, method);
    ASSERT_TRUE(transport.ok()) << transport.status();
    transport_ = *std::move(transport);
    for (int fd = accept(listener_, nullptr, nullptr); fd >= 0;
         fd = accept(listener_, nullptr, nullptr)) {
      servers_.push_back(std::make_unique<FakeServer>(fd, &behaviour_));
    }
  }

  Endpoint Server() const {
    Endpoint endpoint;
    endpoint.address = address_;
    endpoint.headers = headers_;
    return endpoint;
  }

  // Sends on all slots and returns how each of them ended.
  std::map<int, bool> RoundTrip() {
    for (int slot = 0; slot < transport_->slots(); ++slot) {
      EXPECT_TRUE(transport_->Send(slot).ok());
    }
    const BenchTime deadline = BenchClock::now() + std::chrono::seconds(20);
    std::vector<Transport::Completion> done;
    while (done.size() < static_cast<size_t>(transport_->slots())) {
      for (const auto& server : servers_) server->Step();
      const absl::Status status = transport_->Poll(BenchClock::now(), &done);
      EXPECT_TRUE(status.ok()) << status;
      if (!status.ok() || BenchClock::now() > deadline) break;
    }
    std::map<int, bool> ended;
    for (const Transport::Completion& completion : done) ended[completion.slot] = completion.ok;
    EXPECT_EQ(ended.size(), done.size());
    return ended;
  }

  bool OneCallSucceeds() {
    Connect(
        "\x32\x04"
        "data",
        1);
    return RoundTrip() == std::map<int, bool>{{0, true}};
  }

  int listener_ = -1;
  std::string address_;
  std::vector<std::pair<std::string, std::string>> headers_;
  Behaviour behaviour_;
  std::unique_ptr<Transport> transport_;
  std::vector<std::unique_ptr<FakeServer>> servers_;
};

TEST_F(GrpcTransportTest, AnswersAreKeptWhileTheyAreWanted) {
  Connect(
      "\x32\x04"
      "data",
      3);
  transport_->KeepAnswers(true);
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(RoundTrip(), (std::map<int, bool>{{0, true}, {1, true}, {2, true}}));
    for (int slot = 0; slot < 3; ++slot) EXPECT_EQ(transport_->answer(slot), "data");
  }
  EXPECT_EQ(servers_.size(), 1u) << "all calls share a connection";
  EXPECT_EQ(servers_[0]->answered, 6u);
}

// The first request contains its headers in full, the second refers to them.
TEST_F(GrpcTransportTest, SpeaksAsAClientOfGrpc) {
  ASSERT_TRUE(OneCallSucceeds());
  const std::map<std::string, std::string> headers = std::exchange(servers_[0]->last_headers, {});
  RoundTrip();
  EXPECT_EQ(servers_[0]->last_headers, headers);
  EXPECT_EQ(headers.at(":method"), "POST");
  EXPECT_EQ(headers.at(":path"), "/inference.GRPCInferenceService/ModelInfer");
  EXPECT_EQ(headers.at(":authority"), address_);
  EXPECT_EQ(headers.at("content-type"), "application/grpc");
  EXPECT_EQ(headers.at("te"), "trailers");
}

// Messages larger than any window or socket buffer, in both directions.
TEST_F(GrpcTransportTest, LargeMessagesOnSeveralSlots) {
  const std::string tensor(4 << 20, 'x');
  Connect("\x32\x80\x80\x80\x02"s + tensor, 4);
  transport_->KeepAnswers(true);
  const std::map<int, bool> all = {{0, true}, {1, true}, {2, true}, {3, true}};
  EXPECT_EQ(RoundTrip(), all);
  for (int slot = 0; slot < 4; ++slot) EXPECT_TRUE(transport_->answer(slot) == tensor);
  transport_->KeepAnswers(false);
  EXPECT_EQ(RoundTrip(), all);
}

TEST_F(GrpcTransportTest, CallsTakeTurnsOnTheChannels) {
  Connect(
      "\x32\x01"
      "a",
      5, 2);
  EXPECT_EQ(RoundTrip().size(), 5u);
  ASSERT_EQ(servers_.size(), 2u);
  EXPECT_EQ(servers_[0]->answered, 3u);
  EXPECT_EQ(servers_[1]->answered, 2u);
}

constexpr char kStreamed[] =
    "\x12\x06\x32\x04"
    "data";
constexpr char kStreamedError[] =
    "\x0a\x02"
    "no";

// The server sends no trailers, so the stream stays open.
TEST_F(GrpcTransportTest, StreamsStayOpenFromRequestToRequest) {
  behaviour_ = {WithGrpcPrefix(kStreamed), "200", "", 3};
  Connect("request", 2, 1, 3);
  transport_->KeepAnswers(true);
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(RoundTrip(), (std::map<int, bool>{{0, true}, {1, true}}));
    for (int slot = 0; slot < 2; ++slot) EXPECT_EQ(transport_->answer(slot), "datadatadata");
  }
  ASSERT_EQ(servers_.size(), 1u);
  EXPECT_EQ(servers_[0]->answered, 6u);
  EXPECT_EQ(servers_[0]->last_headers.at(":path"),
            "/inference.GRPCInferenceService/ModelStreamInfer");
}

TEST_F(GrpcTransportTest, AnErrorOnAStreamIsAFailure) {
  behaviour_ = {WithGrpcPrefix(kStreamedError), "200", "", 1};
  Connect("request", 1, 1, 1);
  EXPECT_EQ(RoundTrip(), (std::map<int, bool>{{0, false}}));
}

TEST_F(GrpcTransportTest, MoreMessagesThanThereShouldBeAreAFailure) {
  behaviour_ = {WithGrpcPrefix(kStreamed), "200", "", 3};
  Connect("request", 1, 1, 2);
  RoundTrip();
  EXPECT_EQ(RoundTrip(), (std::map<int, bool>{{0, false}}));
}

TEST_F(GrpcTransportTest, AStreamThatEndsIsAFailure) {
  behaviour_ = {WithGrpcPrefix(kStreamed), "200", "0", 1};
  Connect("request", 1, 1, 2);
  EXPECT_EQ(RoundTrip(), (std::map<int, bool>{{0, false}}));
}

TEST_F(GrpcTransportTest, AStatusOtherThanOkIsAFailure) {
  behaviour_.grpc_status = "14";
  EXPECT_FALSE(OneCallSucceeds());
  EXPECT_EQ(transport_->error(0), "UNAVAILABLE: ");
}

TEST_F(GrpcTransportTest, MissingTrailersAreAFailure) {
  behaviour_.grpc_status = "";
  EXPECT_FALSE(OneCallSucceeds());
}

TEST_F(GrpcTransportTest, AnotherHttpStatusIsAFailure) {
  behaviour_.status = "503";
  behaviour_.grpc_status = "";
  EXPECT_FALSE(OneCallSucceeds());
  EXPECT_EQ(transport_->error(0), "HTTP 503 instead of gRPC");
}

TEST_F(GrpcTransportTest, HalfAMessageIsAFailure) {
  behaviour_.body = "\0\0\0\0\5four"s;
  EXPECT_FALSE(OneCallSucceeds());
}

TEST_F(GrpcTransportTest, ACompressedMessageIsAFailure) {
  behaviour_.body = "\1\0\0\0\4four"s;
  EXPECT_FALSE(OneCallSucceeds());
}

TEST_F(GrpcTransportTest, ALostConnectionFailsItsRequestsAndIsReplaced) {
  Connect(
      "\x32\x01"
      "a",
      2);
  servers_.clear();
  std::vector<Transport::Completion> done;
  ASSERT_TRUE(transport_->Send(0).ok());
  const BenchTime deadline = BenchClock::now() + std::chrono::seconds(20);
  while (done.empty() && BenchClock::now() < deadline) {
    ASSERT_TRUE(transport_->Poll(deadline, &done).ok());
  }
  ASSERT_EQ(done.size(), 1u);
  EXPECT_FALSE(done[0].ok);
  EXPECT_NE(transport_->error(0), "");
  ASSERT_TRUE(transport_->Send(1).ok());
  EXPECT_GE(accept(listener_, nullptr, nullptr), 0);
  close(std::exchange(listener_, -1));
  done.clear();
  transport_ = nullptr;
}

TEST_F(GrpcTransportTest, NobodyListens) {
  close(std::exchange(listener_, -1));
  EXPECT_EQ(GrpcTransport::Connect(Server(), RequestScript(""), 1, 1, GrpcTransport::Method())
                .status()
                .code(),
            absl::StatusCode::kUnavailable);
}

// A key may be longer than the lengths that fit into one byte.
TEST_F(GrpcTransportTest, HeadersOfTheUser) {
  headers_ = {{"authorization", "Bearer " + std::string(300, 'k')}, {"x", ""}};
  ASSERT_TRUE(OneCallSucceeds());
  RoundTrip();
  for (const auto& [name, value] : headers_) EXPECT_EQ(servers_[0]->last_headers.at(name), value);
}

TEST_F(GrpcTransportTest, AStreamUntilItsLastResponse) {
  const std::string parameter = "\x22\x1b\x0a\x15triton_final_response\x12\x02\x08\x01";
  behaviour_ = {WithGrpcPrefix(kStreamed) + WithGrpcPrefix("\x12\x1d" + parameter), "200", "", 1};
  Open("request", 1, 1, GrpcTransport::StreamUntilFinal());
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(RoundTrip(), (std::map<int, bool>{{0, true}}));
  }
}

TEST_F(GrpcTransportTest, AStreamsErrorEndsTheRequest) {
  behaviour_ = {WithGrpcPrefix(kStreamedError), "200", "", 1};
  Open("request", 1, 1, GrpcTransport::StreamUntilFinal());
  EXPECT_EQ(RoundTrip(), (std::map<int, bool>{{0, false}}));
  EXPECT_EQ(transport_->error(0), "no");
}

}  // namespace
}  // namespace nereid::bench
