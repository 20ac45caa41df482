#include "lifecycle/model_manager.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <utility>

#include "base/log.h"
#include "base/status_macros.h"
#include "config/load_config.h"
#include "config/version_policy.h"

namespace nereid {
namespace {

// Nobody signals the end of the last request or sequence (that would cost every one): it is looked
// for.
constexpr auto kIdleStep = std::chrono::milliseconds(10);

// "<Code text>: <message>", as reasons are written.
std::string Describe(const absl::Status& status) {
  absl::string_view code = "Unknown";
  switch (status.code()) {
    case absl::StatusCode::kInternal: code = "Internal"; break;
    case absl::StatusCode::kNotFound: code = "Not found"; break;
    case absl::StatusCode::kInvalidArgument: code = "Invalid argument"; break;
    case absl::StatusCode::kUnavailable: code = "Unavailable"; break;
    case absl::StatusCode::kUnimplemented: code = "Unsupported"; break;
    case absl::StatusCode::kAlreadyExists: code = "Already exists"; break;
    default: break;
  }
  return absl::StrCat(code, ": ", status.message());
}

std::string JoinPath(const std::string& dir, absl::string_view name) {
  return absl::StrCat(dir, absl::EndsWith(dir, "/") ? "" : "/", name);
}

}  // namespace

ModelManager::ModelManager(ModelManagerOptions options, LoadContext context)
    : options_(std::move(options)),
      context_(context),
      directory_(std::make_shared<const ModelDirectory>()),
      version_pool_(std::max<uint32_t>(1, options_.load_threads)) {}

ModelManager::~ModelManager() = default;

absl::Status ModelManager::CheckRepositories() const {
  if (options_.repositories.empty()) {
    return absl::InvalidArgumentError("--model-repository must be specified");
  }
  for (const std::string& path : options_.repositories) {
    const absl::StatusOr<std::vector<DirEntry>> entries =
        context_.file_system->ListDirectory(path);
    if (!entries.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("repository path is not a valid directory: '",
                                                     path, "': ", entries.status().message()));
    }
  }
  return absl::OkStatus();
}

std::set<std::string> ModelManager::RepositoryModels() const {
  std::set<std::string> names;
  for (const std::string& repository : options_.repositories) {
    const auto entries = context_.file_system->ListDirectory(repository);
    if (!entries.ok()) continue;  // a repository that vanished has no models
    for (const DirEntry& entry : *entries) {
      if (entry.is_directory && !absl::StartsWith(entry.name, ".")) names.insert(entry.name);
    }
  }
  return names;
}

absl::StatusOr<std::string> ModelManager::FindModelDir(const std::string& name) const {
  std::string found;
  for (const std::string& repository : options_.repositories) {
    std::string dir = JoinPath(repository, name);
    const auto stat = context_.file_system->Stat(dir);
    if (!stat.ok() || !stat->is_directory) continue;
    if (!found.empty()) {
      return absl::InvalidArgumentError("model appears in two or more repositories");
    }
    found = std::move(dir);
  }
  if (found.empty()) {
    return absl::InternalError(
        absl::StrCat("failed to load '", name, "', failed to poll from model repository"));
  }
  return found;
}

template <typename Change>
void ModelManager::Update(const Change& change) {
  {
    MutexLock lock(&mu_);
    change(&current_);
    directory_.Set(std::make_shared<const ModelDirectory>(current_));
  }
  changed_.NotifyAll();
}

