#include "lifecycle/model_manager.h"

#include <absl/cleanup/cleanup.h>
#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <optional>
#include <utility>

#include "base/caught.h"
#include "base/job_threads.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "lifecycle/load_job.h"

namespace nereid {
namespace {

ModelReader::Options ReaderOptions(const ModelManagerOptions& options, const LoadContext& context,
                                   RepositoryAgents* agents) {
  return {context.file_system, options.model_config_name, options.auto_complete_config, agents};
}

absl::Status PollFailed(const std::string& name, absl::string_view cause) {
  return absl::InternalError(
      absl::StrCat("failed to load '", name, "', failed to poll from model repository: ", cause));
}

std::string NowhereText(const RepositoryLayout& layout, const std::string& name) {
  // More names help nobody.
  constexpr size_t kMostNamed = 4;
  std::vector<std::string> paths;
  for (const std::string& path : layout.repositories) {
    if (paths.size() == kMostNamed) break;
    paths.push_back(absl::StrCat("'", path, "'"));
  }
  const size_t others = layout.repositories.size() - paths.size();
  return absl::StrCat("no model '", name, "' in ", absl::StrJoin(paths, ", "),
                      others == 0 ? "" : absl::StrCat(" and ", others, " other repositories"));
}

absl::Status CheckName(const std::string& name) {
  const absl::string_view stripped = absl::StripAsciiWhitespace(name);
  if (stripped.empty()) {
    return absl::InvalidArgumentError(
        "Model name cannot be empty. Please enter a valid name to deploy.");
  }
  if (stripped.size() != name.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "invalid model name '", name, "', model name must not begin or end with white space"));
  }
  if (name == "." || name == ".." || absl::StrContains(name, "/")) {
    return absl::InvalidArgumentError(absl::StrCat(
        "invalid model name '", name, "', model name must not contain path traversal characters"));
  }
  return absl::OkStatus();
}

bool IsLoad(const PlannedAction& action) { return action.kind == PlannedAction::Kind::kLoad; }

}  // namespace

ModelManager::ModelManager(ModelManagerOptions options, LoadContext context)
    : options_(std::move(options)),
      context_([&] {
        context.resolver = this;
        return context;
      }()),
      agents_(options_.repoagent_directory),
      reader_(ReaderOptions(options_, context_, &agents_)),
      directory_(std::make_shared<const ModelDirectory>()),
      layout_(std::make_shared<const RepositoryLayout>(
          RepositoryLayout{options_.repositories, options_.namespacing, {}})),
      current_(std::make_shared<const ModelDirectory>()),
      pool_(std::max<uint32_t>(1, options_.load_threads), context_.clock) {
  Update([&](ModelDirectory* directory) { directory->namespacing = options_.namespacing; });
}

ModelManager::~ModelManager() = default;

// ---- Repositories

absl::Status ModelManager::CheckRepositories() const {
  if (options_.repositories.empty()) {
    return absl::InvalidArgumentError("--model-repository must be specified");
  }
  for (const std::string& path : options_.repositories) {
    const absl::StatusOr<std::vector<DirEntry>> entries = context_.file_system->ListDirectory(path);
    if (!entries.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("repository path is not a valid directory: '",
                                                     path, "': ", entries.status().message()));
    }
  }
  return absl::OkStatus();
}

std::set<ModelId> ModelManager::RepositoryModels() const {
  std::set<ModelId> ids;
  const RepositoryLayout layout = Layout();
  for (const std::string& repository : layout.repositories) {
    RepositoryLayout one = layout;
    one.repositories = {repository};
    const auto directories = ListModelDirectories(*context_.file_system, one);
    if (!directories.ok()) continue;
    for (const auto& [id, paths] : *directories) ids.insert(id);
  }
  return ids;
}

absl::Status ModelManager::RegisterRepository(const std::string& path,
                                              const std::map<std::string, std::string>& names) {
  const auto stat = context_.file_system->Stat(path);
  if (!stat.ok() || !stat->is_directory) {
    return absl::InvalidArgumentError(
        absl::StrCat("failed to register '", path, "', repository not found"));
  }
  MutexLock lock(&mu_);
  RepositoryLayout layout = Layout();
  if (layout.repositories.count(path) > 0) {
    return absl::AlreadyExistsError(
        absl::StrCat("model repository '", path, "' has already been registered"));
  }
  std::set<std::string> taken;
  for (const auto& [repository, mapped] : layout.names) {
    if (layout.namespacing) break;
    for (const auto& [directory, name] : mapped) taken.insert(name);
  }
  for (const auto& [directory, name] : names) {
    if (taken.insert(name).second) continue;
    return absl::AlreadyExistsError(absl::StrCat(
        "failed to register '", name, "', there is a conflicting mapping for '", name, "'"));
  }
  layout.repositories.insert(path);
  if (!names.empty()) layout.names[path] = names;
  (void)layout_.Set(std::make_shared<const RepositoryLayout>(std::move(layout)));
  return absl::OkStatus();
}

