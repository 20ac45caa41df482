// SPDX-License-Identifier: Apache-2.0
// ModelManager: loads and unloads the models of the repositories. Thread-safe. Owned by the server.
//
// Every change takes the same steps. LoadReader looks at the files and reads the configurations,
// without a lock. The load planner decides what to do. ModelCatalogue claims all models concerned
// at once. ModelLoader and ModelCloser then run each action as soon as the actions that it waits
// for have ended. A request that finds a model claimed waits in ControlRequests, and starts again.
// It holds nothing meanwhile, so a load that hangs holds up that model only.
#ifndef NEREID_LIFECYCLE_MODEL_MANAGER_H_
#define NEREID_LIFECYCLE_MODEL_MANAGER_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "lifecycle/catalogue/model_catalogue.h"
#include "lifecycle/control_requests.h"
#include "lifecycle/load/load_reader.h"
#include "lifecycle/load/model_closer.h"
#include "lifecycle/load/model_loader.h"
#include "lifecycle/load/repository_list.h"
#include "lifecycle/model/loaded_model.h"
#include "lifecycle/plan/plan_run.h"
#include "repository/load_override.h"
#include "repository/snapshot.h"
#include "scheduling/ensemble/model_resolver.h"

namespace nereid {

struct ModelManagerOptions {
  std::set<std::string> repositories;
  bool namespacing = false;
  std::string single_model_name;  // of repositories that are one model's folder; empty: their own
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
  // Like LoadAll, for the models of these names.
  std::vector<std::string> LoadEach(const std::set<std::string>& names);
  // Loads one model and the members that it needs. The old versions serve until the new ones take
  // their place. Blocks. Does nothing if the model serves and nothing has changed. On an error the
  // versions that served before still serve.
  absl::Status Load(const std::string& name, LoadOverride override = {});
  // Stops serving a model. Its requests in flight finish in the background. `with_members`: also
  // unloads the members that were loaded only for this model. OK if the model is unknown.
  absl::Status Unload(const std::string& name, bool with_members = false);
  // Requests to do the same, of callers that do not block.
  ControlRequests* control() { return &control_; }
  // Takes up the changes in the repositories whose files are at rest. `wait`: blocks until that is
  // done. Models that are being loaded are left for the next poll. One call at a time.
  absl::Status Poll(bool wait);
  // Makes the current and all later polls stop waiting for files to come to rest.
  void StopPolling() ABSL_LOCKS_EXCLUDED(mu_);

  // Adds a repository: its models can be loaded from now on. INVALID_ARGUMENT, ALREADY_EXISTS.
  absl::Status RegisterRepository(const std::string& path, const GivenNames& names) {
    return repositories_.Register(path, names);
  }
  // Forgets a repository. Its loaded models stay. INVALID_ARGUMENT.
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
  // The current directory.
  const ModelDirectory& Directory() const { return catalogue_.Directory(); }
  // Models in the repositories, loaded or not. A repository that cannot be read has none.
  // Takes no lock, so that callers do not wait for loads.
  std::set<ModelId> RepositoryModels() const { return repositories_.Models(); }

  // A text made from the names, sizes and times of the files of a model in the repositories: it is
  // another one if they have changed. The same after a restart. Blocks on file I/O.
  std::string StampOf(const std::string& name) const;

  // Closes the admission of every model.
  void CloseAdmission() { closer_.CloseAdmission(); }
  void StopWaitingForClients() { closer_.StopWaitingForClients(); }
  // See ModelCloser.
  bool WaitIdle(TimePoint deadline) { return closer_.WaitIdle(deadline); }
  // Begins to unload everything. Waits for loads that are under way; a model whose load has not
  // ended at `deadline` is left alone.
  void UnloadAll(TimePoint deadline = TimePoint::max()) { closer_.RetireAll(deadline); }
  // Waits until no model is being loaded and all unloaded models are torn down; false if `deadline`
  // comes first.
  bool WaitUnloaded(TimePoint deadline) {
    return catalogue_.WaitNoneBusy(deadline) && closer_.WaitClosed(deadline);
  }
  // What WaitIdle and WaitUnloaded still wait for: one sentence per model that has requests in
  // flight, is being loaded or is being torn down.
  std::vector<std::string> Unfinished() const;

 private:
  using Ended = ControlRequests::Ended;

  // Finds the models that ensembles consist of.
  class MemberResolver final : public ModelResolver {
   public:
    // `catalogue` outlives this.
    explicit MemberResolver(const ModelCatalogue* catalogue) : catalogue_(*catalogue) {}
    absl::StatusOr<std::shared_ptr<ServingModel>> Resolve(const EnsembleStep& step,
                                                          const InferRequest* request) override;
    Found LookUp(const EnsembleStep& step) override;

   private:
    const ModelCatalogue& catalogue_;
  };

  // See ControlRequests::Options.
  std::optional<ModelId> Attempt(const ModelChange& change, Ended ended);
  std::optional<ModelId> AttemptLoad(const std::string& name, const LoadOverride& override,
                                     Ended ended);
  std::optional<ModelId> AttemptUnload(const std::string& name, bool with_members, Ended ended);
  // Plans a load of the models in `places` and claims the models concerned; a claim without actions
  // if nothing has changed.
  absl::StatusOr<ModelCatalogue::ClaimResult> ClaimLoad(const LoadReader::Places& places,
                                                        const LoadOverride& override,
                                                        PreparedModels* prepared);
  // Begins to carry out a claim for a load or an unload of `ids`. Afterwards has the skipped models
  // checked, and calls `ended` with the first error of these models.
  void CarryOut(const std::set<ModelId>& ids, ModelCatalogue::Claim claim, PreparedModels prepared,
                Ended ended);
  // Begins to bring the models in line with the repositories. Returns the plan under way.
  std::shared_ptr<PlanRun> Sync(const RepositorySnapshot& snapshot);
  // Begins the claimed actions. See PlanRun::Begin.
  std::shared_ptr<PlanRun> Begin(ModelCatalogue::Claim claim, PreparedModels prepared,
                                 PlanRun::Ended ended = nullptr);
  void BeginAction(const PlannedAction& action, const PreparedModels& prepared,
                   ModelCatalogue::BusyMark mark, PlanRun::Completion completion,
                   const std::shared_ptr<LoadProgress>& progress);
  // Reloads the wanted ensembles among `skipped`, on which others worked while their members
  // changed, and calls `ended`. Does not wait for ensembles on which others still work, because
  // their load may hang: these follow afterwards. (An unload of a member does wait.)
  void CheckAgain(std::vector<PlannedAction> skipped, std::function<void()> ended);
  // Puts the content of the repositories that has come to rest into `scan`.
  absl::Status WaitForScan(const RepositoryLayout& layout, RepositorySnapshot* scan)
      ABSL_LOCKS_EXCLUDED(mu_);

  const ModelManagerOptions options_;
  RepositoryAgents agents_;
  ModelCatalogue catalogue_;
  ControlRequests control_;  // is told of the ends of all loads, so it goes after the loader
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
