// SPDX-License-Identifier: Apache-2.0
// ModelDemand: loads models when requests ask for them, and unloads those that nobody uses or whose
// memory others need (residency_policy.h). Thread-safe. Owned by the server.
//
// A request only notes which model it wants, and may leave a function that is called when the model
// is there; no thread waits here. One thread looks at the models, decides, and begins loads and
// unloads, which the model manager carries out.
#ifndef NEREID_LIFECYCLE_DEMAND_MODEL_DEMAND_H_
#define NEREID_LIFECYCLE_DEMAND_MODEL_DEMAND_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "lifecycle/demand/footprint_file.h"
#include "lifecycle/demand/residency_policy.h"

namespace nereid {

// The models, as ModelDemand needs them. Thread-safe.
class DemandedModels {
 public:
  struct Use {
    bool serves = false;
    bool leaving = false;  // unloaded, and not yet torn down
    bool busy = false;     // has requests in flight or live sequences; also in its members
    TimePoint last_used{};
    uint64_t stated_bytes = 0;         // the footprint that its configuration states; 0: none
    std::vector<std::string> members;  // of an ensemble, directly or through others
  };
  using Done = std::function<void(const absl::Status& status)>;

  virtual ~DemandedModels() = default;
  // The models in the repositories. May block.
  virtual std::set<std::string> Names() = 0;
  virtual Use Look(const std::string& name) const = 0;
  // Of the files that the model would be loaded from. If two stamps differ, the model has changed,
  // and its footprint, too. May block.
  virtual std::string Stamp(const std::string& name) const = 0;
  // Begin a load or an unload. `done` is called once, on any thread, also before this returns.
  virtual void Load(const std::string& name, Done done) = 0;
  virtual void Unload(const std::string& name, Done done) = 0;
  // Of this process and of those of models, without what the allocator keeps of freed memory, which
  // goes back to the system first. Reads files.
  virtual uint64_t ResidentBytes() const = 0;
};

class ModelDemand {
 public:
  struct Options {
    uint64_t budget = 0;     // bytes of the models together; 0: no limit
    Duration idle_limit{0};  // after which an unused model is unloaded; 0: never
    Duration scan_interval = std::chrono::seconds(15);  // between two looks at the repositories
    Duration longest_wait = std::chrono::seconds(60);   // of a model for room
    std::string footprints_file;  // where footprints are kept; empty: they end with this
  };
  // What has been counted, and what there is at present.
  struct Numbers {
    uint64_t loads = 0;
    uint64_t failed_loads = 0;
    uint64_t evictions = 0;     // unloaded because another model needed the memory
    uint64_t idle_unloads = 0;  // unloaded because nobody used them
    uint64_t models = 0;        // loaded on demand or pinned
    uint64_t bytes = 0;         // their footprints
    uint64_t waiting = 0;       // models that somebody has asked for, not loaded yet
    uint64_t waiting_requests = 0;
  };

  // Reads the file of footprints, of which it only logs what is wrong. `clock` and `models` outlive
  // this, and `models` has called all `done` before this ends.
  ModelDemand(Options options, Clock* clock, DemandedModels* models);
  ~ModelDemand();
  ModelDemand(const ModelDemand&) = delete;
  ModelDemand& operator=(const ModelDemand&) = delete;

  // Looks at the repositories, and starts the thread. Called at most once.
  void Start() ABSL_LOCKS_EXCLUDED(mu_);
  // Nothing is loaded or unloaded from now on. False if the thread still works at `deadline`: then
  // this must not be destroyed.
  bool Stop(TimePoint deadline) ABSL_LOCKS_EXCLUDED(mu_);

  // A request wants the model, and has not found it. Has it loaded if it is in a repository.
  // Returns what the client hears: UNAVAILABLE with a time to try again (base/retry_after.h), or
  // why the model cannot be loaded. None: the model is in no repository, or serves. Costs a look
  // into a table.
  std::optional<absl::Status> Ask(absl::string_view name) ABSL_LOCKS_EXCLUDED(mu_);
  // As Ask, for a request that can wait: `resume` is called once, on another thread, when the model
  // serves, when it cannot be loaded, at `until`, or at the end. It must not block, and whoever
  // gets it looks the model up again. False if there is nothing to wait for: then it is not called.
  bool Await(absl::string_view name, TimePoint until, std::function<void()> resume)
      ABSL_LOCKS_EXCLUDED(mu_);
  // The end is near: calls all that Await was given, and lets no more requests wait.
  void EndWaits() ABSL_LOCKS_EXCLUDED(mu_);
  // Whether the model is in a repository, and its last load has not just failed.
  bool CanServe(absl::string_view name) const ABSL_LOCKS_EXCLUDED(mu_);

  // Somebody has loaded the model by name: it stays until it is unloaded by name. `before`: the
  // resident bytes when the load began. The thread measures what has become of them.
  void Pin(const std::string& name, uint64_t before) ABSL_LOCKS_EXCLUDED(mu_);
  // The model is about to be unloaded by name.
  void Unpin(const std::string& name) ABSL_LOCKS_EXCLUDED(mu_);
  // Measures the resident bytes. Reads files, and has freed memory returned.
  uint64_t Measure();
  // The resident bytes as last measured. The thread does that when models have come or gone, and
  // now and then.
  uint64_t MeasuredBytes() const { return measured_.load(std::memory_order_relaxed); }

  // The footprint of a model as last measured; none if it was never loaded.
  std::optional<uint64_t> FootprintOf(absl::string_view name) const ABSL_LOCKS_EXCLUDED(mu_);
  Numbers Count() const ABSL_LOCKS_EXCLUDED(mu_);

