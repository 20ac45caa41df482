// SPDX-License-Identifier: Apache-2.0
#include "apps/loadgen/grpc_connection.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "base/status_macros.h"

namespace nereid::bench {
namespace {

constexpr size_t kInputBytes = 512 << 10;
// The sizes that gRPC's own clients reach on a fast connection with large messages, so that no
// server has to wait for a window.
constexpr int32_t kStreamWindow = 16 << 20;
constexpr int32_t kConnectionWindow = 256 << 20;
constexpr uint32_t kMaxFrame = 4 << 20;
constexpr size_t kFrameHeadBytes = 9;

absl::Status ProtocolError(absl::string_view what, int code) {
  return absl::InternalError(absl::StrCat("HTTP/2, ", what, ": ", nghttp2_strerror(code)));
}

absl::string_view AsText(const uint8_t* bytes, size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

GrpcCall* CallOf(nghttp2_session* session, int32_t stream) {
  return static_cast<GrpcCall*>(nghttp2_session_get_stream_user_data(session, stream));
}

// A value of grpc-message without its %XX.
std::string Decoded(absl::string_view message) {
  std::string text;
  for (size_t i = 0; i < message.size(); ++i) {
    int code = 0;
    if (message[i] == '%' && i + 2 < message.size() &&
        absl::SimpleHexAtoi(message.substr(i + 1, 2), &code)) {
      text.push_back(static_cast<char>(code));
      i += 2;
    } else {
      text.push_back(message[i]);
    }
  }
  return text;
}

// "NOT_FOUND" for "5".
std::string StatusName(const std::string& number) {
  int code = 0;
  if (!absl::SimpleAtoi(number, &code)) return number;
  return absl::StatusCodeToString(static_cast<absl::StatusCode>(code));
}

}  // namespace

bool GrpcCall::Succeeded(const GrpcMethod& method) const {
  if (!http_ok || !grpc_ok || reset || received.compressed() || !received.complete()) return false;
  if (!method.streams()) return received.whole() == 1;
  if (received.stream_errors() > 0 || surplus) return false;
  return method.until_final ? received.final() : received.whole() == method.responses;
}

std::string GrpcCall::Failure() const {
  if (!lost.empty()) return lost;
  if (!received.error().empty()) return received.error();
  if (!grpc_status.empty()) return absl::StrCat(StatusName(grpc_status), ": ", Decoded(message));
  if (!http_status.empty()) return absl::StrCat("HTTP ", http_status, " instead of gRPC");
  if (received.compressed()) return "a compressed answer, which nobody asked for";
  if (surplus) return "more responses than the request should have";
  if (reset) return "the server ended the call";
  return absl::StrCat("an answer of ", received.whole(), " messages");
}

void GrpcCall::Reset(const GrpcMethod& method) {
  answer.clear();
  received.Reset(method.streams(), method.until_final);
  first = BenchTime();
  for (std::string* text : {&http_status, &grpc_status, &message, &lost}) text->clear();
}

// Functions that nghttp2 calls. The last parameter of each is the GrpcConnection.
struct GrpcConnection::Callbacks {
  static int OnHeader(nghttp2_session* session, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_size, const uint8_t* value, size_t value_size, uint8_t, void*) {
    const absl::string_view header = AsText(name, name_size);
    const bool http = header == ":status";
    if (!http && header != "grpc-status" && header != "grpc-message") return 0;
    GrpcCall* call = CallOf(session, frame->hd.stream_id);
    if (call == nullptr) return 0;
    const absl::string_view text = AsText(value, std::min(value_size, kMostErrorBytes));
    if (header == "grpc-message") {
      call->message = std::string(text);
      return 0;
    }
    const bool ok = text == (http ? "200" : "0");
    (http ? call->http_ok : call->grpc_ok) = ok;
    if (!ok) (http ? call->http_status : call->grpc_status) = std::string(text);
    return 0;
  }

  static int OnData(nghttp2_session* session, uint8_t, int32_t stream, const uint8_t* data,
                    size_t size, void* self) {
    GrpcCall* call = CallOf(session, stream);
    if (call == nullptr) return 0;
    const absl::string_view text = AsText(data, size);
    call->surplus = call->surplus || !call->waiting;
    if (call->keep) call->answer.append(text.data(), text.size());
    call->received.Add(text);
    auto* connection = static_cast<GrpcConnection*>(self);
    if (connection->streams() && call->received.whole() > 0) {
      if (call->first == BenchTime()) call->first = BenchClock::now();
      if (connection->Answered(*call)) connection->Complete(call);
    }
    return 0;
  }

