// SPDX-License-Identifier: Apache-2.0
// Server's reports about itself: metadata, configuration, statistics, index, the start-up table.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "base/log.h"
#include "base/status_macros.h"
#include "base/version.h"
#include "lifecycle/model_manager.h"
#include "server/parts.h"
#include "server/server.h"

namespace nereid {
namespace {

template <typename Spec>
TensorMetadata ToMetadata(const Spec& spec, bool batched) {
  TensorMetadata tensor{spec.name, spec.data_type, Shape()};
  if (batched) tensor.shape.push_back(kVariableDim);
  tensor.shape.insert(tensor.shape.end(), spec.dims.begin(), spec.dims.end());
  return tensor;
}

const char* MemoryTypeText(TRITONSERVER_MemoryType type) {
  switch (type) {
    case TRITONSERVER_MEMORY_CPU:
      return "CPU";
    case TRITONSERVER_MEMORY_CPU_PINNED:
      return "CPU_PINNED";
    case TRITONSERVER_MEMORY_GPU:
      return "GPU";
  }
  return "CPU";
}

std::vector<MemoryUsage> SumUsage(const std::vector<TRITONSERVER_BufferAttributes>& reports) {
  std::map<std::pair<int, int64_t>, uint64_t> sums;
  for (const auto& r : reports) sums[{r.memory_type, r.memory_type_id}] += r.byte_size;
  std::vector<MemoryUsage> usage;
  for (const auto& [place, bytes] : sums) {
    usage.push_back(
        {MemoryTypeText(static_cast<TRITONSERVER_MemoryType>(place.first)), place.second, bytes});
  }
  return usage;
}

// An empty line and a table. Each column is as wide as its longest text; the last is not padded.
std::string TableText(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths(rows[0].size(), 0);
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text = "\n";
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      const bool last = i + 1 == row.size();
      absl::StrAppend(&text, "  ", row[i], std::string(last ? 0 : widths[i] - row[i].size(), ' '));
    }
    text += '\n';
  }
  return text;
}

ModelStatisticsReport Report(ManagedModel* model) {
  return {model->config().name, model->config().version, model->statistics().Snapshot(),
          SumUsage(model->memory())};
}

}  // namespace

ServerMetadata Server::Metadata() const {
  ServerMetadata metadata = {
      options_.server_id,
      options_.server_version.empty() ? kVersion : options_.server_version,
      {"classification", "sequence", "model_repository", "model_repository(unload_dependents)",
       "schedule_policy", "model_configuration", "system_shared_memory", "binary_tensor_data",
       "parameters", "statistics", "trace", "logging"}};
  if (parts_->devices != nullptr && !parts_->devices->used().empty()) {
    const auto after =
        std::find(metadata.extensions.begin(), metadata.extensions.end(), "system_shared_memory");
    metadata.extensions.insert(std::next(after), "cuda_shared_memory");
  }
  return metadata;
}

absl::StatusOr<ModelMetadata> Server::GetModelMetadata(absl::string_view name,
                                                       int64_t version) const {
  RETURN_IF_ERROR(CheckReady());
  ASSIGN_OR_RETURN(const std::shared_ptr<ManagedModel> model, FindOrDemand(name, version));
  const CompiledModel& config = model->config();
  ModelMetadata metadata;
  metadata.name = config.name;
  if (version >= 0) {
    metadata.versions.push_back(version);
  } else {
    // An error if the model was removed since the look-up.
    const absl::StatusOr<const ModelEntry*> entry = models_->Directory().FindEntry(name);
    if (!entry.ok()) return entry.status();
    for (const auto& [number, v] : (*entry)->versions) {
      if (v.ready()) metadata.versions.push_back(number);
    }
  }
  metadata.platform = config.platform.empty() ? config.backend : config.platform;
  const bool batched = config.max_batch_size > 0;
  for (const InputSpec& input : config.inputs) {
    metadata.inputs.push_back(ToMetadata(input, batched && !input.is_shape_tensor));
  }
  for (const OutputSpec& output : config.outputs) {
    metadata.outputs.push_back(ToMetadata(output, batched));
  }
  return metadata;
}