  // What the thread does over and over: for tests, which do not start it. Returns when it is due
  // again at the latest.
  TimePoint Step() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Resident {
    TimePoint loaded_at{};
    Duration load_took{0};
    TimePoint last_used{};
    uint64_t bytes = 0;
    bool pinned = false;
    bool unloading = false;  // an unload was begun and has not been answered
  };
  struct Waiting {
    std::string name;
    TimePoint since{};
  };
  struct Loading {
    TimePoint begun{};
    uint64_t bytes = 0;   // as remembered; 0: unknown
    uint64_t before = 0;  // resident bytes
    bool alone = true;    // no other load was under way, so that the growth is this model's
  };
  struct LoadEnd {
    std::string name;
    absl::Status status;
    TimePoint at{};
    bool pins = false;  // loaded by name, since `before` resident bytes
    uint64_t before = 0;
  };
  struct Failure {
    absl::Status status;
    TimePoint again_at{};
  };
  // A request that waits.
  struct Waiter {
    TimePoint until{};
    std::function<void()> resume;
  };

  void Run() ABSL_LOCKS_EXCLUDED(mu_);
  // Takes up the footprints that were kept.
  void Remember() ABSL_LOCKS_EXCLUDED(mu_);
  // Writes the footprints if they have changed, and have not been written for a while or `at_once`.
  void Keep(bool at_once) ABSL_LOCKS_EXCLUDED(mu_);
  // Forgets the footprint of a model that has changed since it was measured. True if so.
  bool ForgetIfChanged(const std::string& name) ABSL_LOCKS_EXCLUDED(mu_);
  // The status of the last load that has failed, until it is time for another; null: none.
  const Failure* FailureOf(std::string_view name, TimePoint now) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Whether a request may ask for the model: it is in a repository and does not serve.
  bool IsWanted(std::string_view name) const ABSL_LOCKS_EXCLUDED(mu_);
  // Has the model loaded. False if too many wait.
  bool Demand(std::string_view name, TimePoint now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Calls those whose waiting is over. Returns when to look again at the latest.
  TimePoint ResumeWaiters(TimePoint now) ABSL_LOCKS_EXCLUDED(mu_);
  void Wake() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Scan(TimePoint now) ABSL_LOCKS_EXCLUDED(mu_);
  // Takes up the loads that have ended, and measures them.
  void TakeLoadEnds() ABSL_LOCKS_EXCLUDED(mu_);
  void TakeLoadEnd(const LoadEnd& end, const DemandedModels::Use& use, std::string stamp,
                   uint64_t resident) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void TakeFailure(const LoadEnd& end, Duration took) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Forgets models that are gone, and then measures. Returns the others as the policy sees them.
  MemoryState Look(TimePoint now) ABSL_LOCKS_EXCLUDED(mu_);
  // Begins to unload these residents: they become memory that is still in use. Adds to `*counter`.
  void Unload(std::vector<size_t> victims, const char* why, uint64_t Numbers::*counter,
              MemoryState* state) ABSL_LOCKS_EXCLUDED(mu_);
  // Begins the loads for which there is room. Returns when to look again.
  TimePoint BeginLoads(TimePoint now, MemoryState* state) ABSL_LOCKS_EXCLUDED(mu_);
  // True: the model does not wait any longer.
  bool TryLoad(const Waiting& waiting, TimePoint now, MemoryState* state, TimePoint* again_at)
      ABSL_LOCKS_EXCLUDED(mu_);
  void BeginLoad(const std::string& name, uint64_t bytes, MemoryState* state)
      ABSL_LOCKS_EXCLUDED(mu_);
  void Fail(const std::string& name, absl::Status status, TimePoint again_at)
      ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status TooLarge(const std::string& name, uint64_t bytes, uint64_t most) const;

  const Options options_;
  Clock* const clock_;
  DemandedModels* const models_;
  mutable Mutex mu_;
  CondVar changed_;
  bool woken_ ABSL_GUARDED_BY(mu_) = false;
  bool stopped_ ABSL_GUARDED_BY(mu_) = false;
  bool running_ ABSL_GUARDED_BY(mu_) = false;  // the thread has not finished
  TimePoint next_scan_ ABSL_GUARDED_BY(mu_){};
  std::set<std::string, std::less<>> known_ ABSL_GUARDED_BY(mu_);
  std::list<Waiting> waiting_ ABSL_GUARDED_BY(mu_);  // in the order of their requests
  std::set<std::string, std::less<>> is_waiting_ ABSL_GUARDED_BY(mu_);  // the same by name
  std::map<std::string, Loading, std::less<>> loading_ ABSL_GUARDED_BY(mu_);
  std::vector<LoadEnd> load_ends_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, Resident, std::less<>> residents_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, Failure, std::less<>> failures_ ABSL_GUARDED_BY(mu_);
  Footprints footprints_ ABSL_GUARDED_BY(mu_);
  bool footprints_changed_ ABSL_GUARDED_BY(mu_) = false;  // since they were written
  TimePoint keep_at_ ABSL_GUARDED_BY(mu_){};              // not written again before
  std::map<std::string, Duration, std::less<>> load_times_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, std::vector<Waiter>, std::less<>> waiters_ ABSL_GUARDED_BY(mu_);
  bool waits_ended_ ABSL_GUARDED_BY(mu_) = false;
  Numbers counted_ ABSL_GUARDED_BY(mu_);  // only what only grows
  std::atomic<uint64_t> measured_{0};
  std::thread thread_;  // last: uses all of the above
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_DEMAND_MODEL_DEMAND_H_