absl::Status ModelManager::UnregisterRepository(const std::string& path) {
  MutexLock lock(&mu_);
  RepositoryLayout layout = Layout();
  if (layout.repositories.erase(path) == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("failed to unregister '", path, "', repository not found"));
  }
  layout.names.erase(path);
  (void)layout_.Set(std::make_shared<const RepositoryLayout>(std::move(layout)));
  return absl::OkStatus();
}

// ---- What is known

bool ModelManager::Serves(const ModelId& id) const {
  const auto entry = current_->models.find(id.Text());
  if (entry == current_->models.end()) return false;
  const auto& versions = entry->second.versions;
  return std::any_of(versions.begin(), versions.end(),
                     [](const auto& v) { return v.second.state == ModelState::kReady; });
}

std::shared_ptr<const PreparedModel> ModelManager::InForce(const ModelId& id) const {
  const auto it = records_.find(id);
  if (it == records_.end()) return nullptr;
  const Record& record = it->second;
  if (record.served != nullptr) return record.served;
  const bool waits_for_members = record.wanted && record.error.empty();
  return waits_for_members ? record.attempted : nullptr;
}

std::map<ModelId, RunningModel> ModelManager::Running() const {
  std::map<ModelId, RunningModel> running;
  for (const auto& [id, record] : records_) running[id] = RunningOf(id, record);
  return running;
}

RunningModel ModelManager::RunningOf(const ModelId& id, const Record& record) const {
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

std::map<ModelId, RunningModel> ModelManager::RunningAround(const ModelId& id) const {
  std::set<absl::string_view> members;
  for (const auto& [other, record] : records_) {
    for (const EnsembleMember& member : record.attempted->members) members.insert(member.name);
  }
  std::map<ModelId, RunningModel> running;
  for (const auto& [other, record] : records_) {
    const bool matters =
        other == id || !record.attempted->members.empty() || members.count(other.name) > 0;
    if (matters) running[other] = RunningOf(other, record);
  }
  return running;
}

std::shared_ptr<const PreparedModel> ModelManager::Read(const RepositoryLayout& layout,
                                                        const ModelId& id, ModelFiles files,
                                                        const LoadOverride& override) const {
  bool mapped = false;
  for (const auto& [repository, names] : layout.names) {
    for (const auto& [directory, name] : names) {
      mapped |= name == id.name && JoinPath(repository, directory) == files.directory;
    }
  }
  return reader_.Read(id, std::move(files), mapped, override);
}

std::vector<ModelManager::BusyMark> ModelManager::MarkBusy(
    const std::vector<PlannedAction>& actions) {
  std::set<ModelId> models;
  std::vector<std::pair<std::set<ModelId>::const_iterator, bool>> places;
  for (const PlannedAction& action : actions) places.push_back(models.insert(action.model));
  std::vector<BusyMark> marks;
  marks.reserve(places.size());
  // From here on nothing takes memory.
  busy_.merge(models);
  // Of two actions on one model the first has the mark.
  for (const auto& [place, is_first] : places) {
    marks.push_back(is_first ? BusyMark(this, place) : BusyMark());
  }
  return marks;
}

ModelManager::BusyMark::~BusyMark() {
  if (manager_ == nullptr) return;
  ModelManager* const manager = manager_;
  MutexLock lock(&manager->mu_);
  manager->Release(std::move(*this));
}

void ModelManager::Release(BusyMark mark) noexcept {
  if (std::exchange(mark.manager_, nullptr) == nullptr) return;
  busy_.erase(mark.place_);
  // Under the lock: WaitUnloaded waits for this, and whoever waits may destroy this object.
  changed_.NotifyAll();
}

bool ModelManager::WaitNotBusy(const ModelId& id, TimePoint deadline) {
  while (busy_.count(id) > 0) {
    if (deadline == TimePoint::max()) {
      changed_.Wait(&mu_);
      continue;
    }
    if (context_.clock->Now() >= deadline) return false;
    context_.clock->Wait(&changed_, &mu_, deadline);
  }
  return true;
}

// ---- One model, by name

absl::StatusOr<std::pair<ModelId, std::string>> ModelManager::Locate(const RepositoryLayout& layout,
                                                                     const std::string& name) {
  const ModelDirectories found = FindModelDirectories(*context_.file_system, layout, name);
  if (found.empty()) return PollFailed(name, NowhereText(layout, name));
  if (found.size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("There are ", found.size(), " identifiers of model '", name,
                     "' in global map, model namespace must be provided to resolve ambiguity."));
  }
  const auto& [id, directories] = *found.begin();
  if (directories.size() == 1) return std::make_pair(id, directories[0]);
  const absl::Status ambiguous = absl::InvalidArgumentError(kAmbiguousReason);
  NoteFailure(id, ambiguous);
  return ambiguous;
}

