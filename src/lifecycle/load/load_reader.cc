// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/load/load_reader.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <utility>

#include "base/log.h"
#include "base/outside_text.h"
#include "base/status_macros.h"

namespace nereid {
namespace {

absl::Status PollFailed(const std::string& name, absl::string_view cause) {
  return absl::InternalError(
      absl::StrCat("failed to load '", name, "', failed to poll from model repository: ", cause));
}

std::string NowhereText(const RepositoryLayout& layout, const std::string& name) {
  // A longer list would not help the reader.
  constexpr size_t kMostNamed = 4;
  std::vector<std::string> paths;
  for (const std::string& path : layout.repositories) {
    if (paths.size() == kMostNamed) break;
    paths.push_back(absl::StrCat("'", path, "'"));
  }
  const size_t others = layout.repositories.size() - paths.size();
  return absl::StrCat("no model '", name, "' in ", absl::StrJoin(paths, ", "),
                      others == 0 ? "" : absl::StrCat(" and ", others, " other repositories"));
}

}  // namespace

absl::Status LoadReader::CheckName(const std::string& name) {
  const absl::string_view stripped = absl::StripAsciiWhitespace(name);
  if (stripped.empty()) {
    return absl::InvalidArgumentError(
        "Model name cannot be empty. Please enter a valid name to deploy.");
  }
  if (stripped.size() != name.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("invalid model name '", EscapedText(name),
                     "', model name must not begin or end with white space"));
  }
  RETURN_IF_ERROR(CheckOutsideName("model name", name));
  if (name == "." || name == ".." || absl::StrContains(name, "/")) {
    return absl::InvalidArgumentError(absl::StrCat(
        "invalid model name '", name, "', model name must not contain path traversal characters"));
  }
  return absl::OkStatus();
}

absl::StatusOr<LoadReader::Places> LoadReader::Locate(const std::string& name) const {
  const RepositoryLayout all = repositories_.Layout();
  RepositoryLayout layout = all;
  absl::Status unreadable;
  for (const std::string& repository : all.repositories) {
    absl::Status refreshed = file_system_.Refresh(repository);
    if (refreshed.ok()) continue;
    layout.repositories.erase(repository);
    unreadable = std::move(refreshed);
  }
  const ModelDirectories found = FindModelDirectories(file_system_, layout, name);
  if (found.empty()) {
    return PollFailed(name, unreadable.ok() ? NowhereText(all, name) : unreadable.message());
  }
  Places places;
  for (const auto& [id, directories] : found) {
    if (directories.size() > 1) {
      const absl::Status ambiguous = absl::InvalidArgumentError(kAmbiguousReason);
      catalogue_.NoteFailure(id, ambiguous);
      return ambiguous;
    }
    places.emplace(id, directories[0]);
  }
  return places;
}

absl::StatusOr<ModelFiles> LoadReader::Scan(const ModelId& id, const std::string& directory) const {
  if (directory.empty()) return ModelFiles();
  absl::StatusOr<ModelFiles> files = ScanModel(file_system_, directory);
  if (!files.ok()) return PollFailed(id.name, files.status().message());
  return files;
}

std::shared_ptr<const PreparedModel> LoadReader::Read(const ModelId& id, ModelFiles files,
                                                      const LoadOverride& override) const {
  auto model = std::make_shared<PreparedModel>();
  model->id = id;
  model->files = std::move(files);
  model->model_dir = model->files.directory;
  model->from_request_files = !override.files.empty();
  if (!model->from_request_files) model->config_override = override.config_json;
  ConfigSource config;
  config.expected_name = id.name;
  // Then the model is called id.name whatever its configuration says.
  config.rename = IsRenamed(repositories_.Layout(), id.name, model->files.directory);
  config.auto_complete = options_.auto_complete_config;
  config.model_config_name = options_.model_config_name;
  config.override_json = override.config_json;
  if (absl::Status prepared = Prepare(override, &config, model.get()); !prepared.ok()) {
    LOG_ERROR << "Poll failed for model directory '" << id.name << "': " << prepared.message();
    model->config = std::move(prepared);
    return model;
  }
  model->config = LoadModelConfig(file_system_, config);
  if (model->config.ok()) model->members = EnsembleMembersOf(*model->config);
  return model;
}

