// SPDX-License-Identifier: Apache-2.0
#include "frontends/transport/tls_stream.h"

#include <absl/strings/str_cat.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace nereid::transport {
namespace {

constexpr size_t kBatchBytes = UnsentBytes::kBatchBytes;
// Far more than Write ever leaves behind. Only a peer that makes TLS answer (changes of keys) and
// never reads the answers gets here; nothing more is read from it.
constexpr size_t kMostUnsentBytes = 4 * kBatchBytes;

size_t TotalBytes(absl::Span<const iovec> pieces) {
  size_t total = 0;
  for (const iovec& piece : pieces) total += piece.iov_len;
  return total;
}

}  // namespace

struct TlsStream::SocketBio {
  static BIO* New(TlsStream* stream) {
    static BIO_METHOD* const method = MakeMethod();
    BIO* const bio = method == nullptr ? nullptr : BIO_new(method);
    if (bio == nullptr) return nullptr;
    BIO_set_data(bio, stream);
    BIO_set_init(bio, 1);
    return bio;
  }

  static BIO_METHOD* MakeMethod() {
    BIO_METHOD* const method =
        BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "nereid socket");
    if (method == nullptr) return nullptr;
    BIO_meth_set_read(method, &Read);
    BIO_meth_set_write(method, &Write);
    BIO_meth_set_ctrl(method, &Control);
    return method;
  }

  static TlsStream* StreamOf(BIO* bio) { return static_cast<TlsStream*>(BIO_get_data(bio)); }

  static int Read(BIO* bio, char* data, int size) {
    BIO_clear_retry_flags(bio);
    bool retry = false;
    const int outcome = StreamOf(bio)->ReadSocket(data, size, &retry);
    if (retry) BIO_set_retry_read(bio);
    return outcome;
  }

  static int Write(BIO* bio, const char* data, int size) {
    BIO_clear_retry_flags(bio);
    return StreamOf(bio)->TakeRecord(data, size);
  }

  static long Control(BIO*, int command, long, void*) {  // NOLINT(google-runtime-int)
    return command == BIO_CTRL_FLUSH ? 1 : 0;            // TlsStream flushes after every call
  }
};

void TlsStream::FreeSsl::operator()(SSL* ssl) const { SSL_free(ssl); }

TlsStream::TlsStream(int fd, std::shared_ptr<TlsContext> context)
    : fd_(fd), context_(std::move(context)), ssl_(context_->New()) {
  BIO* const bio = ssl_ == nullptr ? nullptr : SocketBio::New(this);
  if (bio == nullptr) {
    Fail("no memory for a TLS connection");
    return;
  }
  SSL_set_bio(ssl_.get(), bio, bio);
}

TlsStream::~TlsStream() = default;

int TlsStream::ReadSocket(char* data, int size, bool* retry) {
  if (unsent_.size() >= kMostUnsentBytes && !Flush()) overflowed_ = true;
  if (drained_ || overflowed_) {
    *retry = true;
    return -1;
  }
  ssize_t got;
  do {
    got = recv(fd_, data, static_cast<size_t>(size), MSG_DONTWAIT);
  } while (got < 0 && errno == EINTR);
  if (got > 0) {
    starved_ = false;
    drained_ = got < size;
    return static_cast<int>(got);
  }
  if (got == 0) {
    peer_closed_ = true;
    return 0;
  }
  *retry = errno == EAGAIN || errno == EWOULDBLOCK;
  if (!*retry) socket_error_ = errno;
  return -1;
}

int TlsStream::TakeRecord(const char* data, int size) {
  return unsent_.Append(data, static_cast<size_t>(size)) ? size : -1;
}

IoResult TlsStream::Read(absl::Span<char> space) {
  if (failed_) return {IoResult::kFailed, 0};
  wants_read_ = drained_ = overflowed_ = false;
  if (!handshake_done_ && !Handshake()) {
    return {failed_ ? IoResult::kFailed : IoResult::kWouldBlock, 0};
  }
  size_t filled = 0;
  IoResult::Kind kind = IoResult::kOk;
  while (filled < space.size() && kind == IoResult::kOk) {
    size_t n = 0;
    ERR_clear_error();
    const int outcome = SSL_read_ex(ssl_.get(), space.data() + filled, space.size() - filled, &n);
    if (outcome == 1) {
      filled += n;
    } else {
      kind = Judge(outcome);
    }
  }
  Flush();  // what TLS has to say itself: tickets, alerts
  unsent_.ReleaseIfEmpty();
  // An end or a failure behind the bytes is found again by the next call.
  if (filled > 0) return {IoResult::kOk, filled};
  return {failed_ ? IoResult::kFailed : kind, 0};
}

