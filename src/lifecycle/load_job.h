// Part of ModelManager: a model that is being loaded, and how far the loads of one plan have come.
// Only the sources of ModelManager include this.
#ifndef NEREID_LIFECYCLE_LOAD_JOB_H_
#define NEREID_LIFECYCLE_LOAD_JOB_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "lifecycle/model_manager.h"
#include "lifecycle/running_instance.h"

namespace nereid {

// One version of a model that is being loaded. Owned by one thread of the pool, and afterwards by
// the one that commits.
struct ModelManager::VersionTask {
  enum class Step {
    kKeep,    // it serves, and nothing has changed
    kUpdate,  // it serves, with other instances
    kLoad,
  };
  int64_t version = 0;
  Step step = Step::kLoad;
  VersionEntry present;                                 // but for kLoad
  std::unique_ptr<LoadedModel::InstanceUpdate> update;  // kUpdate
  absl::StatusOr<std::shared_ptr<ManagedModel>> loaded = absl::UnknownError("not loaded");  // kLoad
  absl::Status status;  // of kUpdate and kLoad

  // REQUIRES: kUpdate. An ensemble has no instances, and never is.
  LoadedModel& updated() const { return static_cast<LoadedModel&>(*present.model); }
};

// One model that is being loaded. Shared by the tasks under way: the last one to let go of a load
// that has not ended, because something threw, abandons it. Constant once it has begun, but for
// what is guarded.
struct ModelManager::LoadJob {
  LoadJob(ModelManager* manager_in, BusyMark mark_in, PlanRun::Ending ending_in)
      : manager(manager_in), ending(std::move(ending_in)), mark(std::move(mark_in)) {}
  ~LoadJob() {
    if (!ended) manager->Abandon(this);
  }
  LoadJob(const LoadJob&) = delete;
  LoadJob& operator=(const LoadJob&) = delete;

  ModelManager* const manager;
  std::shared_ptr<const PreparedModel> model;  // null once ended
  bool on_request = false;
  std::string cannot;  // why it cannot be loaded, if the planner knows
  PlanRun::Ending ending;
  BusyMark mark;  // goes before the ending does: who waited for that finds the model free
  std::shared_ptr<Progress> progress;  // null: it is not counted
  std::map<ModelId, Record> record;    // made before anything changes: the first one of a new model
  std::vector<VersionTask> tasks;      // each used by one thread at a time
  bool planned = false;                // the directory says that versions are being loaded
  bool ended = false;
  Mutex mu;
  size_t left ABSL_GUARDED_BY(mu) = 0;  // tasks under way

  // Whether the calling task was the last one.
  bool OneLess() ABSL_LOCKS_EXCLUDED(mu) {
    MutexLock lock(&mu);
    return --left == 0;
  }
};

// Writes to the log how many models of a plan are loaded: about once a second, and at the end.
// Thread-safe.
class ModelManager::Progress {
 public:
  Progress(Clock* clock, int64_t total)
      : clock_(clock), total_(total), start_(clock->Now()), next_(start_ + kPeriod) {}

  void Count(bool ok) noexcept ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    ++done_;
    if (!ok) ++failed_;
    const TimePoint now = clock_->Now();
    if (total_ < kWorthTelling || (now < next_ && done_ < total_)) return;
    next_ = now + kPeriod;
    const double seconds = std::chrono::duration<double>(now - start_).count();
    if (failed_ == 0) {
      LOG_INFO << done_ << " of " << total_ << " models loaded after " << seconds << " s";
    } else {
      LOG_INFO << done_ << " of " << total_ << " models loaded (" << failed_ << " failed) after "
               << seconds << " s";
    }
  }

 private:
  static constexpr Duration kPeriod = std::chrono::seconds(1);
  static constexpr int64_t kWorthTelling = 10;

  Clock* const clock_;
  const int64_t total_;
  const TimePoint start_;
  Mutex mu_;
  TimePoint next_ ABSL_GUARDED_BY(mu_);
  int64_t done_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t failed_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_LOAD_JOB_H_
