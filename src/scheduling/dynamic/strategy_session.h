// StrategySession: calls a model's BatchStrategy about the batch that forms at the head of a queue:
// Begin, Include for each request, End; again from Begin whenever another batch forms.
//
// Thread-compatible: owned by a scheduler and used under its mutex. The mutex is released while the
// strategy is called; meanwhile `asking` is true, only one thread calls, and nothing may leave the
// queue.
#ifndef NEREID_SCHEDULING_DYNAMIC_STRATEGY_SESSION_H_
#define NEREID_SCHEDULING_DYNAMIC_STRATEGY_SESSION_H_

#include <memory>

#include "base/mutex.h"
#include "scheduling/dynamic/batch_former.h"
#include "scheduling/dynamic/batch_strategy.h"

namespace nereid {

class StrategySession {
 public:
  // `strategy` may be null: then nothing is ever asked.
  explicit StrategySession(std::unique_ptr<BatchStrategy> strategy);
  ~StrategySession();
  StrategySession(const StrategySession&) = delete;
  StrategySession& operator=(const StrategySession&) = delete;

  bool has_strategy() const { return strategy_ != nullptr; }
  // A thread is calling the strategy.
  bool asking() const { return asking_; }

  // Asks about the requests of `queue` that have not been judged, except those that cannot join the
  // batch anyway. Returns whether the mutex was released: then threads that wait for work have to
  // look again. REQUIRES: not asking.
  [[nodiscard]] bool Ask(Mutex* mu, BatchFormer* queue) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  // The formed batch is handed over: tells the strategy, if it has seen the batch. Returns the same
  // as Ask. REQUIRES: not asking.
  [[nodiscard]] bool End(Mutex* mu) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  // Nothing more is asked; waits for a call that is under way.
  void Close(Mutex* mu) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  // Ends the last batch and destroys the strategy. REQUIRES: closed.
  void Drop(Mutex* mu) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);

 private:
  void StopAsking();

  std::unique_ptr<BatchStrategy> strategy_;  // called by the thread that set asking_
  CondVar asking_ended_;
  bool asking_ = false;
  bool begun_ = false;  // Begin was called, and End not yet
  bool closed_ = false;
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_DYNAMIC_STRATEGY_SESSION_H_
