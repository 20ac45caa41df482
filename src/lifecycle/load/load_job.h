// Part of ModelLoader: a model that is being loaded. Only the sources of ModelLoader include this.
#ifndef NEREID_LIFECYCLE_LOAD_LOAD_JOB_H_
#define NEREID_LIFECYCLE_LOAD_LOAD_JOB_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "lifecycle/load/model_loader.h"
#include "lifecycle/model/loaded_model.h"

namespace nereid {

// One version of a model that is being loaded. Owned by one thread of the pool, and afterwards by
// the thread that commits the load.
struct ModelLoader::VersionTask {
  enum class Step {
    kKeep,    // the version serves, and nothing has changed
    kUpdate,  // the version serves, and its instances change
    kLoad,
  };
  int64_t version = 0;
  Step step = Step::kLoad;
  VersionEntry present;                                 // not for kLoad
  std::unique_ptr<LoadedModel::InstanceUpdate> update;  // kUpdate
  absl::StatusOr<std::shared_ptr<ManagedModel>> loaded = absl::UnknownError("not loaded");  // kLoad
  absl::Status status;  // for kUpdate and kLoad

  // REQUIRES: kUpdate. An ensemble has no instances and is never updated.
  LoadedModel& updated() const { return static_cast<LoadedModel&>(*present.model); }
};

// One model that is being loaded. Shared by the tasks under way. If something throws and the load
// does not end, releasing the last reference abandons it. Constant once the load has begun, except
// for guarded fields.
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
  std::string cannot;  // why the model cannot be loaded, if the planner knows
  PlanRun::Ending ending;
  ModelCatalogue::BusyMark
      mark;  // destroyed before the ending: whoever waits for the ending finds the model free
  std::shared_ptr<LoadProgress> progress;  // null: the load is not counted
  ModelCatalogue::Records record;  // a new model's first record, made before anything changes
  std::vector<VersionTask> tasks;  // each used by one thread at a time
  bool planned = false;            // the directory says that versions are being loaded
  bool ended = false;
  Mutex mu;
  size_t left ABSL_GUARDED_BY(mu) = 0;  // tasks under way
  // What the ending waits for: the load, and each update whose removed instances have not settled.
  size_t holds ABSL_GUARDED_BY(mu) = 1;

  // Counts the calling task as done. Returns whether it was the last one.
  bool OneLess() ABSL_LOCKS_EXCLUDED(mu) {
    MutexLock lock(&mu);
    return --left == 0;
  }

  void Hold() ABSL_LOCKS_EXCLUDED(mu) {
    MutexLock lock(&mu);
    ++holds;
  }
  // Gives up one of `holds`. The last one tells how the load has ended.
  void Release(absl::Status status) noexcept ABSL_LOCKS_EXCLUDED(mu) {
    {
      MutexLock lock(&mu);
      if (--holds > 0) return;
    }
    ending.Tell(std::move(status));
  }
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_LOAD_LOAD_JOB_H_
