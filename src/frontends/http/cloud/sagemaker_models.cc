// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/cloud/sagemaker_models.h"

#include <absl/status/statusor.h>
#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <limits.h>

#include <chrono>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "base/outside_text.h"
#include "base/status_macros.h"
#include "frontends/http/cloud/model_archive.h"
#include "frontends/http/status_map.h"

namespace nereid {
namespace {

constexpr size_t kMostNameBytesOfPlatform = 1024;
constexpr int kConflict = 409;
constexpr int kInsufficientStorage = 507;
// The platform gives up after 360 s.
constexpr std::chrono::seconds kLongestUnload(350);
constexpr std::chrono::milliseconds kUnloadPause(20);

HttpResponse NoSuchModel() {
  HttpResponse response;
  response.status = 404;
  return response;
}

HttpResponse Refusal(const absl::Status& error) {
  if (error.code() == absl::StatusCode::kAlreadyExists) {
    return MakeErrorResponse(kConflict, error.message());
  }
  if (TellsWantOfMemory(error.message())) {
    return MakeErrorResponse(kInsufficientStorage, error.message());
  }
  return MakeErrorResponse(400, error.message());
}

void WriteModel(const std::string& name, const std::string& url, JsonWriter* json) {
  json->BeginObject();
  json->Add("modelName", name);
  json->Add("modelUrl", url);
  json->EndObject();
}

}  // namespace

bool TellsWantOfMemory(absl::string_view message) {
  if (absl::StrContains(message, "OOM")) return true;
  const std::string text = absl::AsciiStrToLower(message);
  for (const char* words :
       {"out of memory", "out_of_memory", "outofmemory", "memoryerror", "bad_alloc",
        "failed to allocate memory", "alloc_failed", "no space left on device"}) {
    if (absl::StrContains(text, words)) return true;
  }
  return false;
}

HttpResponse SagemakerModels::List() const {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject();
  json.BeginArray("models");
  {
    MutexLock lock(&mu_);
    for (const auto& [name, model] : models_) {
      if (model.state == State::kReady) WriteModel(name, model.url, &json);
    }
  }
  json.EndArray();
  json.EndObject();
  return JsonResponse(std::move(text));
}

HttpResponse SagemakerModels::Get(const std::string& name) const {
  std::string text;
  JsonWriter json(&text);
  MutexLock lock(&mu_);
  const auto it = models_.find(name);
  if (it == models_.end() || it->second.state != State::kReady) return NoSuchModel();
  WriteModel(name, it->second.url, &json);
  return JsonResponse(std::move(text));
}

std::optional<std::string> SagemakerModels::FindTarget(const std::string& name) const {
  MutexLock lock(&mu_);
  const auto it = models_.find(name);
  if (it == models_.end() || it->second.state != State::kReady) return std::nullopt;
  return it->second.target;
}

void SagemakerModels::Load(const SagemakerLoad& load, const std::string& target,
                           std::shared_ptr<ControlClient> client, HttpResponder responder) {
  absl::Status named = CheckOutsideName("model name", load.name, kMostNameBytesOfPlatform);
  if (named.ok()) named = CheckOutsideName("url", load.url, PATH_MAX);
  if (!named.ok()) return responder.Complete(Refusal(named));
  if (auto refusal = Reserve(load, target)) return responder.Complete(*std::move(refusal));
  const absl::Status registered = Register(load, target);
  if (!registered.ok()) return responder.Complete(EndLoad(load.name, registered));
  LOG_INFO << "loading model '" << target << "' for SageMaker";
  server_->LoadModelAsync(
      target, {}, std::move(client),
      [self = shared_from_this(), answer = std::move(responder), name = load.name](
          const absl::Status& status) mutable { answer.Complete(self->EndLoad(name, status)); });
}

std::optional<HttpResponse> SagemakerModels::Reserve(const SagemakerLoad& load,
                                                     const std::string& target) {
  MutexLock lock(&mu_);
  if (models_.size() >= kMostModels) {
    return MakeErrorResponse(kInsufficientStorage, "too many models are loaded");
  }
  for (const auto& [name, model] : models_) {
    if (name != load.name && model.target != target) continue;
    return MakeErrorResponse(kConflict,
                             absl::StrCat("model '", load.name, "' has already been loaded"));
  }
  Model model;
  model.url = load.url;
  model.target = target;
  models_.emplace(load.name, std::move(model));
  return std::nullopt;
}

absl::Status SagemakerModels::Register(const SagemakerLoad& load, const std::string& target) {
  ASSIGN_OR_RETURN(const ArchiveModel found, FindArchiveModel(load.url));
  RETURN_IF_ERROR(server_->RegisterRepository(found.repository, {{found.folder, target}}));
  MutexLock lock(&mu_);
  models_.at(load.name).repository = found.repository;
  return absl::OkStatus();
}

HttpResponse SagemakerModels::EndLoad(const std::string& name, const absl::Status& loaded) {
  std::string repository;
  {
    MutexLock lock(&mu_);
    const auto it = models_.find(name);
    if (loaded.ok()) {
      it->second.state = State::kReady;
      return HttpResponse();
    }
    repository = it->second.repository;
  }
  // The name stays taken until its folder is free.
  if (!repository.empty()) {
    const absl::Status unregistered = server_->UnregisterRepository(repository);
    if (!unregistered.ok()) LOG_WARNING << unregistered.message();
  }
  MutexLock lock(&mu_);
  models_.erase(name);
  return Refusal(loaded);
}

void SagemakerModels::Unload(const std::string& name, std::shared_ptr<ControlClient> client,
                             HttpResponder responder) {
  std::string target;
  {
    MutexLock lock(&mu_);
    const auto it = models_.find(name);
    const bool ready = it != models_.end() && it->second.state == State::kReady;
    if (ready) {
      it->second.state = State::kUnloading;
      target = it->second.target;
    }
  }
  if (target.empty()) return responder.Complete(NoSuchModel());
  LOG_INFO << "unloading model '" << target << "' for SageMaker";
  server_->UnloadModelAsync(target, /*with_members=*/true, std::move(client),
                            [self = shared_from_this(), answer = std::move(responder), name,
                             target](const absl::Status& status) mutable {
                              if (!status.ok())
                                return answer.Complete(self->EndUnload(name, status));
                              const TimePoint deadline =
                                  self->server_->clock()->Now() + kLongestUnload;
                              self->AnswerWhenGone({name, target, deadline, std::move(answer)});
                            });
}

HttpResponse SagemakerModels::EndUnload(const std::string& name, const absl::Status& unloaded) {
  std::string repository;
  {
    MutexLock lock(&mu_);
    Model& model = models_.at(name);
    if (!unloaded.ok()) {
      model.state = State::kReady;  // as before
      return Refusal(unloaded);
    }
    repository = model.repository;
  }
  const absl::Status unregistered = server_->UnregisterRepository(repository);
  MutexLock lock(&mu_);
  models_.erase(name);
  return unregistered.ok() ? HttpResponse() : Refusal(unregistered);
}

void SagemakerModels::AnswerWhenGone(Unloading unloading) {
  std::list<Unloading> one;
  one.push_back(std::move(unloading));
  {
    MutexLock lock(&mu_);
    unloading_.splice(unloading_.end(), one);
    if (std::exchange(watched_, true)) return;
  }
  std::function<void()> job = [self = shared_from_this()] { self->Watch(); };
  if (server_->RunBeside(&job)) return;
  LOG_ERROR << "no thread to wait for the end of models that are unloaded for SageMaker: their "
               "requests may not have ended yet";
  std::list<Unloading> all;
  {
    MutexLock lock(&mu_);
    all.swap(unloading_);
    watched_ = false;
  }
  for (Unloading& each : all) Answer(&each);
}

void SagemakerModels::Watch() {
  Clock* const clock = server_->clock();
  while (true) {
    std::list<Unloading> unloading;
    {
      MutexLock lock(&mu_);
      unloading.swap(unloading_);
    }
    for (Unloading& gone : TakeGone(&unloading)) Answer(&gone);
    MutexLock lock(&mu_);
    unloading_.splice(unloading_.end(), unloading);
    if (unloading_.empty()) {
      watched_ = false;
      return;
    }
    const TimePoint next = clock->Now() + kUnloadPause;
    while (clock->Now() < next) clock->Wait(&pause_, &mu_, next);
  }
}

std::list<SagemakerModels::Unloading> SagemakerModels::TakeGone(
    std::list<Unloading>* unloading) const {
  std::set<std::string> present;
  // No index: the server is stopping.
  if (const absl::StatusOr<std::vector<IndexEntry>> index = server_->RepositoryIndex(false);
      index.ok()) {
    for (const IndexEntry& entry : *index) {
      if (entry.state == "UNLOADING") present.insert(entry.name);
    }
  }
  const TimePoint now = server_->clock()->Now();
  std::list<Unloading> gone;
  for (auto it = unloading->begin(); it != unloading->end();) {
    const auto each = it++;
    if (present.count(each->target) > 0) {
      if (now <= each->deadline) continue;
      LOG_ERROR << "model '" << each->target << "' still has requests " << kLongestUnload.count()
                << " s after it was unloaded";
    }
    gone.splice(gone.end(), *unloading, each);
  }
  return gone;
}

void SagemakerModels::Answer(Unloading* unloading) {
  unloading->answer.Complete(EndUnload(unloading->name, absl::OkStatus()));
}

}  // namespace nereid
