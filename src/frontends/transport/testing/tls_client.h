// SPDX-License-Identifier: Apache-2.0
// A TLS client for tests that runs on the test's own thread: OpenSSL works in memory, and Pump
// moves bytes between that memory and a non-blocking socket. Thread-compatible.
#ifndef NEREID_FRONTENDS_TRANSPORT_TESTING_TLS_CLIENT_H_
#define NEREID_FRONTENDS_TRANSPORT_TESTING_TLS_CLIENT_H_

#include <absl/strings/string_view.h>
#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <vector>

#include "frontends/transport/testing/certificates.h"

namespace nereid::transport {

class TlsClient {
 public:
  struct Options {
    std::vector<std::string> alpn;
    std::string root;   // verifies the server if not empty
    Identity identity;  // what it presents, if not empty
    int min_version = 0, max_version = 0;
    int max_fragment_code = 0;  // TLSEXT_max_fragment_length_...
  };

  // `fd` stays the caller's.
  TlsClient(int fd, const Options& options);
  ~TlsClient();
  TlsClient(const TlsClient&) = delete;
  TlsClient& operator=(const TlsClient&) = delete;

  // Moves what can be moved now; false if the socket is at its end or broken.
  bool Pump();
  // One step of the handshake, in memory only; whether it is done.
  bool Handshake();
  // Encrypts into memory.
  void Write(absl::string_view text);
  // All that has arrived so far.
  std::string Read();

  // What waits in memory to be sent, taken out.
  std::string TakeOutput();
  // What was received elsewhere.
  void GiveInput(absl::string_view bytes);

  bool failed() const { return failed_; }
  bool ended() const { return ended_; }  // the server has sent close_notify
  std::string alpn() const;
  // Common name of the server's certificate.
  std::string ServerName() const;
  SSL* ssl() { return ssl_.get(); }
  // What a later client resumes, once something was read.
  std::shared_ptr<SSL_SESSION> Session() const;
  void Resume(const std::shared_ptr<SSL_SESSION>& session);

 private:
  struct Free {
    void operator()(SSL_CTX* context) const;
    void operator()(SSL* ssl) const;
  };
  bool Judge(int outcome);

  const int fd_;
  std::unique_ptr<SSL_CTX, Free> context_;
  std::unique_ptr<SSL, Free> ssl_;
  std::string unsent_;
  bool failed_ = false;
  bool ended_ = false;
};

}  // namespace nereid::transport

#endif  // NEREID_FRONTENDS_TRANSPORT_TESTING_TLS_CLIENT_H_
