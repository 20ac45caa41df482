// ModelCatalogue: what is known of all models: the published directory, a record per model, and
// who works on which. Thread-safe. Owned by the model manager.
//
// A change publishes a new directory under the catalogue's mutex; readers take no lock
// (model_directory.h). Whoever changes a model claims it first: from then on until the mark goes
// nobody else works on it. Nothing here blocks but for a model that others work on.
#ifndef NEREID_LIFECYCLE_MODEL_CATALOGUE_H_
#define NEREID_LIFECYCLE_MODEL_CATALOGUE_H_

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
#include "lifecycle/load_planner.h"
#include "lifecycle/model_directory.h"
#include "lifecycle/model_reader.h"

namespace nereid {

class ModelCatalogue {
 public:
  // What is known of a model besides its versions. Does not keep what it is loaded from: its
  // versions do.
  struct Record {
    std::shared_ptr<const PreparedModel> attempted;  // last
    std::shared_ptr<const PreparedModel> served;     // what its versions are; null if none serves
    bool wanted = false;
    bool on_request = false;
    std::string error;     // of the last attempt
    uint64_t changed = 0;  // when: see Standing::now
  };
  using Records = std::map<ModelId, Record>;
  using FoundModels = std::map<ModelId, FoundModel>;

  // While it lives nobody else works on its model. Goes with whatever fails, so that a later load
  // does not wait for ever. REQUIRES: it goes where the catalogue's mutex is not held.
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
    BusyMark(ModelCatalogue* catalogue, std::set<ModelId>::const_iterator place)
        : catalogue_(catalogue), place_(place) {}

    ModelCatalogue* catalogue_ = nullptr;  // null: of no model
    std::set<ModelId>::const_iterator place_;
  };

  // Actions on models that are the claimer's alone.
  struct Claim {
    std::vector<PlannedAction> actions;
    std::vector<BusyMark> marks;         // one per action
    std::vector<PlannedAction> skipped;  // others work on their models
  };

  // How things stand at one moment.
  struct Standing {
    std::map<ModelId, RunningModel> running;
    std::set<ModelId> busy;
    // What the versions of the model asked for are, or of an ensemble that waits for a member.
    // Null: nothing of it is wanted.
    std::shared_ptr<const PreparedModel> in_force;
    uint64_t now = 0;  // counts changes: larger than Record::changed of what has not changed since
  };

  // `clock` outlives this.
  ModelCatalogue(Clock* clock, bool namespacing);

  // ---- The directory.
  // The picture of this moment, for as long as the calling thread asks for no newer one.
  const ModelDirectory& Directory() const { return *directory_.Get(); }
  // Publishes a directory that `change` has changed; it may look at the records, too. Where it
  // throws nothing has changed.
  void Update(const std::function<void(ModelDirectory*)>& change) ABSL_LOCKS_EXCLUDED(mu_);
  void Update(const std::function<void(ModelDirectory*, const Records&)>& change)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Notes a model whose configuration or versions cannot even be read, or that does not fit its
  // members.
  void NoteFailure(const ModelId& id, const absl::Status& error) ABSL_LOCKS_EXCLUDED(mu_);
  // Notes that the ready versions of a model are being unloaded, and calls `prepare` for each,
  // under the mutex. `reason`: unless on purpose.
  void NoteRetired(const ModelId& id, const std::string& reason,
                   const std::function<void(int64_t version, const VersionEntry&)>& prepare)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Notes that `model` is torn down.
  void NoteClosed(const ModelId& id, int64_t version, const ManagedModel* model,
                  const std::string& reason) ABSL_LOCKS_EXCLUDED(mu_);
  // Forgets models without versions that are in no repository any more.
  void Forget(const RepositorySnapshot& snapshot) ABSL_LOCKS_EXCLUDED(mu_);

