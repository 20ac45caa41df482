// Part of ModelLoader: a model that is being loaded. Only the sources of ModelLoader include this.
#ifndef NEREID_LIFECYCLE_LOAD_JOB_H_
#define NEREID_LIFECYCLE_LOAD_JOB_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "lifecycle/loaded_model.h"
#include "lifecycle/model_loader.h"

namespace nereid {

// One version of a model that is being loaded. Owned by one thread of the pool, and afterwards by
// the one that commits.
struct ModelLoader::VersionTask {
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
struct ModelLoader::Job {
  Job(ModelLoader* loader_in, ModelCatalogue::BusyMark mark_in, PlanRun::Ending ending_in)
      : loader(loader_in), ending(std::move(ending_in)), mark(std::move(mark_in)) {}
  ~Job() {
    if (!ended) loader->Abandon(this);
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  ModelLoader* const loader;
  std::shared_ptr<const PreparedModel> model;  // null once ended
  bool on_request = false;
  std::string cannot;  // why it cannot be loaded, if the planner knows
  PlanRun::Ending ending;
  ModelCatalogue::BusyMark
      mark;  // goes before the ending does: who waited for that finds the model free
  std::shared_ptr<LoadProgress> progress;  // null: it is not counted
  ModelCatalogue::Records record;  // made before anything changes: the first one of a new model
  std::vector<VersionTask> tasks;  // each used by one thread at a time
  bool planned = false;            // the directory says that versions are being loaded
  bool ended = false;
  Mutex mu;
  size_t left ABSL_GUARDED_BY(mu) = 0;  // tasks under way

  // Whether the calling task was the last one.
  bool OneLess() ABSL_LOCKS_EXCLUDED(mu) {
    MutexLock lock(&mu);
    return --left == 0;
  }
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_LOAD_JOB_H_
