// How ModelManager loads one model: all its versions, or none.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/caught.h"
#include "base/insist.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "config/version_policy.h"
#include "lifecycle/ensemble_model.h"
#include "lifecycle/load_job.h"
#include "lifecycle/model_manager.h"

namespace nereid {
namespace {

// "<Code text>: <message>", as reasons are written.
std::string Describe(const absl::Status& status) {
  absl::string_view code = "Unknown";
  switch (status.code()) {
    case absl::StatusCode::kInternal:
      code = "Internal";
      break;
    case absl::StatusCode::kNotFound:
      code = "Not found";
      break;
    case absl::StatusCode::kInvalidArgument:
      code = "Invalid argument";
      break;
    case absl::StatusCode::kUnavailable:
      code = "Unavailable";
      break;
    case absl::StatusCode::kUnimplemented:
      code = "Unsupported";
      break;
    case absl::StatusCode::kAlreadyExists:
      code = "Already exists";
      break;
    default:
      break;
  }
  return absl::StrCat(code, ": ", status.message());
}

// `model` without what it is loaded from.
std::shared_ptr<const PreparedModel> WithoutSource(const PreparedModel& model) {
  auto copy = std::make_shared<PreparedModel>(model);
  copy->source = nullptr;
  return copy;
}

// The text of `status`, or what always finds a place where there is no memory for it.
std::string ErrorText(const absl::Status& status) noexcept try {
  return std::string(status.message());
} catch (const std::bad_alloc&) {
  return "out of memory";
}

bool HasReady(const ModelEntry& entry) {
  return std::any_of(entry.versions.begin(), entry.versions.end(),
                     [](const auto& v) { return v.second.state == ModelState::kReady; });
}

}  // namespace

void ModelManager::BeginLoad(std::shared_ptr<LoadJob> job) {
  const PreparedModel& model = *job->model;
  job->record[model.id].attempted = WithoutSource(model);
  absl::Status status;
  if (!job->cannot.empty()) {
    status = absl::InvalidArgumentError(job->cannot);
  } else if (!model.config.ok()) {
    status = model.config.status();
  } else if (model.config->is_ensemble()) {
    status = EnsembleModel::Check(context_, *model.config, model.id.space);
  }
  if (status.ok()) {
    absl::StatusOr<std::vector<VersionTask>> tasks = PlanVersions(model);
    status = tasks.status();
    if (tasks.ok()) job->tasks = *std::move(tasks);
    job->planned = tasks.ok();
  }
  if (!status.ok()) {
    RetireMisfits(model.id);
    NoteFailure(model.id, status);
    return EndLoad(job.get(), std::move(status));
  }
  std::vector<VersionTask*> work;
  for (VersionTask& task : job->tasks) {
    if (task.step != VersionTask::Step::kKeep) work.push_back(&task);
  }
  if (work.empty()) return EndLoad(job.get(), Commit(job.get()));
  {
    MutexLock lock(&job->mu);
    job->left = work.size();
  }
  for (VersionTask* task : work) {
    pool_.Run([this, job, task] {
      RunTask(*job->model, task);
      if (job->OneLess()) EndLoad(job.get(), Commit(job.get()));
    });
  }
}

absl::StatusOr<std::vector<ModelManager::VersionTask>> ModelManager::PlanVersions(
    const PreparedModel& model) {
  const absl::StatusOr<std::vector<int64_t>> versions = ListServedVersions(
      *context_.file_system, model.model_dir, model.id.name, model.config->version_policy());
  std::vector<VersionTask> tasks;
  Update([&](ModelDirectory* directory) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    const auto record = records_.find(model.id);
    const PreparedModel* const served =
        record == records_.end() ? nullptr : record->second.served.get();
    ModelEntry& entry = directory->models[model.id.Text()];
    entry.id = model.id;
    entry.looked_for_versions = true;
    if (!versions.ok()) return;
    // An ensemble has no instances of its own, and is checked again when its members have changed.
    const bool may_go_on =
        served != nullptr && model.members.empty() && served->model_dir == model.model_dir;
    const ConfigChange change =
        may_go_on ? CompareConfigs(*served->config, *model.config) : ConfigChange::kOther;
    for (const int64_t version : *versions) {
      VersionTask& task = tasks.emplace_back();
      task.version = version;
      VersionEntry& present = entry.versions[version];
      if (present.state != ModelState::kReady) {
        present.state = ModelState::kLoading;
        present.reason.clear();
        continue;
      }
      task.present = present;
      const bool same_files = may_go_on && SameVersionFiles(served->files, model.files, version);
      if (!same_files || change == ConfigChange::kOther) continue;
      task.step =
          change == ConfigChange::kNone ? VersionTask::Step::kKeep : VersionTask::Step::kUpdate;
    }
  });
  if (!versions.ok()) return versions.status();
  return tasks;
}

