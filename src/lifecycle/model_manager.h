// ModelManager: loads and unloads the models of the repositories and knows their states.
// Thread-safe. Owned by the server.
//
// Everything goes the same way: the files are looked at and configurations read without a lock; the
// load planner says what is to be done; the models concerned are marked as busy, all at once; then
// each action runs as soon as those are done that it waits for. Who finds a model busy waits, and
// looks again. Whoever waits holds nothing, so a load that hangs holds up that model only.
#ifndef NEREID_LIFECYCLE_MODEL_MANAGER_H_
#define NEREID_LIFECYCLE_MODEL_MANAGER_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/read_mostly.h"
#include "lifecycle/load_planner.h"
#include "lifecycle/load_pool.h"
#include "lifecycle/loaded_model.h"
#include "lifecycle/model_directory.h"
#include "lifecycle/model_reader.h"
#include "lifecycle/plan_run.h"
#include "lifecycle/reaper.h"
#include "repository/load_override.h"
#include "repository/snapshot.h"
#include "scheduling/ensemble/model_resolver.h"

namespace nereid {

struct ModelManagerOptions {
  std::set<std::string> repositories;
  bool namespacing = false;
  std::string model_config_name;
  std::string repoagent_directory;
  bool auto_complete_config = true;
  uint32_t load_threads = 4;
  uint32_t load_retries = 0;
  // How long the files of a model must have been at rest before a poll takes them up.
  Duration settle_time{0};
};

class ModelManager final : public ModelResolver {
 public:
  // `context` and what it points to outlive this.
  ModelManager(ModelManagerOptions options, LoadContext context);
  // REQUIRES: UnloadAll was called and every model is gone, or the process is ending.
  ~ModelManager() override;

  // INVALID_ARGUMENT unless every repository is a readable directory.
  absl::Status CheckRepositories() const;
  // Loads every model found, in parallel; blocks until each has loaded or failed. Returns the names
  // of those that failed; their states say why.
  std::vector<std::string> LoadAll();
  // The same for the models of these names.
  std::vector<std::string> LoadEach(const std::set<std::string>& names);
  // Loads one model and the members that it needs, beside what serves meanwhile, and swaps. Blocks.
  // Does nothing if the model serves and nothing has changed. On an error the versions that served
  // before still serve.
  absl::Status Load(const std::string& name, const LoadOverride& override = {});
  // Stops serving a model; its requests in flight finish in the background. `with_members`: also
  // the members that were loaded for it alone. OK if it is unknown.
  absl::Status Unload(const std::string& name, bool with_members = false);
  // Takes up what has changed in the repositories and is at rest. `wait`: until that is done.
  // Models that are being loaded are left for the next time. One at a time.
  absl::Status Poll(bool wait);
  // A poll that waits for files to come to rest gives up, and so do those to come.
  void StopPolling() ABSL_LOCKS_EXCLUDED(mu_);

  // Adds a repository: its models can be loaded from now on. `names`: models that are called
  // otherwise than their directory. INVALID_ARGUMENT, ALREADY_EXISTS.
  absl::Status RegisterRepository(const std::string& path,
                                  const std::map<std::string, std::string>& names);
  // Forgets a repository. What is loaded stays. INVALID_ARGUMENT.
  absl::Status UnregisterRepository(const std::string& path) ABSL_LOCKS_EXCLUDED(mu_);

  absl::StatusOr<std::shared_ptr<ManagedModel>> Find(absl::string_view name,
                                                     int64_t version) const {
    return directory_.Get()->Find(name, version);
  }
  // For ensembles.
  absl::StatusOr<std::shared_ptr<ServingModel>> Resolve(const EnsembleStep& step,
                                                        const InferRequest* request) override;
  Found LookUp(const EnsembleStep& step) override;
  // See ModelDirectory.
  std::shared_ptr<ManagedModel> FindSequence(absl::string_view name, int64_t version,
                                             const CorrelationId& id) const;
  // The picture of this moment.
  const ModelDirectory& Directory() const { return *directory_.Get(); }
  // Models in the repositories, loaded or not. A repository that cannot be read has none.
  // Takes no lock: whoever asks is not to wait for loads.
  std::set<ModelId> RepositoryModels() const;

