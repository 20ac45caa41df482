// SPDX-License-Identifier: Apache-2.0
// TlsContext: what all TLS connections of a listener share: certificate, key, and the rules of the
// handshake. Reads its files again when they change. Shared by the listener and its connections;
// thread-safe.
#ifndef NEREID_FRONTENDS_TRANSPORT_TLS_CONTEXT_H_
#define NEREID_FRONTENDS_TRANSPORT_TLS_CONTEXT_H_

#include <absl/status/statusor.h>
#include <openssl/types.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/watched_files.h"
#include "frontends/transport/tls_options.h"

namespace nereid::transport {

class TlsContext {
 public:
  // `alpn` are the application protocols, the preferred one first. A client that names protocols,
  // but none of these, is refused; one that names none is accepted. If `alpn` is empty, all clients
  // are accepted.
  //
  // INVALID_ARGUMENT for a file that is not named or has the wrong content, NOT_FOUND for one that
  // cannot be read, RESOURCE_EXHAUSTED without memory. REQUIRES: `clock` lives as long as the
  // context; a protocol has 1 to 255 bytes.
  static absl::StatusOr<std::shared_ptr<TlsContext>> Create(const TlsFiles& files,
                                                            const std::vector<std::string>& alpn,
                                                            Clock* clock);

  // The context for the connections of a port; null if it is to be plain. Errors as of Create.
  static absl::StatusOr<std::shared_ptr<TlsContext>> ForPort(const TlsOptions& options,
                                                             const std::vector<std::string>& alpn);

  // The server's side of a new connection, which the caller frees before this context goes; with
  // the files that were loaded last. Null without memory.
  SSL* New() ABSL_LOCKS_EXCLUDED(mu_);

  // Loads the files again if they have changed, for connections made from then on; a change is
  // noticed within WatchedFiles::kLookEvery. If the new files cannot be used, logs a warning, once
  // for each change, and keeps the old ones. Reads files, so it may block for a moment.
  void ReloadIfChanged() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct FreeContext {
    void operator()(SSL_CTX* context) const;
  };
  using ContextPtr = std::unique_ptr<SSL_CTX, FreeContext>;

  TlsContext(const TlsFiles& files, std::string alpn, Clock* clock)
      : files_(files),
        alpn_(std::move(alpn)),
        watched_({files.certificate, files.key, files.root}, clock) {}

  absl::StatusOr<ContextPtr> Load() const;
  // Picks one of alpn_; called by OpenSSL with the context as `self`.
  static int SelectAlpn(SSL* ssl, const unsigned char** selected, unsigned char* selected_size,
                        const unsigned char* offered, unsigned int offered_size, void* self);

  const TlsFiles files_;
  const std::string alpn_;  // as on the wire: each protocol behind a byte with its length
  WatchedFiles watched_;

  Mutex mu_;
  ContextPtr context_ ABSL_GUARDED_BY(mu_);
};

}  // namespace nereid::transport

#endif  // NEREID_FRONTENDS_TRANSPORT_TLS_CONTEXT_H_