void ModelManager::RunTask(const PreparedModel& model, VersionTask* task) {
  if (task->step == VersionTask::Step::kUpdate) {
    task->status = UpdateInstances(model, task);
    if (!absl::IsUnimplemented(task->status)) return;
    task->step = VersionTask::Step::kLoad;
  }
  task->loaded = LoadVersion(model, task->version);
  task->status = task->loaded.status();
}

absl::Status ModelManager::UpdateInstances(const PreparedModel& model, VersionTask* task) try {
  ASSIGN_OR_RETURN(task->update,
                   task->updated().PrepareInstances(context_, *model.config, model.model_dir));
  return absl::OkStatus();
} catch (...) {  // no memory, no threads: it goes on as it was
  return CaughtStatus();
}

absl::StatusOr<std::shared_ptr<ManagedModel>> ModelManager::LoadCaught(const PreparedModel& model,
                                                                       int64_t version) {
  try {
    if (model.config->is_ensemble()) {
      return EnsembleModel::Load(context_, *model.config, model.model_dir, model.id.space, version);
    }
    return LoadedModel::Load(context_, *model.config, model.model_dir, version);
  } catch (...) {  // no memory, no threads: this model's problem only
    return CaughtStatus();
  }
}

absl::StatusOr<std::shared_ptr<ManagedModel>> ModelManager::LoadVersion(const PreparedModel& model,
                                                                        int64_t version) {
  const std::string& name = model.id.name;
  LOG_INFO << "loading: " << name << ":" << version;
  for (uint32_t attempt = 0;; ++attempt) {
    absl::StatusOr<std::shared_ptr<ManagedModel>> loaded = LoadCaught(model, version);
    if (loaded.ok()) {
      (*loaded)->set_source(model.source);
      LOG_INFO << "loaded: " << name << ":" << version;
      return loaded;
    }
    LOG_ERROR << "failed to load '" << name << "' version " << version << ": "
              << Describe(loaded.status());
    if (attempt >= options_.load_retries) return loaded;
  }
}

absl::Status ModelManager::Commit(LoadJob* job) {
  const PreparedModel& model = *job->model;
  std::string reasons;
  bool loads_any = false;  // instances that changed are no load
  for (const VersionTask& task : job->tasks) {
    loads_any |= task.step == VersionTask::Step::kLoad;
    if (task.status.ok()) continue;
    const char* const state =
        task.step == VersionTask::Step::kUpdate ? "READY" : "UNAVAILABLE";  // it serves on
    absl::StrAppend(&reasons, "version ", task.version, " is at ", state,
                    " state: ", Describe(task.status), ";");
  }
  absl::Status status;
  if (!reasons.empty()) status = absl::InvalidArgumentError(reasons);
  std::vector<Closing> closings;
  Update([&](ModelDirectory* directory) {
    ModelEntry& entry = directory->models[model.id.Text()];
    entry.reason.clear();
    std::erase_if(entry.draining, [](const auto& draining) { return draining.expired(); });
    if (status.ok()) {
      PutIn(*job, &entry, &closings);
    } else {
      TakeBack(*job, &entry, &closings);  // what served before serves on
    }
  });
  // From here on nothing fails.
  if (status.ok() && loads_any) LOG_INFO << "successfully loaded '" << model.id.name << "'";
  if (status.ok()) {
    for (VersionTask& task : job->tasks) {
      if (task.update != nullptr) task.updated().Apply(&reaper_, std::move(task.update));
    }
  }
  job->tasks.clear();
  CloseAll(std::move(closings));
  return status;
}