absl::Status ModelManager::Load(const std::string& name, const LoadOverride& override) {
  absl::Status status = CheckName(name);
  if (!status.ok()) return status;
  absl::StatusOr<std::pair<ModelId, std::string>> place = Locate(Layout(), name);
  // A model whose files come with the request need not lie in a repository.
  if (absl::IsInternal(place.status()) && !override.files.empty()) {
    place = std::make_pair(ModelId{"", name}, std::string());
  }
  if (!place.ok()) {
    LOG_ERROR << "failed to load '" << name << "': " << place.status().message();
    return place.status();
  }
  while (true) {
    const std::optional<absl::Status> ended = TryLoad(place->first, place->second, override);
    if (ended.has_value()) return *ended;
  }
}

void ModelManager::ReadMembers(const RepositoryLayout& layout, const PreparedModel& model,
                               Work* work) const {
  for (const std::string& name : model.MemberNames()) {
    const ModelDirectories found = FindModelDirectories(*context_.file_system, layout, name);
    auto place = found.find(ModelId{model.id.space, name});
    if (place == found.end() && found.size() == 1) place = found.begin();
    if (place == found.end() || place->second.size() > 1) continue;  // the planner says so
    const ModelId& id = place->first;
    const auto running = work->input.running.find(id);
    const bool serves = running != work->input.running.end() && running->second.serving;
    if (serves || work->prepared.count(id) > 0) continue;
    absl::StatusOr<ModelFiles> files = ScanModel(*context_.file_system, place->second[0]);
    if (!files.ok()) continue;
    const auto member = Read(layout, id, *std::move(files), {});
    work->prepared[id] = member;
    work->input.found[id] = {member->files, member->MemberNames()};
    ReadMembers(layout, *member, work);
  }
}

void ModelManager::ReadRest(const RepositoryLayout& layout,
                            const std::vector<PlannedAction>& actions, Work* work) {
  for (const PlannedAction& action : actions) {
    if (!IsLoad(action) || work->prepared.count(action.model) > 0) continue;
    std::shared_ptr<const PreparedModel> last;
    {
      MutexLock lock(&mu_);
      last = records_.at(action.model).attempted;
    }
    work->prepared[action.model] = ReadAgain(layout, last);
  }
}

std::shared_ptr<const PreparedModel> ModelManager::ReadAgain(
    const RepositoryLayout& layout, const std::shared_ptr<const PreparedModel>& last) const {
  // As it was: only its members change. A configuration that could not be read may be there now.
  const bool whole = last->config.ok() && last->model_dir == last->files.directory;
  if (whole) return last;
  LoadOverride kept;
  if (last->config.ok()) kept.config_json = last->config_override;
  return Read(layout, last->id, last->files, kept);
}

