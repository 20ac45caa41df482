// SPDX-License-Identifier: Apache-2.0
// LoopbackClient: a plain blocking socket to a server on this machine, for tests. Every wait has
// a deadline. Thread-compatible.
#ifndef NEREID_FRONTENDS_HTTP_TRANSPORT_TESTING_LOOPBACK_CLIENT_H_
#define NEREID_FRONTENDS_HTTP_TRANSPORT_TESTING_LOOPBACK_CLIENT_H_

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_split.h>
#include <absl/strings/string_view.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "frontends/http/transport/testing/with_host.h"

namespace nereid {

struct ReceivedResponse {
  int status = 0;  // 0: no whole response before the deadline or the end of the connection
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;

  // The value of a header; "" if there is none.
  std::string Header(const std::string& lower_case_name) const {
    const auto found = headers.find(lower_case_name);
    return found == headers.end() ? "" : found->second;
  }
};

class LoopbackClient {
 public:
  explicit LoopbackClient(uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const timeval limit{20, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~LoopbackClient() { Close(); }
  LoopbackClient(const LoopbackClient&) = delete;
  LoopbackClient& operator=(const LoopbackClient&) = delete;

  bool connected() const { return connected_; }
  void Close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  void ShutdownSend() { ::shutdown(fd_, SHUT_WR); }
  // Closes the connection so that the peer sees a reset.
  void Reset() {
    const linger hard{1, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    Close();
  }

  // Adds a Host where HTTP/1.1 asks for one.
  bool Send(absl::string_view text) {
    const std::string with_host = WithHost(text);
    absl::string_view bytes = with_host;
    while (!bytes.empty()) {
      const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(n));
    }
    return true;
  }

  // Reads one response by its Content-Length or its chunks; `head_only` for the answer to HEAD.
  ReceivedResponse Read(bool head_only = false) {
    ReceivedResponse response = ReadHead();
    if (head_only || response.status == 0) return response;
    if (response.Header("transfer-encoding") == "chunked") {
      for (std::string chunk = ReadChunk(); !chunk.empty(); chunk = ReadChunk()) {
        response.body += chunk;
      }
      return last_chunk_ ? response : ReceivedResponse{};
    }
    size_t length = 0;
    (void)absl::SimpleAtoi(response.Header("content-length"), &length);
    while (buffer_.size() < length) {
      if (!Fill()) return ReceivedResponse{};
    }
    response.body = buffer_.substr(0, length);
    buffer_.erase(0, length);
    return response;
  }

  // Status line and headers only; the body remains to be read.
  ReceivedResponse ReadHead() {
    ReceivedResponse response;
    size_t head_end;
    while ((head_end = buffer_.find("\r\n\r\n")) == std::string::npos) {
      if (!Fill()) return response;
    }
    const std::string head = buffer_.substr(0, head_end);
    buffer_.erase(0, head_end + 4);
    bool first = true;
    for (absl::string_view line : absl::StrSplit(head, "\r\n")) {
      if (std::exchange(first, false)) {
        if (!absl::SimpleAtoi(line.substr(9, 3), &response.status)) return response;
        continue;
      }
      const std::pair<absl::string_view, absl::string_view> field =
          absl::StrSplit(line, absl::MaxSplits(": ", 1));
      response.headers[absl::AsciiStrToLower(field.first)] = std::string(field.second);
    }
    return response;
  }

  // The next chunk of a chunked body; empty after the last one, or if the connection ended.
  std::string ReadChunk() {
    last_chunk_ = false;
    size_t line_end;
    while ((line_end = buffer_.find("\r\n")) == std::string::npos) {
      if (!Fill()) return "";
    }
    size_t size = 0;
    if (!absl::SimpleHexAtoi(buffer_.substr(0, line_end), &size)) return "";
    while (buffer_.size() < line_end + 2 + size + 2) {
      if (!Fill()) return "";
    }
    std::string chunk = buffer_.substr(line_end + 2, size);
    buffer_.erase(0, line_end + 2 + size + 2);
    last_chunk_ = size == 0;
    return chunk;
  }
  // Everything received until the peer closes.
  std::string ReadAll() {
    while (Fill()) {
    }
    return std::exchange(buffer_, "");
  }

  ReceivedResponse RoundTrip(absl::string_view request) {
    Send(request);
    return Read();
  }

  // Whether the peer closes before the deadline without sending anything more.
  bool AtEof() { return buffer_.empty() && !Fill() && eof_; }

 private:
  bool Fill() {
    char bytes[65536];
    const ssize_t n = ::recv(fd_, bytes, sizeof bytes, 0);
    eof_ = n == 0;
    if (n <= 0) return false;
    buffer_.append(bytes, static_cast<size_t>(n));
    return true;
  }

  int fd_;
  bool connected_ = false;
  bool eof_ = false;
  bool last_chunk_ = false;
  std::string buffer_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_TRANSPORT_TESTING_LOOPBACK_CLIENT_H_
