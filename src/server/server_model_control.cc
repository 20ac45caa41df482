// Server's functions for model control: they load and unload models on request.
#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <functional>
#include <memory>
#include <utility>

#include "base/background_thread.h"
#include "base/caught.h"
#include "base/status_macros.h"
#include "lifecycle/model_manager.h"
#include "server/parts.h"
#include "server/server.h"

namespace nereid {
namespace {

absl::Status Refused(bool too_many, size_t limit) {
  if (!too_many) return absl::UnavailableError("no thread for a model control request");
  return absl::UnavailableError(
      absl::StrCat("more than ", limit, " model control requests at a time"));
}

absl::Status Attempt(const std::function<absl::Status()>& change) noexcept try {
  return change();
} catch (...) {
  return CaughtStatus();
}

}  // namespace

absl::Status Server::LoadModel(absl::string_view name,
                               const std::vector<LoadParameter>& parameters) {
  RETURN_IF_ERROR(CheckReadyForControl());
  ASSIGN_OR_RETURN(const LoadOverride override, ReadLoadParameters(parameters));
  const absl::Status loaded = models_->Load(std::string(name), override);
  if (loaded.ok() || loaded.code() == absl::StatusCode::kInternal) return loaded;
  const bool bad_name = absl::StripAsciiWhitespace(name).empty() ||
                        absl::StartsWith(loaded.message(), "invalid model name");
  if (bad_name) return loaded;
  return absl::InvalidArgumentError(
      absl::StrCat("load failed for model '", name, "': ", loaded.message(), "\n"));
}

absl::Status Server::UnloadModel(absl::string_view name, bool with_members) {
  RETURN_IF_ERROR(CheckReadyForControl());
  return models_->Unload(std::string(name), with_members);
}

void Server::RunControl(std::function<absl::Status()> change, ControlDone done) {
  // Shared with the job, because a refusal is told here.
  const auto tell = std::make_shared<ControlDone>(std::move(done));
  std::function<void()> job = [change = std::move(change), tell] {
    BecomeBackgroundThread();
    (*tell)(Attempt(change));
  };
  bool too_many = false;
  if (!parts_->control.TryRun(&job, &too_many)) (*tell)(Refused(too_many, Parts::kControlRequests));
}

void Server::LoadModelAsync(std::string name, std::vector<LoadParameter> parameters,
                            ControlDone done) {
  RunControl([this, name = std::move(name),
              parameters = std::move(parameters)] { return LoadModel(name, parameters); },
             std::move(done));
}

void Server::UnloadModelAsync(std::string name, bool with_members, ControlDone done) {
  RunControl(
      [this, name = std::move(name), with_members] { return UnloadModel(name, with_members); },
      std::move(done));
}

absl::Status Server::RegisterRepository(absl::string_view path,
                                        const std::map<std::string, std::string>& names) {
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
  if (options_.control_mode != ModelControlMode::kExplicit) {
    return absl::UnavailableError(
        "explicit model load / unload is not allowed if polling is enabled");
  }
  return absl::OkStatus();
}

}  // namespace nereid