std::optional<absl::Status> ModelManager::TryLoad(const ModelId& id, const std::string& directory,
                                                  const LoadOverride& override) {
  Work work;
  uint64_t seen = 0;
  std::shared_ptr<const PreparedModel> in_force;
  {
    MutexLock lock(&mu_);
    WaitNotBusy(id, TimePoint::max());
    work.input.running = RunningAround(id);
    in_force = InForce(id);
    seen = changes_;
  }
  const RepositoryLayout layout = Layout();
  absl::StatusOr<ModelFiles> files =
      directory.empty() ? ModelFiles() : ScanModel(*context_.file_system, directory);
  if (!files.ok()) return PollFailed(id.name, files.status().message());
  work.input.intents = {{LoadIntent::Kind::kLoad, id, !override.empty(), false}};
  const auto record = work.input.running.find(id);
  work.input.found[id] = {*files, {}};
  if (record != work.input.running.end()) {
    work.input.found[id].members = record->second.members;
    if (record->second.members.empty() && PlanLoads(work.input).empty()) {
      MutexLock lock(&mu_);
      records_.at(id).on_request = true;
      return absl::OkStatus();
    }
  }
  LoadOverride kept = override;
  if (override.empty() && in_force != nullptr && in_force->files == *files) {
    kept.config_json = in_force->config_override;
  }
  const auto model = Read(layout, id, *std::move(files), kept);
  work.prepared[id] = model;
  work.input.found[id].members = model->MemberNames();
  if (!model->members.empty()) {
    MutexLock lock(&mu_);
    work.input.running = Running();
  }
  ReadMembers(layout, *model, &work);
  std::vector<PlannedAction> actions = PlanLoads(work.input);
  ReadRest(layout, actions, &work);
  std::vector<PlannedAction> skipped;
  std::vector<BusyMark> marks;
  {
    MutexLock lock(&mu_);
    std::set<ModelId> others_work_on;
    for (const PlannedAction& action : actions) {
      const auto known = records_.find(action.model);
      const bool ours = work.input.found.count(action.model) > 0;
      if (busy_.count(action.model) > 0) {
        if (ours) {
          WaitNotBusy(action.model, TimePoint::max());
          return std::nullopt;
        }
        others_work_on.insert(action.model);
      } else if (ours && known != records_.end() && known->second.changed > seen) {
        return std::nullopt;
      }
    }
    skipped = OnlyModels(actions, others_work_on);
    actions = WithoutModels(std::move(actions), others_work_on);
    marks = MarkBusy(actions);
    if (const auto known = records_.find(id); known != records_.end()) {
      known->second.on_request = true;
    }
  }
  const std::shared_ptr<PlanRun> run =
      Begin(std::move(actions), std::move(work.prepared), std::move(marks));
  run->Wait();
  CheckAgain(std::move(skipped));
  for (size_t i = 0; i < run->actions().size(); ++i) {
    if (run->actions()[i].model == id) return run->result(i);
  }
  return absl::OkStatus();
}

absl::Status ModelManager::Unload(const std::string& name, bool with_members) {
  ModelId id{"", name};
  if (options_.namespacing) {
    const auto entry = Directory().FindEntry(name);
    if (!entry.ok()) {
      const bool unknown = absl::EndsWith(entry.status().message(), "is not found");
      return unknown ? absl::OkStatus() : entry.status();
    }
    id = (*entry)->id;
  }
  std::vector<PlannedAction> actions;
  std::vector<PlannedAction> skipped;
  std::vector<BusyMark> marks;
  {
    MutexLock lock(&mu_);
    WaitNotBusy(id, TimePoint::max());
    if (records_.count(id) == 0) {
      LOG_ERROR << "Model to be unloaded has not been served: '" << name << "'";
      return absl::OkStatus();
    }
    LoadInput input;
    input.running = Running();
    input.intents = {{LoadIntent::Kind::kUnload, id, false, with_members}};
    actions = PlanLoads(input);
    // Ensembles that are being loaded are checked afterwards.
    skipped = OnlyModels(actions, busy_);
    std::erase_if(skipped, [](const PlannedAction& action) { return action.reason.empty(); });
    actions = WithoutModels(std::move(actions), busy_);
    marks = MarkBusy(actions);
  }
  const std::shared_ptr<PlanRun> run = Begin(std::move(actions), {}, std::move(marks));
  run->Wait();
  CheckAgain(std::move(skipped));
  for (size_t i = 0; i < run->actions().size(); ++i) {
    if (run->actions()[i].model == id) return run->result(i);
  }
  return absl::OkStatus();
}

// ---- All models

