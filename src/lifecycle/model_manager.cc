// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/model_manager.h"

#include <absl/cleanup/cleanup.h>
#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <utility>

#include "base/blake2b.h"
#include "base/caught.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "base/threads/thread_pool.h"
#include "infer/infer_request.h"

namespace nereid {

ModelManager::ModelManager(ModelManagerOptions options, LoadContext context)
    : options_(std::move(options)),
      agents_(options_.repoagent_directory),
      catalogue_(context.clock, options_.namespacing,
                 [this](const ModelId& id) { control_.OnReleased(id); }),
      control_({[this](const ModelChange& change, Ended ended) {
                  return Attempt(change, std::move(ended));
                },
                [this](const ModelId& id) { return catalogue_.IsBusy(id); }}),
      resolver_(&catalogue_),
      context_([&] {
        context.resolver = &resolver_;
        return context;
      }()),
      repositories_(context_.file_system, options_.repositories, options_.namespacing,
                    options_.single_model_name),
      reader_({context_.file_system, options_.model_config_name, options_.auto_complete_config,
               &agents_},
              &repositories_, &catalogue_),
      closer_(context_.clock, &catalogue_),
      loader_({options_.load_threads, options_.load_retries}, context_, &reader_, &catalogue_,
              &closer_) {}

ModelManager::~ModelManager() { control_.Drain(); }

// ---- One model, by name

absl::Status ModelManager::Load(const std::string& name, LoadOverride override) {
  return control_.Run({ModelChange::Kind::kLoad, name, std::move(override)});
}

absl::Status ModelManager::Unload(const std::string& name, bool with_members) {
  const auto kind =
      with_members ? ModelChange::Kind::kUnloadWithMembers : ModelChange::Kind::kUnload;
  return control_.Run({kind, name, {}});
}

std::optional<ModelId> ModelManager::Attempt(const ModelChange& change, Ended ended) {
  if (change.kind == ModelChange::Kind::kLoad) {
    return AttemptLoad(change.model, change.override, std::move(ended));
  }
  return AttemptUnload(change.model, change.kind == ModelChange::Kind::kUnloadWithMembers,
                       std::move(ended));
}

std::optional<ModelId> ModelManager::AttemptLoad(const std::string& name,
                                                 const LoadOverride& override, Ended ended) {
  const auto end = [&](absl::Status status) {
    ended(std::move(status));
    return std::nullopt;
  };
  absl::Status status = LoadReader::CheckName(name);
  if (!status.ok()) return end(std::move(status));
  absl::StatusOr<LoadReader::Places> places = reader_.Locate(name);
  // A model whose files come with the request need not be in a repository.
  if (absl::IsInternal(places.status()) && !override.files.empty()) {
    places = LoadReader::Places{{ModelId{"", name}, ""}};
  }
  if (!places.ok()) {
    LOG_ERROR_SELDOM << "failed to load '" << name << "': " << places.status().message();
    return end(places.status());
  }
  std::set<ModelId> ids;
  for (const auto& [id, directory] : *places) ids.insert(id);
  while (true) {
    PreparedModels prepared;
    absl::StatusOr<ModelCatalogue::ClaimResult> result = ClaimLoad(*places, override, &prepared);
    if (!result.ok()) return end(result.status());
    if (result->busy.has_value()) return std::move(result->busy);
    if (!result->claim.has_value()) continue;  // something has changed meanwhile
    CarryOut(ids, *std::move(result->claim), std::move(prepared), std::move(ended));
    return std::nullopt;
  }
}

absl::StatusOr<ModelCatalogue::ClaimResult> ModelManager::ClaimLoad(
    const LoadReader::Places& places, const LoadOverride& override, PreparedModels* prepared) {
  LoadInput input;
  std::set<ModelId> ids;
  uint64_t seen = std::numeric_limits<uint64_t>::max();
  bool is_ensemble = false;
  for (const auto& [id, directory] : places) {
    std::optional<ModelCatalogue::View> view = catalogue_.LookAround(id);
    if (!view.has_value()) return ModelCatalogue::ClaimResult{std::nullopt, id};
    // Each look is at another moment. A change after the earliest one makes the claim void.
    seen = std::min(seen, view->now);
    input.running.merge(view->running);
    absl::StatusOr<ModelFiles> files = reader_.Scan(id, directory);
    if (!files.ok()) return files.status();
    ids.insert(id);
    input.intents.push_back({LoadIntent::Kind::kLoad, id, !override.empty(), false});
    input.found[id] = {*files, {}};
    const auto record = input.running.find(id);
    if (record != input.running.end()) {
      input.found[id].members = record->second.members;
      // A load of what serves already ends here, before its configuration is read.
      if (places.size() == 1 && record->second.members.empty() && PlanLoads(input).empty()) {
        catalogue_.NoteRequested(id);
        return ModelCatalogue::ClaimResult{ModelCatalogue::Claim(), std::nullopt};
      }
    }
    // A load by name alone does not undo the configuration that an earlier load brought, as long as
    // the files are those of then.
    LoadOverride kept;
    if (override.empty() && view->in_force != nullptr && view->in_force->files == *files) {
      kept.config_json = view->in_force->config_override;
    }
    const auto model = reader_.Read(id, *std::move(files), override.empty() ? kept : override);
    (*prepared)[id] = model;
    input.found[id].members = model->MemberNames();
    is_ensemble |= !model->members.empty();
  }
  // LookAround leaves out models that no ensemble uses yet; these members may be among them.
  if (is_ensemble) input.running = catalogue_.Look().running;
  for (const ModelId& id : ids) {
    const std::shared_ptr<const PreparedModel> model = prepared->at(id);
    reader_.ReadMembers(*model, &input, prepared);
  }
  std::vector<PlannedAction> actions = PlanLoads(input);
  reader_.ReadRest(actions, prepared);
  return catalogue_.ClaimLoad(ids, std::move(actions), input.found, seen);
}

std::optional<ModelId> ModelManager::AttemptUnload(const std::string& name, bool with_members,
                                                   Ended ended) {
  std::set<ModelId> ids = {ModelId{"", name}};
  for (const ModelEntry* const entry : Directory().AllNamed(name)) ids.insert(entry->id);
  ModelCatalogue::ClaimResult result = catalogue_.ClaimUnload(ids, with_members);
  if (result.busy.has_value()) return std::move(result.busy);
  if (!result.claim.has_value()) {
    LOG_ERROR_SELDOM << "Model to be unloaded has not been served: '" << name << "'";
    ended(absl::OkStatus());
    return std::nullopt;
  }
  PreparedModels prepared;  // ensembles that go on with other members
  reader_.ReadRest(result.claim->actions, &prepared);
  CarryOut(ids, *std::move(result.claim), std::move(prepared), std::move(ended));
  return std::nullopt;
}

void ModelManager::CarryOut(const std::set<ModelId>& ids, ModelCatalogue::Claim claim,
                            PreparedModels prepared, Ended ended) {
  // Shared, because a function object must be copyable.
  const auto skipped = std::make_shared<std::vector<PlannedAction>>(std::move(claim.skipped));
  Begin(std::move(claim), std::move(prepared),
        [this, ids, skipped, ended = std::move(ended)](const PlanRun& run) {
          absl::Status status;
          for (size_t i = 0; i < run.actions().size(); ++i) {
            if (ids.count(run.actions()[i].model) > 0) status.Update(run.result(i));
          }
          CheckAgain(std::move(*skipped), [ended, status] { ended(status); });
        });
}

void ModelManager::CheckAgain(std::vector<PlannedAction> skipped, std::function<void()> ended) {
  ModelCatalogue::Claim claim = catalogue_.ClaimAgain(std::move(skipped));
  if (claim.actions.empty()) return ended();
  PreparedModels prepared;
  reader_.ReadRest(claim.actions, &prepared);
  Begin(std::move(claim), std::move(prepared),
        [ended = std::move(ended)](const PlanRun&) { ended(); });
}

// ---- Claimed actions

std::shared_ptr<PlanRun> ModelManager::Begin(ModelCatalogue::Claim claim, PreparedModels prepared,
                                             PlanRun::Ended ended) {
  const auto progress = std::make_shared<LoadProgress>(
      context_.clock, std::count_if(claim.actions.begin(), claim.actions.end(), IsLoad));
  std::vector<PlannedAction> actions = claim.actions;
  // The thread that begins an action takes its mark.
  return PlanRun::Begin(
      std::move(actions),
      [this, claim = std::move(claim), prepared = std::move(prepared), progress](
          size_t index, PlanRun::Completion completion) mutable {
        BeginAction(claim.actions[index], prepared, std::move(claim.marks[index]),
                    std::move(completion), progress);
      },
      std::move(ended));
}

void ModelManager::BeginAction(const PlannedAction& action, const PreparedModels& prepared,
                               ModelCatalogue::BusyMark mark, PlanRun::Completion completion,
                               const std::shared_ptr<LoadProgress>& progress) {
  if (IsLoad(action)) {
    return loader_.Begin(action, prepared.at(action.model), std::move(mark), std::move(completion),
                         progress);
  }
  absl::Status status;
  try {
    closer_.Retire(action.model, action.reason);
  } catch (...) {
    status = CaughtStatus();
  }
  catalogue_.NoteUnloadEnd(action.model, std::move(mark));
  completion.Report(std::move(status));
}

// ---- All models

std::shared_ptr<PlanRun> ModelManager::Sync(const RepositorySnapshot& snapshot) {
  LoadInput input;
  PreparedModels prepared;
  ModelCatalogue::View view = catalogue_.Look();
  const std::set<ModelId>& skip = view.busy;
  input.running = std::move(view.running);
  input.ambiguous = snapshot.ambiguous;
  input.intents = {LoadIntent{}};
  std::vector<ModelId> changed;
  std::vector<std::string> directories;
  for (const auto& [id, files] : snapshot.models) {
    const auto running = input.running.find(id);
    FoundModel& found = input.found[id];
    found.files = files;
    // What has not changed is not read again: otherwise each poll would read all configurations. A
    // model that others work on is left to the next poll.
    const bool known =
        running != input.running.end() && running->second.wanted && running->second.files == files;
    if (known || skip.count(id) > 0) {
      if (running != input.running.end()) found.members = running->second.members;
      continue;
    }
    changed.push_back(id);
    directories.push_back(files.directory);
  }
  // Before the loop: reading one model after the other would get them from far away one by one.
  context_.file_system->Prefetch(directories);
  for (const ModelId& id : changed) {
    FoundModel& found = input.found[id];
    prepared[id] = reader_.Read(id, found.files, {});
    found.members = prepared[id]->MemberNames();
  }
  std::vector<PlannedAction> actions = WithoutModels(PlanLoads(input), skip);
  reader_.ReadRest(actions, &prepared);
  ModelCatalogue::Claim claim = catalogue_.ClaimSync(std::move(actions), input.found, skip);
  catalogue_.Forget(snapshot);
  for (const std::string& name : snapshot.ambiguous) {
    LOG_ERROR << "failed to poll model '" << name << "': not unique across all model repositories";
    catalogue_.NoteFailure({"", name}, absl::InvalidArgumentError(kAmbiguousReason));
  }
  return Begin(std::move(claim), std::move(prepared));
}

std::vector<std::string> ModelManager::LoadAll() {
  const absl::StatusOr<RepositorySnapshot> snapshot =
      ScanRepositories(*context_.file_system, repositories_.Layout());
  if (!snapshot.ok()) {
    LOG_ERROR << "failed to look at the model repositories: " << snapshot.status().message();
    return {std::string(snapshot.status().message())};
  }
  {
    MutexLock lock(&mu_);
    known_ = *snapshot;
  }
  const std::shared_ptr<PlanRun> run = Sync(*snapshot);
  run->Wait();
  std::set<std::string> failed = snapshot->ambiguous;
  for (size_t i = 0; i < run->actions().size(); ++i) {
    if (!run->result(i).ok()) failed.insert(run->actions()[i].model.Text());
  }
  return {failed.begin(), failed.end()};
}

std::vector<std::string> ModelManager::LoadEach(const std::set<std::string>& names) {
  // These threads do little but wait: the pool does the work.
  constexpr size_t kMaxThreads = 32;
  const std::vector<std::string> all(names.begin(), names.end());
  std::vector<absl::Status> results(all.size());
  std::atomic<size_t> next{0};
  const std::function<void()> load_some = [&] {
    for (size_t i = next++; i < all.size(); i = next++) {
      try {
        results[i] = Load(all[i]);
      } catch (...) {
        results[i] = CaughtStatus();
      }
    }
  };
  {
    ThreadPool threads(ThreadPoolOptions{
        .name = "model control", .threads = 0, .most_threads = static_cast<int>(kMaxThreads)});
    bool more = true;
    for (size_t t = 1; more && t < std::min(kMaxThreads, all.size()); ++t) {
      more = threads.TryRun(load_some);  // fewer threads are enough
    }
    load_some();
  }
  std::vector<std::string> failed;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!results[i].ok()) failed.push_back(all[i]);
  }
  return failed;
}

