// SPDX-License-Identifier: Apache-2.0
// HugePageThread: moves the memory of loaded models to huge pages. A processor finds the address of
// data in huge pages faster, because its table of addresses is small: some networks that
// use tens of megabytes compute up to 3 % faster. docs/adr/0030 has the measurements.
//
// The kernel gives programs huge pages from the start only if they ask for them, and then for every
// allocation, which costs memory that is never used. This thread asks afterwards, and only for
// parts of the memory that are full, so that the process does not grow.
#ifndef NEREID_APPS_NEREID_HUGE_PAGES_HUGE_PAGE_THREAD_H_
#define NEREID_APPS_NEREID_HUGE_PAGES_HUGE_PAGE_THREAD_H_

#include <absl/status/statusor.h>

#include <memory>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"
#include "huge_pages/growth_watch.h"
#include "huge_pages/process_memory.h"

namespace nereid {

// Thread-safe.
class HugePageThread {
 public:
  // How often the size of the memory is looked at. The allocator returns free memory to the system
  // within twice this time, so that what rests for as long is needed.
  static constexpr Duration kInterval = std::chrono::seconds(5);
  // The rest after each part is so many times what the part has taken, because meanwhile threads of
  // models lack the processor and wait for the kernel if they need new memory.
  static constexpr int kRestAfterPart = 4;
  // The time from one pass to the next is at least so many times what the first one has taken.
  static constexpr int kLeastRest = 50;

  // `clock` outlives the thread. Throws std::system_error if the machine has no thread left.
  HugePageThread(Clock* clock, std::unique_ptr<ProcessMemory> memory);
  // Waits for the part that is being moved: milliseconds.
  ~HugePageThread();
  HugePageThread(const HugePageThread&) = delete;
  HugePageThread& operator=(const HugePageThread&) = delete;

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mu_);
  // Moves the memory if it has grown. Returns how long that took.
  absl::StatusOr<Duration> Look() ABSL_LOCKS_EXCLUDED(mu_);
  // Moves all full parts. Returns how long that took, without the pauses.
  absl::StatusOr<Duration> MakeAllHuge() ABSL_LOCKS_EXCLUDED(mu_);
  // Waits that long. False: the thread is to end.
  bool Rest(Duration time) ABSL_LOCKS_EXCLUDED(mu_);

  Clock* const clock_;
  // Used by the thread alone.
  const std::unique_ptr<ProcessMemory> memory_;
  GrowthWatch watch_;
  Mutex mu_;
  CondVar changed_;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;  // last: uses all of the above
};

// Starts the thread for this process. Null, with a line in the log, if the kernel has no huge pages
// for it or the machine no thread.
std::unique_ptr<HugePageThread> StartHugePageThread(Clock* clock);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_HUGE_PAGES_HUGE_PAGE_THREAD_H_
