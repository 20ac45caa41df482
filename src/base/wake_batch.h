// SPDX-License-Identifier: Apache-2.0
// WakeBatch: a scope in which this thread puts off the wake-ups that it causes, so that a thread
// which gets several things from it is woken once, when all of them are there.
//
// Where threads share a core, every wake-up interrupts the thread that causes it: the woken one
// runs at once, finds one thing to do, and sleeps again. On a virtual machine that takes 40
// microseconds and more, longer than what it does for a small answer.
//
// A scope belongs to the thread that opens it. Scopes may be nested; the outermost one counts.
#ifndef NEREID_BASE_WAKE_BATCH_H_
#define NEREID_BASE_WAKE_BATCH_H_

#include <absl/container/inlined_vector.h>

#include <memory>

#include "base/export.h"

namespace nereid {

class NEREID_API WakeBatch {
 public:
  // A thread that has to be woken when there is something for it.
  class Sleeper {
   public:
    virtual ~Sleeper() = default;
    // Wakes the thread unless it has taken meanwhile what is there for it. Called by the thread
    // whose scope ends, holding no lock.
    virtual void Wake() noexcept = 0;
  };

  WakeBatch();
  // Wakes those who were put off.
  ~WakeBatch();
  WakeBatch(const WakeBatch&) = delete;
  WakeBatch& operator=(const WakeBatch&) = delete;

  // Whether this thread is in a scope.
  static bool IsOpen();
  // Wakes those who are put off in this thread's scope, if it is in one. For a thread that is about
  // to wait for one of them. REQUIRES: the caller holds no lock that Wake takes.
  static void Flush() noexcept;
  // Wakes `sleeper`, for whom there is something new, at the end of this thread's scope, or earlier
  // if much is waiting. REQUIRES: IsOpen(), and the caller holds no lock that Wake takes.
  static void PutOff(const std::shared_ptr<Sleeper>& sleeper) noexcept;

 private:
  // How many things are put off at most; then those they are for are woken, so that another core
  // can begin while this thread makes more.
  static constexpr int kMost = 16;

  void WakeAll() noexcept;

  absl::InlinedVector<std::shared_ptr<Sleeper>, 2> sleepers_;  // each once
  int waiting_ = 0;                                            // things for them
};

}  // namespace nereid

#endif  // NEREID_BASE_WAKE_BATCH_H_