std::string ModelManager::StampOf(const std::string& name) const {
  Blake2b128 hash;
  const auto add = [&hash](const std::string& text) { hash.Update(text.c_str(), text.size() + 1); };
  const RepositoryLayout layout = repositories_.Layout();
  for (const auto& [id, directories] : FindModelDirectories(*context_.file_system, layout, name)) {
    for (const std::string& directory : directories) {
      add(directory);
      const absl::StatusOr<ModelFiles> model = ScanModel(*context_.file_system, directory);
      if (!model.ok()) continue;
      for (const auto& [file, stat] : model->files) {
        add(file);
        add(absl::StrCat(stat.size, " ", stat.mtime_ns));
      }
    }
  }
  const Blake2b128::Digest digest = hash.Finish();
  return absl::BytesToHexString({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

std::vector<std::string> ModelManager::Unfinished() const {
  std::vector<std::string> texts = closer_.InFlight();
  for (const ModelId& id : catalogue_.Look().busy) {
    texts.push_back(absl::StrCat("Model '", id.Text(), "' is being loaded or unloaded"));
  }
  for (std::string& text : closer_.Unfinished()) texts.push_back(std::move(text));
  return texts;
}

// ---- Polling

absl::Status ModelManager::WaitForScan(const RepositoryLayout& layout, RepositorySnapshot* scan) {
  RepositorySnapshot known;
  {
    MutexLock lock(&mu_);
    known = known_;
  }
  ASSIGN_OR_RETURN(*scan, ScanRepositories(*context_.file_system, layout));
  if (ChangedModels(known, *scan).empty() || options_.settle_time <= Duration(0)) {
    return absl::OkStatus();
  }
  {
    MutexLock lock(&mu_);
    const TimePoint deadline = context_.clock->Now() + options_.settle_time;
    while (!polls_stopped_ && context_.clock->Now() < deadline) {
      context_.clock->Wait(&changed_, &mu_, deadline);
    }
  }
  ASSIGN_OR_RETURN(const RepositorySnapshot later, ScanRepositories(*context_.file_system, layout));
  *scan = Settle(known, *scan, later);
  return absl::OkStatus();
}

absl::Status ModelManager::Poll(bool wait) {
  {
    MutexLock lock(&mu_);
    while (polling_) changed_.Wait(&mu_);
    if (polls_stopped_) return absl::OkStatus();
    polling_ = true;
  }
  absl::Cleanup ended = [this] {
    {
      MutexLock lock(&mu_);
      polling_ = false;
    }
    changed_.NotifyAll();
  };
  RepositorySnapshot scan;
  absl::Status status = WaitForScan(repositories_.Layout(), &scan);
  std::shared_ptr<PlanRun> run;
  bool stopped;
  {
    MutexLock lock(&mu_);
    stopped = polls_stopped_;
    if (status.ok()) known_ = scan;
  }
  if (status.ok() && !stopped) run = Sync(scan);
  std::move(ended).Invoke();
  if (run == nullptr || !wait) return status;
  run->Wait();
  for (size_t i = 0; i < run->actions().size(); ++i) status.Update(run->result(i));
  return status;
}

void ModelManager::StopPolling() {
  {
    MutexLock lock(&mu_);
    polls_stopped_ = true;
  }
  changed_.NotifyAll();
}

// ---- Members of ensembles

absl::StatusOr<std::shared_ptr<ServingModel>> ModelManager::MemberResolver::Resolve(
    const EnsembleStep& step, const InferRequest* request) {
  const ModelDirectory& directory = catalogue_.Directory();
  const ModelEntry* const entry = directory.FindMember(step.space, step.model_name);
  absl::StatusOr<std::shared_ptr<ManagedModel>> model =
      entry == nullptr ? directory.Find(step.model_name, step.model_version)  // returns the error
                       : ModelDirectory::FindVersion(*entry, step.model_name, step.model_version);
  // A sequence stays with the version that it began with.
  if (entry != nullptr && request != nullptr && request->correlation_id().present() &&
      (request->flags() & kRequestFlagSequenceStart) == 0 &&
      !(model.ok() && (*model)->HasSequence(request->correlation_id()))) {
    std::shared_ptr<ManagedModel> home =
        ModelDirectory::FindSequence(*entry, step.model_version, request->correlation_id());
    if (home != nullptr) return std::shared_ptr<ServingModel>(std::move(home));
  }
  if (!model.ok()) return model.status();
  return std::shared_ptr<ServingModel>(*std::move(model));
}

ModelResolver::Found ModelManager::MemberResolver::LookUp(const EnsembleStep& step) {
  const ModelEntry* const entry = catalogue_.Directory().FindMember(step.space, step.model_name);
  if (entry == nullptr) return {nullptr, Missing::kUnknown, absl::OkStatus()};
  auto found = ModelDirectory::FindVersion(*entry, step.model_name, step.model_version);
  if (found.ok()) return {*std::move(found), Missing::kNothing, absl::OkStatus()};
  if (entry->versions.empty()) {
    return {nullptr, Missing::kInvalid, absl::InvalidArgumentError(entry->reason)};
  }
  if (ModelDirectory::FindVersion(*entry, step.model_name, -1).ok()) {
    return {nullptr, Missing::kVersionNotReady, absl::OkStatus()};
  }
  std::string error = catalogue_.LastError(entry->id);
  return {nullptr, Missing::kNotLoaded,
          error.empty() ? absl::OkStatus() : absl::InvalidArgumentError(std::move(error))};
}

}  // namespace nereid