  // ---- The records.
  // Of all models.
  Standing Look() const ABSL_LOCKS_EXCLUDED(mu_);
  // Of what matters for a load of `id` that is no ensemble: itself, ensembles and their members.
  // Waits until nobody works on it.
  Standing LookAround(const ModelId& id) ABSL_LOCKS_EXCLUDED(mu_);
  // The last attempt to load `id`. REQUIRES: there was one.
  std::shared_ptr<const PreparedModel> Attempted(const ModelId& id) const ABSL_LOCKS_EXCLUDED(mu_);
  // Why the last attempt failed; empty if it did not, or there was none.
  std::string LastError(const ModelId& id) const ABSL_LOCKS_EXCLUDED(mu_);
  // Somebody has asked for `id` by its name. REQUIRES: it has a record.
  void NoteRequested(const ModelId& id) ABSL_LOCKS_EXCLUDED(mu_);
  // The end of a load: `fresh` has the record of a model that had none, or an unused one; it is
  // empty where there was no memory to begin. True: the model is to be loaded again, and `mark`
  // stays; otherwise the mark goes.
  bool NoteLoadEnd(const ModelId& id, bool ok, bool on_request, std::string error, Records* fresh,
                   BusyMark* mark) noexcept ABSL_LOCKS_EXCLUDED(mu_);
  // The mark of a model that was unloaded goes; nobody loads it again.
  void NoteUnloadEnd(const ModelId& id, BusyMark mark) ABSL_LOCKS_EXCLUDED(mu_);

  // ---- Claims. All at once or, where something throws, nothing.
  // What a load of `id` does. `read`: models that the plan has looked at. None: one of these has
  // changed since `seen`, or others worked on it (then this has waited for them).
  std::optional<Claim> ClaimLoad(const ModelId& id, std::vector<PlannedAction> actions,
                                 const FoundModels& read, uint64_t seen) ABSL_LOCKS_EXCLUDED(mu_);
  // What an unload of `id` does. Waits until nobody works on it, or on an ensemble that uses it.
  // None: it was never loaded.
  std::optional<Claim> ClaimUnload(const ModelId& id, bool with_members) ABSL_LOCKS_EXCLUDED(mu_);
  // What a poll does, which has looked at `read`. Models in `known_busy` were left out of its plan;
  // what others have begun to work on since is loaded again afterwards.
  Claim ClaimSync(std::vector<PlannedAction> actions, const FoundModels& read,
                  const std::set<ModelId>& known_busy) ABSL_LOCKS_EXCLUDED(mu_);
  // Loads of those of `skipped` that are wanted. What others still work on follows afterwards.
  Claim ClaimAgain(std::vector<PlannedAction> skipped) ABSL_LOCKS_EXCLUDED(mu_);

  // Waits until nobody works on `id`, or on any model; false if `deadline` comes first.
  bool WaitNotBusy(const ModelId& id, TimePoint deadline) ABSL_LOCKS_EXCLUDED(mu_);
  bool WaitNoneBusy(TimePoint deadline) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void Publish(std::shared_ptr<ModelDirectory> next, std::shared_ptr<const ModelDirectory>* old)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::map<ModelId, RunningModel> Running() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  RunningModel RunningOf(const ModelId& id, const Record& record) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool Serves(const ModelId& id) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::shared_ptr<const PreparedModel> InForce(const ModelId& id) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void AwaitNotBusy(const ModelId& id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // What an unload does, considering also ensembles that are being loaded for the first time.
  std::vector<PlannedAction> PlanUnload(const ModelId& id, bool with_members) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Waits until nobody works on the first of these models that is busy; false: none is.
  bool WaitedForOneOf(const std::vector<PlannedAction>& actions) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Marks the models of `actions`, none of which is busy; all or, where it throws, none. `read`:
  // those that are loaded for the first time, at least.
  std::vector<BusyMark> MarkBusy(const std::vector<PlannedAction>& actions, const FoundModels& read)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Claims those of `actions` that are not among `others`.
  Claim ClaimBut(std::vector<PlannedAction> actions, const std::set<ModelId>& others,
                 const FoundModels& read) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Release(BusyMark mark) noexcept ABSL_LOCKS_EXCLUDED(mu_);
  void ReleaseLocked(BusyMark mark) noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  Clock* const clock_;
  ReadMostly<ModelDirectory> directory_;
  mutable Mutex mu_;
  CondVar changed_;
  std::shared_ptr<const ModelDirectory> current_ ABSL_GUARDED_BY(mu_);  // what directory_ has
  Records records_ ABSL_GUARDED_BY(mu_);
  uint64_t changes_ ABSL_GUARDED_BY(mu_) = 0;
  std::set<ModelId> busy_ ABSL_GUARDED_BY(mu_);
  // Of busy models that are being loaded: the names of their members.
  std::map<ModelId, std::vector<std::string>> loading_ ABSL_GUARDED_BY(mu_);
  std::set<ModelId> again_ ABSL_GUARDED_BY(mu_);  // busy ones to be loaded again afterwards
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_MODEL_CATALOGUE_H_
