// SPDX-License-Identifier: Apache-2.0
// ModelCatalogue: what is known of all models: the published directory, a record per model, and
// which models are being worked on (busy). Thread-safe. Owned by the model manager.
//
// A change publishes a new directory under the catalogue's mutex; readers take no lock
// (model_directory.h). A thread that changes a model claims the model first: nobody else works on
// it until the claim's mark is destroyed. Who finds a model claimed is told so, and does not wait.
#ifndef NEREID_LIFECYCLE_CATALOGUE_MODEL_CATALOGUE_H_
#define NEREID_LIFECYCLE_CATALOGUE_MODEL_CATALOGUE_H_

#include <absl/status/status.h>

#include <cstdint>
#include <functional>
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
#include "lifecycle/catalogue/model_directory.h"
#include "lifecycle/model/prepared_model.h"
#include "lifecycle/plan/load_planner.h"

namespace nereid {

class ModelCatalogue {
 public:
  // What is known of a model besides its versions. The versions, not the record, keep the source
  // that the model is loaded from.
  struct Record {
    std::shared_ptr<const PreparedModel> attempted;  // by the last load
    std::shared_ptr<const PreparedModel> served;     // by the versions; null if none serves
    bool wanted = false;
    bool on_request = false;
    std::string error;     // from the last attempt
    uint64_t changed = 0;  // time of the last change: see View::now
  };
  using Records = std::map<ModelId, Record>;
  using FoundModels = std::map<ModelId, FoundModel>;
  using BusyModels = std::map<ModelId, BusyModel>;

  // Marks a model as busy: while the mark lives, nobody else works on the model. A failure destroys
  // the mark, so that a later load does not wait forever. REQUIRES: the catalogue's mutex is not
  // held when the mark is destroyed.
  class BusyMark {
   public:
    BusyMark() = default;  // of no model
    BusyMark(BusyMark&& other) noexcept
        : catalogue_(std::exchange(other.catalogue_, nullptr)), place_(other.place_) {}
    BusyMark& operator=(BusyMark&& other) noexcept {
      std::swap(catalogue_, other.catalogue_);
      std::swap(place_, other.place_);
      return *this;
    }
    ~BusyMark() {
      if (catalogue_ != nullptr) catalogue_->Release(std::move(*this));
    }

   private:
    friend class ModelCatalogue;
    BusyMark(ModelCatalogue* catalogue, BusyModels::iterator place)
        : catalogue_(catalogue), place_(place) {}

    ModelCatalogue* catalogue_ = nullptr;  // null: of no model
    BusyModels::iterator place_;
  };

  // Actions on models that only the claimer may work on.
  struct Claim {
    std::vector<PlannedAction> actions;
    std::vector<BusyMark> marks;         // one per action
    std::vector<PlannedAction> skipped;  // others work on their models
  };

  // What became of a claim.
  struct ClaimResult {
    std::optional<Claim> claim;
    std::optional<ModelId> busy;  // no claim: others work on this model
  };

  // The state of all models at one moment.
  struct View {
    std::map<ModelId, RunningModel> running;
    std::set<ModelId> busy;
    // What the versions of the requested model, or of an ensemble that waits for a member, are
    // loaded from. Null: the model is not wanted.
    std::shared_ptr<const PreparedModel> in_force;
    uint64_t now = 0;  // counts changes: exceeds Record::changed of records unchanged since
  };

  // `clock` outlives this. `on_released` is called, without a lock, whenever nobody works on a
  // model any more; it must not block or throw.
  ModelCatalogue(Clock* clock, bool namespacing,
                 std::function<void(const ModelId&)> on_released = nullptr);

  // ---- The directory.
  // The current directory. Valid until the calling thread next calls this function.
  const ModelDirectory& Directory() const { return *directory_.Get(); }
  // Publishes a directory that `change` has changed. If `change` throws, nothing has changed.
  void Update(const std::function<void(ModelDirectory*)>& change) ABSL_LOCKS_EXCLUDED(mu_);
  // Notes that a model's configuration or versions cannot be read, or that it does not fit its
  // members.
  void NoteFailure(const ModelId& id, const absl::Status& error) ABSL_LOCKS_EXCLUDED(mu_);
  // Notes that the ready versions of a model are being unloaded, and calls `prepare` for each,
  // under the mutex. `reason`: empty if on purpose.
  void NoteRetired(const ModelId& id, const std::string& reason,
                   const std::function<void(int64_t version, const VersionEntry&)>& prepare)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Notes that `model` is torn down.
  void NoteClosed(const ModelId& id, int64_t version, const ManagedModel* model,
                  const std::string& reason) ABSL_LOCKS_EXCLUDED(mu_);
  // Forgets models that have no versions and are in no repository any more.
  void Forget(const RepositorySnapshot& snapshot) ABSL_LOCKS_EXCLUDED(mu_);