  // Closes the admission of every model.
  void CloseAdmission();
  // Waits until no request is in flight and no sequence lives, also in versions that were replaced;
  // false if `deadline` comes first. Says once per second in the log which versions have how many.
  bool WaitIdle(TimePoint deadline) ABSL_LOCKS_EXCLUDED(mu_);
  // Begins to unload everything. Waits for loads that are under way; a model whose load has not
  // ended at `deadline` is left alone.
  void UnloadAll(TimePoint deadline = TimePoint::max()) ABSL_LOCKS_EXCLUDED(mu_);
  // Waits until no model is being loaded and all that are unloaded are torn down; false if
  // `deadline` comes first.
  bool WaitUnloaded(TimePoint deadline) ABSL_LOCKS_EXCLUDED(mu_);
  // What keeps WaitIdle and WaitUnloaded: one sentence for each model that has requests in flight,
  // is being loaded or being torn down.
  std::vector<std::string> Unfinished() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // What is known of a model besides its versions. Does not keep what it is loaded from: its
  // versions do.
  struct Record {
    std::shared_ptr<const PreparedModel> attempted;  // last
    std::shared_ptr<const PreparedModel> served;     // what its versions are; null if none serves
    bool wanted = false;
    bool on_request = false;
    std::string error;     // of the last attempt
    uint64_t changed = 0;  // when: see changes_
  };
  struct VersionTask;
  struct LoadJob;
  class Progress;
  // What keeps a model busy: while it lives nobody else works on the model. Goes with whatever
  // fails, so that a later load does not wait for ever. Its end takes the manager's mutex.
  class BusyMark {
   public:
    BusyMark() = default;  // of no model
    BusyMark(ModelManager* manager, std::set<ModelId>::const_iterator place)
        : manager_(manager), place_(place) {}
    BusyMark(BusyMark&& other) noexcept
        : manager_(std::exchange(other.manager_, nullptr)), place_(other.place_) {}
    BusyMark& operator=(BusyMark&& other) noexcept {
      std::swap(manager_, other.manager_);
      std::swap(place_, other.place_);
      return *this;
    }
    ~BusyMark();

   private:
    friend class ModelManager;
    ModelManager* manager_ = nullptr;  // null: of no model
    std::set<ModelId>::const_iterator place_;
  };
  // The end of a version, with all that it takes: from here on nothing can fail.
  struct Closing {
    std::shared_ptr<ManagedModel> model;
    std::multiset<std::string> name;  // one, for closing_
    ManagedModel::PreparedClose close;
  };
  using Prepared = std::map<ModelId, std::shared_ptr<const PreparedModel>>;
  // Models to be worked on, and what there is to do.
  struct Work {
    LoadInput input;
    Prepared prepared;
  };

