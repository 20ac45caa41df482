// SPDX-License-Identifier: Apache-2.0
// The two sides of encryption: bytes of the caller cut into records, and records that wait for the
// socket. Thread-compatible; they belong to a TlsStream.
#ifndef NEREID_FRONTENDS_TRANSPORT_TLS_RECORDS_H_
#define NEREID_FRONTENDS_TRANSPORT_TLS_RECORDS_H_

#include <absl/strings/string_view.h>
#include <absl/types/span.h>
#include <sys/uio.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>

namespace nereid::transport {

// The bytes of several pieces, cut into records.
class RecordCutter {
 public:
  static constexpr size_t kRecordBytes = 16 * 1024;  // the most that TLS allows

  explicit RecordCutter(absl::Span<const iovec> pieces) : pieces_(pieces) { SkipEmpty(); }

  bool done() const { return pieces_.empty(); }

  void Skip(size_t n) {
    while (n > 0 && !done()) {
      const size_t part = std::min(n, Front().size());
      Advance(part);
      n -= part;
    }
  }

  // The next record, in place if it is large or the last; otherwise gathered in `space`, which has
  // kRecordBytes.
  absl::string_view Next(char* space) {
    absl::string_view front = Front();
    if (front.size() >= kRecordBytes || pieces_.size() == 1) {
      front = front.substr(0, kRecordBytes);
      Advance(front.size());
      return front;
    }
    size_t size = 0;
    while (size < kRecordBytes && !done()) {
      const absl::string_view part = Front().substr(0, kRecordBytes - size);
      std::memcpy(space + size, part.data(), part.size());
      size += part.size();
      Advance(part.size());
    }
    return absl::string_view(space, size);
  }

 private:
  // What is left of the first piece.
  absl::string_view Front() const {
    const iovec& piece = pieces_.front();
    return absl::string_view(static_cast<const char*>(piece.iov_base), piece.iov_len)
        .substr(offset_);
  }

  void Advance(size_t n) {
    offset_ += n;
    if (offset_ == pieces_.front().iov_len) {
      offset_ = 0;
      pieces_.remove_prefix(1);
      SkipEmpty();
    }
  }

  void SkipEmpty() {
    while (!done() && pieces_.front().iov_len == 0) pieces_.remove_prefix(1);
  }

  absl::Span<const iovec> pieces_;
  size_t offset_ = 0;  // in the first
};

// Encrypted bytes on their way to the socket.
class UnsentBytes {
 public:
  // A record is begun while fewer bytes than these are waiting. So full records leave by threes,
  // which costs less than other numbers: Linux likes calls of just under 64 KiB.
  static constexpr size_t kBatchBytes = 48 * 1024;

  // Throws nothing; false without memory.
  bool Append(const char* data, size_t size);
  void Consume(size_t n);
  // Gives back the memory if it is much and not in use. Not part of Consume: what is sent in many
  // batches needs it again at once.
  void ReleaseIfEmpty();
  const char* data() const { return bytes_.get() + begin_; }
  size_t size() const { return end_ - begin_; }

 private:
  std::unique_ptr<char[]> bytes_;
  size_t begin_ = 0, end_ = 0, capacity_ = 0;
};

}  // namespace nereid::transport

#endif  // NEREID_FRONTENDS_TRANSPORT_TLS_RECORDS_H_
