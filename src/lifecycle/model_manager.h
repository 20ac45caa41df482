// ModelManager: loads and unloads the models of the repositories. Thread-safe. Owned by the server.
//
// Everything goes the same way: the files are looked at and configurations read without a lock
// (LoadReader); the load planner says what is to be done; the models concerned are claimed, all at
// once (ModelCatalogue); then each action runs as soon as those are done that it waits for
// (ModelLoader, ModelCloser). Who finds a model claimed waits, and looks again. Whoever waits holds
// nothing, so a load that hangs holds up that model only.
#ifndef NEREID_LIFECYCLE_MODEL_MANAGER_H_
#define NEREID_LIFECYCLE_MODEL_MANAGER_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "lifecycle/load_reader.h"
#include "lifecycle/loaded_model.h"
#include "lifecycle/member_resolver.h"
#include "lifecycle/model_catalogue.h"
#include "lifecycle/model_closer.h"
#include "lifecycle/model_loader.h"
#include "lifecycle/plan_run.h"
#include "lifecycle/repository_list.h"
#include "repository/load_override.h"
#include "repository/snapshot.h"

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

class ModelManager {
 public:
  // `context` and what it points to outlive this.
  ModelManager(ModelManagerOptions options, LoadContext context);
  // REQUIRES: UnloadAll was called and every model is gone, or the process is ending.
  ~ModelManager();

  // INVALID_ARGUMENT unless every repository is a readable directory.
  absl::Status CheckRepositories() const { return repositories_.Check(); }
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
                                  const std::map<std::string, std::string>& names) {
    return repositories_.Register(path, names);
  }
  // Forgets a repository. What is loaded stays. INVALID_ARGUMENT.
  absl::Status UnregisterRepository(const std::string& path) {
    return repositories_.Unregister(path);
  }

  absl::StatusOr<std::shared_ptr<ManagedModel>> Find(absl::string_view name,
                                                     int64_t version) const {
    return Directory().Find(name, version);
  }
  // See ModelDirectory.
  std::shared_ptr<ManagedModel> FindSequence(absl::string_view name, int64_t version,
                                             const CorrelationId& id) const {
    return Directory().FindSequence(name, version, id);
  }
  // The picture of this moment.
  const ModelDirectory& Directory() const { return catalogue_.Directory(); }
  // Models in the repositories, loaded or not. A repository that cannot be read has none.
  // Takes no lock: whoever asks is not to wait for loads.
  std::set<ModelId> RepositoryModels() const { return repositories_.Models(); }

  // Closes the admission of every model.
  void CloseAdmission() { closer_.CloseAdmission(); }
  // See ModelCloser.
  bool WaitIdle(TimePoint deadline) { return closer_.WaitIdle(deadline); }
  // Begins to unload everything. Waits for loads that are under way; a model whose load has not
  // ended at `deadline` is left alone.
  void UnloadAll(TimePoint deadline = TimePoint::max()) { closer_.RetireAll(deadline); }
  // Waits until no model is being loaded and all that are unloaded are torn down; false if
  // `deadline` comes first.
  bool WaitUnloaded(TimePoint deadline) {
    return catalogue_.WaitNoneBusy(deadline) && closer_.WaitClosed(deadline);
  }
  // What keeps WaitIdle and WaitUnloaded: one sentence for each model that has requests in flight,
  // is being loaded or being torn down.
  std::vector<std::string> Unfinished() const;

 private:
  // One attempt of Load. None: something has changed meanwhile, or others worked on a model (then
  // this has waited for them).
  std::optional<absl::Status> TryLoad(const ModelId& id, const std::string& directory,
                                      const LoadOverride& override);
  // Carries out what was claimed for a load or an unload of `id`, and has what was skipped checked
  // afterwards. Blocks.
  absl::Status CarryOut(const ModelId& id, ModelCatalogue::Claim claim, PreparedModels prepared);
  // Makes the repositories' state ours. Returns what is under way.
  std::shared_ptr<PlanRun> Sync(const RepositorySnapshot& snapshot);
  // Begins what was claimed.
  std::shared_ptr<PlanRun> Begin(ModelCatalogue::Claim claim, PreparedModels prepared);
  void BeginAction(const PlannedAction& action, const PreparedModels& prepared,
                   ModelCatalogue::BusyMark mark, PlanRun::Ending ending,
                   const std::shared_ptr<LoadProgress>& progress);
  // Ensembles that others worked on while their members changed: loads those that are wanted again.
  // Blocks, but not for those that others still work on, which follow afterwards: a load that these
  // wait for may hang. (Whoever unloads a member waits.)
  void CheckAgain(std::vector<PlannedAction> skipped);
  // What the repositories hold and has come to rest, in `scan`.
  absl::Status WaitForScan(const RepositoryLayout& layout, RepositorySnapshot* scan)
      ABSL_LOCKS_EXCLUDED(mu_);

  const ModelManagerOptions options_;
  RepositoryAgents agents_;
  ModelCatalogue catalogue_;
  MemberResolver resolver_;
  const LoadContext context_;
  RepositoryList repositories_;
  const LoadReader reader_;
  Mutex mu_;
  CondVar changed_;
  bool polling_ ABSL_GUARDED_BY(mu_) = false;
  bool polls_stopped_ ABSL_GUARDED_BY(mu_) = false;
  RepositorySnapshot known_ ABSL_GUARDED_BY(mu_);  // what the last poll took up
  ModelCloser closer_;                             // its jobs use the catalogue
  ModelLoader loader_;                             // last: its tasks use all of the above
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_MODEL_MANAGER_H_