  // ---- Planning (model_manager.cc).
  RepositoryLayout Layout() const { return *layout_.Get(); }
  std::map<ModelId, RunningModel> Running() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Those that matter for `id` unless it is an ensemble: itself, ensembles and their members.
  std::map<ModelId, RunningModel> RunningAround(const ModelId& id) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  RunningModel RunningOf(const ModelId& id, const Record& record) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool Serves(const ModelId& id) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // What its versions are, or an ensemble's that waits for a member. Null: nothing of it is wanted.
  std::shared_ptr<const PreparedModel> InForce(const ModelId& id) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::shared_ptr<const PreparedModel> Read(const RepositoryLayout& layout, const ModelId& id,
                                            ModelFiles files, const LoadOverride& override) const;
  // The one model that a client means by `name`, and where it lies.
  absl::StatusOr<std::pair<ModelId, std::string>> Locate(const RepositoryLayout& layout,
                                                         const std::string& name);
  // Reads the members of `model` that do not serve, and theirs.
  void ReadMembers(const RepositoryLayout& layout, const PreparedModel& model, Work* work) const;
  // One attempt of Load. None: something has changed meanwhile, or a model was busy (then this has
  // waited for it).
  std::optional<absl::Status> TryLoad(const ModelId& id, const std::string& directory,
                                      const LoadOverride& override) ABSL_LOCKS_EXCLUDED(mu_);
  // Makes the repositories' state ours. Returns what is under way.
  std::shared_ptr<PlanRun> Sync(const RepositorySnapshot& snapshot) ABSL_LOCKS_EXCLUDED(mu_);
  // Forgets models without versions that are in no repository any more.
  void Forget(const RepositorySnapshot& snapshot) ABSL_LOCKS_EXCLUDED(mu_);
  // What `actions` load that `work` has not read yet: ensembles whose members change.
  void ReadRest(const RepositoryLayout& layout, const std::vector<PlannedAction>& actions,
                Work* work) ABSL_LOCKS_EXCLUDED(mu_);
  std::shared_ptr<const PreparedModel> ReadAgain(
      const RepositoryLayout& layout, const std::shared_ptr<const PreparedModel>& last) const;
  // Marks the models of `actions`, none of which is busy; all or, where it throws, none. REQUIRES:
  // the marks go where the mutex is not held.
  std::vector<BusyMark> MarkBusy(const std::vector<PlannedAction>& actions)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Begins `actions`, each with the mark of its model.
  std::shared_ptr<PlanRun> Begin(std::vector<PlannedAction> actions, Prepared prepared,
                                 std::vector<BusyMark> marks);
  void BeginAction(const PlannedAction& action, const Prepared& prepared, BusyMark mark,
                   PlanRun::Ending ending, const std::shared_ptr<Progress>& progress)
      ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status WaitForScan(const RepositoryLayout& layout, RepositorySnapshot* scan)
      ABSL_LOCKS_EXCLUDED(mu_);

  // ---- Ensembles that others worked on while their members changed (model_rechecks.cc).
  // Loads those of `actions` again that are wanted. Blocks, but not for those that others still
  // work on: they follow afterwards.
  void CheckAgain(std::vector<PlannedAction> actions) ABSL_LOCKS_EXCLUDED(mu_);
  // Loads `last` again, which stays busy. Where that cannot be begun it is not loaded.
  void BeginAgain(const std::shared_ptr<const PreparedModel>& last, BusyMark mark) noexcept;

  // ---- Loading (model_loading.cc). What throws on the way ends with the job, which is abandoned.
  void BeginLoad(std::shared_ptr<LoadJob> job) ABSL_LOCKS_EXCLUDED(mu_);
  absl::StatusOr<std::vector<VersionTask>> PlanVersions(const PreparedModel& model)
      ABSL_LOCKS_EXCLUDED(mu_);
  void RunTask(const PreparedModel& model, VersionTask* task);
  // Makes the instances of a version that goes on with others.
  absl::Status UpdateInstances(const PreparedModel& model, VersionTask* task);
  absl::StatusOr<std::shared_ptr<ManagedModel>> LoadVersion(const PreparedModel& model,
                                                            int64_t version);
  // One try of LoadVersion. INTERNAL where the machine refuses a thread or memory.
  absl::StatusOr<std::shared_ptr<ManagedModel>> LoadCaught(const PreparedModel& model,
                                                           int64_t version);
  // What became of the tasks: all in, or none. Throws only before anything has changed.
  absl::Status Commit(LoadJob* job) ABSL_LOCKS_EXCLUDED(mu_);
  // Puts the versions that were loaded in place of those that served, in `entry`, and prepares the
  // ends of the latter.
  void PutIn(const LoadJob& job, ModelEntry* entry, std::vector<Closing>* closings);
  // Notes in `entry` that nothing was loaded, and prepares the ends of versions that were.
  void TakeBack(const LoadJob& job, ModelEntry* entry, std::vector<Closing>* closings);
  void EndLoad(LoadJob* job, absl::Status status) noexcept ABSL_LOCKS_EXCLUDED(mu_);
  // Ends a load that something on the way has thrown out of.
  void Abandon(LoadJob* job) noexcept ABSL_LOCKS_EXCLUDED(mu_);
  // A model whose configuration or versions cannot even be read, or that does not fit its members.
  void NoteFailure(const ModelId& id, const absl::Status& error) ABSL_LOCKS_EXCLUDED(mu_);

