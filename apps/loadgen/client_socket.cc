// SPDX-License-Identifier: Apache-2.0
#include "apps/loadgen/client_socket.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "apps/loadgen/sockets.h"
#include "base/status_macros.h"

namespace nereid::bench {
namespace {

constexpr size_t kRecordBytes = 16 << 10;  // the longest that TLS allows

std::string TlsErrorText() {
  std::array<char, 256> text{};
  ERR_error_string_n(ERR_get_error(), text.data(), text.size());
  return text.data();
}

// What an SSL function that has failed with `result` means: 0 bytes if the socket has to get ready
// first.
absl::StatusOr<size_t> TlsOutcome(SSL* tls, int result, absl::string_view what) {
  switch (SSL_get_error(tls, result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
      return 0;
    case SSL_ERROR_ZERO_RETURN:
      return absl::UnavailableError("the server closed the connection");
    case SSL_ERROR_SYSCALL:
      return SystemError(what);
    default:
      return absl::UnavailableError(absl::StrCat(what, ": ", TlsErrorText()));
  }
}

}  // namespace

ClientTls::ClientTls(SSL_CTX* context) : context_(context, SSL_CTX_free) {}

absl::StatusOr<ClientTls> ClientTls::Make(absl::string_view protocol) {
  ClientTls tls(SSL_CTX_new(TLS_client_method()));
  if (tls.context() == nullptr) return absl::InternalError(TlsErrorText());
  SSL_CTX_set_mode(tls.context(),
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  const std::string offer =
      absl::StrCat(std::string(1, static_cast<char>(protocol.size())), protocol);
  if (SSL_CTX_set_alpn_protos(tls.context(), reinterpret_cast<const uint8_t*>(offer.data()),
                              static_cast<unsigned>(offer.size())) != 0) {
    return absl::InternalError(TlsErrorText());
  }
  return tls;
}

ClientSocket::ClientSocket(ClientSocket&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      tls_(std::exchange(other.tls_, nullptr)),
      answered_(std::exchange(other.answered_, false)) {}

ClientSocket& ClientSocket::operator=(ClientSocket&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(tls_, other.tls_);
  std::swap(answered_, other.answered_);
  return *this;
}

ClientSocket::~ClientSocket() {
  SSL_free(tls_);
  if (fd_ >= 0) close(fd_);
}

absl::StatusOr<ClientSocket> ClientSocket::Connect(const std::string& address,
                                                   const ClientTls* tls) {
  ClientSocket made;
  ASSIGN_OR_RETURN(made.fd_, ConnectTcp(address));
  if (tls == nullptr) return made;
  made.tls_ = SSL_new(tls->context());
  if (made.tls_ == nullptr || SSL_set_fd(made.tls_, made.fd_) != 1) {
    return absl::InternalError(TlsErrorText());
  }
  if (SSL_connect(made.tls_) != 1) {
    if (ERR_GET_REASON(ERR_peek_error()) == SSL_R_WRONG_VERSION_NUMBER) {
      return absl::UnavailableError(
          "the port does not speak TLS: the URL has to begin with http or grpc");
    }
    return absl::UnavailableError(absl::StrCat("TLS with ", address, ": ", TlsErrorText()));
  }
  if (fcntl(made.fd_, F_SETFL, O_NONBLOCK) != 0) return SystemError("fcntl");
  return made;
}

absl::StatusOr<size_t> ClientSocket::Read(absl::Span<char> buffer) {
  if (tls_ != nullptr) return ReadTls(buffer);
  const ssize_t got = recv(fd_, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got > 0) {
    answered_ = true;
    return static_cast<size_t>(got);
  }
  if (got == 0) {
    return absl::UnavailableError(
        answered_ ? "the server closed the connection"
                  : "the server closed the connection without an answer (a port with TLS wants "
                    "https or grpcs in the URL)");
  }
  if (errno == EAGAIN || errno == EINTR) return 0;
  return SystemError("recv");
}

absl::StatusOr<size_t> ClientSocket::ReadTls(absl::Span<char> buffer) {
  size_t total = 0;
  // OpenSSL reads no further than the record it was asked for. So only the rest of a record that
  // did not fit could wait unseen by epoll.
  do {
    ERR_clear_error();
    size_t got = 0;
    const int result = SSL_read_ex(tls_, buffer.data() + total, buffer.size() - total, &got);
    if (result != 1) {
      if (total > 0) return total;
      return TlsOutcome(tls_, result, "SSL_read");
    }
    total += got;
  } while (SSL_pending(tls_) > 0 && total < buffer.size());
  return total;
}

absl::StatusOr<size_t> ClientSocket::Write(absl::Span<const iovec> pieces) {
  return tls_ == nullptr ? SendTo(fd_, pieces) : WriteTls(pieces);
}

absl::StatusOr<size_t> ClientSocket::WriteTls(absl::Span<const iovec> pieces) {
  // A record for several small pieces costs less than one for each.
  std::array<char, kRecordBytes> record;
  absl::Span<const char> bytes;
  if (!pieces.empty() && pieces[0].iov_len >= kRecordBytes) {
    bytes = {static_cast<const char*>(pieces[0].iov_base), kRecordBytes};
  } else {
    size_t filled = 0;
    for (const iovec& piece : pieces) {
      const size_t size = std::min(piece.iov_len, record.size() - filled);
      std::memcpy(record.data() + filled, piece.iov_base, size);
      filled += size;
    }
    bytes = {record.data(), filled};
  }
  if (bytes.empty()) return 0;
  ERR_clear_error();
  size_t written = 0;
  const int result = SSL_write_ex(tls_, bytes.data(), bytes.size(), &written);
  if (result == 1) return written;
  return TlsOutcome(tls_, result, "SSL_write");
}

}  // namespace nereid::bench
