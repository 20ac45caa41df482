// RunWatch: stops computations for whose results nobody waits any more. A runtime that can be
// stopped from another thread gives each instance a Watched; one thread for all of them looks every
// 10 ms at the runs that last. A run of many requests is stopped when all of them were cancelled or
// are late. Thread-safe.
#ifndef NEREID_BACKENDS_SDK_RUN_WATCH_H_
#define NEREID_BACKENDS_SDK_RUN_WATCH_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "backends/sdk/batch.h"
#include "triton/core/tritonbackend.h"

namespace nereid_backend {

class RunWatch {
 public:
  class Watched;

  // `now` in nanoseconds. Without `with_thread` nobody looks unless Poll is called. Throws
  // std::system_error when there can be no thread.
  explicit RunWatch(bool with_thread = true, Batch::Clock now = &NowNs);
  // REQUIRES: there is no Watched any more.
  ~RunWatch();
  RunWatch(const RunWatch&) = delete;
  RunWatch& operator=(const RunWatch&) = delete;

  // Stops those runs that have been there in the call before too and that nobody waits for. Returns
  // whether any run goes on.
  bool Poll();

 private:
  void Loop();
  // Called when a run begins: ends the sleep of a watch that had nothing to look at.
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
  // `stop` makes the run that is under way fail soon; called by the watch's thread, at most once in
  // a run, and only between Begin and End. With `late`, a request is not waited for either when its
  // time-out has passed since the run began.
  Watched(RunWatch* watch, bool late, std::function<void()> stop);
  ~Watched();
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  // `requests` stay with the caller until End.
  void Begin(std::span<TRITONBACKEND_Request* const> requests);
  // Whether the run was stopped.
  bool End();

 private:
  friend class RunWatch;
  struct Waiting {
    TRITONBACKEND_Request* request = nullptr;
    uint64_t deadline = 0;  // 0: none
  };

  // What Poll does for one.
  bool Look(uint64_t now);
  static bool IsWaitedFor(const Waiting& waiting, uint64_t now);

  RunWatch* const watch_;
  const bool late_;
  const std::function<void()> stop_;
  std::mutex mu_;
  std::vector<Waiting> requests_;  // guarded by mu_; of the run that is under way
  bool running_ = false;           // guarded by mu_
  bool seen_ = false;              // guarded by mu_; by a look at this run
  bool stopped_ = false;           // guarded by mu_
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_RUN_WATCH_H_