  // ---- Unloading (model_unloading.cc).
  // Stops serving what is ready of a model. `reason`: unless on purpose.
  void Retire(const ModelId& id, const std::string& reason) ABSL_LOCKS_EXCLUDED(mu_);
  // Retires an ensemble that serves, but not with the members that serve now.
  void RetireMisfits(const ModelId& id) ABSL_LOCKS_EXCLUDED(mu_);
  Closing PrepareClose(const ModelId& id, int64_t version,
                       const std::shared_ptr<ManagedModel>& model, const std::string& reason);
  void CloseAll(std::vector<Closing> closings) noexcept ABSL_LOCKS_EXCLUDED(mu_);
  // Notes that `model` is torn down.
  void NoteClosed(const ModelId& id, int64_t version, const ManagedModel* model,
                  const std::string& reason) ABSL_LOCKS_EXCLUDED(mu_);
  // One text for each model version with requests in flight.
  std::vector<std::string> InFlight() const;
  // Waits until nobody works on `id`; false if `deadline` comes first.
  bool WaitNotBusy(const ModelId& id, TimePoint deadline) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Release(BusyMark mark) noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Publishes a directory that `change` has changed. Where it throws nothing has changed; `then`,
  // which must not throw, follows under the same lock.
  template <typename Change, typename Then>
  void Update(const Change& change, const Then& then) ABSL_LOCKS_EXCLUDED(mu_) {
    std::shared_ptr<const ModelDirectory> old;
    {
      MutexLock lock(&mu_);
      auto next = std::make_shared<ModelDirectory>(*current_);
      change(next.get());
      next->Finish();
      current_ = std::move(next);
      old = directory_.Set(current_);
      then();
    }
    changed_.NotifyAll();
  }
  template <typename Change>
  void Update(const Change& change) ABSL_LOCKS_EXCLUDED(mu_) {
    Update(change, [] {});
  }

  const ModelManagerOptions options_;
  const LoadContext context_;
  RepositoryAgents agents_;
  const ModelReader reader_;
  ReadMostly<ModelDirectory> directory_;
  mutable Mutex mu_;
  CondVar changed_;
  ReadMostly<RepositoryLayout> layout_;                                 // replaced under mu_
  std::shared_ptr<const ModelDirectory> current_ ABSL_GUARDED_BY(mu_);  // what directory_ has
  std::map<ModelId, Record> records_ ABSL_GUARDED_BY(mu_);
  uint64_t changes_ ABSL_GUARDED_BY(mu_) = 0;
  std::set<ModelId> busy_ ABSL_GUARDED_BY(mu_);
  std::set<ModelId> again_ ABSL_GUARDED_BY(mu_);  // busy ones to be loaded again afterwards
  std::multiset<std::string> closing_ ABSL_GUARDED_BY(mu_);  // versions being torn down
  bool polling_ ABSL_GUARDED_BY(mu_) = false;
  bool polls_stopped_ ABSL_GUARDED_BY(mu_) = false;
  RepositorySnapshot known_ ABSL_GUARDED_BY(mu_);  // what the last poll took up
  Reaper reaper_;                                  // its jobs use all of the above
  LoadPool pool_;                                  // last: its tasks use all of the above
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_MODEL_MANAGER_H_