std::shared_ptr<PlanRun> ModelManager::Begin(std::vector<PlannedAction> actions, Prepared prepared,
                                             std::vector<BusyMark> marks) {
  const auto progress = std::make_shared<Progress>(
      context_.clock, std::count_if(actions.begin(), actions.end(), IsLoad));
  // Shared: a function can be copied, and marks cannot.
  struct Plan {
    std::vector<PlannedAction> actions;
    Prepared prepared;
    std::vector<BusyMark> marks;  // each taken by the thread that begins its action
  };
  const auto plan = std::make_shared<Plan>(Plan{actions, std::move(prepared), std::move(marks)});
  return PlanRun::Begin(std::move(actions),
                        [this, plan, progress](size_t index, PlanRun::Ending ending) {
                          BeginAction(plan->actions[index], plan->prepared,
                                      std::move(plan->marks[index]), std::move(ending), progress);
                        });
}

void ModelManager::BeginAction(const PlannedAction& action, const Prepared& prepared, BusyMark mark,
                               PlanRun::Ending ending, const std::shared_ptr<Progress>& progress) {
  if (IsLoad(action)) {
    auto job = std::make_shared<LoadJob>(this, std::move(mark), std::move(ending));
    job->progress = progress;
    job->model = prepared.at(action.model);
    job->on_request = action.on_request;
    job->cannot = action.reason;
    pool_.Run([this, job] { BeginLoad(job); });
    return;
  }
  absl::Status status;
  try {
    Retire(action.model, action.reason);
  } catch (...) {
    status = CaughtStatus();
  }
  {
    MutexLock lock(&mu_);
    again_.erase(action.model);
    Release(std::move(mark));
  }
  ending.Tell(std::move(status));
}

std::shared_ptr<PlanRun> ModelManager::Sync(const RepositorySnapshot& snapshot) {
  Work work;
  const RepositoryLayout layout = Layout();
  std::set<ModelId> skip;
  {
    MutexLock lock(&mu_);
    work.input.running = Running();
    skip = busy_;
  }
  work.input.ambiguous = snapshot.ambiguous;
  work.input.intents = {LoadIntent{}};
  for (const auto& [id, files] : snapshot.models) {
    const auto running = work.input.running.find(id);
    FoundModel& found = work.input.found[id];
    found.files = files;
    const bool known = running != work.input.running.end() && running->second.wanted &&
                       running->second.files == files;
    if (known || skip.count(id) > 0) {
      if (running != work.input.running.end()) found.members = running->second.members;
      continue;
    }
    work.prepared[id] = Read(layout, id, files, {});
    found.members = work.prepared[id]->MemberNames();
  }
  std::vector<PlannedAction> actions = WithoutModels(PlanLoads(work.input), skip);
  ReadRest(layout, actions, &work);
  std::vector<BusyMark> marks;
  {
    MutexLock lock(&mu_);
    // What has changed is taken up by the next poll; ensembles whose members change are not.
    for (const PlannedAction& action : OnlyModels(actions, busy_)) {
      if (IsLoad(action) && skip.count(action.model) == 0) again_.insert(action.model);
    }
    actions = WithoutModels(std::move(actions), busy_);
    marks = MarkBusy(actions);
  }
  Forget(snapshot);
  for (const std::string& name : snapshot.ambiguous) {
    LOG_ERROR << "failed to poll model '" << name << "': not unique across all model repositories";
    NoteFailure({"", name}, absl::InvalidArgumentError(kAmbiguousReason));
  }
  return Begin(std::move(actions), std::move(work.prepared), std::move(marks));
}

void ModelManager::Forget(const RepositorySnapshot& snapshot) {
  Update([&](ModelDirectory* directory) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    directory->models.EraseIf([&](const ModelEntry& model) ABSL_NO_THREAD_SAFETY_ANALYSIS {
      const ModelId& id = model.id;
      return model.versions.empty() && busy_.count(id) == 0 && snapshot.models.count(id) == 0 &&
             snapshot.ambiguous.count(id.name) == 0;
    });
  });
}

std::vector<std::string> ModelManager::LoadAll() {
  const absl::StatusOr<RepositorySnapshot> snapshot =
      ScanRepositories(*context_.file_system, Layout());
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
  // These threads mostly wait; the work is done by the pool.
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
    JobThreads threads("model control", kMaxThreads);
    bool more = true;
    for (size_t t = 1; more && t < std::min(kMaxThreads, all.size()); ++t) {
      std::function<void()> job = load_some;
      more = threads.TryRun(&job);  // fewer do it, too
    }
    load_some();
  }
  std::vector<std::string> failed;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!results[i].ok()) failed.push_back(all[i]);
  }
  return failed;
}

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
  absl::Status status = WaitForScan(Layout(), &scan);
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

}  // namespace nereid
