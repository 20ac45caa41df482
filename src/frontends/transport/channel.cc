// SPDX-License-Identifier: Apache-2.0
#include "frontends/transport/channel.h"

#include <absl/strings/str_cat.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/error.hpp>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

namespace nereid::transport {

Channel::Channel(Socket socket, std::shared_ptr<TlsContext> context) : socket_(std::move(socket)) {
  if (context != nullptr) {
    tls_ = std::make_unique<TlsStream>(socket_.native_handle(), std::move(context));
  }
}

Channel::Channel(Channel&& other) noexcept
    : socket_(std::move(other.socket_)),
      tls_(std::move(other.tls_)),
      closed_(std::exchange(other.closed_, true)),
      wants_read_(other.wants_read_),
      wants_write_(other.wants_write_),
      error_text_(std::move(other.error_text_)) {}

Channel::~Channel() { Close(); }

bool Channel::Prepare() {
  boost::system::error_code error;
  socket_.non_blocking(true, error);
  if (error) return false;
  socket_.set_option(boost::asio::ip::tcp::no_delay(true), error);
  return !error || error == boost::asio::error::operation_not_supported;  // by Unix sockets
}

Channel::Result Channel::Read(absl::Span<char> space) {
  if (closed_) return {Result::kFailed, 0};
  return tls_ == nullptr ? ReadPlain(space) : tls_->Read(space);
}

Channel::Result Channel::Write(absl::Span<const iovec> pieces) {
  if (closed_) return {Result::kFailed, 0};
  return tls_ == nullptr ? WritePlain(pieces) : tls_->Write(pieces);
}

Channel::Result Channel::ReadPlain(absl::Span<char> space) {
  wants_read_ = wants_write_ = false;
  if (space.empty()) return {Result::kOk, 0};
  ssize_t got;
  do {
    got = recv(socket_.native_handle(), space.data(), space.size(), MSG_DONTWAIT);
  } while (got < 0 && errno == EINTR);
  if (got > 0) return {Result::kOk, static_cast<size_t>(got)};
  if (got == 0) return {Result::kEnd, 0};
  if (errno != EAGAIN && errno != EWOULDBLOCK) return Failed("receiving", errno);
  wants_read_ = true;
  return {Result::kWouldBlock, 0};
}

Channel::Result Channel::WritePlain(absl::Span<const iovec> pieces) {
  wants_read_ = wants_write_ = false;
  while (!pieces.empty() && pieces.front().iov_len == 0) pieces.remove_prefix(1);
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(pieces.data());
  message.msg_iovlen = std::min<size_t>(pieces.size(), IOV_MAX);
  ssize_t sent;
  do {
    sent = sendmsg(socket_.native_handle(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent >= 0) return {Result::kOk, static_cast<size_t>(sent)};
  if (errno != EAGAIN && errno != EWOULDBLOCK) return Failed("sending", errno);
  wants_write_ = true;
  return {Result::kWouldBlock, 0};
}

Channel::Result Channel::Received(const boost::system::error_code& error, size_t bytes) {
  if (!error) return {Result::kOk, bytes};
  if (error == boost::asio::error::eof) return {Result::kEnd, 0};
  return Failed("receiving", error.value());
}

Channel::Result Channel::Failed(const char* what, int error) {
  error_text_ = absl::StrCat(what, " failed: ", std::strerror(error));
  return {Result::kFailed, 0};
}

void Channel::ShutdownWrite() {
  if (closed_) return;
  if (tls_ != nullptr) tls_->SendCloseNotify();
  boost::system::error_code ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
}

void Channel::CloseAfterAnswer(absl::Span<char> scratch) {
  constexpr int kMostReads = 64;
  ShutdownWrite();
  for (int i = 0; i < kMostReads && Read(scratch).kind == Result::kOk; ++i) {
  }
}

void Channel::Close() {
  closed_ = true;
  wants_read_ = wants_write_ = false;
  if (tls_ != nullptr) tls_->Release();
  boost::system::error_code ignored;
  socket_.close(ignored);
}

std::string Channel::peer() const {
  boost::system::error_code error;
  const auto endpoint = socket_.remote_endpoint(error);
  const int family = endpoint.data()->sa_family;
  if (error || (family != AF_INET && family != AF_INET6)) return "";
  const std::string address = endpoint.address().to_string();
  return endpoint.address().is_v6() ? absl::StrCat("[", address, "]:", endpoint.port())
                                    : absl::StrCat(address, ":", endpoint.port());
}

}  // namespace nereid::transport
