// SPDX-License-Identifier: Apache-2.0
#include "frontends/transport/http2/session_callbacks.h"

#include <absl/container/inlined_vector.h>
#include <absl/strings/ascii.h>
#include <absl/strings/string_view.h>
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <utility>

#include "frontends/transport/http2/library.h"
#include "frontends/transport/http2/session.h"
#include "frontends/transport/http2/stream.h"

namespace nereid::http2 {
namespace {

// Whether the library resets a stream with this code because the client has broken it, or has
// opened more than it may (the only streams that are refused in this way).
bool IsBlame(uint32_t code) {
  return code == NGHTTP2_PROTOCOL_ERROR || code == NGHTTP2_FLOW_CONTROL_ERROR ||
         code == NGHTTP2_STREAM_CLOSED || code == NGHTTP2_FRAME_SIZE_ERROR ||
         code == NGHTTP2_REFUSED_STREAM;
}

}  // namespace

// Each gets the session as its user data.
struct Callbacks {
  static Session* Of(void* user_data) { return static_cast<Session*>(user_data); }
  // Null for streams that the session does not know or no longer knows.
  static Stream* StreamOf(nghttp2_session* session, int32_t id) {
    return static_cast<Stream*>(nghttp2_session_get_stream_user_data(session, id));
  }

  static int BeginHeaders(nghttp2_session* session, const nghttp2_frame* frame, void* user_data);
  static int OnHeader(nghttp2_session* session, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_size, const uint8_t* value, size_t value_size, uint8_t flags,
                      void* user_data);
  static int OnFrame(nghttp2_session* session, const nghttp2_frame* frame, void* user_data);
  static int OnBeginFrame(nghttp2_session* session, const nghttp2_frame_hd* head, void* user_data);
  static int OnData(nghttp2_session* session, uint8_t flags, int32_t id, const uint8_t* data,
                    size_t size, void* user_data);
  static int OnStreamClosed(nghttp2_session* session, int32_t id, uint32_t code, void* user_data);
  static int OnFrameSent(nghttp2_session* session, const nghttp2_frame* frame, void* user_data);
  static int OnFrameNotSent(nghttp2_session* session, const nghttp2_frame* frame, int error,
                            void* user_data);
  static int SendData(nghttp2_session* session, nghttp2_frame* frame, const uint8_t* frame_head,
                      size_t length, nghttp2_data_source* source, void* user_data);

  // How much of the body of `stream` goes into the next frame, of at most `length` bytes.
  static ssize_t Read(nghttp2_session* session, int32_t id, size_t length, uint32_t* flags,
                      Stream* stream);

  static void OnStreamFrame(nghttp2_session* session, const nghttp2_frame* frame, Session* self);
};

int Callbacks::BeginHeaders(nghttp2_session* session, const nghttp2_frame* frame, void* user_data) {
  if (frame->headers.cat != NGHTTP2_HCAT_REQUEST || Of(user_data)->closed_) return 0;
  const int32_t id = frame->hd.stream_id;
  nghttp2_session_set_stream_user_data(session, id, Of(user_data)->Begin(id).get());
  Of(user_data)->open_head_ = id;
  return 0;
}

int Callbacks::OnHeader(nghttp2_session* session, const nghttp2_frame* frame, const uint8_t* name,
                        size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                        void* user_data) {
  Stream* const stream = StreamOf(session, frame->hd.stream_id);
  if (stream == nullptr) return 0;
  // Trailers of requests carry nothing that anybody here reads.
  if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) {
    return Of(user_data)->Ignore(stream, name_size + value_size);
  }
  const SessionOptions& options = Of(user_data)->options_;
  const absl::string_view text = absl::StripAsciiWhitespace(
      absl::string_view(reinterpret_cast<const char*>(value), value_size));
  const size_t begin = stream->header_bytes_.size();
  if (begin + name_size + text.size() > options.max_header_bytes ||
      stream->headers_.size() >= options.max_headers) {
    stream->headers_refused_ = true;
    return Of(user_data)->Ignore(stream, name_size + value_size);
  }
  if (!Of(user_data)->MakeRoomInHead(stream, name_size + text.size())) {
    return Of(user_data)->Ignore(stream, name_size + value_size);
  }
  stream->header_bytes_.Append({reinterpret_cast<const char*>(name), name_size});
  stream->header_bytes_.Append(text);
  stream->headers_.push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(name_size),
                              static_cast<uint32_t>(begin + name_size),
                              static_cast<uint32_t>(text.size())});
  return 0;
}

