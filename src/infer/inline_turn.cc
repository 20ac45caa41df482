// SPDX-License-Identifier: Apache-2.0
#include "infer/inline_turn.h"

#include <sys/resource.h>

#include <cassert>
#include <utility>

namespace nereid {
namespace {

thread_local InlineTurn* ending = nullptr;

long Preemptions() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

}  // namespace

InlineTurn::~InlineTurn() { assert(deferred_.empty()); }

void InlineTurn::End() {
  // A model that this thread executes in an outer turn may issue requests in turns of its own.
  InlineTurn* const outer = std::exchange(ending, this);
  // Loans may cause further requests, whose loans are deferred too and run in the next round.
  while (!deferred_.empty()) {
    running_.swap(deferred_);
    for (Loan* loan : running_) loan->RunInline(this);
    running_.clear();
  }
  ending = outer;
  spent_ = Duration(0);
}

InlineTurn* InlineTurn::Ending() { return ending; }

void InlineTurn::Spend(Duration time) {
  spent_ += time;
  if (preemptions_ >= 0 && ++executions_ < kExecutionsPerSample) return;
  executions_ = 0;
  preemptions_ = Preemptions();
}

bool InlineTurn::PreemptedLately() const {
  return preemptions_ >= 0 && Preemptions() > preemptions_;
}

}  // namespace nereid
