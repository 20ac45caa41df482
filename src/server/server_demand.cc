// SPDX-License-Identifier: Apache-2.0
// Server's functions for models that are loaded on demand.
#include <absl/strings/str_cat.h>

#include <utility>

#include "base/retry_after.h"
#include "base/status_macros.h"
#include "server/parts.h"
#include "server/server.h"

namespace nereid {

absl::Status Server::SetUpDemand() {
  if (options_.control_mode != ModelControlMode::kOnDemand) return absl::OkStatus();
  if (options_.model_namespacing) {
    return absl::InvalidArgumentError(
        "--model-control-mode=ondemand and --model-namespacing=true cannot be combined: requests "
        "do not say the namespace of the model that they want");
  }
  ModelDemand::Options options;
  options.budget = options_.memory_budget;
  options.idle_limit = std::chrono::seconds(options_.idle_unload_secs);
  options.footprints_file = options_.footprints_file;
  parts_->on_demand_models = std::make_unique<OnDemandModels>(models_);
  parts_->demand =
      std::make_unique<ModelDemand>(std::move(options), clock_, parts_->on_demand_models.get());
  AddDemandGauges();
  return absl::OkStatus();
}

void Server::AddDemandGauges() {
  using Numbers = ModelDemand::Numbers;
  const auto add = [this](const char* name, const char* help, uint64_t Numbers::*number) {
    gauges_.Add(name, help, [demand = parts_->demand.get(), number] {
      return static_cast<double>(demand->Count().*number);
    });
  };
  add("nereid_on_demand_loads", "Models loaded by requests, so far", &Numbers::loads);
  add("nereid_on_demand_failed_loads", "Loads by requests that failed, so far",
      &Numbers::failed_loads);
  add("nereid_on_demand_evictions", "Models unloaded for the memory budget, so far",
      &Numbers::evictions);
  add("nereid_on_demand_idle_unloads", "Models unloaded because nobody used them, so far",
      &Numbers::idle_unloads);
  add("nereid_on_demand_models", "Models that are loaded", &Numbers::models);
  add("nereid_on_demand_bytes", "Footprints of the models that are loaded", &Numbers::bytes);
  add("nereid_on_demand_waiting", "Models that wait to be loaded", &Numbers::waiting);
  add("nereid_on_demand_waiting_requests", "Requests that wait for their model",
      &Numbers::waiting_requests);
  gauges_.Add("nereid_on_demand_bytes_limit", "The memory budget of models, 0 if there is none",
              [this] { return static_cast<double>(options_.memory_budget); });
}

std::vector<std::string> Server::LoadPinned(const std::set<std::string>& names) {
  std::set<std::string> all = names;
  if (names.count("*") > 0) all = parts_->on_demand_models->Names();
  std::vector<std::string> failed;
  for (const std::string& name : all) {
    const uint64_t before = parts_->demand->Measure();
    if (!models_->Load(name).ok()) {
      failed.push_back(name);
      continue;
    }
    parts_->demand->Pin(name, before);
    parts_->demand->Step();
  }
  return failed;
}

absl::StatusOr<std::shared_ptr<ManagedModel>> Server::FindOrDemand(absl::string_view name,
                                                                   int64_t version) const {
  absl::StatusOr<std::shared_ptr<ManagedModel>> model = models_->Find(name, version);
  const State state = state_.load(std::memory_order_acquire);
  if (parts_->demand == nullptr || state == State::kStarting) return model;
  if (!model.ok()) {
    if (state != State::kReady)
      return IsOnDemand(name) ? absl::UnavailableError(kStoppingText) : model;
    if (std::optional<absl::Status> why = parts_->demand->Ask(name)) return *std::move(why);
    model = models_->Find(name, version);  // it may have been loaded meanwhile
  }
  if (model.ok()) (*model)->NoteUse(clock_->Now());
  return model;
}

Duration Server::load_wait() const {
  return parts_->demand == nullptr ? Duration(0) : std::chrono::seconds(options_.load_wait_secs);
}

bool Server::AwaitModel(const absl::Status& error, TimePoint until,
                        std::function<void()> resume) const {
  const std::optional<std::string> name = AwaitedModelOf(error);
  return name.has_value() && parts_->demand->Await(*name, until, std::move(resume));
}

absl::StatusOr<std::shared_ptr<ServingModel>> Server::FindLoadedModel(
    absl::string_view name) const {
  ASSIGN_OR_RETURN(std::shared_ptr<ManagedModel> model, models_->Find(name, kLatestVersion));
  return std::shared_ptr<ServingModel>(std::move(model));
}

bool Server::IsOnDemand(absl::string_view name) const {
  return parts_->demand != nullptr && parts_->demand->CanServe(name);
}

std::string Server::OnDemandText(absl::string_view name) const {
  if (!IsOnDemand(name)) return "";
  const std::optional<uint64_t> bytes = parts_->demand->FootprintOf(name);
  return absl::StrCat("not loaded: its next request loads it",
                      bytes.has_value() ? absl::StrCat(" (", *bytes, " bytes)") : "");
}

}  // namespace nereid
