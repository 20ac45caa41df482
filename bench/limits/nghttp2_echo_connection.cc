// SPDX-License-Identifier: Apache-2.0
#include "bench/limits/nghttp2_echo_connection.h"

#include <absl/status/statusor.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace nereid::bench {
namespace {

constexpr size_t kInputBytes = 256 << 10;
// What Nereid announces.
constexpr uint32_t kStreamWindow = 8 << 20;
constexpr int32_t kConnectionWindow = 64 << 20;
constexpr uint32_t kMaxFrame = 1 << 20;
constexpr uint32_t kMaxStreams = 4096;
constexpr size_t kFrameHeadBytes = 9;

absl::string_view AsText(const uint8_t* bytes, size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

// nghttp2 does not write to the texts.
nghttp2_nv Header(absl::string_view name, absl::string_view value) {
  const auto bytes = [](absl::string_view text) {
    return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));
  };
  return {bytes(name), bytes(value), name.size(), value.size(),
          NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE};
}

}  // namespace

// Functions that nghttp2 calls. The last parameter of each is the EchoConnection.
struct EchoConnection::Callbacks {
  static EchoConnection* Of(void* self) { return static_cast<EchoConnection*>(self); }
  static Call* CallOf(nghttp2_session* session, int32_t stream) {
    return static_cast<Call*>(nghttp2_session_get_stream_user_data(session, stream));
  }

  static int OnBegin(nghttp2_session* session, const nghttp2_frame* frame, void* self) {
    if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
    const int32_t stream = frame->hd.stream_id;
    return nghttp2_session_set_stream_user_data(session, stream, Of(self)->Begin(stream));
  }

  static int OnData(nghttp2_session* session, uint8_t, int32_t stream, const uint8_t* data,
                    size_t size, void* self) {
    if (Call* call = CallOf(session, stream)) Of(self)->Receive(call, AsText(data, size));
    return 0;
  }

  static int OnFrame(nghttp2_session* session, const nghttp2_frame* frame, void* self) {
    if (frame->hd.type != NGHTTP2_DATA && frame->hd.type != NGHTTP2_HEADERS) return 0;
    if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
    if (Call* call = CallOf(session, frame->hd.stream_id)) {
      call->ended = true;
      Of(self)->Resume(call);
    }
    return 0;
  }

  static int OnClose(nghttp2_session* session, int32_t stream, uint32_t, void* self) {
    if (Call* call = CallOf(session, stream)) Of(self)->End(call);
    return 0;
  }

  // Returns how many bytes of the answers the next DATA frame takes; WriteData queues them.
  static ssize_t NextData(nghttp2_session* session, int32_t stream, uint8_t*, size_t size,
                          uint32_t* flags, nghttp2_data_source* source, void*) {
    auto* call = static_cast<Call*>(source->ptr);
    if (call->unsent == 0 && !call->ended) {
      call->deferred = true;
      return NGHTTP2_ERR_DEFERRED;
    }
    *flags = NGHTTP2_DATA_FLAG_NO_COPY;
    if (call->ended && call->unsent <= size) {
      *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
      const nghttp2_nv trailer = Header("grpc-status", "0");
      if (nghttp2_submit_trailer(session, stream, &trailer, 1) != 0) {
        return NGHTTP2_ERR_CALLBACK_FAILURE;
      }
    }
    return static_cast<ssize_t>(std::min(call->unsent, size));
  }

  static int WriteData(nghttp2_session*, nghttp2_frame*, const uint8_t* head, size_t size,
                       nghttp2_data_source* source, void* self) {
    Of(self)->output_.Append(AsText(head, kFrameHeadBytes));
    Of(self)->Send(static_cast<Call*>(source->ptr), size);
    return 0;
  }

  // By default nghttp2 makes frames of at most 16 KiB, even if the client accepts larger ones.
  static ssize_t FrameSize(nghttp2_session*, uint8_t, int32_t, int32_t connection_window,
                           int32_t stream_window, uint32_t max_frame, void*) {
    return std::min({static_cast<ssize_t>(connection_window), static_cast<ssize_t>(stream_window),
                     static_cast<ssize_t>(max_frame)});
  }

