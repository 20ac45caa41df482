// SPDX-License-Identifier: Apache-2.0
// StepQueue: the steps that a thread has to start. A step may end while it is being started,
// because it is executed at once or answered from a cache. The thread then does not start the
// following steps from within, but one after the other in one loop, so that its stack does not
// grow. One per thread, used by that thread only.
#ifndef NEREID_SCHEDULING_ENSEMBLE_STEP_QUEUE_H_
#define NEREID_SCHEDULING_ENSEMBLE_STEP_QUEUE_H_

#include <memory>

#include "scheduling/ensemble/step_graph.h"

namespace nereid {

class EnsembleRun;
class InlineTurn;

class StepQueue {
 public:
  // Starts `steps` of `run` on this thread: now, or, if the thread is starting a step, after that
  // one. A step fails if there is no memory for its entry.
  static void Start(const std::shared_ptr<EnsembleRun>& run, const StepRuns& steps) noexcept;

  // Steps that are started in its lifetime may be executed by this thread, in `turn`; null: no
  // change.
  class TurnScope {
   public:
    explicit TurnScope(InlineTurn* turn);
    ~TurnScope();
    TurnScope(const TurnScope&) = delete;
    TurnScope& operator=(const TurnScope&) = delete;

   private:
    InlineTurn* const before_;
  };
  // The turn for steps that are started now; null: none.
  static InlineTurn* turn();
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_ENSEMBLE_STEP_QUEUE_H_