absl::Status LoadReader::Prepare(const LoadOverride& override, ConfigSource* config,
                                 PreparedModel* model) const {
  std::unique_ptr<TempDirectory> files;
  if (!override.files.empty()) {
    ASSIGN_OR_RETURN(files, MakeModelDirectory(override.files));
    model->model_dir = files->path();
  } else {
    ASSIGN_OR_RETURN(files, file_system_.Localize(model->model_dir));
    if (files != nullptr) model->model_dir = files->path();
  }
  config->model_dir = model->model_dir;
  ASSIGN_OR_RETURN(std::unique_ptr<AgentChain> agents, LoadAgents(*config));
  if (agents != nullptr) config->model_dir = model->model_dir = agents->location();
  if (files != nullptr || agents != nullptr) {
    model->source = std::make_shared<ModelSource>(std::move(files), std::move(agents));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<AgentChain>> LoadReader::LoadAgents(
    const ConfigSource& config) const {
  // Errors are not reported here: the later, full reading of the configuration reports them.
  const absl::StatusOr<ParsedConfig> written = ReadModelConfig(file_system_, config);
  if (!written.ok()) return nullptr;
  const std::vector<RepositoryAgentSpec> agents = RepositoryAgentsOf(*written);
  if (agents.empty()) return nullptr;
  if (options_.agents == nullptr) {
    return absl::InvalidArgumentError("there is no directory of repository agents");
  }
  const auto read_config = [&](const std::string& location) {
    ConfigSource there = config;
    there.model_dir = location;
    there.override_json.reset();
    const absl::StatusOr<ParsedConfig> found = ReadModelConfig(file_system_, there);
    return found.ok() ? found->Json() : std::string();
  };
  return AgentChain::Load(options_.agents, agents, config.model_dir, read_config);
}

void LoadReader::ReadMembers(const PreparedModel& model, LoadInput* input,
                             PreparedModels* prepared) const {
  const RepositoryLayout layout = repositories_.Layout();
  std::vector<const PreparedModel*> open = {&model};
  while (!open.empty()) {
    const PreparedModel& user = *open.back();
    open.pop_back();
    for (const std::string& name : user.MemberNames()) {
      const ModelDirectories found = FindModelDirectories(file_system_, layout, name);
      auto place = found.find(ModelId{user.id.space, name});
      if (place == found.end() && found.size() == 1) place = found.begin();
      if (place == found.end() || place->second.size() > 1) continue;  // the planner reports that
      const ModelId& id = place->first;
      const auto running = input->running.find(id);
      const bool serves = running != input->running.end() && running->second.serving;
      if (serves || prepared->count(id) > 0) continue;
      absl::StatusOr<ModelFiles> files = ScanModel(file_system_, place->second[0]);
      if (!files.ok()) continue;
      const auto member = Read(id, *std::move(files), {});
      (*prepared)[id] = member;
      input->found[id] = {member->files, member->MemberNames()};
      open.push_back(member.get());
    }
  }
}

void LoadReader::ReadRest(const std::vector<PlannedAction>& actions,
                          PreparedModels* prepared) const {
  for (const PlannedAction& action : actions) {
    if (!IsLoad(action) || prepared->count(action.model) > 0) continue;
    (*prepared)[action.model] = ReadAgain(catalogue_.Attempted(action.model));
  }
}

std::shared_ptr<const PreparedModel> LoadReader::ReadAgain(
    const std::shared_ptr<const PreparedModel>& last) const {
  // Only members have changed, so the last reading still holds, unless its configuration could not
  // be read.
  const bool whole = last->config.ok() && last->model_dir == last->files.directory;
  if (whole) return last;
  LoadOverride kept;
  if (last->config.ok()) kept.config_json = last->config_override;
  return Read(last->id, last->files, kept);
}

}  // namespace nereid
