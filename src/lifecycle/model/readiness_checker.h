// SPDX-License-Identifier: Apache-2.0
// ReadinessChecker: asks backends in advance whether their models can serve, so that clients'
// questions are answered without asking a backend. A model's backend is asked after the load, and
// then once per kPeriod while clients want to know; otherwise no work is done. Thread-safe. Owned
// by the server.
//
// A check that hangs makes its model not ready after kPatience and holds up no other: checks run on
// threads of their own (base/threads/thread_pool.h), and there is at most one per model at a time.
#ifndef NEREID_LIFECYCLE_MODEL_READINESS_CHECKER_H_
#define NEREID_LIFECYCLE_MODEL_READINESS_CHECKER_H_

#include <absl/status/status.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/threads/thread_pool.h"

namespace nereid {

class ReadinessChecker;

// The last answer of one model. Thread-safe. Shared by the model and the checker.
class Readiness : public std::enable_shared_from_this<Readiness> {
 public:
  // Asks the backend; may block. None: the model has begun to unload and needs no more checks.
  using Check = std::function<std::optional<absl::Status>()>;

  // Made by ReadinessChecker::Add. REQUIRES: `checker` is alive at every Probe.
  Readiness(ReadinessChecker* checker, std::string name, Check check)
      : checker_(checker), name_(std::move(name)), check_(std::move(check)) {}

  // Returns the last answer and has it renewed in the background. Never waits. Takes a lock only if
  // nobody has asked for a while, or to read the error text.
  absl::Status Probe() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  friend class ReadinessChecker;
  // Stores `answer`, and logs a change.
  void Set(absl::Status answer) ABSL_LOCKS_EXCLUDED(mu_);

  ReadinessChecker* const checker_;
  const std::string name_;
  const Check check_;
  std::atomic<TimePoint> last_probe_{TimePoint::min()};
  std::atomic<bool> watched_{false};  // the checker watches last_probe_
  std::atomic<bool> ready_{true};
  Mutex mu_;
  absl::Status answer_ ABSL_GUARDED_BY(mu_);
};

class ReadinessChecker {
 public:
  // How old an answer gets before the next check begins.
  static constexpr Duration kPeriod = std::chrono::seconds(1);
  // How long a check may take.
  static constexpr Duration kPatience = std::chrono::seconds(5);
  // How long answers are renewed after a probe.
  static constexpr Duration kAttention = std::chrono::seconds(60);
  // Most checks at a time: without those that hang, and with them.
  static constexpr int kChecks = 2;
  static constexpr int kMostChecks = 64;

  // `clock` outlives this. No thread is made before the first Add.
  explicit ReadinessChecker(Clock* clock) : clock_(clock) {}
  // Waits for checks under way. REQUIRES: none hangs.
  ~ReadinessChecker();
  ReadinessChecker(const ReadinessChecker&) = delete;
  ReadinessChecker& operator=(const ReadinessChecker&) = delete;

  // Begins to check a model, called `name` in the log. Blocks until the first check has ended, but
  // at most for kPatience. Throws std::system_error if no thread can be made.
  std::shared_ptr<Readiness> Add(std::string name, Readiness::Check check) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  friend class Readiness;
  struct Entry {
    std::shared_ptr<Readiness> model;
    std::optional<TimePoint> started;  // start of the check that is queued or under way
    bool late = false;                 // the started check takes too long
    bool gone = false;                 // the model needs no more checks
    TimePoint due{};                   // time of the next check
  };

  void StartThreads() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Keeps checking `model` until nobody has probed it for kAttention.
  void Watch(std::shared_ptr<Readiness> model) ABSL_LOCKS_EXCLUDED(mu_);
  void Run() ABSL_LOCKS_EXCLUDED(mu_);
  // Does what is due for `entry`; false if it needs no more work. Lowers `*next` to the time at
  // which the entry must be looked at again.
  bool Look(TimePoint now, Entry* entry, std::optional<TimePoint>* next)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Whether somebody has probed `model` within kAttention; false ends its watch.
  bool StillProbed(TimePoint now, Readiness* model) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void StartCheck(TimePoint now, Entry* entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Runs on a thread of the executor.
  void RunCheck(Readiness* model) ABSL_LOCKS_EXCLUDED(mu_);
  // Whether a check of `model` is queued or under way, and not late.
  bool IsWaitedFor(const Readiness* model) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  Clock* const clock_;
  Mutex mu_;
  CondVar changed_;   // for Run
  CondVar answered_;  // for Add
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  std::map<const Readiness*, Entry> entries_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<ThreadPool> executor_ ABSL_GUARDED_BY(mu_);
  std::thread thread_ ABSL_GUARDED_BY(mu_);
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_MODEL_READINESS_CHECKER_H_
