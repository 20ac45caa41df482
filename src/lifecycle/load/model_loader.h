// SPDX-License-Identifier: Apache-2.0
// ModelLoader: loads models on the threads of a pool. The new versions load while the old ones
// serve, and then take their place: either all versions of a load or none. Thread-safe. Owned by
// the model manager.
//
// If anything throws on the way, the job is abandoned: the model stays unchanged, and waiters are
// told.
#ifndef NEREID_LIFECYCLE_LOAD_MODEL_LOADER_H_
#define NEREID_LIFECYCLE_LOAD_MODEL_LOADER_H_

#include <absl/status/statusor.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/threads/thread_pool.h"
#include "lifecycle/catalogue/model_catalogue.h"
#include "lifecycle/load/load_reader.h"
#include "lifecycle/load/model_closer.h"
#include "lifecycle/model/loaded_model.h"
#include "lifecycle/plan/plan_run.h"

namespace nereid {

// Writes to the log how many models of a plan are loaded: about once per second, and at the end.
// Thread-safe. Shared by the loads of the plan.
class LoadProgress {
 public:
  LoadProgress(Clock* clock, int64_t total)
      : clock_(clock), total_(total), start_(clock->Now()), next_(start_ + kPeriod) {}
  void Count(bool ok) noexcept ABSL_LOCKS_EXCLUDED(mu_);

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

class ModelLoader {
 public:
  struct Options {
    uint32_t threads = 4;
    uint32_t retries = 0;  // per version that fails
  };

  // All arguments' targets outlive this object.
  ModelLoader(Options options, const LoadContext& context, const LoadReader* reader,
              ModelCatalogue* catalogue, ModelCloser* closer);

  // Begins to load `model` as `action` says. `completion` reports the end, after `mark` was
  // destroyed. Throws if there is no memory to begin.
  void Begin(const PlannedAction& action, std::shared_ptr<const PreparedModel> model,
             ModelCatalogue::BusyMark mark, PlanRun::Completion completion,
             std::shared_ptr<LoadProgress> progress);

 private:
  struct VersionTask;
  struct Job;

  // Has the pool call `step`. Throws std::bad_alloc if there is no memory for that.
  template <typename Step>
  void Soon(Step step);
  void Run(std::shared_ptr<Job> job);
  absl::StatusOr<std::vector<VersionTask>> PlanVersions(const PreparedModel& model);
  void RunTask(const PreparedModel& model, VersionTask* task);
  // Makes the new instances of a version that keeps serving.
  absl::Status UpdateInstances(const PreparedModel& model, VersionTask* task);
  absl::StatusOr<std::shared_ptr<ManagedModel>> LoadVersion(const PreparedModel& model,
                                                            int64_t version);
  // One attempt of LoadVersion. INTERNAL if the machine refuses a thread or memory.
  absl::StatusOr<std::shared_ptr<ManagedModel>> LoadCaught(const PreparedModel& model,
                                                           int64_t version);
  // Puts all loaded versions into the directory, or none. Throws only before anything has changed.
  absl::Status Commit(const std::shared_ptr<Job>& job);
  // Replaces the old versions in `entry` by the loaded ones, and prepares the ends of the old
  // versions.
  void PutIn(const Job& job, ModelEntry* entry, std::vector<ModelCloser::Closing>* closings);
  // Notes in `entry` that the load failed, and prepares the ends of the versions that did load.
  void TakeBack(const Job& job, ModelEntry* entry, std::vector<ModelCloser::Closing>* closings);
  void End(Job* job, absl::Status status) noexcept;
  // Ends a load that was cut short by an exception.
  void Abandon(Job* job) noexcept;
  // Begins to load `last` again; the model stays busy. If the load cannot begin, the model is not
  // loaded.
  void BeginAgain(const std::shared_ptr<const PreparedModel>& last,
                  ModelCatalogue::BusyMark mark) noexcept;

  const Options options_;
  const LoadContext& context_;
  const LoadReader& reader_;
  ModelCatalogue& catalogue_;
  ModelCloser& closer_;
  ThreadPool pool_;  // last: its jobs use all of the above
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_LOAD_MODEL_LOADER_H_