  // Null without memory.
  static nghttp2_session* MakeSession(EchoConnection* connection) {
    nghttp2_session_callbacks* callbacks = nullptr;
    if (nghttp2_session_callbacks_new(&callbacks) != 0) return nullptr;
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, OnBegin);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, OnData);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, OnFrame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, OnClose);
    nghttp2_session_callbacks_set_send_data_callback(callbacks, WriteData);
    nghttp2_session_callbacks_set_data_source_read_length_callback(callbacks, FrameSize);
    nghttp2_option* library = nullptr;
    nghttp2_session* session = nullptr;
    if (nghttp2_option_new(&library) == 0) {
      nghttp2_option_set_no_closed_streams(library, 1);
      nghttp2_session_server_new2(&session, callbacks, connection, library);
      nghttp2_option_del(library);
    }
    nghttp2_session_callbacks_del(callbacks);
    return session;
  }
};

EchoConnection::EchoConnection(int fd, const EchoOptions* options)
    : fd_(fd),
      options_(options),
      session_(Callbacks::MakeSession(this)),
      input_(new uint8_t[kInputBytes]) {
  if (session_ == nullptr) return;
  const std::array<nghttp2_settings_entry, 3> settings = {{
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, kMaxStreams},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow},
      {NGHTTP2_SETTINGS_MAX_FRAME_SIZE, kMaxFrame},
  }};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kConnectionWindow);
}

EchoConnection::~EchoConnection() {
  nghttp2_session_del(session_);
  close(fd_);
}

bool EchoConnection::Read() {
  if (session_ == nullptr) return false;
  const ssize_t got = recv(fd_, input_.get(), kInputBytes, MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  return got > 0 && nghttp2_session_mem_recv(session_, input_.get(), static_cast<size_t>(got)) >= 0;
}

bool EchoConnection::Flush() {
  for (;;) {
    const uint8_t* bytes = nullptr;
    const ssize_t size = nghttp2_session_mem_send(session_, &bytes);
    if (size < 0) return false;
    if (size == 0) break;
    output_.Append(AsText(bytes, static_cast<size_t>(size)));
  }
  if (!output_.WriteTo(fd_).ok()) return false;
  while (!sent_.empty() && sent_.front().until <= output_.written()) {
    idle_buffers_.push_back(std::move(sent_.front().buffer));
    sent_.pop_front();
  }
  return nghttp2_session_want_read(session_) != 0 || nghttp2_session_want_write(session_) != 0 ||
         blocked();
}

EchoConnection::Call* EchoConnection::Begin(int32_t stream) {
  if (idle_calls_.empty()) {
    calls_.push_back(std::make_unique<Call>());
    idle_calls_.push_back(calls_.back().get());
  }
  Call* const call = idle_calls_.back();
  idle_calls_.pop_back();
  call->stream = stream;
  return call;
}

void EchoConnection::End(Call* call) {
  Retire(std::move(call->message));
  for (Answer& answer : call->answers) Retire(std::move(answer.buffer));
  std::vector<Answer> answers = std::move(call->answers);
  answers.clear();
  *call = Call();
  call->answers = std::move(answers);  // keeps its memory
  idle_calls_.push_back(call);
}

void EchoConnection::Receive(Call* call, absl::string_view bytes) {
  while (!bytes.empty() && !call->refused) {
    if (call->prefix_bytes < kGrpcPrefixBytes) {
      const size_t taken = std::min(kGrpcPrefixBytes - call->prefix_bytes, bytes.size());
      std::memcpy(call->prefix.data() + call->prefix_bytes, bytes.data(), taken);
      call->prefix_bytes += taken;
      bytes.remove_prefix(taken);
      if (call->prefix_bytes < kGrpcPrefixBytes) return;
      BeginMessage(call);
    }
    if (call->refused) return;
    const size_t taken = std::min(call->length - call->filled, bytes.size());
    std::memcpy(call->message.bytes.get() + room() + call->filled, bytes.data(), taken);
    call->filled += taken;
    bytes.remove_prefix(taken);
    if (call->filled == call->length) EndMessage(call);
  }
}

void EchoConnection::BeginMessage(Call* call) {
  const absl::StatusOr<uint64_t> length =
      GrpcMessageLength({call->prefix.data(), call->prefix.size()});
  const size_t least =
      options_->tail_bytes == EchoOptions::kWholeMessage ? 0 : options_->tail_bytes;
  if (!length.ok() || *length < least) {
    call->refused = true;
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, call->stream, NGHTTP2_INTERNAL_ERROR);
    return;
  }
  call->length = *length;
  call->filled = 0;
  call->message = Take(room() + call->length);
}

