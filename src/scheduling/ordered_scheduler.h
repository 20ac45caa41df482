// SPDX-License-Identifier: Apache-2.0
// OrderedScheduler: a scheduler in front of another one that lets the responses leave in the order
// in which the requests came (`preserve_ordering`), whichever is ready first. Thread-safe. Owned by
// its model. ResponseOrderer does the work, also for sequences of the Oldest strategy.
#ifndef NEREID_SCHEDULING_ORDERED_SCHEDULER_H_
#define NEREID_SCHEDULING_ORDERED_SCHEDULER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "infer/response.h"
#include "infer/response_stream.h"
#include "scheduling/scheduler.h"

namespace nereid {

// Lets the responses to requests leave in the order in which turns were reserved for them.
// Thread-safe. Shared by the turns.
//
// A response that is ready before its turn is kept. The thread that ends the turn of the first
// request delivers the kept responses of the next ones, one thread at a time and without a lock.
// Responses that come meanwhile are left to that thread, so that no thread waits for another.
class ResponseOrderer {
 public:
  // Reserves the next turn. Its owner relays responses through it. The final response, or the
  // destructor, ends the turn.
  static std::unique_ptr<ResponseRelay> Reserve(const std::shared_ptr<ResponseOrderer>& orderer);

  // Responses that wait for their turn.
  size_t kept() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Kept {
    std::unique_ptr<InferResponse> response;
    uint32_t flags;
    ResponseTarget target;
  };
  struct TurnState {
    std::vector<Kept> kept;     // none of them final
    std::optional<Kept> final;  // kept without an allocation, so that it cannot fail
    bool ended = false;         // nothing more will come
  };
  // The responses of one turn.
  struct Ready {
    std::vector<Kept> kept;
    std::optional<Kept> final;

    bool empty() const { return kept.empty() && !final.has_value(); }
  };
  class Turn;

  // Throws std::bad_alloc if there is no memory to keep a response that is not final. Then the
  // response is destroyed, and nothing has changed.
  void Relay(uint64_t number, Kept kept) ABSL_LOCKS_EXCLUDED(mu_);
  void End(uint64_t number) ABSL_LOCKS_EXCLUDED(mu_);
  // Takes the responses whose turn has come, for Deliver. Returns none, and ends the delivery, if
  // there are none.
  Ready TakeReady() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The same, unless another thread delivers: that one will take them.
  Ready BeginDelivery() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Delivers them, and what becomes ready meanwhile.
  void Deliver(Ready ready) ABSL_LOCKS_EXCLUDED(mu_);

  mutable Mutex mu_;
  std::deque<TurnState> turns_ ABSL_GUARDED_BY(mu_);
  uint64_t first_ ABSL_GUARDED_BY(mu_) = 0;       // number of turns_[0], which has come
  bool delivering_ ABSL_GUARDED_BY(mu_) = false;  // a thread is inside Deliver
};

class OrderedScheduler final : public SchedulerLayer {
 public:
  explicit OrderedScheduler(std::unique_ptr<Scheduler> inner)
      : SchedulerLayer(std::move(inner)), orderer_(std::make_shared<ResponseOrderer>()) {}

  absl::Status Enqueue(RequestPtr* request) override;

 private:
  const std::shared_ptr<ResponseOrderer> orderer_;  // shared with the requests in flight
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_ORDERED_SCHEDULER_H_