void Callbacks::OnStreamFrame(nghttp2_session* session, const nghttp2_frame* frame, Session* self) {
  Stream* const stream = StreamOf(session, frame->hd.stream_id);
  if (stream == nullptr) return;
  const bool end = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
  if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
    return self->HeadComplete(stream, end);
  }
  // Padding does not make a frame useful.
  if (frame->hd.type == NGHTTP2_DATA && frame->hd.length == frame->data.padlen && !end) {
    self->events_->OnControlFrame();
  }
  if (end && stream->user_ != nullptr) {
    const std::shared_ptr<StreamUser> user = stream->user_;
    user->OnEndOfInput();
  }
}

int Callbacks::OnFrame(nghttp2_session* session, const nghttp2_frame* frame, void* user_data) {
  Session* const self = Of(user_data);
  switch (frame->hd.type) {
    case NGHTTP2_HEADERS:
    case NGHTTP2_DATA:
      OnStreamFrame(session, frame, self);
      break;
    case NGHTTP2_PING:
      self->events_->OnControlFrame();
      self->events_->OnPing((frame->hd.flags & NGHTTP2_FLAG_ACK) != 0);
      break;
    case NGHTTP2_SETTINGS:
      self->begun_ = true;
      self->events_->OnControlFrame();
      break;
    case NGHTTP2_GOAWAY:
    case NGHTTP2_RST_STREAM:
      self->events_->OnControlFrame();
      break;
    default:
      break;
  }
  return 0;
}

int Callbacks::OnBeginFrame(nghttp2_session* session, const nghttp2_frame_hd* head,
                            void* user_data) {
  Session* const self = Of(user_data);
  const bool of_request = head->type == NGHTTP2_HEADERS || head->type == NGHTTP2_DATA;
  // Padding has a length of its own in front of the data, so such a frame is received as others.
  const bool has_data =
      head->type == NGHTTP2_DATA && (head->flags & NGHTTP2_FLAG_PADDED) == 0 && !self->closed_;
  self->data_stream_ = has_data ? head->stream_id : 0;
  self->data_left_ = has_data ? head->length : 0;
  if (of_request && self->HasFinished(head->stream_id)) {
    nghttp2_session_terminate_session(session, NGHTTP2_STREAM_CLOSED);
  } else if (head->type == NGHTTP2_CONTINUATION || head->type == NGHTTP2_PRIORITY) {
    // Here, because the library reports no such frame later if its request is answered.
    self->events_->OnControlFrame();
  }
  return 0;
}

int Callbacks::OnData(nghttp2_session* session, uint8_t, int32_t id, const uint8_t* data,
                      size_t size, void* user_data) {
  Session* const self = Of(user_data);
  self->data_left_ -= std::min(size, self->data_left_);
  // Bytes of the connection are used up as they arrive: what may pile up is bounded per stream.
  nghttp2_session_consume_connection(session, size);
  Stream* const stream = StreamOf(session, id);
  if (stream == nullptr || stream->user_ == nullptr) {
    nghttp2_session_consume_stream(session, id, size);
    return 0;
  }
  const std::shared_ptr<StreamUser> user = stream->user_;
  user->OnData(absl::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}

int Callbacks::OnStreamClosed(nghttp2_session* session, int32_t id, uint32_t, void* user_data) {
  Session* const self = Of(user_data);
  if (nghttp2_session_get_stream_remote_close(session, id) == 1) {
    self->finished_[self->next_finished_++ % self->finished_.size()] = id;
  }
  self->Closed(id);
  return 0;
}

int Callbacks::OnFrameSent(nghttp2_session* session, const nghttp2_frame* frame, void* user_data) {
  Session* const self = Of(user_data);
  // To break a stream costs the client as little as to reset it.
  if (frame->hd.type == NGHTTP2_RST_STREAM && IsBlame(frame->rst_stream.error_code)) {
    const Stream* const stream = StreamOf(session, frame->hd.stream_id);
    // That the server has no memory for it is not the client's fault.
    if (stream == nullptr || !stream->refused_) self->events_->OnControlFrame();
  }
  if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
  self->events_->OnAnswerSent();
  if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
  const int32_t id = frame->hd.stream_id;
  if (Stream* const stream = StreamOf(session, id); stream != nullptr) stream->complete_ = true;
  // The answer came before the end of the request, whose rest is of no use (RFC 9113, 8.1).
  if (nghttp2_session_get_stream_remote_close(session, id) == 0) {
    nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_NO_ERROR);
  }
  return 0;
}