void ModelManager::PutIn(const LoadJob& job, ModelEntry* entry, std::vector<Closing>* closings) {
  std::map<int64_t, VersionEntry> served;
  for (const VersionTask& task : job.tasks) {
    const bool loaded = task.step == VersionTask::Step::kLoad;
    served[task.version] =
        loaded ? VersionEntry{ModelState::kReady, "", *task.loaded} : task.present;
  }
  for (auto& [version, old] : entry->versions) {
    if (old.model == nullptr) continue;
    const auto successor = served.find(version);
    const bool replaced = successor != served.end();
    if (replaced && successor->second.model == old.model) continue;
    if (old.state == ModelState::kReady) {
      closings->push_back(PrepareClose(entry->id, version, old.model, ""));
    }
    if (!replaced) {
      served[version] = old;
      served[version].state = ModelState::kUnloading;
    } else if (old.model->config().sequence.enabled) {
      entry->draining.push_back(old.model);
    }
  }
  entry->versions = std::move(served);
}

void ModelManager::TakeBack(const LoadJob& job, ModelEntry* entry, std::vector<Closing>* closings) {
  for (const VersionTask& task : job.tasks) {
    if (task.step != VersionTask::Step::kLoad) continue;
    if (task.loaded.ok()) {
      closings->push_back(PrepareClose(entry->id, task.version, *task.loaded, ""));
    }
    VersionEntry& version = entry->versions[task.version];
    if (version.state == ModelState::kReady) continue;
    version.state = ModelState::kUnavailable;
    version.reason = task.loaded.ok() ? "unloaded because another version failed to load"
                                      : Describe(task.loaded.status());
  }
}

void ModelManager::EndLoad(LoadJob* job, absl::Status status) noexcept {
  const std::shared_ptr<const PreparedModel> model = std::move(job->model);
  job->ended = true;
  const ModelId& id = model->id;
  const std::shared_ptr<ModelSource> source = model->source;
  if (source != nullptr) source->EndLoad(status.ok());
  if (!status.ok()) LOG_ERROR << "failed to load '" << id.name << "': " << status.message();
  std::string error = ErrorText(status);
  // Null where there was no memory to note anything: it is as if nobody had tried.
  std::shared_ptr<const PreparedModel> attempted;
  if (!job->record.empty()) attempted = job->record.begin()->second.attempted;
  bool again = false;
  {
    MutexLock lock(&mu_);
    if (attempted != nullptr) {
      records_.merge(job->record);
      Record& record = records_.find(id)->second;
      record.attempted = attempted;
      if (status.ok()) record.served = record.attempted;
      record.wanted = true;
      record.on_request |= job->on_request;
      record.error = std::move(error);
      record.changed = ++changes_;
    }
    again = again_.erase(id) > 0 && attempted != nullptr;
    if (!again) Release(std::move(job->mark));
  }
  if (again) BeginAgain(attempted, std::move(job->mark));
  if (source != nullptr) source->Leave();  // agents of a model that failed see its end first
  if (job->progress != nullptr) job->progress->Count(status.ok());
  job->ending.Tell(std::move(status));
}

void ModelManager::Abandon(LoadJob* job) noexcept {
  // Not even begun: mark and ending go with it.
  if (job->model == nullptr) return;
  if (job->planned) {
    // Only a thread of the pool comes here, which may wait.
    std::vector<Closing> closings;
    Insist(context_.clock, [&] {
      closings.clear();
      Update([&](ModelDirectory* directory) {
        TakeBack(*job, &directory->models[job->model->id.Text()], &closings);
      });
    });
    job->tasks.clear();
    CloseAll(std::move(closings));
  }
  EndLoad(job, OutOfMemory());
}

void ModelManager::NoteFailure(const ModelId& id, const absl::Status& error) {
  Update([&](ModelDirectory* directory) {
    ModelEntry& entry = directory->models[id.Text()];
    entry.id = id;
    if (!HasReady(entry)) entry.reason = std::string(error.message());
  });
}

}  // namespace nereid