  // The server has ended a stream that should stay open. The call is over, although the client has
  // not ended it.
  static int OnFrame(nghttp2_session* session, const nghttp2_frame* frame, void* self) {
    auto* connection = static_cast<GrpcConnection*>(self);
    const int32_t stream = frame->hd.stream_id;
    if (!connection->streams() || (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
    if (frame->hd.type != NGHTTP2_DATA && frame->hd.type != NGHTTP2_HEADERS) return 0;
    if (CallOf(session, stream) == nullptr) return 0;
    return nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, stream, NGHTTP2_CANCEL) == 0
               ? OnClose(session, stream, NGHTTP2_CANCEL, self)
               : NGHTTP2_ERR_CALLBACK_FAILURE;
  }

  static int OnClose(nghttp2_session* session, int32_t stream, uint32_t error, void* self) {
    GrpcCall* call = CallOf(session, stream);
    auto* connection = static_cast<GrpcConnection*>(self);
    if (call == nullptr) return 0;
    nghttp2_session_set_stream_user_data(session, stream, nullptr);
    call->stream = 0;
    call->reset = error != NGHTTP2_NO_ERROR || connection->streams();
    connection->Complete(call);
    return 0;
  }

  // Returns how many bytes of the request the next DATA frame takes; WriteData queues them.
  static ssize_t NextData(nghttp2_session*, int32_t, uint8_t*, size_t size, uint32_t* flags,
                          nghttp2_data_source* source, void* self) {
    const auto* const call = static_cast<const GrpcCall*>(source->ptr);
    const uint64_t left = call->request.size() - call->sent;
    const bool streams = static_cast<GrpcConnection*>(self)->streams();
    if (streams && left == 0) return NGHTTP2_ERR_DEFERRED;
    *flags = NGHTTP2_DATA_FLAG_NO_COPY;
    if (!streams && left <= size) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(std::min<uint64_t>(left, size));
  }

  static int WriteData(nghttp2_session*, nghttp2_frame*, const uint8_t* head, size_t size,
                       nghttp2_data_source* source, void* self) {
    auto* connection = static_cast<GrpcConnection*>(self);
    auto* call = static_cast<GrpcCall*>(source->ptr);
    connection->output_.Append(AsText(head, kFrameHeadBytes));
    connection->output_.AppendLasting(call->request.substr(call->sent, size));
    call->sent += size;
    return 0;
  }

  // By default nghttp2 makes frames of at most 16 KiB, even if the server accepts larger ones.
  static ssize_t FrameSize(nghttp2_session*, uint8_t, int32_t, int32_t connection_window,
                           int32_t stream_window, uint32_t max_frame, void*) {
    return std::min({static_cast<ssize_t>(connection_window), static_cast<ssize_t>(stream_window),
                     static_cast<ssize_t>(max_frame)});
  }

  static nghttp2_session_callbacks* Make() {
    nghttp2_session_callbacks* callbacks = nullptr;
    if (nghttp2_session_callbacks_new(&callbacks) != 0) return nullptr;
    nghttp2_session_callbacks_set_on_header_callback(callbacks, OnHeader);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, OnData);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, OnClose);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, OnFrame);
    nghttp2_session_callbacks_set_send_data_callback(callbacks, WriteData);
    nghttp2_session_callbacks_set_data_source_read_length_callback(callbacks, FrameSize);
    return callbacks;
  }
};

GrpcConnection::GrpcConnection(const Endpoint& endpoint, const GrpcMethod& method)
    : method_(method),
      headers_(GrpcHeaders::Make(endpoint, method.path)),
      input_(new char[kInputBytes]) {}

GrpcConnection::~GrpcConnection() { nghttp2_session_del(session_); }

absl::StatusOr<std::unique_ptr<GrpcConnection>> GrpcConnection::Connect(const Endpoint& endpoint,
                                                                        const GrpcMethod& method) {
  std::unique_ptr<GrpcConnection> connection(new GrpcConnection(endpoint, method));
  RETURN_IF_ERROR(connection->Open(endpoint));
  return connection;
}