void EchoConnection::EndMessage(Call* call) {
  call->prefix_bytes = 0;
  if (options_->responses == 1) {
    call->answers.push_back(Single(std::move(call->message), call->length));
  } else {
    call->answers.push_back(Several(call->message, call->length));
    Retire(std::move(call->message));
  }
  call->unsent += call->answers.back().end - call->answers.back().begin;
  Resume(call);
}

// In place: what precedes the tail is overwritten.
EchoConnection::Answer EchoConnection::Single(Buffer message, size_t length) const {
  const size_t tail = std::min(options_->tail_bytes, length);
  Answer answer;
  answer.begin = length - tail;
  answer.end = room() + length;
  answer.buffer = std::move(message);
  WriteHead(tail, answer.buffer.bytes.get() + answer.begin);
  return answer;
}

EchoConnection::Answer EchoConnection::Several(const Buffer& message, size_t length) {
  const size_t part = options_->tail_bytes / options_->responses;
  const char* from = message.bytes.get() + room() + length - options_->tail_bytes;
  Answer answer;
  answer.end = options_->responses * (room() + part);
  answer.buffer = Take(answer.end);
  char* to = answer.buffer.bytes.get();
  for (size_t i = 0; i < options_->responses; ++i, from += part, to += room() + part) {
    WriteHead(part, to);
    std::memcpy(to + room(), from, part);
  }
  return answer;
}

void EchoConnection::WriteHead(size_t tail_bytes, char* to) const {
  const size_t length = options_->head.size() + tail_bytes;
  *to++ = 0;
  for (int shift = 24; shift >= 0; shift -= 8) *to++ = static_cast<char>(length >> shift & 0xff);
  std::memcpy(to, options_->head.data(), options_->head.size());
}

// What these functions of nghttp2 return is of no interest: they fail if the client has reset the
// call meanwhile, or without memory.
void EchoConnection::Resume(Call* call) {
  if (call->refused) return;
  if (std::exchange(call->begun, true)) {
    if (std::exchange(call->deferred, false)) nghttp2_session_resume_data(session_, call->stream);
    return;
  }
  const std::array<nghttp2_nv, 2> headers = {Header(":status", "200"),
                                             Header("content-type", "application/grpc")};
  nghttp2_data_provider data{};
  data.source.ptr = call;
  data.read_callback = Callbacks::NextData;
  nghttp2_submit_response(session_, call->stream, headers.data(), headers.size(), &data);
}

void EchoConnection::Send(Call* call, size_t size) {
  call->unsent -= size;
  size_t done = 0;  // answers
  while (size > 0) {
    Answer& answer = call->answers[done];
    const size_t taken = std::min(size, answer.end - answer.begin);
    output_.AppendLasting({answer.buffer.bytes.get() + answer.begin, taken});
    answer.begin += taken;
    size -= taken;
    if (answer.begin < answer.end) break;
    Retire(std::move(answer.buffer));
    ++done;
  }
  call->answers.erase(call->answers.begin(), call->answers.begin() + static_cast<ptrdiff_t>(done));
}

// Not filled with zeros, since all of it is overwritten.
EchoConnection::Buffer EchoConnection::Take(size_t size) {
  Buffer buffer;
  if (!idle_buffers_.empty()) {
    buffer = std::move(idle_buffers_.back());
    idle_buffers_.pop_back();
  }
  if (buffer.size < size) buffer = {std::unique_ptr<char[]>(new char[size]), size};
  return buffer;
}

void EchoConnection::Retire(Buffer buffer) {
  if (buffer.bytes != nullptr) sent_.push_back({std::move(buffer), output_.queued()});
}

}  // namespace nereid::bench