std::vector<std::string> ModelManager::LoadAll() {
  const std::set<std::string> found = RepositoryModels();
  const std::vector<std::string> names(found.begin(), found.end());
  std::vector<absl::Status> results(names.size());
  // These threads read configurations and then wait; the work is done by the version pool.
  std::atomic<size_t> next{0};
  std::vector<std::thread> threads;
  const size_t count = std::min<size_t>(names.size(), std::max<uint32_t>(1, options_.load_threads));
  for (size_t t = 0; t < count; ++t) {
    threads.emplace_back([&] {
      for (size_t i = next++; i < names.size(); i = next++) results[i] = Load(names[i]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<std::string> failed;
  for (size_t i = 0; i < names.size(); ++i) {
    if (!results[i].ok()) failed.push_back(names[i]);
  }
  return failed;
}

absl::Status ModelManager::Load(const std::string& name) {
  if (name.empty()) {
    return absl::InvalidArgumentError(
        "Model name cannot be empty. Please enter a valid name to deploy.");
  }
  if (name == "." || name == ".." || absl::StrContains(name, "/")) {
    return absl::InvalidArgumentError(absl::StrCat(
        "invalid model name '", name, "', model name must not contain path traversal characters"));
  }
  {
    MutexLock lock(&mu_);
    while (busy_.count(name) > 0) changed_.Wait(&mu_);
    busy_.insert(name);
  }
  absl::Status status;
  const absl::StatusOr<std::string> dir = FindModelDir(name);
  if (dir.ok()) {
    status = LoadFrom(name, *dir);
  } else {
    status = dir.status();
    // A name that is in no repository leaves no trace in the index.
    if (status.code() != absl::StatusCode::kInternal) NoteFailure(name, status);
  }
  {
    MutexLock lock(&mu_);
    busy_.erase(name);
    // Under the lock: WaitUnloaded waits for this, and whoever waits may destroy this object.
    changed_.NotifyAll();
  }
  if (!status.ok()) LOG_ERROR << "failed to load '" << name << "': " << status.message();
  return status;
}

absl::Status ModelManager::LoadFrom(const std::string& name, const std::string& model_dir) {
  ConfigSource source;
  source.model_dir = model_dir;
  source.expected_name = name;
  source.auto_complete = options_.auto_complete_config;
  source.model_config_name = options_.model_config_name;
  const absl::StatusOr<ParsedConfig> config = LoadModelConfig(*context_.file_system, source);
  if (!config.ok()) {
    NoteFailure(name, config.status());
    return config.status();
  }
  const absl::StatusOr<std::vector<int64_t>> versions = ListServedVersions(
      *context_.file_system, model_dir, name, config->version_policy());
  if (!versions.ok()) {
    NoteFailure(name, versions.status());
    return versions.status();
  }
  Update([&](ModelDirectory* directory) {
    for (const int64_t version : *versions) {
      VersionEntry& entry = directory->models[name].versions[version];
      if (entry.state == ModelState::kReady) continue;  // it serves on meanwhile
      entry.state = ModelState::kLoading;
      entry.reason.clear();
    }
  });
  return Commit(name, LoadVersions(*config, model_dir, *versions));
}

std::vector<ModelManager::VersionResult> ModelManager::LoadVersions(
    const ParsedConfig& config, const std::string& model_dir,
    const std::vector<int64_t>& versions) {
  std::vector<VersionResult> results;
  for (const int64_t version : versions) {
    results.push_back({version, absl::UnknownError("not loaded")});
  }
  Mutex mu;
  CondVar done;
  size_t left = results.size();
  for (VersionResult& result : results) {
    version_pool_.Run([&] {
      result.model = LoadVersion(config, model_dir, result.version);
      // Notified under the lock: the waiter's frame holds the condition variable.
      MutexLock lock(&mu);
      --left;
      done.NotifyAll();
    });
  }
  MutexLock lock(&mu);
  while (left > 0) done.Wait(&mu);
  return results;
}

absl::StatusOr<std::shared_ptr<LoadedModel>> ModelManager::LoadCaught(
    const ParsedConfig& config, const std::string& model_dir, int64_t version) {
  try {
    return LoadedModel::Load(context_, config, model_dir, version);
  } catch (const std::exception& e) {  // no memory, no threads: this model's problem only
    return absl::InternalError(absl::StrCat("out of resources: ", e.what()));
  }
}

absl::StatusOr<std::shared_ptr<LoadedModel>> ModelManager::LoadVersion(
    const ParsedConfig& config, const std::string& model_dir, int64_t version) {
  LOG_INFO << "loading: " << config.name() << ":" << version;
  for (uint32_t attempt = 0;; ++attempt) {
    absl::StatusOr<std::shared_ptr<LoadedModel>> model = LoadCaught(config, model_dir, version);
    if (model.ok()) {
      LOG_INFO << "successfully loaded '" << config.name() << "' version " << version;
      return model;
    }
    LOG_ERROR << "failed to load '" << config.name() << "' version " << version << ": "
              << Describe(model.status());
    if (attempt >= options_.load_retries) return model;
  }
}

absl::Status ModelManager::Commit(const std::string& name, std::vector<VersionResult> results) {
  std::string reasons;
  for (const VersionResult& result : results) {
    if (result.model.ok()) continue;
    absl::StrAppend(&reasons, "version ", result.version,
                    " is at UNAVAILABLE state: ", Describe(result.model.status()), ";");
  }
  std::vector<std::pair<int64_t, std::shared_ptr<LoadedModel>>> retired;
  Update([&](ModelDirectory* directory) {
    ModelEntry& entry = directory->models[name];
    entry.reason.clear();
    std::erase_if(entry.draining, [](const auto& model) { return model.expired(); });
    if (reasons.empty()) {
      std::map<int64_t, VersionEntry> served;
      for (VersionResult& result : results) {
        served[result.version] = {ModelState::kReady, "", *result.model};
      }
      for (auto& [version, old] : entry.versions) {
        if (old.model == nullptr || old.state != ModelState::kReady) continue;
        retired.push_back({version, old.model});
        if (old.model->config().sequence.enabled) entry.draining.push_back(old.model);
        if (served.count(version) == 0) served[version] = {ModelState::kUnloading, "", old.model};
      }
      entry.versions = std::move(served);
      return;
    }
    // All or nothing: what did load is let go again, what served before serves on.
    for (VersionResult& result : results) {
      VersionEntry& version = entry.versions[result.version];
      if (result.model.ok()) retired.push_back({result.version, *result.model});
      if (version.state == ModelState::kReady) continue;
      version.state = ModelState::kUnavailable;
      version.reason = result.model.ok() ? "unloaded because another version failed to load"
                                         : Describe(result.model.status());
    }
  });
  results.clear();
  for (auto& [version, model] : retired) CloseVersion(name, version, std::move(model));
  if (reasons.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(reasons);
}

void ModelManager::NoteFailure(const std::string& name, const absl::Status& error) {
  Update([&](ModelDirectory* directory) {
    ModelEntry& entry = directory->models[name];
    const bool serves = std::any_of(entry.versions.begin(), entry.versions.end(), [](auto& v) {
      return v.second.state == ModelState::kReady;
    });
    if (!serves) entry.reason = std::string(error.message());
  });
}

void ModelManager::CloseVersion(const std::string& name, int64_t version,
                                std::shared_ptr<LoadedModel> model) {
  {
    MutexLock lock(&mu_);
    ++closing_;
  }
  LoadedModel* const raw = model.get();
  raw->Close([this, name, version, model = std::move(model)]() mutable {
    LOG_INFO << "successfully unloaded '" << name << "' version " << version;
    {
      MutexLock lock(&mu_);
      ModelEntry& entry = current_.models[name];
      const auto it = entry.versions.find(version);
      // A replaced version has a newer one in its place by now.
      if (it != entry.versions.end() && it->second.model == model) {
        it->second = {ModelState::kUnavailable, kUnloadedReason, nullptr};
      }
      directory_.Set(std::make_shared<const ModelDirectory>(current_));
      model.reset();
      --closing_;
      // Under the lock: after the last decrement whoever waits may destroy this object.
      changed_.NotifyAll();
    }
  });
}

std::shared_ptr<LoadedModel> ModelManager::FindSequence(absl::string_view name, int64_t version,
                                                        const CorrelationId& id) const {
  return Directory().FindSequence(name, version, id);
}

absl::Status ModelManager::Unload(const std::string& name) {
  {
    MutexLock lock(&mu_);
    WaitNotBusy(name, TimePoint::max());
  }
  Retire(name);
  return absl::OkStatus();
}

bool ModelManager::WaitNotBusy(const std::string& name, TimePoint deadline) {
  while (busy_.count(name) > 0) {
    if (context_.clock->Now() >= deadline) return false;
    context_.clock->Wait(&changed_, &mu_, deadline);
  }
  return true;
}

void ModelManager::Retire(const std::string& name) {
  std::vector<std::pair<int64_t, std::shared_ptr<LoadedModel>>> retired;
  Update([&](ModelDirectory* directory) {
    const auto it = directory->models.find(name);
    if (it == directory->models.end()) return;
    for (auto& [version, entry] : it->second.versions) {
      if (entry.state != ModelState::kReady) continue;
      entry.state = ModelState::kUnloading;
      retired.push_back({version, entry.model});
    }
  });
  for (auto& [version, model] : retired) CloseVersion(name, version, std::move(model));
}

void ModelManager::CloseAdmission() {
  for (const auto& [name, entry] : Directory().models) {
    for (const auto& [version, v] : entry.versions) {
      if (v.model != nullptr) v.model->CloseAdmission();
    }
  }
}

std::vector<std::string> ModelManager::InFlight() const {
  std::vector<std::string> texts;
  for (const auto& [name, entry] : Directory().models) {
    for (const auto& [version, v] : entry.versions) {
      const int64_t count = v.model == nullptr ? 0 : v.model->InFlight();
      if (count == 0) continue;
      texts.push_back(absl::StrCat("Model '", name, "' (version ", version, ") has ", count,
                                   " in-flight inferences"));
    }
  }
  return texts;
}

bool ModelManager::HasSequences() const {
  for (const auto& [name, entry] : Directory().models) {
    for (const auto& [version, v] : entry.versions) {
      if (v.model != nullptr && v.model->HasSequences()) return true;
    }
    for (const std::weak_ptr<LoadedModel>& draining : entry.draining) {
      const std::shared_ptr<LoadedModel> model = draining.lock();
      if (model != nullptr && model->HasSequences()) return true;
    }
  }
  return false;
}

bool ModelManager::WaitSequencesEnded(TimePoint deadline) {
  while (HasSequences()) {
    const TimePoint now = context_.clock->Now();
    if (now >= deadline) return false;
    MutexLock lock(&mu_);
    context_.clock->Wait(&changed_, &mu_, std::min(deadline, now + kIdleStep));
  }
  return true;
}

bool ModelManager::WaitIdle(TimePoint deadline) {
  TimePoint next_report = context_.clock->Now() + std::chrono::seconds(1);
  while (true) {
    const std::vector<std::string> busy = InFlight();
    if (busy.empty()) return true;
    const TimePoint now = context_.clock->Now();
    if (now >= deadline || now >= next_report) {
      const auto left = std::chrono::duration_cast<std::chrono::seconds>(deadline - now).count();
      LOG_INFO << "Timeout " << std::max<int64_t>(0, left) << ": Found " << busy.size()
               << " model versions that have in-flight inferences";
      for (const std::string& text : busy) LOG_INFO << text;
      next_report = now + std::chrono::seconds(1);
    }
    if (now >= deadline) return false;
    MutexLock lock(&mu_);
    context_.clock->Wait(&changed_, &mu_, std::min(deadline, now + kIdleStep));
  }
}

void ModelManager::UnloadAll(TimePoint deadline) {
  std::vector<std::string> names;
  for (const auto& [name, entry] : Directory().models) names.push_back(name);
  for (const std::string& name : names) {
    bool idle;
    {
      MutexLock lock(&mu_);
      idle = WaitNotBusy(name, deadline);
    }
    if (idle) Retire(name);
  }
}

bool ModelManager::WaitUnloaded(TimePoint deadline) {
  MutexLock lock(&mu_);
  while (closing_ > 0 || !busy_.empty()) {
    if (context_.clock->Now() >= deadline) return false;
    context_.clock->Wait(&changed_, &mu_, deadline);
  }
  return true;
}

}  // namespace nereid
