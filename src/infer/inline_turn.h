// SPDX-License-Identifier: Apache-2.0
// InlineTurn: what an I/O thread executes by itself, instead of handing it to the thread of a
// model's instance, in one turn of its event loop. Owned by its I/O thread.
//
// Waking a thread on another core may cost more than executing a small model. A scheduler that sees
// a request with a turn (InferRequest::set_inline_turn) may therefore lend an idle instance to the
// thread that brought it. A model that batches is executed at the end of the turn, when all
// requests that came in during it are in its queue.
#ifndef NEREID_INFER_INLINE_TURN_H_
#define NEREID_INFER_INLINE_TURN_H_

#include <new>
#include <vector>

#include "base/clock.h"
#include "base/export.h"

namespace nereid {

class NEREID_API InlineTurn {
 public:
  // An instance on loan until RunInline, which is called once, has returned.
  class Loan {
   public:
    virtual void RunInline(InlineTurn* turn) noexcept = 0;

   protected:
    ~Loan() = default;
  };

  InlineTurn() = default;
  // REQUIRES: nothing is deferred.
  ~InlineTurn();
  InlineTurn(const InlineTurn&) = delete;
  InlineTurn& operator=(const InlineTurn&) = delete;

  // ---- For the event loop.
  bool HasDeferred() const { return !deferred_.empty(); }
  // Runs the deferred loans and starts the next turn.
  void End();
  // The turn that this thread is ending; its requests may cause new requests. Null: none.
  static InlineTurn* Ending();

  // ---- For schedulers.
  // False once models have used up the time that they may take of this turn.
  bool HasTimeLeft() const { return spent_ < kMaxPerTurn; }
  void Spend(Duration time);
  // Runs `loan` at the end of the turn. False if memory is exhausted.
  [[nodiscard]] bool Defer(Loan* loan) noexcept try {
    deferred_.push_back(loan);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
  // Whether the kernel took the processor from this thread during one of its last executions: then
  // a long execution says little about the model.
  bool PreemptedLately() const;

 private:
  static constexpr int kExecutionsPerSample =
      32;  // asking the kernel costs a third of a microsecond
  // Limited, because the thread's other connections wait meanwhile.
  static constexpr Duration kMaxPerTurn = std::chrono::milliseconds(1);

  std::vector<Loan*> deferred_;
  std::vector<Loan*> running_;  // kept for its memory
  Duration spent_{0};
  int executions_ = 0;     // since the last sample
  long preemptions_ = -1;  // of this thread, when last sampled; -1: never
};

}  // namespace nereid

#endif  // NEREID_INFER_INLINE_TURN_H_
