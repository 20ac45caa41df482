// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/catalogue/model_catalogue.h"

#include <algorithm>
#include <utility>

#include "repository/snapshot.h"

namespace nereid {

ModelCatalogue::ModelCatalogue(Clock* clock, bool namespacing,
                               std::function<void(const ModelId&)> on_released)
    : clock_(clock),
      on_released_(std::move(on_released)),
      directory_(std::make_shared<const ModelDirectory>()),
      current_(std::make_shared<const ModelDirectory>()) {
  Update([&](ModelDirectory* directory) { directory->namespacing = namespacing; });
}

// ---- The directory

std::shared_ptr<const ModelDirectory> ModelCatalogue::Publish(
    const std::function<void(ModelDirectory*)>& change) {
  auto next = std::make_shared<ModelDirectory>(*current_);
  change(next.get());
  next->Finish();
  current_ = std::move(next);
  return directory_.Set(current_);
}

void ModelCatalogue::Update(const std::function<void(ModelDirectory*)>& change) {
  std::shared_ptr<const ModelDirectory> old;
  MutexLock lock(&mu_);
  old = Publish(change);
}

void ModelCatalogue::NoteFailure(const ModelId& id, const absl::Status& error) {
  Update([&](ModelDirectory* directory) {
    ModelEntry& entry = directory->models[id.Text()];
    entry.id = id;
    if (!entry.serves()) entry.reason = std::string(error.message());
  });
}

void ModelCatalogue::NoteRetired(
    const ModelId& id, const std::string& reason,
    const std::function<void(int64_t version, const VersionEntry&)>& prepare) {
  // An ensemble that has lost a member stays wanted: it is loaded again with that member.
  const bool stays_wanted = !reason.empty() && reason != kAmbiguousReason;
  std::shared_ptr<const ModelDirectory> old;
  MutexLock lock(&mu_);
  old = Publish([&](ModelDirectory* directory) {
    const auto it = directory->models.find(id.Text());
    if (it == directory->models.end()) return;
    // A model of which no version was ever found is forgotten.
    if (it->second.versions.empty()) {
      directory->models.erase(it);
      return;
    }
    ModelEntry& model = directory->models[id.Text()];
    model.unloaded = !stays_wanted;
    for (auto& [version, entry] : model.versions) {
      const bool served = entry.ready();
      entry.Retire(reason);
      if (served) prepare(version, entry);
    }
  });
  // From here on nothing can fail.
  const auto record = records_.find(id);
  if (record == records_.end()) return;
  record->second.served = nullptr;
  record->second.changed = ++changes_;
  record->second.wanted = stays_wanted;
  if (!record->second.wanted) record->second.on_request = false;
}

void ModelCatalogue::NoteClosed(const ModelId& id, int64_t version, const ManagedModel* model,
                                const std::string& reason) {
  const auto is_known = [&](const ModelDirectory& directory) {
    const auto entry = directory.models.find(id.Text());
    if (entry == directory.models.end()) return false;
    const auto known = entry->second.versions.find(version);
    // False if the version was replaced: then the entry is that of its successor.
    return known != entry->second.versions.end() && known->second.model().get() == model;
  };
  Update([&](ModelDirectory* directory) {
    if (!is_known(*directory)) return;
    directory->models[id.Text()].versions.find(version)->second.TornDown(reason);
  });
}

void ModelCatalogue::Forget(const RepositorySnapshot& snapshot) {
  std::shared_ptr<const ModelDirectory> old;
  MutexLock lock(&mu_);
  // Here, because the thread safety analysis does not see in the predicate that the lock is held.
  const std::set<ModelId> busy = BusyIds();
  old = Publish([&](ModelDirectory* directory) {
    directory->models.EraseIf([&](const ModelEntry& model) {
      return model.versions.empty() && busy.count(model.id) == 0 &&
             snapshot.models.count(model.id) == 0 && snapshot.ambiguous.count(model.id.name) == 0;
    });
  });
}

// ---- The records

bool ModelCatalogue::Serves(const ModelId& id) const {
  const auto entry = current_->models.find(id.Text());
  return entry != current_->models.end() && entry->second.serves();
}

RunningModel ModelCatalogue::RunningOf(const ModelId& id, const Record& record) const {
  RunningModel model;
  model.files = record.attempted->files;
  model.members = record.attempted->MemberNames();
  model.serving = Serves(id);
  model.wanted = record.wanted;
  model.on_request = record.on_request;
  model.from_request_files = record.attempted->from_request_files;
  model.failed = !record.error.empty();
  return model;
}

std::set<ModelId> ModelCatalogue::BusyIds() const {
  std::set<ModelId> ids;
  for (const auto& [id, busy] : busy_) ids.insert(id);
  return ids;
}

std::map<ModelId, RunningModel> ModelCatalogue::Running() const {
  std::map<ModelId, RunningModel> running;
  for (const auto& [id, record] : records_) running[id] = RunningOf(id, record);
  return running;
}

std::shared_ptr<const PreparedModel> ModelCatalogue::InForce(const ModelId& id) const {
  const auto it = records_.find(id);
  if (it == records_.end()) return nullptr;
  const Record& record = it->second;
  if (record.served != nullptr) return record.served;
  const bool waits_for_members = record.wanted && record.error.empty();
  return waits_for_members ? record.attempted : nullptr;
}

ModelCatalogue::View ModelCatalogue::Look() const {
  MutexLock lock(&mu_);
  return {Running(), BusyIds(), nullptr, changes_};
}

std::optional<ModelCatalogue::View> ModelCatalogue::LookAround(const ModelId& id) const {
  MutexLock lock(&mu_);
  if (busy_.count(id) > 0) return std::nullopt;
  View view{{}, BusyIds(), InForce(id), changes_};
  const auto add = [&](const ModelId& other, const Record& record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(
                       mu_) { view.running[other] = RunningOf(other, record); };
  if (const auto own = records_.find(id); own != records_.end()) add(id, own->second);
  std::set<std::string> members;
  for (const ModelId& ensemble : ensembles_) {
    const auto known = records_.find(ensemble);
    if (known == records_.end() || known->second.attempted->members.empty()) continue;
    add(ensemble, known->second);
    for (const std::string& name : known->second.attempted->MemberNames()) members.insert(name);
  }
  // Not all records: a load would take time for each model that there is.
  for (auto space = records_.begin(); !members.empty() && space != records_.end();) {
    const std::string& path = space->first.space;
    for (const std::string& name : members) {
      const auto known = records_.find(ModelId{path, name});
      if (known != records_.end()) add(known->first, known->second);
    }
    space = records_.lower_bound(ModelId{path + '\0', ""});  // the first one of the next space
  }
  return view;
}

std::shared_ptr<const PreparedModel> ModelCatalogue::Attempted(const ModelId& id) const {
  MutexLock lock(&mu_);
  return records_.at(id).attempted;
}

std::shared_ptr<const PreparedModel> ModelCatalogue::Served(const ModelId& id) const {
  MutexLock lock(&mu_);
  const auto record = records_.find(id);
  return record == records_.end() ? nullptr : record->second.served;
}

std::string ModelCatalogue::LastError(const ModelId& id) const {
  MutexLock lock(&mu_);
  const auto record = records_.find(id);
  return record == records_.end() ? "" : record->second.error;
}

void ModelCatalogue::NoteRequested(const ModelId& id) {
  MutexLock lock(&mu_);
  records_.at(id).on_request = true;
}

bool ModelCatalogue::NoteLoadEnd(const ModelId& id, bool ok, bool on_request, std::string error,
                                 Records* fresh, BusyMark* mark) noexcept {
  ReleasedModel released;
  {
    MutexLock lock(&mu_);
    const bool begun = !fresh->empty();
    if (begun) {
      const std::shared_ptr<const PreparedModel> attempted = fresh->begin()->second.attempted;
      records_.merge(*fresh);
      Record& record = records_.find(id)->second;
      record.attempted = attempted;
      if (ok) record.served = attempted;
      record.wanted = true;
      record.on_request |= on_request;
      record.error = std::move(error);
      record.changed = ++changes_;
    }
    if (mark->catalogue_ != nullptr && std::exchange(mark->place_->second.again, false) && begun) {
      return true;
    }
    released = ReleaseLocked(std::move(*mark));
  }
  Released(released);
  return false;
}

void ModelCatalogue::NoteUnloadEnd(const ModelId& id, BusyMark mark) {
  ReleasedModel released;
  {
    MutexLock lock(&mu_);
    released = ReleaseLocked(std::move(mark));
  }
  Released(released);
}

// ---- Claims

std::vector<ModelCatalogue::BusyMark> ModelCatalogue::MarkBusy(
    const std::vector<PlannedAction>& actions, const FoundModels& read) {
  BusyModels busy;
  std::set<ModelId> ensembles;
  std::vector<std::pair<BusyModels::iterator, bool>> places;
  for (const PlannedAction& action : actions) {
    places.push_back(busy.try_emplace(action.model));
    const auto found = read.find(action.model);
    if (!IsLoad(action) || found == read.end()) continue;
    places.back().first->second.members = found->second.members;
    if (!found->second.members.empty()) ensembles.insert(action.model);
  }
  std::vector<BusyMark> marks;
  marks.reserve(places.size());
  // From here on nothing takes memory.
  busy_.merge(busy);
  ensembles_.merge(ensembles);
  // If a model has two actions, the first one gets the mark.
  for (const auto& [place, is_first] : places) {
    marks.push_back(is_first ? BusyMark(this, place) : BusyMark());
  }
  return marks;
}

ModelCatalogue::Claim ModelCatalogue::ClaimBut(std::vector<PlannedAction> actions,
                                               const std::set<ModelId>& others,
                                               const FoundModels& read) {
  Claim claim;
  claim.skipped = OnlyModels(actions, others);
  claim.actions = WithoutModels(std::move(actions), others);
  claim.marks = MarkBusy(claim.actions, read);
  return claim;
}

ModelCatalogue::ClaimResult ModelCatalogue::ClaimLoad(const std::set<ModelId>& ids,
                                                      std::vector<PlannedAction> actions,
                                                      const FoundModels& read, uint64_t seen) {
  MutexLock lock(&mu_);
  std::set<ModelId> others_work_on;
  for (const PlannedAction& action : actions) {
    const bool is_read = read.count(action.model) > 0;
    if (busy_.count(action.model) > 0) {
      if (is_read) return {std::nullopt, action.model};
      others_work_on.insert(action.model);
      continue;
    }
    const auto known = records_.find(action.model);
    if (is_read && known != records_.end() && known->second.changed > seen) return {};
  }
  Claim claim = ClaimBut(std::move(actions), others_work_on, read);
  for (const ModelId& id : ids) {
    if (const auto known = records_.find(id); known != records_.end()) {
      known->second.on_request = true;
    }
  }
  return {std::move(claim), std::nullopt};
}

std::vector<PlannedAction> ModelCatalogue::PlanUnload(const std::set<ModelId>& ids,
                                                      bool with_members) const {
  LoadInput input;
  input.running = Running();
  for (const auto& [id, busy] : busy_) {
    if (!busy.members.has_value()) continue;
    RunningModel& model = input.running[id];
    model.members.insert(model.members.end(), busy.members->begin(), busy.members->end());
    model.wanted = true;
  }
  for (const ModelId& id : ids) {
    input.intents.push_back({LoadIntent::Kind::kUnload, id, false, with_members});
  }
  return PlanLoads(input);
}

ModelCatalogue::ClaimResult ModelCatalogue::ClaimUnload(const std::set<ModelId>& ids,
                                                        bool with_members) {
  MutexLock lock(&mu_);
  std::set<ModelId> known;
  for (const ModelId& id : ids) {
    if (busy_.count(id) > 0) return {std::nullopt, id};
    if (records_.count(id) > 0) known.insert(id);
  }
  if (known.empty()) return {};
  std::vector<PlannedAction> actions = PlanUnload(known, with_members);
  for (const PlannedAction& action : actions) {
    if (busy_.count(action.model) > 0) return {std::nullopt, action.model};
  }
  return {ClaimBut(std::move(actions), {}, {}), std::nullopt};
}

ModelCatalogue::Claim ModelCatalogue::ClaimSync(std::vector<PlannedAction> actions,
                                                const FoundModels& read,
                                                const std::set<ModelId>& known_busy) {
  MutexLock lock(&mu_);
  // The next poll sees the files of a busy model that has changed, but not that an ensemble has to
  // be loaded again because of its members. So the ensemble is noted here.
  const std::set<ModelId> busy = BusyIds();
  for (const PlannedAction& action : OnlyModels(actions, busy)) {
    if (IsLoad(action) && known_busy.count(action.model) == 0) busy_.at(action.model).again = true;
  }
  return ClaimBut(std::move(actions), busy, read);
}

ModelCatalogue::Claim ModelCatalogue::ClaimAgain(std::vector<PlannedAction> skipped) {
  MutexLock lock(&mu_);
  std::set<ModelId> not_now;
  for (PlannedAction& action : skipped) {
    // An ensemble that was to be unloaded because of a member is loaded, too: the check finds out
    // what it lacks.
    action.kind = PlannedAction::Kind::kLoad;
    action.reason.clear();
    action.on_request = false;
    const auto record = records_.find(action.model);
    const auto busy = busy_.find(action.model);
    if (busy != busy_.end()) busy->second.again = true;
    if (busy != busy_.end() || record == records_.end() || !record->second.wanted) {
      not_now.insert(action.model);
    }
  }
  return ClaimBut(std::move(skipped), not_now, {});
}

void ModelCatalogue::Release(BusyMark mark) noexcept {
  ReleasedModel released;
  {
    MutexLock lock(&mu_);
    released = ReleaseLocked(std::move(mark));
  }
  Released(released);
}

ModelCatalogue::ReleasedModel ModelCatalogue::ReleaseLocked(BusyMark mark) noexcept {
  if (std::exchange(mark.catalogue_, nullptr) == nullptr) return {};
  ReleasedModel released = busy_.extract(mark.place_);
  changed_.NotifyAll();
  return released;
}

void ModelCatalogue::Released(const ReleasedModel& model) const noexcept {
  if (!model.empty() && on_released_) on_released_(model.key());
}

bool ModelCatalogue::IsBusy(const ModelId& id) const {
  MutexLock lock(&mu_);
  return busy_.count(id) > 0;
}

bool ModelCatalogue::WaitNotBusy(const ModelId& id, TimePoint deadline) {
  MutexLock lock(&mu_);
  while (busy_.count(id) > 0) {
    if (clock_->Now() >= deadline) return false;
    clock_->Wait(&changed_, &mu_, deadline);
  }
  return true;
}

bool ModelCatalogue::WaitNoneBusy(TimePoint deadline) {
  MutexLock lock(&mu_);
  while (!busy_.empty()) {
    if (clock_->Now() >= deadline) return false;
    clock_->Wait(&changed_, &mu_, deadline);
  }
  return true;
}

}  // namespace nereid
