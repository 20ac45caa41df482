// SPDX-License-Identifier: Apache-2.0
// A probe by one call of gRPC, on nghttp2.
#include <absl/status/status.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/string_view.h>
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "base/status_macros.h"
#include "frontends/tracing/protobuf_text.h"
#include "probe/probe_answer.h"

namespace nereid {
namespace {

// Fields of ModelReadyRequest.
constexpr uint32_t kNameField = 1;
constexpr uint32_t kVersionField = 2;
// A message on the wire begins with a flag and four bytes of length.
constexpr size_t kPrefixBytes = 5;
// The field 1 of each answer: `live` or `ready`.
constexpr char kAnswerField = 1 << 3;

using Headers = std::vector<std::pair<std::string, std::string>>;

std::string Path(const ProbeRequest& request) {
  const char* const method =
      request.live ? "ServerLive" : (request.model.empty() ? "ServerReady" : "ModelReady");
  return absl::StrCat("/inference.GRPCInferenceService/", method);
}

std::string Message(const ProbeRequest& request) {
  ProtobufText text;
  if (!request.model.empty()) text.Bytes(kNameField, request.model);
  if (!request.version.empty()) text.Bytes(kVersionField, request.version);
  const std::string body = text.Take();
  std::string message(1, '\0');  // not compressed
  for (const int shift : {24, 16, 8, 0}) message.push_back(static_cast<char>(body.size() >> shift));
  return message + body;
}

Headers Head(const ProbeTarget& target, const ProbeRequest& request) {
  Headers head = {{":method", "POST"},
                  {":scheme", target.tls ? "https" : "http"},
                  {":path", Path(request)},
                  {":authority", target.Authority()},
                  {"te", "trailers"},
                  {"content-type", "application/grpc"},
                  {"user-agent", "nereid-probe"}};
  head.insert(head.end(), request.headers.begin(), request.headers.end());
  return head;
}

absl::Status NoHttp2() { return absl::UnknownError("it does not speak HTTP/2"); }

// One call. The library calls the static functions with the call as `data`.
class Call {
 public:
  explicit Call(std::string message) : message_(std::move(message)) {}

  absl::Status Run(const Headers& head, ProbeConnection* connection) {
    const std::unique_ptr<nghttp2_session, decltype(&nghttp2_session_del)> session(
        MakeSession(), &nghttp2_session_del);
    if (session == nullptr || !Submit(head, session.get())) {
      return absl::UnknownError("out of memory");
    }
    while (true) {
      RETURN_IF_ERROR(Flush(session.get(), connection));
      if (closed_) return absl::OkStatus();
      if (nghttp2_session_want_read(session.get()) == 0) return NoHttp2();
      ASSIGN_OR_RETURN(const std::string bytes, connection->Read());
      if (bytes.empty()) return absl::UnknownError("the connection has ended without an answer");
      const auto* const raw = reinterpret_cast<const uint8_t*>(bytes.data());
      if (nghttp2_session_mem_recv(session.get(), raw, bytes.size()) < 0) {
        return NoHttp2();
      }
    }
  }

  // The value of a header or trailer of the answer; "" if there is none.
  std::string Header(const std::string& name) const {
    const auto found = headers_.find(name);
    return found == headers_.end() ? "" : found->second;
  }
  const std::string& body() const { return body_; }

 private:
  nghttp2_session* MakeSession() {
    nghttp2_session_callbacks* callbacks = nullptr;
    if (nghttp2_session_callbacks_new(&callbacks) != 0) return nullptr;
    nghttp2_session_callbacks_set_on_header_callback(callbacks, &OnHeader);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, &OnData);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, &OnClosed);
    nghttp2_session* session = nullptr;
    nghttp2_session_client_new(&session, callbacks, this);
    nghttp2_session_callbacks_del(callbacks);
    return session;
  }