bool GrpcConnection::Answered(const GrpcCall& call) const {
  if (!method_.until_final) return call.received.whole() >= method_.responses;
  return call.received.final() || call.received.stream_errors() > 0;
}

absl::Status GrpcConnection::Open(const Endpoint& endpoint) {
  ASSIGN_OR_RETURN(socket_, ClientSocket::Connect(endpoint.address, endpoint.tls));
  nghttp2_session_callbacks* callbacks = Callbacks::Make();
  const int made = nghttp2_session_client_new(&session_, callbacks, this);
  nghttp2_session_callbacks_del(callbacks);
  if (made != 0) return ProtocolError("session", made);
  const std::array<nghttp2_settings_entry, 3> settings = {{
      {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow},
      {NGHTTP2_SETTINGS_MAX_FRAME_SIZE, kMaxFrame},
  }};
  int code = nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  if (code != 0) return ProtocolError("settings", code);
  code = nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kConnectionWindow);
  if (code != 0) return ProtocolError("window", code);
  return absl::OkStatus();
}

absl::Status GrpcConnection::Start(GrpcCall* call, absl::string_view request) {
  call->request = request;
  call->Reset(method_);
  call->sent = 0;
  call->waiting = true;
  if (call->stream != 0) {
    const int code = nghttp2_session_resume_data(session_, call->stream);
    return code == 0 ? absl::OkStatus() : ProtocolError("request on a stream", code);
  }
  call->http_ok = call->reset = false;
  call->grpc_ok = streams();
  call->surplus = false;
  nghttp2_data_provider data{};
  data.source.ptr = call;
  data.read_callback = Callbacks::NextData;
  // Without headers, because QueueFrame adds them.
  const int32_t stream = nghttp2_submit_request(session_, nullptr, nullptr, 0, &data, call);
  if (stream < 0) return ProtocolError("request", stream);
  if (streams()) call->stream = stream;
  return absl::OkStatus();
}

void GrpcConnection::Complete(GrpcCall* call) {
  if (done_ != nullptr && std::exchange(call->waiting, false)) done_->push_back(call);
}

absl::Status GrpcConnection::Flush() {
  for (;;) {
    const uint8_t* bytes = nullptr;
    const ssize_t size = nghttp2_session_mem_send(session_, &bytes);
    if (size < 0) return ProtocolError("send", static_cast<int>(size));
    if (size == 0) break;
    RETURN_IF_ERROR(QueueFrame(AsText(bytes, static_cast<size_t>(size))));
  }
  return output_.WriteWith(
      [this](absl::Span<const iovec> pieces) { return socket_.Write(pieces); });
}

absl::Status GrpcConnection::QueueFrame(absl::string_view frame) {
  static constexpr size_t kTypeAt = 3;
  if (frame.size() < kFrameHeadBytes || frame[kTypeAt] != NGHTTP2_HEADERS) {
    output_.Append(frame);
    return absl::OkStatus();
  }
  // Not empty only if the server's settings change the size of HPACK's table.
  if (frame.size() > kFrameHeadBytes) return absl::UnimplementedError("another header table");
  const std::string& block = headers_sent_ ? headers_.later : headers_.first;
  headers_sent_ = true;
  const std::array<char, kTypeAt> length = {0, static_cast<char>(block.size() >> 8),
                                            static_cast<char>(block.size() & 0xff)};
  output_.Append({length.data(), length.size()});
  output_.Append(frame.substr(kTypeAt));
  output_.Append(block);
  return absl::OkStatus();
}

absl::Status GrpcConnection::Read(std::vector<GrpcCall*>* done) {
  ASSIGN_OR_RETURN(const size_t got, socket_.Read({input_.get(), kInputBytes}));
  done_ = done;
  const ssize_t taken =
      nghttp2_session_mem_recv(session_, reinterpret_cast<const uint8_t*>(input_.get()), got);
  done_ = nullptr;
  if (taken < 0) return ProtocolError("receive", static_cast<int>(taken));
  if (nghttp2_session_want_read(session_) == 0) {
    return absl::UnavailableError("the server ended the connection");
  }
  return absl::OkStatus();
}

}  // namespace nereid::bench
