// SPDX-License-Identifier: Apache-2.0
// Server's answers about the present: its work, and the end of its log.
#include <absl/strings/str_cat.h>

#include <utility>

#include "base/log_tail.h"
#include "base/status_macros.h"
#include "lifecycle/model_manager.h"
#include "server/answer_cache.h"
#include "server/live_history.h"
#include "server/live_json.h"
#include "server/parts.h"
#include "server/server.h"

namespace nereid {

absl::StatusOr<std::string> Server::LiveJson(absl::string_view name) const {
  RETURN_IF_ERROR(CheckReady());
  return live_->Get(name, [&] { return MakeLiveJson(name); });
}

std::vector<LiveModel> Server::LiveModels(absl::string_view name) const {
  std::vector<LiveModel> models;
  for (IndexEntry& entry : ListModels(/*ready_only=*/false)) {
    if (entry.version >= 0 || (!name.empty() && entry.name != name)) continue;
    // Versions that were unloaded, and come back on demand, follow below.
    const auto known = models_->Directory().models.find(entry.name);
    if (known != models_->Directory().models.end() && !known->second.versions.empty()) continue;
    models.push_back({std::move(entry), nullptr});
  }
  // Not by name, because with namespaces several models may have one.
  for (const auto& [key, entry] : models_->Directory().models) {
    if (!name.empty() && entry.id.name != name) continue;
    for (const auto& [version, v] : entry.versions) {
      models.push_back(
          {{entry.id.name, version, VersionStateName(v.state()), v.reason()}, v.model()});
    }
  }
  if (parts_->demand == nullptr) return models;
  for (LiveModel& live : models) live.memory_bytes = parts_->demand->FootprintOf(live.entry.name);
  return models;
}

LiveServer Server::LiveNumbers(TimePoint now) const {
  const ServerMetadata metadata = Metadata();
  return {metadata.name,
          metadata.version,
          ToNanos(now) - ToNanos(started_),
          in_flight_requests_.used(),
          in_flight_requests_.limit(),
          in_flight_bytes_.used(),
          in_flight_bytes_.limit(),
          LiveGpus()};
}

absl::StatusOr<std::string> Server::MakeLiveJson(absl::string_view name) const {
  std::vector<LiveModel> models = LiveModels(name);
  if (models.empty() && !name.empty()) {
    return absl::NotFoundError(absl::StrCat("there is no model '", name, "'"));
  }
  const TimePoint now = clock_->Now();
  return LiveJsonOf(LiveNumbers(now), std::move(models), now, {ToNanos(now), clock_->WallMillis()});
}

void Server::KeepHistory() {
  parts_->historian = std::make_unique<Ticker>(
      clock_, LiveHistory::kInterval, "keep the history of the console", [this] {
        if (!CheckReady().ok()) return;
        const TimePoint now = clock_->Now();
        parts_->history.Add(LiveSampleOf(LiveNumbers(now), LiveModels(""), now,
                                         {ToNanos(now), clock_->WallMillis()}));
      });
}

absl::StatusOr<std::string> Server::HistoryJson() const {
  RETURN_IF_ERROR(CheckReady());
  return parts_->history.Json(ToNanos(started_));
}

absl::StatusOr<std::string> Server::LogJson(std::optional<uint64_t> since, size_t limit) const {
  return LogJsonOf(LogTail::Global()->Read(since, limit),
                   {ToNanos(clock_->Now()), clock_->WallMillis()});
}

}  // namespace nereid
