// SPDX-License-Identifier: Apache-2.0
// How our threads are started, and all that is set on a thread: its name, its stack for crashes,
// its turns on the processors, which processors and memory it uses, when it wakes, and its signals.
// Stateless; but for StartThread, each function sets something on the thread that calls it.
#ifndef NEREID_BASE_THREADS_THREAD_H_
#define NEREID_BASE_THREADS_THREAD_H_

#include <absl/types/span.h>

#include <cstdint>
#include <string>
#include <thread>
#include <utility>

#include "base/export.h"

namespace nereid {

struct ThreadAttributes {
  std::string name;         // the system shows the first 15 characters; "": that of its creator
  bool background = false;  // see BecomeBackgroundThread
};

// Sets them on the calling thread, which is then prepared for crashes as well.
NEREID_API void SetThreadAttributes(const ThreadAttributes& attributes);

// Starts a thread that calls `body` once it has its attributes. Throws std::system_error or
// std::bad_alloc.
template <typename Body>
std::thread StartThread(ThreadAttributes attributes, Body body) {
  return std::thread([attributes = std::move(attributes), body = std::move(body)]() mutable {
    SetThreadAttributes(attributes);
    body();
  });
}

// Makes the calling thread a background thread from now on, for long work without hurry, such as
// loading models. It keeps its share of the processor, but its turns become longer and end when a
// thread with ordinary turns wakes up, for instance to answer a client. Threads that it creates are
// ordinary. Returns false, and changes nothing, if the system refuses, or if somebody has given
// this thread another policy or a higher priority for its child threads to inherit. No effect
// before Linux 6.12.
bool BecomeBackgroundThread();

// From now on the calling thread, and threads that it starts, wake when they are due. By default
// the kernel adds up to 50 µs, to wake several sleepers at once: as much as a short queue delay.
NEREID_API void WakeWhenDue() noexcept;

// A write of the calling thread to a pipe or socket without a reader only fails.
NEREID_API void BlockBrokenPipe();

// From now on the calling thread, and threads that it starts, run on these processors alone. False:
// errno says why not. REQUIRES: each is from 0 to CPU_SETSIZE - 1.
bool RunOnProcessors(absl::Span<const int> processors);

// From now on the calling thread, and threads that it starts, get their memory from this NUMA node
// alone. False: errno says why not. REQUIRES: from 0 to kMostMemoryNodes - 1.
inline constexpr int kMostMemoryNodes = 1024;
bool BindMemoryToNode(int node);

// How the kernel schedules a thread: sched_attr of sched_setattr(2), in its first version. The C
// library lacks the functions, and its headers clash with the kernel's over the structure.
struct SchedAttributes {
  static constexpr uint32_t kNormalPolicy = 0;
  static constexpr uint32_t kBatchPolicy = 3;
  static constexpr uint64_t kResetOnFork = 1;

  uint32_t size = sizeof(SchedAttributes);
  uint32_t policy = 0;
  uint64_t flags = 0;
  int32_t nice = 0;
  uint32_t priority = 0;
  uint64_t runtime_ns = 0;  // of the normal policy: the length of a turn
  uint64_t deadline_ns = 0;
  uint64_t period_ns = 0;
};

// Those of the calling thread.
bool GetSchedAttributes(SchedAttributes* attributes);
bool SetSchedAttributes(const SchedAttributes& attributes);

}  // namespace nereid

#endif  // NEREID_BASE_THREADS_THREAD_H_
