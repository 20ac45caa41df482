// SPDX-License-Identifier: Apache-2.0
// StreamFlow: decides what one inference stream writes next, when it ends, and which of its
// requests have credit for further responses. It only decides: the caller carries out the returned
// Action. Thread-safe; no call blocks.
//
// Messages are written one at a time. A message counts as waiting for the client only once its turn
// has come, and only such messages count against the limits. An earlier answer of the same stream
// therefore never depends on a paused reader or a sender without credit.
#ifndef NEREID_FRONTENDS_GRPC_STREAM_FLOW_H_
#define NEREID_FRONTENDS_GRPC_STREAM_FLOW_H_

#include <absl/status/status.h>

#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <set>

#include "base/budget.h"
#include "base/mutex.h"
#include "frontends/grpc/out_message.h"
#include "frontends/grpc/stream_order.h"
#include "infer/response.h"
#include "infer/response_credit.h"

namespace nereid {

// Limits on how much of a stream may wait for its client.
struct StreamLimits {
  uint64_t bytes = 16 << 20;  // of messages of one stream; beyond this, requests lose their credit
  int messages_per_request = std::numeric_limits<int>::max();  // the same, per request
  // Requests that exist at a time, from the arrival of their message until their last answer has
  // been sent; beyond this, no further request is read. 0: any number.
  int64_t requests = 0;
};

// Messages of one request that wait for the client. Belongs to the request, but only StreamFlow
// uses the content.
struct WaitingMessages {
  // Credit of a request with several responses; null: it has one. Constant once it has messages.
  std::shared_ptr<ResponseCredit> credit;
  int count = 0;  // guarded by the flow's mutex
};

// A message on its way to the client, with the objects that it keeps alive until it has been
// written.
struct StreamMessage {
  OutMessage bytes;
  uint64_t byte_size = 0;  // of `bytes`; set by StreamFlow
  std::shared_ptr<void> request;
  WaitingMessages* waiting = nullptr;  // belongs to `request`
  // Charge the bytes to the server's limit, unless the response's units do.
  BudgetUnits units;
  std::unique_ptr<InferResponse> response;
  std::shared_ptr<const void> kept;  // mostly null
};

class StreamFlow {
 public:
  using MessagePtr = std::unique_ptr<StreamMessage>;
  using Order = StreamOrder<MessagePtr>;

  struct Action {
    enum class Kind {
      kNone,
      kWrite,   // write `message`, valid until Written is called
      kFinish,  // end the call with `status`: no more writes follow
    };
    Kind kind = Kind::kNone;
    const OutMessage* message = nullptr;
    absl::Status status;
    bool read = false;  // also read the next request: MayRead was false before
    // Senders that have credit again. They are called when the action is destroyed, which must be
    // without a lock.
    ResponseCredit::Woken credited;
  };

  explicit StreamFlow(const StreamLimits& limits) : limits_(limits) {}

  // ---- Requests.
  // One more request is open until its EndRequest, and exists until its RequestGone. `waiting` is
  // the request's.
  void BeginRequest() ABSL_LOCKS_EXCLUDED(mu_);
  [[nodiscard]] Action RequestGone(WaitingMessages* waiting) ABSL_LOCKS_EXCLUDED(mu_);
  // Number of requests that exist.
  int64_t requests() const ABSL_LOCKS_EXCLUDED(mu_);
  // The place in the order for a request that has exactly one answer.
  Order::Ticket TakePlace() ABSL_LOCKS_EXCLUDED(mu_);
  [[nodiscard]] Action EndRequest() ABSL_LOCKS_EXCLUDED(mu_);

  // ---- Messages. They are dropped once the stream is broken. A request that has more of them
  // waiting than it may loses its credit, and gets it back when half has been taken.
  [[nodiscard]] Action Send(MessagePtr message) ABSL_LOCKS_EXCLUDED(mu_);
  [[nodiscard]] Action SendInOrder(Order::Ticket ticket, MessagePtr message)
      ABSL_LOCKS_EXCLUDED(mu_);
  // The message of the last kWrite was written (`ok`), or never will be.
  [[nodiscard]] Action Written(bool ok) ABSL_LOCKS_EXCLUDED(mu_);

  // ---- Ends.
  // The client sends no more requests: the stream ends when all are answered.
  [[nodiscard]] Action HalfClose() ABSL_LOCKS_EXCLUDED(mu_);
  // Ends the stream with `error` once the current write has ended; waiting messages are dropped.
  [[nodiscard]] Action Fail(absl::Status error) ABSL_LOCKS_EXCLUDED(mu_);
  // The client no longer reads. Waiting messages are dropped, and nobody waits for credit any more.
  [[nodiscard]] Action Break() ABSL_LOCKS_EXCLUDED(mu_);

  // ---- Slow clients.
  // False if the client must first read its answers, or has enough requests in progress: an Action
  // with `read` follows then.
  [[nodiscard]] bool MayRead() ABSL_LOCKS_EXCLUDED(mu_);
  // Bytes waiting for the client.
  uint64_t waiting_bytes() const ABSL_LOCKS_EXCLUDED(mu_);
  // The same, for those who charge something to the client of the stream.
  const std::shared_ptr<ResponseCredit::Account>& account() const { return account_; }

 private:
  // Objects that a broken stream no longer needs. Destroy them without the lock, because destroying
  // a message may destroy its request.
  struct Dropped {
    std::deque<MessagePtr> ready;
    Order order;
    ResponseCredit::Woken waived;
  };

  void Queue(MessagePtr message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // `message` does not wait any more.
  void Uncount(const StreamMessage& message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Dropped BreakLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Action Next() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Whether paused reading may continue.
  bool ResumeReading() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool HasMostRequests() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return limits_.requests > 0 && requests_ >= limits_.requests;
  }
  // Gives credit back to the requests that have room again.
  ResponseCredit::Woken GiveCredit() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Whether a request loses its credit, and whether one that has lost it gets it back. The two
  // differ, so that a slow client does not wake a thread for every message.
  bool IsFull(const WaitingMessages& waiting) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool HasRoom(const WaitingMessages& waiting) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const StreamLimits limits_;
  const std::shared_ptr<ResponseCredit::Account> account_ =
      std::make_shared<ResponseCredit::Account>(0);
  mutable Mutex mu_;
  std::set<WaitingMessages*> without_credit_ ABSL_GUARDED_BY(mu_);
  Order order_ ABSL_GUARDED_BY(mu_);
  std::deque<MessagePtr> ready_ ABSL_GUARDED_BY(mu_);  // the first one is being written if writing_
  uint64_t ready_bytes_ ABSL_GUARDED_BY(mu_) = 0;
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
