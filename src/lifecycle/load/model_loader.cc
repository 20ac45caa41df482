// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/load/model_loader.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <limits>
#include <new>
#include <utility>

#include "base/caught.h"
#include "base/insist.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "config/version_policy.h"
#include "lifecycle/model/ensemble_model.h"

namespace nereid {
namespace {

// How long a load keeps its place while others wait.
constexpr Duration kPatience = std::chrono::seconds(30);
// Loads that have lost their places and have not ended.
constexpr int kMostSlowLoads = 1024;

ThreadPoolOptions PoolOptions(int threads, Clock* clock) {
  return {.name = "model loading",
          .threads = threads,
          .most_threads = threads + kMostSlowLoads,
          .queue_limit = std::numeric_limits<size_t>::max(),
          .patience = kPatience,
          .clock = clock,
          .background = true};
}

// "<Code text>: <message>", the form of reasons.
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

// `model` without its source.
std::shared_ptr<const PreparedModel> WithoutSource(const PreparedModel& model) {
  auto copy = std::make_shared<PreparedModel>(model);
  copy->source = nullptr;
  return copy;
}

// The text of `status`. If there is no memory for it: a text that is short enough to need none.
std::string ErrorText(const absl::Status& status) noexcept try {
  return std::string(status.message());
} catch (const std::bad_alloc&) {
  return "out of memory";
}

}  // namespace

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
  LoadedModel& updated() const { return static_cast<LoadedModel&>(*present.model()); }
};

// One model that is being loaded. Shared by the tasks under way. If something throws and the load
// does not end, releasing the last reference abandons it. Constant once the load has begun, except
// for guarded fields.
struct ModelLoader::Job {
  Job(ModelLoader* loader_in, ModelCatalogue::BusyMark mark_in, PlanRun::Completion completion_in)
      : loader(loader_in), completion(std::move(completion_in)), mark(std::move(mark_in)) {}
  ~Job() {
    if (!ended) loader->Abandon(this);
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  ModelLoader* const loader;
  std::shared_ptr<const PreparedModel> model;  // null once ended
  bool on_request = false;
  std::string cannot;  // why the model cannot be loaded, if the planner knows
  PlanRun::Completion completion;
  // Destroyed before the completion: whoever waits for the completion finds the model free.
  ModelCatalogue::BusyMark mark;
  std::shared_ptr<LoadProgress> progress;  // null: the load is not counted
  ModelCatalogue::Records record;  // a new model's first record, made before anything changes
  std::vector<VersionTask> tasks;  // each used by one thread at a time
  bool planned = false;            // the directory says that versions are being loaded
  bool ended = false;
  Mutex mu;
  size_t left ABSL_GUARDED_BY(mu) = 0;  // tasks under way
  // What the completion waits for: the load, and each update whose removed instances have not
  // settled.
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
    completion.Report(std::move(status));
  }
};

void LoadProgress::Count(bool ok) noexcept {
  const TimePoint now = clock_->Now();
  int64_t done = 0;
  int64_t failed = 0;
  {
    MutexLock lock(&mu_);
    done = ++done_;
    failed = failed_ += ok ? 0 : 1;
    if (total_ < kWorthTelling || (now < next_ && done < total_)) return;
    next_ = now + kPeriod;
  }
  const double seconds = std::chrono::duration<double>(now - start_).count();
  if (failed == 0) {
    LOG_INFO << done << " of " << total_ << " models loaded after " << seconds << " s";
  } else {
    LOG_INFO << done << " of " << total_ << " models loaded (" << failed << " failed) after "
             << seconds << " s";
  }
}

ModelLoader::ModelLoader(Options options, const LoadContext& context, const LoadReader* reader,
                         ModelCatalogue* catalogue, ModelCloser* closer)
    : options_(options),
      context_(context),
      reader_(*reader),
      catalogue_(*catalogue),
      closer_(*closer),
      pool_(PoolOptions(static_cast<int>(std::max<uint32_t>(1, options.threads)), context.clock)) {}

template <typename Step>
void ModelLoader::Soon(Step step) {
  if (!pool_.TryRun(std::move(step))) throw std::bad_alloc();
}

void ModelLoader::Begin(const PlannedAction& action, std::shared_ptr<const PreparedModel> model,
                        ModelCatalogue::BusyMark mark, PlanRun::Completion completion,
                        std::shared_ptr<LoadProgress> progress) {
  auto job = std::make_shared<Job>(this, std::move(mark), std::move(completion));
  job->progress = std::move(progress);
  job->model = std::move(model);
  job->on_request = action.on_request;
  job->cannot = action.reason;
  Soon([this, job] { Run(job); });
}