int Callbacks::OnFrameNotSent(nghttp2_session* session, const nghttp2_frame* frame, int, void*) {
  if (frame->hd.type != NGHTTP2_HEADERS) return 0;
  if (StreamOf(session, frame->hd.stream_id) == nullptr) return 0;
  // A head or trailers that are too long: without them the client would wait for ever.
  nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id,
                            NGHTTP2_INTERNAL_ERROR);
  return 0;
}

int Callbacks::SendData(nghttp2_session* session, nghttp2_frame* frame, const uint8_t* frame_head,
                        size_t length, nghttp2_data_source*, void* user_data) {
  constexpr size_t kFrameHeadBytes = 9;  // of a frame without padding, which is never asked for
  Session* const self = Of(user_data);
  Stream* const stream = StreamOf(session, frame->hd.stream_id);
  if (stream == nullptr) return NGHTTP2_ERR_WOULDBLOCK;  // CloseStreams was called
  self->output_->Append(
      absl::string_view(reinterpret_cast<const char*>(frame_head), kFrameHeadBytes));
  stream->body_.MoveTo(self->output_, length);
  stream->sent_ += length;
  self->data_sent_ += length;
  if (stream->body_.empty() && !stream->finishing_ && !std::exchange(stream->emptied_, true)) {
    self->sent_.push_back(stream->shared_from_this());
  }
  // Without a pause the library would go on with all frames of data that it has.
  return self->output_->size() < self->enough_ ? 0 : NGHTTP2_ERR_PAUSE;
}

ssize_t ReadBody(nghttp2_session* session, int32_t id, uint8_t*, size_t length, uint32_t* flags,
                 nghttp2_data_source*, void*) {
  return Callbacks::Read(session, id, length, flags, Callbacks::StreamOf(session, id));
}

ssize_t Callbacks::Read(nghttp2_session* session, int32_t id, size_t length, uint32_t* flags,
                        Stream* stream) {
  if (stream == nullptr) return NGHTTP2_ERR_DEFERRED;  // CloseStreams was called
  const size_t size = std::min(length, stream->body_.size());
  if (size == 0 && !stream->finishing_) {
    stream->deferred_ = true;
    return NGHTTP2_ERR_DEFERRED;
  }
  *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
  if (size < stream->body_.size() || !stream->finishing_) return static_cast<ssize_t>(size);
  *flags |= NGHTTP2_DATA_FLAG_EOF;
  if (!stream->trailers_.empty()) {
    *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
    absl::InlinedVector<Header, 4> trailers;
    const absl::string_view bytes = stream->trailer_bytes_;
    for (const Stream::Range& range : stream->trailers_) {
      trailers.push_back(
          {bytes.substr(range.name, range.name_size), bytes.substr(range.value, range.value_size)});
    }
    const LibraryHeaders library(trailers);
    nghttp2_submit_trailer(session, id, library.data(), library.size());
  }
  return static_cast<ssize_t>(size);
}

nghttp2_session_callbacks* SessionCallbacks() {
  static nghttp2_session_callbacks* const table = [] {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, &Callbacks::BeginHeaders);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, &Callbacks::OnHeader);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, &Callbacks::OnFrame);
    nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks, &Callbacks::OnBeginFrame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, &Callbacks::OnData);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, &Callbacks::OnStreamClosed);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, &Callbacks::OnFrameSent);
    nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks, &Callbacks::OnFrameNotSent);
    nghttp2_session_callbacks_set_send_data_callback(callbacks, &Callbacks::SendData);
    return callbacks;
  }();
  return table;
}

}  // namespace nereid::http2
