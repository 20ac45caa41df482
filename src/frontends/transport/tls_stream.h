// SPDX-License-Identifier: Apache-2.0
// TlsStream: the server's side of TLS on a non-blocking socket. Belongs to a Channel, which
// describes what Read and Write promise. Not thread-safe; used on one loop thread.
//
// OpenSSL reads straight from the socket. What it writes is collected, so that several records
// leave with one system call.
#ifndef NEREID_FRONTENDS_TRANSPORT_TLS_STREAM_H_
#define NEREID_FRONTENDS_TRANSPORT_TLS_STREAM_H_

#include <absl/strings/string_view.h>
#include <absl/types/span.h>
#include <openssl/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <memory>
#include <string>

#include "frontends/transport/tls_context.h"
#include "frontends/transport/tls_records.h"

namespace nereid::transport {

struct IoResult {
  enum Kind {
    kOk,
    kWouldBlock,
    kEnd,     // Read: the peer sends nothing more
    kFailed,  // the connection is of no more use
  };
  Kind kind;
  size_t bytes;  // 0 unless kOk
};

class TlsStream {
 public:
  // `fd` stays the caller's and open as long as this lives.
  TlsStream(int fd, std::shared_ptr<TlsContext> context);
  ~TlsStream();
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;

  IoResult Read(absl::Span<char> space);
  IoResult Write(absl::Span<const iovec> pieces);
  // Best effort.
  void SendCloseNotify();
  // Gives all memory back; the stream has failed from now on.
  void Release();

  bool wants_read() const { return wants_read_; }
  bool wants_write() const { return unsent_.size() > 0; }
  bool has_buffered() const;
  bool handshake_done() const { return handshake_done_; }
  absl::string_view alpn() const;
  std::string error_text() const;

 private:
  struct FreeSsl {
    void operator()(SSL* ssl) const;
  };
  // OpenSSL's view of the socket. None of them throws.
  struct SocketBio;
  int ReadSocket(char* data, int size, bool* retry);
  int TakeRecord(const char* data, int size);

  // Whether it is done now; if not, failed_ or what to wait for is set.
  bool Handshake();
  // Encrypts the next records, as many as are sent together.
  void EncryptBatch(RecordCutter* cutter);
  // Whether everything is sent; if not, either the socket is full or failed_ is set.
  bool Flush();
  // What to return for an unsuccessful call of OpenSSL; sets failed_ or what to wait for.
  IoResult::Kind Judge(int outcome);
  void Fail(std::string text);
  std::string Reason() const;

  const int fd_;
  const std::shared_ptr<TlsContext> context_;
  std::unique_ptr<SSL, FreeSsl> ssl_;  // null without memory
  UnsentBytes unsent_;
  // Bytes of the caller that are encrypted but not yet reported as written.
  size_t held_ = 0;

  bool handshake_done_ = false;
  bool failed_ = false;
  bool wants_read_ = false;
  bool drained_ = false;     // during one call: the socket has nothing more
  bool overflowed_ = false;  // during one call: nothing is read until something is sent
  bool starved_ = false;     // OpenSSL has used all complete records that it has received
  bool peer_closed_ = false;
  int socket_error_ = 0;  // of recv
  int send_error_ = 0;
  std::string error_text_;
};

}  // namespace nereid::transport

#endif  // NEREID_FRONTENDS_TRANSPORT_TLS_STREAM_H_