IoResult TlsStream::Write(absl::Span<const iovec> pieces) {
  if (failed_) return {IoResult::kFailed, 0};
  wants_read_ = drained_ = overflowed_ = false;
  const size_t total = TotalBytes(pieces);
  if (handshake_done_ || Handshake()) {
    RecordCutter cutter(pieces);
    cutter.Skip(held_);
    while (Flush() && !cutter.done() && !failed_) EncryptBatch(&cutter);
  }
  unsent_.ReleaseIfEmpty();
  if (failed_) return {IoResult::kFailed, 0};
  // As many bytes as wait for the socket are not yet reported as written. So the caller comes back
  // with them when the socket is writable, and sees a slow peer move.
  const size_t written = std::min(total, held_ - std::min(held_, unsent_.size()));
  held_ -= written;
  if (written > 0 || (total == 0 && unsent_.size() == 0 && handshake_done_)) {
    return {IoResult::kOk, written};
  }
  return {IoResult::kWouldBlock, 0};
}

void TlsStream::EncryptBatch(RecordCutter* cutter) {
  std::array<char, RecordCutter::kRecordBytes> space;
  while (!cutter->done() && unsent_.size() < kBatchBytes) {
    absl::string_view record = cutter->Next(space.data());
    while (!record.empty()) {  // once, unless the client has asked for shorter records
      size_t n = 0;
      ERR_clear_error();
      const int outcome = SSL_write_ex(ssl_.get(), record.data(), record.size(), &n);
      if (outcome != 1) {
        // It never asks to come again: TakeRecord takes all, and there is no handshake any more.
        if (Judge(outcome) != IoResult::kFailed) Fail("TLS refused to encrypt");
        return;
      }
      record.remove_prefix(n);
      held_ += n;
    }
  }
}

void TlsStream::SendCloseNotify() {
  if (failed_ || !handshake_done_) return;
  ERR_clear_error();
  SSL_shutdown(ssl_.get());
  ERR_clear_error();
  Flush();
}

bool TlsStream::Handshake() {
  ERR_clear_error();
  const int outcome = SSL_do_handshake(ssl_.get());
  if (outcome == 1) {
    handshake_done_ = true;
  } else if (Judge(outcome) == IoResult::kEnd) {
    Fail("the peer ended TLS during the handshake");
  }
  Flush();
  return handshake_done_ && !failed_;
}

bool TlsStream::Flush() {
  while (unsent_.size() > 0) {
    const ssize_t sent = send(fd_, unsent_.data(), unsent_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN && errno != EWOULDBLOCK && !failed_) {
        failed_ = true;  // no text yet: OpenSSL may be among the callers, so nothing may throw
        send_error_ = errno;
      }
      return false;
    }
    const bool full = static_cast<size_t>(sent) < unsent_.size();
    unsent_.Consume(static_cast<size_t>(sent));
    if (full) return false;
  }
  return true;
}

IoResult::Kind TlsStream::Judge(int outcome) {
  switch (SSL_get_error(ssl_.get(), outcome)) {
    case SSL_ERROR_WANT_READ:
      wants_read_ = !overflowed_;
      starved_ = true;
      return IoResult::kWouldBlock;
    case SSL_ERROR_ZERO_RETURN:
      return IoResult::kEnd;
    default:
      Fail(Reason());
      return IoResult::kFailed;
  }
}

void TlsStream::Fail(std::string text) {
  failed_ = true;
  error_text_ = std::move(text);
}

std::string TlsStream::Reason() const {
  const unsigned long error = ERR_peek_last_error();  // NOLINT(google-runtime-int): their type
  const char* const text = ERR_reason_error_string(error);
  const auto verified = SSL_get_verify_result(ssl_.get());
  ERR_clear_error();
  if (socket_error_ != 0) return absl::StrCat("receiving failed: ", std::strerror(socket_error_));
  if (peer_closed_) {
    return handshake_done_ ? "the peer closed the connection without ending TLS"
                           : "the peer closed the connection during the TLS handshake";
  }
  return absl::StrCat("TLS failed: ", text == nullptr ? "unknown error" : text,
                      verified == X509_V_OK ? "" : ": ",
                      verified == X509_V_OK ? "" : X509_verify_cert_error_string(verified));
}

std::string TlsStream::error_text() const {
  if (send_error_ == 0) return error_text_;
  return absl::StrCat("sending failed: ", std::strerror(send_error_));
}

void TlsStream::Release() {
  failed_ = true;
  wants_read_ = false;
  ssl_.reset();
  unsent_ = UnsentBytes();
}

bool TlsStream::has_buffered() const {
  return !failed_ && !starved_ && SSL_has_pending(ssl_.get()) != 0;
}

absl::string_view TlsStream::alpn() const {
  if (!handshake_done_ || ssl_ == nullptr) return "";
  const unsigned char* name = nullptr;
  unsigned int size = 0;
  SSL_get0_alpn_selected(ssl_.get(), &name, &size);
  return absl::string_view(reinterpret_cast<const char*>(name), size);
}

}  // namespace nereid::transport