void ModelLoader::Run(std::shared_ptr<Job> job) {
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
    // What serves goes on serving after a failed load, but for an ensemble whose members have
    // changed under it.
    closer_.RetireMisfits(model.id);
    catalogue_.NoteFailure(model.id, status);
    return End(job.get(), std::move(status));
  }
  std::vector<VersionTask*> work;
  for (VersionTask& task : job->tasks) {
    if (task.step != VersionTask::Step::kKeep) work.push_back(&task);
  }
  // No task would be the last one, which commits.
  if (work.empty()) return End(job.get(), Commit(job));
  {
    MutexLock lock(&job->mu);
    job->left = work.size();
  }
  for (VersionTask* task : work) {
    Soon([this, job, task] {
      RunTask(*job->model, task);
      if (job->OneLess()) End(job.get(), Commit(job));
    });
  }
}

absl::StatusOr<std::vector<ModelLoader::VersionTask>> ModelLoader::PlanVersions(
    const PreparedModel& model) {
  const absl::StatusOr<std::vector<int64_t>> versions = ListServedVersions(
      *context_.file_system, model.model_dir, model.id.name, model.config->version_policy());
  std::vector<VersionTask> tasks;
  // Does not change before this load ends, because the model is claimed.
  const std::shared_ptr<const PreparedModel> served = catalogue_.Served(model.id);
  catalogue_.Update([&](ModelDirectory* directory) {
    ModelEntry& entry = directory->models[model.id.Text()];
    entry.id = model.id;
    entry.looked_for_versions = true;
    if (!versions.ok()) return;
    // Never an ensemble: it has no instances, and has to be checked again when members have
    // changed.
    const bool may_go_on =
        served != nullptr && model.members.empty() && served->model_dir == model.model_dir;
    const ConfigChange change =
        may_go_on ? CompareConfigs(*served->config, *model.config) : ConfigChange::kOther;
    for (const int64_t version : *versions) {
      VersionTask& task = tasks.emplace_back();
      task.version = version;
      VersionEntry& present = entry.versions[version];
      present.BeginLoad();
      if (!present.ready()) continue;
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

void ModelLoader::RunTask(const PreparedModel& model, VersionTask* task) {
  if (task->step == VersionTask::Step::kUpdate) {
    task->status = UpdateInstances(model, task);
    if (!absl::IsUnimplemented(task->status)) return;
    task->step = VersionTask::Step::kLoad;
  }
  task->loaded = LoadVersion(model, task->version);
  task->status = task->loaded.status();
}

absl::Status ModelLoader::UpdateInstances(const PreparedModel& model, VersionTask* task) try {
  ASSIGN_OR_RETURN(task->update,
                   task->updated().PrepareInstances(context_, *model.config, model.model_dir));
  return absl::OkStatus();
} catch (...) {  // no memory or no threads: the version serves on unchanged
  return CaughtStatus();
}

absl::StatusOr<std::shared_ptr<ManagedModel>> ModelLoader::LoadCaught(const PreparedModel& model,
                                                                      int64_t version) {
  try {
    if (model.config->is_ensemble()) {
      return EnsembleModel::Load(context_, *model.config, model.model_dir, model.id.space, version);
    }
    return LoadedModel::Load(context_, *model.config, model.model_dir, version);
  } catch (...) {  // no memory or no threads: only this load fails
    return CaughtStatus();
  }
}

absl::StatusOr<std::shared_ptr<ManagedModel>> ModelLoader::LoadVersion(const PreparedModel& model,
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
    if (attempt >= options_.retries) return loaded;
  }
}

absl::Status ModelLoader::Commit(const std::shared_ptr<Job>& job) {
  const PreparedModel& model = *job->model;
  std::string reasons;
  bool updates = false;  // a change of instances does not count as a load
  bool loads = false;
  for (const VersionTask& task : job->tasks) {
    updates |= task.step == VersionTask::Step::kUpdate;
    loads |= task.step == VersionTask::Step::kLoad;
    if (task.status.ok()) continue;
    const char* const state =
        task.step == VersionTask::Step::kUpdate ? "READY" : "UNAVAILABLE";  // READY: still serves
    absl::StrAppend(&reasons, "version ", task.version, " is at ", state,
                    " state: ", Describe(task.status), ";");
  }
  absl::Status status;
  if (!reasons.empty()) status = absl::InvalidArgumentError(reasons);
  // Per task: what is called when its removed instances have settled.
  std::vector<std::function<void()>> thens(job->tasks.size(),
                                           [job] { job->Release(absl::OkStatus()); });
  std::vector<ModelCloser::Closing> closings;
  catalogue_.Update([&](ModelDirectory* directory) {
    ModelEntry& entry = directory->models[model.id.Text()];
    entry.reason.clear();
    std::erase_if(entry.draining, [](const auto& draining) { return draining.expired(); });
    if (status.ok()) {
      PutIn(*job, &entry, &closings);
    } else {
      TakeBack(*job, &entry, &closings);  // the versions that served before serve on
    }
  });
  // From here on nothing can fail.
  if (status.ok() && (loads || !updates))
    LOG_INFO << "successfully loaded '" << model.id.name << "'";
  if (status.ok()) {
    for (size_t i = 0; i < job->tasks.size(); ++i) {
      VersionTask& task = job->tasks[i];
      if (task.update == nullptr) continue;
      job->Hold();
      task.updated().Apply(closer_.reaper(), std::move(task.update), std::move(thens[i]));
    }
  }
  job->tasks.clear();
  closer_.Close(std::move(closings));
  return status;
}

void ModelLoader::PutIn(const Job& job, ModelEntry* entry,
                        std::vector<ModelCloser::Closing>* closings) {
  std::map<int64_t, VersionEntry> served;
  for (const VersionTask& task : job.tasks) {
    VersionEntry& version = served[task.version];
    version = entry->versions.at(task.version);
    if (task.step == VersionTask::Step::kLoad) version.Serve(*task.loaded);
  }
  for (auto& [version, old] : entry->versions) {
    const auto successor = served.find(version);
    const bool replaced = successor != served.end();
    const std::shared_ptr<ManagedModel> model = old.model();
    if (model == nullptr || (replaced && successor->second.model() == model)) continue;
    if (old.ready()) closings->push_back(closer_.Prepare(entry->id, version, model, ""));
    if (!replaced) {
      old.LeaveOut();
      served[version] = old;
    } else if (model->config().sequence.enabled) {
      entry->draining.push_back(model);
    }
  }
  entry->versions = std::move(served);
  entry->unloaded = false;
}

void ModelLoader::TakeBack(const Job& job, ModelEntry* entry,
                           std::vector<ModelCloser::Closing>* closings) {
  for (const VersionTask& task : job.tasks) {
    if (task.step != VersionTask::Step::kLoad) continue;
    if (task.loaded.ok()) {
      closings->push_back(closer_.Prepare(entry->id, task.version, *task.loaded, ""));
    }
    entry->versions[task.version].FailLoad(task.loaded.ok()
                                               ? "unloaded because another version failed to load"
                                               : Describe(task.loaded.status()));
  }
}

void ModelLoader::End(Job* job, absl::Status status) noexcept {
  const std::shared_ptr<const PreparedModel> model = std::move(job->model);
  job->ended = true;
  const ModelId& id = model->id;
  const std::shared_ptr<ModelSource> source = model->source;
  if (source != nullptr) source->EndLoad(status.ok());
  if (!status.ok()) LOG_ERROR << "failed to load '" << id.name << "': " << status.message();
  // Null if there was no memory to note anything: then this load leaves no record.
  std::shared_ptr<const PreparedModel> attempted;
  if (!job->record.empty()) attempted = job->record.begin()->second.attempted;
  const bool again = catalogue_.NoteLoadEnd(id, status.ok(), job->on_request, ErrorText(status),
                                            &job->record, &job->mark);
  if (again) BeginAgain(attempted, std::move(job->mark));
  if (source != nullptr) source->Leave();  // after EndLoad, which the agents have to see
  if (job->progress != nullptr) job->progress->Count(status.ok());
  job->Release(std::move(status));
}

void ModelLoader::Abandon(Job* job) noexcept {
  // The load has not begun. The destructors of mark and completion do all that is left.
  if (job->model == nullptr) return;
  if (job->planned) {
    // This runs only on threads of the pool, which may wait.
    std::vector<ModelCloser::Closing> closings;
    Insist(context_.clock, [&] {
      closings.clear();
      catalogue_.Update([&](ModelDirectory* directory) {
        TakeBack(*job, &directory->models[job->model->id.Text()], &closings);
      });
    });
    job->tasks.clear();
    closer_.Close(std::move(closings));
  }
  End(job, OutOfMemory());
}

void ModelLoader::BeginAgain(const std::shared_ptr<const PreparedModel>& last,
                             ModelCatalogue::BusyMark mark) noexcept try {
  auto job = std::make_shared<Job>(this, std::move(mark), PlanRun::Completion());
  job->model = reader_.ReadAgain(last);
  Soon([this, job] { Run(job); });
} catch (const std::exception& e) {
  LOG_ERROR << "model '" << last->id.name << "' is not loaded again with its members: " << e.what();
}

}  // namespace nereid