  bool Submit(const Headers& head, nghttp2_session* session) {
    std::vector<nghttp2_nv> library;
    for (const auto& [name, value] : head) {
      const auto bytes = [](const std::string& text) {
        return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));
      };
      library.push_back(
          {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE});
    }
    nghttp2_data_provider body{};
    body.source.ptr = this;
    body.read_callback = &ReadMessage;
    return nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, nullptr, 0) == 0 &&
           nghttp2_submit_request(session, nullptr, library.data(), library.size(), &body,
                                  nullptr) > 0;
  }

  static absl::Status Flush(nghttp2_session* session, ProbeConnection* connection) {
    while (true) {
      const uint8_t* bytes = nullptr;
      const ssize_t size = nghttp2_session_mem_send(session, &bytes);
      if (size < 0) return absl::UnknownError("out of memory");
      if (size == 0) return absl::OkStatus();
      RETURN_IF_ERROR(
          connection->Write({reinterpret_cast<const char*>(bytes), static_cast<size_t>(size)}));
    }
  }

  static ssize_t ReadMessage(nghttp2_session* /*session*/, int32_t /*id*/, uint8_t* buffer,
                             size_t length, uint32_t* flags, nghttp2_data_source* source,
                             void* /*data*/) {
    auto* const call = static_cast<Call*>(source->ptr);
    const size_t size = std::min(length, call->message_.size());
    std::memcpy(buffer, call->message_.data(), size);
    call->message_.erase(0, size);
    if (call->message_.empty()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(size);
  }

  static int OnHeader(nghttp2_session* /*session*/, const nghttp2_frame* /*frame*/,
                      const uint8_t* name, size_t name_size, const uint8_t* value,
                      size_t value_size, uint8_t /*flags*/, void* data) {
    auto* const call = static_cast<Call*>(data);
    call->headers_[std::string(reinterpret_cast<const char*>(name), name_size)] =
        std::string(reinterpret_cast<const char*>(value), value_size);
    return 0;
  }

  static int OnData(nghttp2_session* /*session*/, uint8_t /*flags*/, int32_t /*id*/,
                    const uint8_t* bytes, size_t size, void* data) {
    auto* const call = static_cast<Call*>(data);
    if (call->body_.size() + size > kMostProbeBytes) return NGHTTP2_ERR_CALLBACK_FAILURE;
    call->body_.append(reinterpret_cast<const char*>(bytes), size);
    return 0;
  }

  static int OnClosed(nghttp2_session* /*session*/, int32_t /*id*/, uint32_t /*code*/, void* data) {
    static_cast<Call*>(data)->closed_ = true;
    return 0;
  }

  std::string message_;  // what is still to be sent
  std::map<std::string, std::string> headers_;
  std::string body_;
  bool closed_ = false;
};

}  // namespace

absl::StatusOr<ProbeAnswer> ProbeByGrpc(const ProbeTarget& target, const ProbeRequest& request,
                                        ProbeConnection* connection) {
  Call call(Message(request));
  RETURN_IF_ERROR(call.Run(Head(target, request), connection));
  int code = 0;
  if (!absl::SimpleAtoi(call.Header("grpc-status"), &code)) {
    const std::string status = call.Header(":status");
    return absl::UnknownError(status.empty()
                                  ? "it refuses the call"
                                  : absl::StrCat("it answers HTTP ", status, " instead of gRPC"));
  }
  if (code != 0) {
    return ProbeAnswer{
        false,
        absl::StrCat("it answers ", absl::StatusCodeToString(static_cast<absl::StatusCode>(code)),
                     ": ", OnOneLine(call.Header("grpc-message")))};
  }
  const std::string& body = call.body();
  // A field that is missing is false.
  const bool good = body.size() >= kPrefixBytes + 2 && body[kPrefixBytes] == kAnswerField &&
                    body[kPrefixBytes + 1] != 0;
  return ProbeAnswer{good, ""};
}

}  // namespace nereid
