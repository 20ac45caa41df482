// SPDX-License-Identifier: Apache-2.0
// ClientSocket: one TCP connection to a server, plain or through TLS, that never waits once it is
// connected. Used by one thread.
#ifndef NEREID_APPS_LOADGEN_CLIENT_SOCKET_H_
#define NEREID_APPS_LOADGEN_CLIENT_SOCKET_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>
#include <absl/types/span.h>
#include <openssl/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <memory>
#include <string>

namespace nereid::bench {

// What the connections of one load have in common under TLS.
class ClientTls {
 public:
  // Offers `protocol` by ALPN, for instance "h2". The server's certificate is not verified, because
  // a load generator has nothing to hide. INTERNAL if OpenSSL fails.
  static absl::StatusOr<ClientTls> Make(absl::string_view protocol);

  SSL_CTX* context() const { return context_.get(); }

 private:
  explicit ClientTls(SSL_CTX* context);

  std::shared_ptr<SSL_CTX> context_;
};

class ClientSocket {
 public:
  ClientSocket() = default;
  ClientSocket(ClientSocket&& other) noexcept;
  ClientSocket& operator=(ClientSocket&& other) noexcept;
  ~ClientSocket();

  // Connects to "a.b.c.d:port" or "[IPv6]:port", and waits for TLS unless `tls` is null.
  // INVALID_ARGUMENT for another address, UNAVAILABLE if nobody listens or TLS fails.
  static absl::StatusOr<ClientSocket> Connect(const std::string& address, const ClientTls* tls);

  int fd() const { return fd_; }

  // Reads what is there into `buffer`. What it leaves makes the descriptor readable, also under
  // TLS. Returns 0 if nothing is there, UNAVAILABLE if the connection has ended.
  absl::StatusOr<size_t> Read(absl::Span<char> buffer);

  // Writes a beginning of `pieces`, and returns its length: 0 if the socket takes nothing at
  // present. After that, the next call has to start with the same bytes. UNAVAILABLE if the
  // connection has ended.
  absl::StatusOr<size_t> Write(absl::Span<const iovec> pieces);

 private:
  absl::StatusOr<size_t> ReadTls(absl::Span<char> buffer);
  absl::StatusOr<size_t> WriteTls(absl::Span<const iovec> pieces);

  int fd_ = -1;
  SSL* tls_ = nullptr;
  bool answered_ = false;  // the server has sent something; kept without TLS only
};

}  // namespace nereid::bench

#endif  // NEREID_APPS_LOADGEN_CLIENT_SOCKET_H_
