// StreamFlow: what one inference stream writes next, when it ends, and who has to wait because its
// client reads slowly. Decides only: whoever calls carries the returned Action out. Thread-safe.
//
// Messages are written one at a time. A message waits for the client alone once its turn has come:
// only such messages count against the limits, so that neither a paused reader nor a sender that is
// held back can be what an earlier answer of the same stream is waiting for.
#ifndef NEREID_FRONTENDS_GRPC_STREAM_FLOW_H_
#define NEREID_FRONTENDS_GRPC_STREAM_FLOW_H_

#include <absl/status/status.h>
#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>

#include "base/budget.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "frontends/grpc/stream_order.h"
#include "infer/response.h"

namespace nereid {

// How much of a stream may wait for its client.
struct StreamLimits {
  uint64_t bytes = 16 << 20;  // of messages of one stream; beyond, its senders are held back
  int messages_per_request = std::numeric_limits<int>::max();  // the same, of one request
  // Senders are held back so long while the client takes nothing; then the stream is given up.
  Duration stall = std::chrono::seconds(60);
  // Requests that exist at a time, from their message to their last answer on its way; beyond, no
  // further one is read. 0: any number.
  int64_t requests = 0;
};

// Messages of one request that wait for the client. Belongs to the request; only StreamFlow looks
// into it.
struct WaitingMessages {
  int count = 0;  // guarded by the flow's mutex
};

// A message on its way to the client, with what it keeps until it has been written. Moved by
// pointer only: a ByteBuffer has no cheap move.
struct StreamMessage {
  grpc::ByteBuffer bytes;
  uint64_t byte_size = 0;  // of `bytes`; set by StreamFlow
  std::shared_ptr<void> request;
  WaitingMessages* waiting = nullptr;  // of `request`
  // The bytes count against the server's limit, by these units or by those of the response.
  BudgetUnits units;
  std::unique_ptr<InferResponse> response;
};

class StreamFlow {
 public:
  using MessagePtr = std::unique_ptr<StreamMessage>;
  using Order = StreamOrder<MessagePtr>;

  struct Action {
    enum class Kind {
      kNone,
      kWrite,   // write `message`, which is valid until then, and call Written
      kFinish,  // end the call with `status`: nothing is written any more
    };
    Kind kind = Kind::kNone;
    const grpc::ByteBuffer* message = nullptr;
    bool more = false;  // another message follows at once, so this one may wait for it
    absl::Status status;
    bool read = false;  // besides, read the next request: MayRead was false
  };

  // `clock` outlives this.
  StreamFlow(const StreamLimits& limits, Clock* clock) : limits_(limits), clock_(clock) {}

  // ---- Requests.
  // One more request is open, until its EndRequest, and exists, until its RequestGone.
  void BeginRequest() ABSL_LOCKS_EXCLUDED(mu_);
  [[nodiscard]] Action RequestGone() ABSL_LOCKS_EXCLUDED(mu_);
  // Requests that exist.
  int64_t requests() const ABSL_LOCKS_EXCLUDED(mu_);
  // The place in the order of a request that has one answer.
  Order::Ticket TakePlace() ABSL_LOCKS_EXCLUDED(mu_);
  [[nodiscard]] Action EndRequest() ABSL_LOCKS_EXCLUDED(mu_);

  // ---- Messages. They are dropped once the stream is broken.
  [[nodiscard]] Action Send(MessagePtr message) ABSL_LOCKS_EXCLUDED(mu_);
  [[nodiscard]] Action SendInOrder(Order::Ticket ticket, MessagePtr message)
      ABSL_LOCKS_EXCLUDED(mu_);
  // The message of the last kWrite is with the client (`ok`), or will never be.
  [[nodiscard]] Action Written(bool ok) ABSL_LOCKS_EXCLUDED(mu_);

  // ---- Ends.
  // The client sends no more requests: the stream ends when all are answered.
  [[nodiscard]] Action HalfClose() ABSL_LOCKS_EXCLUDED(mu_);
  // Ends the stream with `error` as soon as the message being written is; what waits is dropped.
  [[nodiscard]] Action Fail(absl::Status error) ABSL_LOCKS_EXCLUDED(mu_);
  // Nobody reads any more. What waits is dropped, who is held back goes on.
  [[nodiscard]] Action Break() ABSL_LOCKS_EXCLUDED(mu_);

  // ---- Slow clients.
  // False when the client shall read its answers first, or has enough requests under way: an Action
  // with `read` follows then.
  [[nodiscard]] bool MayRead() ABSL_LOCKS_EXCLUDED(mu_);
  // Holds the calling thread, which has sent a message of the request of `waiting`, until there is
  // room for the next one or the stream is broken. False when the client took nothing for too
  // long: the stream is to be given up.
  [[nodiscard]] bool HoldBack(const WaitingMessages& waiting) ABSL_LOCKS_EXCLUDED(mu_);

  // Bytes that wait for the client.
  uint64_t waiting_bytes() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // What a broken stream no longer needs. To be destroyed without the lock: with a message its
  // request may go.
  struct Dropped {
    std::deque<MessagePtr> ready;
    Order order;
  };

  void Queue(MessagePtr message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Dropped BreakLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Action Next() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Whether reading, which was paused, goes on.
  bool ResumeReading() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool HasMostRequests() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return limits_.requests > 0 && requests_ >= limits_.requests;
  }
  // Whether a sender is held back, and whether one that is may go on: not the same, so that a slow
  // client does not wake a thread for every message.
  bool IsFull(const WaitingMessages& waiting) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool HasRoom(const WaitingMessages& waiting) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const StreamLimits limits_;
  Clock* const clock_;
  mutable Mutex mu_;
  CondVar room_;
  int held_back_ ABSL_GUARDED_BY(mu_) = 0;
  Order order_ ABSL_GUARDED_BY(mu_);
  std::deque<MessagePtr> ready_ ABSL_GUARDED_BY(mu_);  // the first one is being written if writing_
  uint64_t ready_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t written_ ABSL_GUARDED_BY(mu_) = 0;  // messages
  int64_t open_requests_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t requests_ ABSL_GUARDED_BY(mu_) = 0;
  bool writing_ ABSL_GUARDED_BY(mu_) = false;
  bool read_paused_ ABSL_GUARDED_BY(mu_) = false;
  bool half_closed_ ABSL_GUARDED_BY(mu_) = false;
  bool broken_ ABSL_GUARDED_BY(mu_) = false;
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
  std::optional<absl::Status> failure_ ABSL_GUARDED_BY(mu_);
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_STREAM_FLOW_H_
