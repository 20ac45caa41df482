// SPDX-License-Identifier: Apache-2.0
#include "scheduling/ensemble/step_queue.h"

#include <new>
#include <utility>
#include <vector>

#include "infer/inline_turn.h"
#include "scheduling/ensemble/ensemble_run.h"

namespace nereid {
namespace {

struct Task {
  std::shared_ptr<EnsembleRun> run;
  StepRun step;
};

struct Queue {
  std::vector<Task> tasks;
  size_t next = 0;
  bool starting = false;
};

thread_local Queue queue;
thread_local InlineTurn* scoped_turn = nullptr;

}  // namespace

void StepQueue::Start(const std::shared_ptr<EnsembleRun>& run, const StepRuns& steps) noexcept {
  Queue& q = queue;
  for (const StepRun& step : steps) {
    try {
      q.tasks.push_back({run, step});
    } catch (const std::bad_alloc&) {
      run->FailStep(step);
    }
  }
  if (q.starting) return;
  q.starting = true;
  while (q.next < q.tasks.size()) {
    // Moved out, because StartStep may add tasks and so move the vector's elements.
    const Task task = std::move(q.tasks[q.next++]);
    task.run->StartStep(task.step);
  }
  q.tasks.clear();
  q.next = 0;
  q.starting = false;
}

StepQueue::TurnScope::TurnScope(InlineTurn* turn) : before_(scoped_turn) {
  if (turn != nullptr) scoped_turn = turn;
}

StepQueue::TurnScope::~TurnScope() { scoped_turn = before_; }

InlineTurn* StepQueue::turn() {
  return scoped_turn != nullptr ? scoped_turn : InlineTurn::Ending();
}

}  // namespace nereid