absl::StatusOr<std::string> Server::ModelConfigJson(absl::string_view name, int64_t version) const {
  RETURN_IF_ERROR(CheckReady());
  ASSIGN_OR_RETURN(const std::shared_ptr<ManagedModel> model, FindOrDemand(name, version));
  return model->ConfigJson();
}

absl::StatusOr<std::vector<ModelStatisticsReport>> Server::Statistics(absl::string_view name,
                                                                      int64_t version) const {
  RETURN_IF_ERROR(CheckReady());
  const ModelDirectory& directory = models_->Directory();
  std::vector<ModelStatisticsReport> reports;
  for (const auto& [model_name, entry] : directory.models) {
    if (!name.empty() && entry.id.name != name) continue;
    for (const auto& [number, v] : entry.versions) {
      if (!v.ready() || (version >= 0 && number != version)) continue;
      reports.push_back(Report(v.model().get()));
    }
  }
  if (name.empty() || !reports.empty()) return reports;
  const auto is_served = [&](const auto& model) {
    return model.second.id.name == name && model.second.serves();
  };
  if (std::none_of(directory.models.begin(), directory.models.end(), is_served)) {
    return absl::InvalidArgumentError(
        absl::StrCat("requested model '", name, "' is not available"));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("requested model version is not available for model '", name, "'"));
}

absl::StatusOr<std::vector<IndexEntry>> Server::RepositoryIndex(bool ready_only) const {
  RETURN_IF_ERROR(CheckReady());
  return ListModels(ready_only);
}

std::vector<IndexEntry> Server::ListModels(bool ready_only) const {
  std::vector<IndexEntry> index;
  const ModelDirectory& directory = models_->Directory();
  std::set<ModelId> ids = models_->RepositoryModels();
  for (const auto& [key, entry] : directory.models) ids.insert(entry.id);
  for (const ModelId& id : ids) {
    const std::string& name = id.name;
    const std::string on_demand = OnDemandText(name);
    const auto it = directory.models.find(id.Text());
    const bool serves = it != directory.models.end() && it->second.serves();
    if (!on_demand.empty() && !serves) {
      index.push_back({name, -1, "READY", on_demand});
      continue;
    }
    if (it == directory.models.end() || it->second.versions.empty()) {
      if (ready_only) continue;
      const bool tried = it != directory.models.end();
      index.push_back({name, -1, tried ? "UNAVAILABLE" : "", tried ? it->second.reason : ""});
      continue;
    }
    for (const auto& [version, v] : it->second.versions) {
      if (ready_only && !v.ready()) continue;
      index.push_back({name, version, VersionStateName(v.state()), v.reason()});
    }
  }
  return index;
}

std::string Server::FailedModelsText(const std::vector<std::string>& names) const {
  return absl::StrCat("failed to load all models: ", absl::StrJoin(names, ", "),
                      " (see the errors above; --exit-on-error=false starts without them)");
}

void Server::LogTables() const {
  std::vector<std::vector<std::string>> backends = {{"Backend", "Path"}};
  for (const auto& backend : parts_->backends->Loaded()) {
    backends.push_back({backend->name(), backend->code()});
  }
  std::vector<std::vector<std::string>> models = {{"Model", "Version", "Status"}};
  for (const IndexEntry& entry : ListModels(/*ready_only=*/false)) {
    std::string status = entry.state.empty() ? "Not loaded" : entry.state;
    if (!entry.reason.empty()) absl::StrAppend(&status, ": ", entry.reason);
    models.push_back({entry.name, entry.version < 0 ? "-" : absl::StrCat(entry.version), status});
  }
  Log::WriteBlock(absl::StrCat(TableText(backends), TableText(models)));
}

}  // namespace nereid
