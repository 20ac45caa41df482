// SPDX-License-Identifier: Apache-2.0
// ClientSession: the client's side of an HTTP/2 connection without a socket, for tests of the
// server's side. It keeps all that it is told. Frames that no client should send are made with
// RawFrame. Thread-compatible.
#ifndef NEREID_FRONTENDS_TRANSPORT_HTTP2_TESTING_CLIENT_SESSION_H_
#define NEREID_FRONTENDS_TRANSPORT_HTTP2_TESTING_CLIENT_SESSION_H_

#include <absl/strings/string_view.h>
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nereid::http2 {

inline constexpr absl::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

// A frame with any content.
inline std::string RawFrame(uint8_t type, uint8_t flags, uint32_t id, absl::string_view payload) {
  const auto size = static_cast<uint32_t>(payload.size());
  std::string frame;
  for (const int shift : {16, 8, 0}) frame.push_back(static_cast<char>(size >> shift));
  frame.push_back(static_cast<char>(type));
  frame.push_back(static_cast<char>(flags));
  for (const int shift : {24, 16, 8, 0}) frame.push_back(static_cast<char>(id >> shift));
  frame.append(payload.data(), payload.size());
  return frame;
}

// A header in HPACK, without tables and without Huffman's code.
inline std::string RawHeader(absl::string_view name, absl::string_view value) {
  std::string bytes(1, '\0');
  for (const absl::string_view text : {name, value}) {
    size_t size = text.size();
    if (size < 127) {
      bytes.push_back(static_cast<char>(size));
    } else {
      bytes.push_back(127);
      for (size -= 127; size >= 128; size /= 128) {
        bytes.push_back(static_cast<char>(size % 128 + 128));
      }
      bytes.push_back(static_cast<char>(size));
    }
    bytes.append(text.data(), text.size());
  }
  return bytes;
}

// The head of a POST, as the payload of a HEADERS frame.
inline std::string RawRequestHead() {
  return RawHeader(":method", "POST") + RawHeader(":scheme", "http") + RawHeader(":path", "/raw") +
         RawHeader(":authority", "localhost");
}

// What a client sends first, without any settings.
inline std::string RawStart() {
  return std::string(kPreface) + RawFrame(NGHTTP2_SETTINGS, 0, 0, "");
}

class ClientSession {
 public:
  using Headers = std::vector<std::pair<std::string, std::string>>;

  struct Options {
    std::optional<uint32_t> stream_window;  // of answers; RFC 9113 says 65535
    bool consume = true;                    // what has arrived may be sent again at once
  };

  struct Answer {
    Headers head;
    Headers trailers;
    std::string body;
    bool ended = false;       // by END_STREAM
    int resets = 0;           // RST_STREAM frames
    uint32_t reset_code = 0;  // of the last of them
    bool closed = false;      // for the library; with close_code
    uint32_t close_code = 0;
    std::string order;  // of what arrived: h for HEADERS, d for DATA, r for RST_STREAM

    // The value of a header or a trailer; "" if there is none.
    std::string Header(absl::string_view name) const {
      for (const Headers* list : {&head, &trailers}) {
        for (const auto& [key, value] : *list) {
          if (key == name) return value;
        }
      }
      return "";
    }
  };

  struct GoAway {
    int32_t last_id;
    uint32_t code;
    std::string debug;
  };

  explicit ClientSession(const Options& options) : consume_(options.consume) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, &OnHeader);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, &OnFrame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, &OnData);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, &OnClosed);
    nghttp2_option* library = nullptr;
    nghttp2_option_new(&library);
    nghttp2_option_set_no_auto_window_update(library, 1);
    nghttp2_session_client_new2(&session_, callbacks, this, library);
    nghttp2_option_del(library);
    nghttp2_session_callbacks_del(callbacks);
    std::vector<nghttp2_settings_entry> settings;
    if (options.stream_window.has_value()) {
      settings.push_back({NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, *options.stream_window});
    }
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  }
  ~ClientSession() { nghttp2_session_del(session_); }
  ClientSession(const ClientSession&) = delete;
  ClientSession& operator=(const ClientSession&) = delete;

  // The method of the requests that are begun from now on.
  void SetMethod(const std::string& method) { method_ = method; }
  // Begins a request of `path`, a POST unless SetMethod was called. With `end`, `body` is all of
  // its body. Returns the stream's id.
  int32_t Request(const std::string& path, const std::string& body = "", bool end = true,
                  const Headers& more = {}) {
    Headers head = {
        {":method", method_}, {":scheme", "http"}, {":path", path}, {":authority", "a"}};
    head.insert(head.end(), more.begin(), more.end());
    nghttp2_data_provider provider{};
    provider.source.ptr = this;
    provider.read_callback = &ReadBody;
    const std::vector<nghttp2_nv> library = Library(head);
    const bool has_body = !body.empty() || !end;
    const int32_t id = nghttp2_submit_request(session_, nullptr, library.data(), library.size(),
                                              has_body ? &provider : nullptr, nullptr);
    bodies_[id] = {body, {}, end};
    return id;
  }
  // Sends more of the body; with `end`, the last of it, and `trailers` after it.
  void Send(int32_t id, const std::string& bytes, bool end, const Headers& trailers = {}) {
    Body& body = bodies_[id];
    body.bytes += bytes;
    body.end = end;
    body.trailers = trailers;
    nghttp2_session_resume_data(session_, id);
  }
  // Bytes of the body that wait, because the server allows no more.
  size_t unsent(int32_t id) const { return bodies_.at(id).bytes.size(); }

  void Cancel(int32_t id) {
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
  }
  void Ping() { nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr); }
  void SetStreamWindow(uint32_t bytes) {
    const nghttp2_settings_entry entry{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, bytes};
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, &entry, 1);
  }
  // Lets the server send `n` bytes again. Only without Options::consume.
  void Consume(int32_t id, size_t n) { nghttp2_session_consume(session_, id, n); }
  // Lets the server send `n` more bytes; of all streams if `id` is 0.
  void AddToWindow(int32_t id, int32_t n) {
    nghttp2_submit_window_update(session_, NGHTTP2_FLAG_NONE, id, n);
  }

  // What the server has sent. False if the library finds it wrong.
  bool Receive(absl::string_view bytes) {
    return nghttp2_session_mem_recv(session_, reinterpret_cast<const uint8_t*>(bytes.data()),
                                    bytes.size()) == static_cast<ssize_t>(bytes.size());
  }
  // All that is to be sent.
  std::string Output() {
    std::string output;
    const uint8_t* bytes = nullptr;
    for (ssize_t n; (n = nghttp2_session_mem_send(session_, &bytes)) > 0;) {
      output.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(n));
    }
    return output;
  }

  const Answer& answer(int32_t id) { return answers_[id]; }
  // True if the server has broken the protocol, so that the library has ended the connection.
  bool broken() const { return nghttp2_session_want_read(session_) == 0 && goaways.empty(); }
  uint32_t ServerSetting(nghttp2_settings_id id) const {
    return nghttp2_session_get_remote_settings(session_, id);
  }

  std::vector<GoAway> goaways;
  int pings = 0;  // of the server
  int ping_answers = 0;

 private:
  struct Body {
    std::string bytes;
    Headers trailers;
    bool end = false;
  };

  static ClientSession* Of(void* user_data) { return static_cast<ClientSession*>(user_data); }
  static std::vector<nghttp2_nv> Library(const Headers& headers) {
    std::vector<nghttp2_nv> library;
    for (const auto& [name, value] : headers) {
      const auto bytes = [](const std::string& text) {
        return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));
      };
      library.push_back(
          {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE});
    }
    return library;
  }
  static ssize_t ReadBody(nghttp2_session* session, int32_t id, uint8_t* buffer, size_t length,
                          uint32_t* flags, nghttp2_data_source* source, void*) {
    Body& body = static_cast<ClientSession*>(source->ptr)->bodies_[id];
    const size_t size = std::min(length, body.bytes.size());
    if (size == 0 && !body.end) return NGHTTP2_ERR_DEFERRED;
    std::copy_n(body.bytes.data(), size, buffer);
    body.bytes.erase(0, size);
    if (!body.end || !body.bytes.empty()) return static_cast<ssize_t>(size);
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (!body.trailers.empty()) {
      *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
      const std::vector<nghttp2_nv> library = Library(body.trailers);
      nghttp2_submit_trailer(session, id, library.data(), library.size());
    }
    return static_cast<ssize_t>(size);
  }
  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                      void* user_data) {
    Answer& answer = Of(user_data)->answers_[frame->hd.stream_id];
    Headers& headers = frame->headers.cat == NGHTTP2_HCAT_RESPONSE ? answer.head : answer.trailers;
    headers.emplace_back(std::string(reinterpret_cast<const char*>(name), name_size),
                         std::string(reinterpret_cast<const char*>(value), value_size));
    return 0;
  }
  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* user_data) {
    ClientSession* const self = Of(user_data);
    Answer& answer = self->answers_[frame->hd.stream_id];
    switch (frame->hd.type) {
      case NGHTTP2_HEADERS:
        answer.order += 'h';
        break;
      case NGHTTP2_DATA:
        answer.order += 'd';
        break;
      case NGHTTP2_RST_STREAM:
        answer.order += 'r';
        ++answer.resets;
        answer.reset_code = frame->rst_stream.error_code;
        return 0;
      case NGHTTP2_PING:
        ++((frame->hd.flags & NGHTTP2_FLAG_ACK) != 0 ? self->ping_answers : self->pings);
        return 0;
      case NGHTTP2_GOAWAY:
        self->goaways.push_back(
            {frame->goaway.last_stream_id, frame->goaway.error_code,
             std::string(reinterpret_cast<const char*>(frame->goaway.opaque_data),
                         frame->goaway.opaque_data_len)});
        return 0;
      default:
        return 0;
    }
    if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) answer.ended = true;
    return 0;
  }
  static int OnData(nghttp2_session* session, uint8_t, int32_t id, const uint8_t* data, size_t size,
                    void* user_data) {
    ClientSession* const self = Of(user_data);
    self->answers_[id].body.append(reinterpret_cast<const char*>(data), size);
    if (self->consume_) nghttp2_session_consume(session, id, size);
    return 0;
  }
  static int OnClosed(nghttp2_session*, int32_t id, uint32_t code, void* user_data) {
    Answer& answer = Of(user_data)->answers_[id];
    answer.closed = true;
    answer.close_code = code;
    return 0;
  }

  const bool consume_;
  std::string method_ = "POST";
  nghttp2_session* session_ = nullptr;
  std::map<int32_t, Body> bodies_;
  std::map<int32_t, Answer> answers_;
};

}  // namespace nereid::http2

#endif  // NEREID_FRONTENDS_TRANSPORT_HTTP2_TESTING_CLIENT_SESSION_H_
