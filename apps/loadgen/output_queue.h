// SPDX-License-Identifier: Apache-2.0
// OutputQueue: bytes to be sent on a socket. Small pieces are joined, large ones stay in place, and
// everything leaves with as few system calls as the socket allows. Used by one thread.
#ifndef NEREID_APPS_LOADGEN_OUTPUT_QUEUE_H_
#define NEREID_APPS_LOADGEN_OUTPUT_QUEUE_H_

#include <absl/functional/function_ref.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>
#include <absl/types/span.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

namespace nereid::bench {

class OutputQueue {
 public:
  // Pieces up to this size are cheaper to copy than to pass on one by one.
  static constexpr size_t kCopiedBytes = 4096;

  // Queues a copy.
  void Append(absl::string_view bytes);
  // Queues `bytes`, without a copy if they are many: they must stay valid until they are written.
  void AppendLasting(absl::string_view bytes);

  bool empty() const { return pieces_.empty(); }
  // Bytes queued so far, and how many of them are written. A lasting piece that ended at `queued`
  // is no longer needed when `written` has reached that.
  uint64_t queued() const { return queued_; }
  uint64_t written() const { return written_; }

  // Writes a beginning of the pieces and returns its length, 0 if that would have to wait.
  using Write = absl::FunctionRef<absl::StatusOr<size_t>(absl::Span<const iovec> pieces)>;

  // Writes until the queue is empty or `write` takes no more. Returns the error of `write`.
  absl::Status WriteWith(Write write);
  // The same to the socket `fd`. UNAVAILABLE if the connection is lost.
  absl::Status WriteTo(int fd);

 private:
  struct Piece {
    std::string copied;  // one of the two is empty
    absl::string_view lasting;
    absl::string_view bytes() const { return lasting.empty() ? copied : lasting; }
  };

  void Consume(size_t written);

  std::deque<Piece> pieces_;
  size_t sent_ = 0;  // bytes of the first piece that are written
  uint64_t queued_ = 0;
  uint64_t written_ = 0;
  std::string spare_;  // memory of a piece that is written
};

}  // namespace nereid::bench

#endif  // NEREID_APPS_LOADGEN_OUTPUT_QUEUE_H_
