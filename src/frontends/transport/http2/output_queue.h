// SPDX-License-Identifier: Apache-2.0
// OutputQueue: bytes on their way to a socket, in order: some copied into the queue, others in the
// place where their owner has them. Thread-compatible; owned by a connection or a stream.
#ifndef NEREID_FRONTENDS_TRANSPORT_HTTP2_OUTPUT_QUEUE_H_
#define NEREID_FRONTENDS_TRANSPORT_HTTP2_OUTPUT_QUEUE_H_

#include <absl/container/inlined_vector.h>
#include <absl/strings/string_view.h>
#include <absl/types/span.h>
#include <sys/uio.h>

#include <cstddef>
#include <memory>
#include <string>

namespace nereid::http2 {

class OutputQueue {
 public:
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // Bytes that the queue itself holds, used or not; without what is shared.
  size_t memory() const { return own_.capacity() + pieces_.capacity() * sizeof(Piece); }

  // Copies `bytes`.
  void Append(absl::string_view bytes);
  // The same, but an empty queue takes over their memory.
  void AppendOwned(std::string bytes);
  // Refers to `bytes`, which `owner` keeps alive until they have left the queue.
  void AppendShared(absl::string_view bytes, std::shared_ptr<const void> owner);

  // The first pieces, as many as fit. Valid until the queue changes.
  size_t Gather(absl::Span<iovec> pieces) const;
  // The first `n` bytes are sent. REQUIRES: n <= size().
  void Consume(size_t n);
  // Moves the first `n` bytes to the end of `to`. REQUIRES: n <= size().
  void MoveTo(OutputQueue* to, size_t n);
  void Clear();

 private:
  struct Piece {
    const char* shared;  // null: in own_
    size_t offset;       // in own_
    size_t size;
    std::shared_ptr<const void> owner;
  };
  const char* DataOf(const Piece& piece) const {
    return piece.shared != nullptr ? piece.shared : own_.data() + piece.offset;
  }
  // The first `n` bytes of `piece` have left the queue.
  void Advance(Piece* piece, size_t n);
  // Frees what has left the queue, now and then.
  void Compact();

  std::string own_;
  size_t own_begin_ = 0;  // what is before it in own_ has left the queue
  absl::InlinedVector<Piece, 4> pieces_;
  size_t front_ = 0;  // the first piece that still has bytes
  size_t size_ = 0;
};

}  // namespace nereid::http2

#endif  // NEREID_FRONTENDS_TRANSPORT_HTTP2_OUTPUT_QUEUE_H_
