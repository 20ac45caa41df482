// SPDX-License-Identifier: Apache-2.0
// Server's functions for model control: they load and unload models on request.
#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <functional>
#include <memory>
#include <utility>

#include "base/status_macros.h"
#include "lifecycle/model_manager.h"
#include "server/parts.h"
#include "server/server.h"

namespace nereid {
namespace {

// The form in which clients expect the end of a load.
absl::Status LoadResult(absl::string_view name, const absl::Status& loaded, bool begun) {
  if (loaded.ok() || loaded.code() == absl::StatusCode::kInternal || !begun) return loaded;
  const bool bad_name = absl::StripAsciiWhitespace(name).empty() ||
                        absl::StartsWith(loaded.message(), "invalid model name");
  if (bad_name) return loaded;
  return absl::InvalidArgumentError(
      absl::StrCat("load failed for model '", name, "': ", loaded.message(), "\n"));
}

ModelChange UnloadOf(std::string name, bool with_members) {
  return {with_members ? ModelChange::Kind::kUnloadWithMembers : ModelChange::Kind::kUnload,
          std::move(name),
          {}};
}

}  // namespace

absl::Status Server::LoadModel(absl::string_view name,
                               const std::vector<LoadParameter>& parameters) {
  RETURN_IF_ERROR(CheckReadyForControl());
  ASSIGN_OR_RETURN(LoadOverride override, ReadLoadParameters(parameters));
  const uint64_t before = parts_->demand == nullptr ? 0 : parts_->demand->MeasuredBytes();
  bool begun = false;
  const absl::Status loaded = models_->control()->Run(
      {ModelChange::Kind::kLoad, std::string(name), std::move(override)}, &begun);
  if (parts_->demand != nullptr && loaded.ok()) parts_->demand->Pin(std::string(name), before);
  return LoadResult(name, loaded, begun);
}

absl::Status Server::UnloadModel(absl::string_view name, bool with_members) {
  RETURN_IF_ERROR(CheckReadyForControl());
  if (parts_->demand != nullptr) parts_->demand->Unpin(std::string(name));
  return models_->control()->Run(UnloadOf(std::string(name), with_members));
}

void Server::LoadModelAsync(std::string name, const std::vector<LoadParameter>& parameters,
                            std::shared_ptr<ControlClient> client, ControlDone done) {
  if (absl::Status ready = CheckReadyForControl(); !ready.ok()) return done(std::move(ready));
  absl::StatusOr<LoadOverride> override = ReadLoadParameters(parameters);
  if (!override.ok()) return done(override.status());
  ModelDemand* const demand = parts_->demand.get();
  const uint64_t before = demand == nullptr ? 0 : demand->MeasuredBytes();
  models_->control()->Submit({ModelChange::Kind::kLoad, name, *std::move(override)},
                             std::move(client),
                             [name, demand, before, done = std::move(done)](
                                 const absl::Status& status, bool begun) mutable {
                               if (demand != nullptr && status.ok()) demand->Pin(name, before);
                               done(LoadResult(name, status, begun));
                             });
}

void Server::UnloadModelAsync(std::string name, bool with_members,
                              std::shared_ptr<ControlClient> client, ControlDone done) {
  if (absl::Status ready = CheckReadyForControl(); !ready.ok()) return done(std::move(ready));
  if (parts_->demand != nullptr) parts_->demand->Unpin(name);
  models_->control()->Submit(
      UnloadOf(std::move(name), with_members), std::move(client),
      [done = std::move(done)](const absl::Status& status, bool) mutable { done(status); });
}

bool Server::RunBeside(std::function<void()>* job) { return parts_->jobs.TryRun(std::move(*job)); }

absl::Status Server::RegisterRepository(absl::string_view path, const GivenNames& names) {
  RETURN_IF_ERROR(CheckReady());
  if (options_.control_mode != ModelControlMode::kExplicit) {
    return absl::UnimplementedError(
        "repository registration is not allowed if model control mode is not EXPLICIT");
  }
  return models_->RegisterRepository(std::string(path), names);
}

absl::Status Server::UnregisterRepository(absl::string_view path) {
  RETURN_IF_ERROR(CheckReady());
  if (options_.control_mode != ModelControlMode::kExplicit) {
    return absl::UnimplementedError(
        "repository unregistration is not allowed if model control mode is not EXPLICIT");
  }
  return models_->UnregisterRepository(std::string(path));
}

absl::Status Server::PollRepository() {
  if (options_.control_mode != ModelControlMode::kPoll) {
    return absl::UnavailableError("polling is disabled");
  }
  if (!CheckReady().ok()) return absl::OkStatus();
  return models_->Poll(/*wait=*/true);
}

absl::Status Server::CheckReadyForControl() const {
  RETURN_IF_ERROR(CheckReady());
  if (options_.control_mode != ModelControlMode::kExplicit &&
      options_.control_mode != ModelControlMode::kOnDemand) {
    return absl::UnavailableError(
        "explicit model load / unload is not allowed if polling is enabled");
  }
  return absl::OkStatus();
}

}  // namespace nereid
