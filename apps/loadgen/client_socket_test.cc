// SPDX-License-Identifier: Apache-2.0
#include "apps/loadgen/client_socket.h"

#include <absl/strings/str_cat.h>
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "frontends/transport/testing/certificates.h"

namespace nereid::bench {
namespace {

constexpr size_t kBytes = 3 << 20;  // more than a socket holds

std::string Pattern() {
  std::string text(kBytes, 0);
  for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 31 >> 3);
  return text;
}

// A server that reads kBytes from one TLS connection, sends them back, and ends the connection.
class TlsEcho {
 public:
  TlsEcho() : context_(SSL_CTX_new(TLS_server_method()), SSL_CTX_free) {
    std::signal(SIGPIPE, SIG_IGN);
    const transport::Identity identity = transport::Authority("bench").Issue("localhost");
    Use(identity);
    SSL_CTX_set_alpn_select_cb(context_.get(), Select, this);
    listener_ = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(listener_, 1), 0);
    socklen_t size = sizeof address;
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    address_ = absl::StrCat("127.0.0.1:", ntohs(address.sin_port));
    thread_ = std::thread([this] { Serve(); });
  }
  ~TlsEcho() {
    thread_.join();
    close(listener_);
  }

  const std::string& address() const { return address_; }
  std::string offered;  // by ALPN; to be read after the end of the connection

 private:
  void Use(const transport::Identity& identity) {
    const std::unique_ptr<BIO, decltype(&BIO_free)> certificate(
        BIO_new_mem_buf(identity.certificate.data(), static_cast<int>(identity.certificate.size())),
        BIO_free);
    const std::unique_ptr<X509, decltype(&X509_free)> parsed(
        PEM_read_bio_X509(certificate.get(), nullptr, nullptr, nullptr), X509_free);
    ASSERT_EQ(SSL_CTX_use_certificate(context_.get(), parsed.get()), 1);
    const std::unique_ptr<BIO, decltype(&BIO_free)> key(
        BIO_new_mem_buf(identity.key.data(), static_cast<int>(identity.key.size())), BIO_free);
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> parsed_key(
        PEM_read_bio_PrivateKey(key.get(), nullptr, nullptr, nullptr), EVP_PKEY_free);
    ASSERT_EQ(SSL_CTX_use_PrivateKey(context_.get(), parsed_key.get()), 1);
  }

  static int Select(SSL*, const unsigned char** out, unsigned char* size, const unsigned char* in,
                    unsigned, void* self) {
    *out = in + 1;
    *size = in[0];
    static_cast<TlsEcho*>(self)->offered.assign(reinterpret_cast<const char*>(in + 1), in[0]);
    return SSL_TLSEXT_ERR_OK;
  }

  void Serve() {
    const int fd = accept(listener_, nullptr, nullptr);
    const std::unique_ptr<SSL, decltype(&SSL_free)> tls(SSL_new(context_.get()), SSL_free);
    SSL_set_fd(tls.get(), fd);
    if (SSL_accept(tls.get()) == 1) {
      std::vector<char> all(kBytes);
      size_t read = 0;
      for (size_t got = 0; read < kBytes; read += got) {
        if (SSL_read_ex(tls.get(), all.data() + read, all.size() - read, &got) != 1) break;
      }
      size_t written = 0;
      SSL_write_ex(tls.get(), all.data(), read, &written);
      SSL_shutdown(tls.get());
    }
    close(fd);
  }

  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  int listener_ = -1;
  std::string address_;
  std::thread thread_;
};

void Await(const ClientSocket& socket, int16_t events) {
  pollfd waiting{socket.fd(), events, 0};
  ASSERT_EQ(poll(&waiting, 1, 30'000), 1);
}

TEST(ClientSocketTest, BytesPassThroughTlsInPieces) {
  const std::string sent = Pattern();
  TlsEcho server;
  const absl::StatusOr<ClientTls> tls = ClientTls::Make("h2");
  ASSERT_TRUE(tls.ok()) << tls.status();
  absl::StatusOr<ClientSocket> socket = ClientSocket::Connect(server.address(), &*tls);
  ASSERT_TRUE(socket.ok()) << socket.status();

  size_t done = 0;
  while (done < sent.size()) {
    // A small piece and the rest.
    const size_t small = std::min<size_t>(100, sent.size() - done);
    const iovec pieces[] = {
        {const_cast<char*>(sent.data()) + done, small},
        {const_cast<char*>(sent.data()) + done + small, sent.size() - done - small}};
    const absl::StatusOr<size_t> written = socket->Write(pieces);
    ASSERT_TRUE(written.ok()) << written.status();
    if (*written == 0) Await(*socket, POLLOUT);
    done += *written;
  }

  std::string received;
  std::vector<char> buffer(1000);  // less than a record, so that rests stay with OpenSSL
  absl::Status end;
  for (;;) {
    const absl::StatusOr<size_t> got = socket->Read(absl::MakeSpan(buffer));
    if (!got.ok()) {
      end = got.status();
      break;
    }
    if (*got == 0) Await(*socket, POLLIN);
    received.append(buffer.data(), *got);
  }
  EXPECT_EQ(end.code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(received == sent) << received.size();
  EXPECT_EQ(server.offered, "h2");
}

TEST(ClientSocketTest, NobodyListens) {
  const absl::StatusOr<ClientTls> tls = ClientTls::Make("h2");
  ASSERT_TRUE(tls.ok());
  EXPECT_EQ(ClientSocket::Connect("127.0.0.1:1", &*tls).status().code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(ClientSocket::Connect("nowhere", nullptr).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace nereid::bench
