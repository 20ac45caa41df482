// SPDX-License-Identifier: Apache-2.0
// Server's answers about what was recorded, and about the models that record.
#include <absl/strings/str_cat.h>

#include "base/json_writer.h"
#include "base/status_macros.h"
#include "lifecycle/model_manager.h"
#include "server/recordings.h"
#include "server/server.h"

namespace nereid {
namespace {

RecordClock ClockOf(const Clock& clock) { return {ToNanos(clock.Now()), clock.WallMillis()}; }

void WriteModel(const IndexEntry& entry, const ManagedModel* model, JsonWriter* w) {
  w->BeginObject();
  w->Add("name", entry.name);
  if (entry.version >= 0) {
    w->Add("version", absl::StrCat(entry.version));
  }
  w->Add("state", entry.state);
  w->Add("reason", entry.reason);
  if (model != nullptr) {
    const StatisticsSnapshot statistics = model->statistics().Snapshot();
    w->Add("recording", model->recorder().enabled());
    w->Add("queued", statistics.pending);
    w->Add("succeeded", statistics.success.count);
    w->Add("failed", statistics.fail.count);
    w->Add("executions", statistics.execution_count);
    w->BeginArray("instances");
    for (const InstanceSpec& instance : model->config().instances) w->String(instance.name);
    w->EndArray();
  }
  w->EndObject();
}

}  // namespace

absl::StatusOr<std::string> Server::ModelsJson() const {
  RETURN_IF_ERROR(CheckReady());
  std::string text;
  JsonWriter w(&text);
  const RecordClock clock = ClockOf(*clock_);
  w.BeginObject();
  w.Add("now_ns", clock.now_ns);
  w.Add("now_unix_ms", clock.wall_ms);
  w.BeginArray("models");
  for (const IndexEntry& entry : ListModels(/*ready_only=*/false)) {
    const auto model = models_->Find(entry.name, entry.version);
    WriteModel(entry, entry.version >= 0 && model.ok() ? model->get() : nullptr, &w);
  }
  w.EndArray();
  w.EndObject();
  return text;
}

std::vector<std::shared_ptr<const ServingModel>> Server::RecordingModels() const {
  std::vector<std::shared_ptr<const ServingModel>> models;
  for (const auto& [key, entry] : models_->Directory().models) {
    for (const auto& [version, v] : entry.versions) {
      if (v.model() != nullptr) models.push_back(v.model());
    }
  }
  return models;
}

absl::StatusOr<std::string> Server::RecordedTimeline(absl::string_view name, int64_t version,
                                                     const RecordWindow& window) const {
  RETURN_IF_ERROR(CheckReady());
  ASSIGN_OR_RETURN(const std::shared_ptr<ManagedModel> model, models_->Find(name, version));
  return TimelineJson(*model, window, ClockOf(*clock_));
}

absl::StatusOr<std::string> Server::RecordedRequests(absl::string_view id) const {
  RETURN_IF_ERROR(CheckReady());
  return RequestsJson(RecordingModels(), id, ClockOf(*clock_));
}

absl::StatusOr<std::string> Server::RecordedTrace(absl::string_view name, int64_t version,
                                                  const RecordWindow& window) const {
  RETURN_IF_ERROR(CheckReady());
  if (name.empty()) return TraceEventsJson(RecordingModels(), window);
  ASSIGN_OR_RETURN(const std::shared_ptr<ManagedModel> model, models_->Find(name, version));
  return TraceEventsJson({model}, window);
}

}  // namespace nereid
