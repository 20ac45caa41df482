// SPDX-License-Identifier: Apache-2.0
// RunWatch: stops computations whose results nobody waits for any more. A runtime that can be
// stopped from another thread gives each instance a Watched; one thread for all of them checks
// every 50 ms the runs that are still in progress. A run of many requests is stopped when all of
// them are cancelled or late. Thread-safe.
#ifndef NEREID_BACKENDS_SDK_RUN_WATCH_H_
#define NEREID_BACKENDS_SDK_RUN_WATCH_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "backends/sdk/batch.h"
#include "backends/sdk/error.h"
#include "triton/core/tritonbackend.h"

namespace nereid_backend {

class RunWatch {
 public:
  class Watched;

  // `now` returns nanoseconds. Without `with_thread` nothing is checked unless Poll is called.
  // Throws std::system_error if no thread can be created.
  explicit RunWatch(bool with_thread = true, Batch::Clock now = &NowNs);
  // REQUIRES: no Watched exists any more.
  ~RunWatch();
  RunWatch(const RunWatch&) = delete;
  RunWatch& operator=(const RunWatch&) = delete;

  // Stops the runs that the previous call has already seen and that nobody waits for. Returns
  // whether any run is in progress.
  bool Poll();

 private:
  void Loop();
  // Called when a run begins: wakes a watch that had nothing to check.
  void Wake();

  const Batch::Clock now_;
  std::mutex mu_;
  std::condition_variable changed_;
  std::vector<Watched*> watched_;     // guarded by mu_
  bool stopping_ = false;             // guarded by mu_
  std::atomic<bool> asleep_ = false;  // written under mu_
  std::thread thread_;
};

// The runs of one instance, one at a time. Begin and End are called by the thread that runs it.
class RunWatch::Watched {
 public:
  // `stop` makes the current run fail soon; called by the watch's thread, at most once per run, and
  // only between Begin and End. With `late`, a request whose time-out has passed since the run
  // began counts as no longer waiting, too.
  Watched(RunWatch* watch, bool late, std::function<void()> stop);
  ~Watched();
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  // The caller keeps `requests` until End.
  void Begin(std::span<TRITONBACKEND_Request* const> requests);
  // Whether the run was stopped.
  bool End();

 private:
  friend class RunWatch;
  struct Waiting {
    TRITONBACKEND_Request* request = nullptr;
    uint64_t deadline = 0;  // 0: none
  };

  // The work of Poll for one Watched.
  bool Look(uint64_t now);
  static bool IsWaitedFor(const Waiting& waiting, uint64_t now);

  RunWatch* const watch_;
  const bool late_;
  const std::function<void()> stop_;
  std::mutex mu_;
  std::vector<Waiting> requests_;  // guarded by mu_; of the run that is under way
  bool running_ = false;           // guarded by mu_
  bool seen_ = false;              // guarded by mu_; a check has seen this run
  bool stopped_ = false;           // guarded by mu_
};

// CANCELLED: the error of a run of `model` that was stopped and did not finish anyway.
Error StoppedRun(const std::string& model);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_RUN_WATCH_H_
