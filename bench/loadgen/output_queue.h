// OutputQueue: bytes to be sent on a socket. Small pieces are joined, large ones stay in place, and
// everything leaves with as few system calls as the socket allows. Used by one thread.
#ifndef NEREID_BENCH_LOADGEN_OUTPUT_QUEUE_H_
#define NEREID_BENCH_LOADGEN_OUTPUT_QUEUE_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <cstddef>
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

  // Writes until the queue is empty or the socket takes no more. UNAVAILABLE if the connection is
  // lost.
  absl::Status WriteTo(int fd);

 private:
  struct Piece {
    std::string copied;  // one of the two is empty
    absl::string_view lasting;
    absl::string_view bytes() const { return lasting.empty() ? copied : lasting; }
  };

  void Consume(size_t written);

  std::deque<Piece> pieces_;
  size_t sent_ = 0;    // bytes of the first piece that are written
  std::string spare_;  // memory of a piece that is written
};

}  // namespace nereid::bench

#endif  // NEREID_BENCH_LOADGEN_OUTPUT_QUEUE_H_
