// SPDX-License-Identifier: Apache-2.0
// ProbeConnection: a client's connection, plain or with TLS. All its functions block, without a
// time limit: `nereid probe` limits the whole. Thread-compatible.
#ifndef NEREID_APPS_NEREID_PROBE_PROBE_CONNECTION_H_
#define NEREID_APPS_NEREID_PROBE_PROBE_CONNECTION_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>
#include <openssl/ssl.h>

#include <memory>
#include <string>

#include "probe/probe_request.h"

namespace nereid {

class ProbeConnection {
 public:
  // UNAVAILABLE if nothing listens at the target, INVALID_ARGUMENT for a file of a certificate or
  // key that cannot be used, UNKNOWN for the rest.
  static absl::StatusOr<std::unique_ptr<ProbeConnection>> Open(const ProbeTarget& target,
                                                               const ProbeRequest& request);
  // To the Unix socket at `path`.
  static absl::StatusOr<std::unique_ptr<ProbeConnection>> OpenFile(const std::string& path);
  ~ProbeConnection();
  ProbeConnection(const ProbeConnection&) = delete;
  ProbeConnection& operator=(const ProbeConnection&) = delete;

  absl::Status Write(absl::string_view bytes);
  // At least one byte, or none at the end of the connection.
  absl::StatusOr<std::string> Read();

 private:
  struct Free {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };

  explicit ProbeConnection(int fd) : fd_(fd) {}
  absl::Status StartTls(const ProbeTarget& target, const ProbeRequest& request);

  const int fd_;
  std::unique_ptr<SSL_CTX, Free> context_;
  std::unique_ptr<SSL, Free> ssl_;  // null without TLS
};

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_PROBE_PROBE_CONNECTION_H_
