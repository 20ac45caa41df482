// ModelLoader: loads models on the threads of a pool: all versions that are to serve beside those
// that do, and swaps; all of a load or none. Thread-safe. Owned by the model manager.
//
// What throws on the way ends with the job, which is abandoned: the model is as it was, and whoever
// waits is told.
#ifndef NEREID_LIFECYCLE_MODEL_LOADER_H_
#define NEREID_LIFECYCLE_MODEL_LOADER_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lifecycle/load_pool.h"
#include "lifecycle/load_progress.h"
#include "lifecycle/load_reader.h"
#include "lifecycle/loaded_model.h"
#include "lifecycle/model_catalogue.h"
#include "lifecycle/model_closer.h"
#include "lifecycle/plan_run.h"

namespace nereid {

class ModelLoader {
 public:
  struct Options {
    uint32_t threads = 4;
    uint32_t retries = 0;  // of a version that fails
  };

  // All outlive this.
  ModelLoader(Options options, const LoadContext& context, const LoadReader* reader,
              ModelCatalogue* catalogue, ModelCloser* closer);

  // Begins to load `model`, as `action` says. The end is told by `ending`, after `mark` has gone.
  // Throws where there is no memory to begin.
  void Begin(const PlannedAction& action, std::shared_ptr<const PreparedModel> model,
             ModelCatalogue::BusyMark mark, PlanRun::Ending ending,
             std::shared_ptr<LoadProgress> progress);

 private:
  struct VersionTask;
  struct Job;

  void Run(std::shared_ptr<Job> job);
  absl::StatusOr<std::vector<VersionTask>> PlanVersions(const PreparedModel& model);
  void RunTask(const PreparedModel& model, VersionTask* task);
  // Makes the instances of a version that goes on with others.
  absl::Status UpdateInstances(const PreparedModel& model, VersionTask* task);
  absl::StatusOr<std::shared_ptr<ManagedModel>> LoadVersion(const PreparedModel& model,
                                                            int64_t version);
  // One try of LoadVersion. INTERNAL where the machine refuses a thread or memory.
  absl::StatusOr<std::shared_ptr<ManagedModel>> LoadCaught(const PreparedModel& model,
                                                           int64_t version);
  // What became of the tasks: all in, or none. Throws only before anything has changed.
  absl::Status Commit(Job* job);
  // Puts the versions that were loaded in place of those that served, in `entry`, and prepares the
  // ends of the latter.
  void PutIn(const Job& job, ModelEntry* entry, std::vector<ModelCloser::Closing>* closings);
  // Notes in `entry` that nothing was loaded, and prepares the ends of versions that were.
  void TakeBack(const Job& job, ModelEntry* entry, std::vector<ModelCloser::Closing>* closings);
  void End(Job* job, absl::Status status) noexcept;
  // Ends a load that something on the way has thrown out of.
  void Abandon(Job* job) noexcept;
  // Loads `last` again, which stays busy. Where that cannot be begun it is not loaded.
  void BeginAgain(const std::shared_ptr<const PreparedModel>& last,
                  ModelCatalogue::BusyMark mark) noexcept;

  const Options options_;
  const LoadContext& context_;
  const LoadReader& reader_;
  ModelCatalogue& catalogue_;
  ModelCloser& closer_;
  LoadPool pool_;  // last: its tasks use all of the above
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_MODEL_LOADER_H_