  // ---- The records.
  // The state of all models.
  View Look() const ABSL_LOCKS_EXCLUDED(mu_);
  // The state of what matters for a load of `id`, which is no ensemble: the model itself, ensembles
  // and their members. None while others work on the model.
  std::optional<View> LookAround(const ModelId& id) const ABSL_LOCKS_EXCLUDED(mu_);
  // The last attempt to load `id`. REQUIRES: there was one.
  std::shared_ptr<const PreparedModel> Attempted(const ModelId& id) const ABSL_LOCKS_EXCLUDED(mu_);
  // What the versions of `id` that serve are; null if none serves.
  std::shared_ptr<const PreparedModel> Served(const ModelId& id) const ABSL_LOCKS_EXCLUDED(mu_);
  // Why the last attempt failed; empty if it succeeded, or if there was none.
  std::string LastError(const ModelId& id) const ABSL_LOCKS_EXCLUDED(mu_);
  // Notes that `id` was requested by its name. REQUIRES: the model has a record.
  void NoteRequested(const ModelId& id) ABSL_LOCKS_EXCLUDED(mu_);
  // Notes the end of a load. `fresh` holds the first record of a model that had none, or an unused
  // record; it is empty if there was no memory to begin. True: the model must be loaded again, and
  // `mark` stays. False: the mark is destroyed.
  bool NoteLoadEnd(const ModelId& id, bool ok, bool on_request, std::string error, Records* fresh,
                   BusyMark* mark) noexcept ABSL_LOCKS_EXCLUDED(mu_);
  // Notes the end of an unload: the mark is destroyed, and the model is not loaded again.
  void NoteUnloadEnd(const ModelId& id, BusyMark mark) ABSL_LOCKS_EXCLUDED(mu_);

  // ---- Claims. A claim takes all its models at once; if it throws, it takes none.
  // Claims the models of a load of `ids`. `read`: models that the plan has looked at. No claim, and
  // no busy model: one of these models has changed since `seen`.
  ClaimResult ClaimLoad(const std::set<ModelId>& ids, std::vector<PlannedAction> actions,
                        const FoundModels& read, uint64_t seen) ABSL_LOCKS_EXCLUDED(mu_);
  // Claims the models of an unload of `ids`. Busy may be one of these, or an ensemble that uses it:
  // one that is being loaded needs its members until its load has ended. No claim, and no busy
  // model: none was ever loaded.
  ClaimResult ClaimUnload(const std::set<ModelId>& ids, bool with_members) ABSL_LOCKS_EXCLUDED(mu_);
  // Claims the models of a poll that has looked at `read`. Models in `known_busy` were left out of
  // its plan. Models on which others have begun to work since are loaded again afterwards.
  Claim ClaimSync(std::vector<PlannedAction> actions, const FoundModels& read,
                  const std::set<ModelId>& known_busy) ABSL_LOCKS_EXCLUDED(mu_);
  // Claims loads of the wanted models of `skipped`. Models on which others still work follow
  // afterwards.
  Claim ClaimAgain(std::vector<PlannedAction> skipped) ABSL_LOCKS_EXCLUDED(mu_);

  bool IsBusy(const ModelId& id) const ABSL_LOCKS_EXCLUDED(mu_);
  // Waits until nobody works on `id`, or on any model; false if `deadline` comes first.
  bool WaitNotBusy(const ModelId& id, TimePoint deadline) ABSL_LOCKS_EXCLUDED(mu_);
  bool WaitNoneBusy(TimePoint deadline) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // A node of busy_: taking it out takes no memory. Empty: of no model.
  using ReleasedModel = BusyModels::node_type;

  // As Update. Returns the old directory, which must not be destroyed under the mutex.
  [[nodiscard]] std::shared_ptr<const ModelDirectory> Publish(
      const std::function<void(ModelDirectory*)>& change) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::set<ModelId> BusyIds() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::map<ModelId, RunningModel> Running() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  RunningModel RunningOf(const ModelId& id, const Record& record) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool Serves(const ModelId& id) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::shared_ptr<const PreparedModel> InForce(const ModelId& id) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Plans an unload. Also considers ensembles that are being loaded for the first time.
  std::vector<PlannedAction> PlanUnload(const std::set<ModelId>& ids, bool with_members) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Marks the models of `actions`, none of which is busy: all of them or, if it throws, none.
  // `read`: has at least the models that are loaded for the first time.
  std::vector<BusyMark> MarkBusy(const std::vector<PlannedAction>& actions, const FoundModels& read)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Claims the `actions` on models that are not among `others`.
  Claim ClaimBut(std::vector<PlannedAction> actions, const std::set<ModelId>& others,
                 const FoundModels& read) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Release(BusyMark mark) noexcept ABSL_LOCKS_EXCLUDED(mu_);
  // Returns what Released needs.
  [[nodiscard]] ReleasedModel ReleaseLocked(BusyMark mark) noexcept
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Released(const ReleasedModel& model) const noexcept ABSL_LOCKS_EXCLUDED(mu_);

  Clock* const clock_;
  const std::function<void(const ModelId&)> on_released_;  // null: nobody wants to know
  ReadMostly<ModelDirectory> directory_;
  mutable Mutex mu_;
  CondVar changed_;
  std::shared_ptr<const ModelDirectory> current_ ABSL_GUARDED_BY(mu_);  // same as directory_
  Records records_ ABSL_GUARDED_BY(mu_);
  std::set<ModelId> ensembles_ ABSL_GUARDED_BY(mu_);  // models that have ever had members
  uint64_t changes_ ABSL_GUARDED_BY(mu_) = 0;
  BusyModels busy_ ABSL_GUARDED_BY(mu_);
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_CATALOGUE_MODEL_CATALOGUE_H_
