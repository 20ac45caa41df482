// SPDX-License-Identifier: Apache-2.0
#include "probe/probe_connection.h"

#include <absl/strings/str_cat.h>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/status_macros.h"

namespace nereid {
namespace {

constexpr size_t kReadBytes = 16 << 10;
constexpr unsigned char kAlpnHttp2[] = {2, 'h', '2'};

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

absl::Status SystemError(int error) {
  return error == ECONNREFUSED ? absl::UnavailableError("nothing listens there")
                               : absl::UnknownError(std::strerror(error));
}

// The oldest error that the library has noted in this thread.
std::string TlsReason() {
  const unsigned long error = ERR_get_error();
  const char* const reason = ERR_reason_error_string(error);
  return reason == nullptr ? "the connection has ended" : reason;
}

absl::StatusOr<Addresses> Resolve(const ProbeTarget& target) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failed =
      getaddrinfo(target.host.c_str(), absl::StrCat(target.port).c_str(), &hints, &found);
  if (failed != 0) {
    return absl::UnknownError(
        absl::StrCat("the name '", target.host, "' is not known: ", gai_strerror(failed)));
  }
  return Addresses(found, &freeaddrinfo);
}

// A connected socket.
absl::StatusOr<int> Connect(const ProbeTarget& target) {
  ASSIGN_OR_RETURN(const Addresses addresses, Resolve(target));
  absl::Status failure = absl::UnknownError("the name has no address");
  for (const addrinfo* address = addresses.get(); address != nullptr; address = address->ai_next) {
    const int fd = socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, address->ai_addr, address->ai_addrlen) == 0) return fd;
    failure = SystemError(errno);
    if (fd >= 0) close(fd);
  }
  return failure;
}

absl::Status BadFile(absl::string_view option, const std::string& file) {
  return absl::InvalidArgumentError(
      absl::StrCat(option, ": '", file, "' cannot be used: ", TlsReason()));
}

absl::Status ReadFiles(SSL_CTX* context, const ProbeRequest& request) {
  if (!request.root_cert.empty()) {
    if (SSL_CTX_load_verify_file(context, request.root_cert.c_str()) != 1) {
      return BadFile("--root-cert", request.root_cert);
    }
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  }
  if (request.client_cert.empty()) return absl::OkStatus();
  if (SSL_CTX_use_certificate_chain_file(context, request.client_cert.c_str()) != 1) {
    return BadFile("--client-cert", request.client_cert);
  }
  if (SSL_CTX_use_PrivateKey_file(context, request.client_key.c_str(), SSL_FILETYPE_PEM) != 1) {
    return BadFile("--client-key", request.client_key);
  }
  return absl::OkStatus();
}

// Whom the certificate has to name, if it is checked.
void ExpectHost(SSL* ssl, const std::string& host) {
  X509_VERIFY_PARAM* const expected = SSL_get0_param(ssl);
  if (X509_VERIFY_PARAM_set1_ip_asc(expected, host.c_str()) == 1) return;
  ERR_clear_error();
  SSL_set1_host(ssl, host.c_str());
  SSL_set_tlsext_host_name(ssl, host.c_str());
}

}  // namespace

ProbeConnection::~ProbeConnection() { close(fd_); }

absl::StatusOr<std::unique_ptr<ProbeConnection>> ProbeConnection::Open(
    const ProbeTarget& target, const ProbeRequest& request) {
  ASSIGN_OR_RETURN(const int fd, Connect(target));
  std::unique_ptr<ProbeConnection> connection(new ProbeConnection(fd));
  if (target.tls) RETURN_IF_ERROR(connection->StartTls(target, request));
  return connection;
}

absl::StatusOr<std::unique_ptr<ProbeConnection>> ProbeConnection::OpenFile(
    const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return absl::UnknownError("its name is too long");
  path.copy(address.sun_path, path.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return SystemError(errno);
  std::unique_ptr<ProbeConnection> connection(new ProbeConnection(fd));
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
    return connection;
  }
  return SystemError(errno);
}

absl::Status ProbeConnection::StartTls(const ProbeTarget& target, const ProbeRequest& request) {
  ERR_clear_error();
  context_.reset(SSL_CTX_new(TLS_client_method()));
  if (context_ == nullptr) return absl::UnknownError(TlsReason());
  RETURN_IF_ERROR(ReadFiles(context_.get(), request));
  ssl_.reset(SSL_new(context_.get()));
  if (ssl_ == nullptr) return absl::UnknownError(TlsReason());
  ExpectHost(ssl_.get(), target.host);
  if (target.protocol == ProbeProtocol::kGrpc) {
    SSL_set_alpn_protos(ssl_.get(), kAlpnHttp2, sizeof(kAlpnHttp2));
  }
  SSL_set_fd(ssl_.get(), fd_);
  if (SSL_connect(ssl_.get()) == 1) return absl::OkStatus();
  const long verified = SSL_get_verify_result(ssl_.get());
  if (verified != X509_V_OK && !request.root_cert.empty()) {
    return absl::UnknownError(
        absl::StrCat("its certificate is not trusted: ", X509_verify_cert_error_string(verified)));
  }
  if (ERR_GET_REASON(ERR_peek_error()) == SSL_R_WRONG_VERSION_NUMBER) {
    return absl::UnknownError("it does not speak TLS: the URL has to begin with http or grpc");
  }
  return absl::UnknownError(absl::StrCat("no TLS connection: ", TlsReason()));
}

absl::Status ProbeConnection::Write(absl::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t written;
    if (ssl_ != nullptr) {
      written = SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()));
      if (written <= 0) return absl::UnknownError(TlsReason());
    } else {
      written = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (written < 0) return SystemError(errno);
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ProbeConnection::Read() {
  std::array<char, kReadBytes> bytes;
  ssize_t got;
  if (ssl_ != nullptr) {
    ERR_clear_error();
    got = SSL_read(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()));
    const bool ended =
        got <= 0 && SSL_get_error(ssl_.get(), static_cast<int>(got)) == SSL_ERROR_ZERO_RETURN;
    if (got <= 0 && !ended) return absl::UnknownError(TlsReason());
  } else {
    got = recv(fd_, bytes.data(), bytes.size(), 0);
    if (got < 0) return SystemError(errno);
  }
  return std::string(bytes.data(), got > 0 ? static_cast<size_t>(got) : 0);
}

}  // namespace nereid
