#include "lifecycle/load/model_reader.h"

#include <utility>

#include "base/log.h"
#include "base/status_macros.h"

namespace nereid {

std::vector<std::string> PreparedModel::MemberNames() const {
  std::vector<std::string> names;
  for (const EnsembleMember& member : members) names.push_back(member.name);
  return names;
}

std::shared_ptr<const PreparedModel> ModelReader::Read(const ModelId& id, ModelFiles files,
                                                       bool rename,
                                                       const LoadOverride& override) const {
  auto model = std::make_shared<PreparedModel>();
  model->id = id;
  model->files = std::move(files);
  model->model_dir = model->files.directory;
  model->from_request_files = !override.files.empty();
  if (!model->from_request_files) model->config_override = override.config_json;
  ConfigSource config;
  config.expected_name = id.name;
  config.rename = rename;
  config.auto_complete = options_.auto_complete_config;
  config.model_config_name = options_.model_config_name;
  config.override_json = override.config_json;
  if (absl::Status prepared = Prepare(override, &config, model.get()); !prepared.ok()) {
    LOG_ERROR << "Poll failed for model directory '" << id.name << "': " << prepared.message();
    model->config = std::move(prepared);
    return model;
  }
  model->config = LoadModelConfig(*options_.file_system, config);
  if (model->config.ok()) model->members = EnsembleMembersOf(*model->config);
  return model;
}

absl::Status ModelReader::Prepare(const LoadOverride& override, ConfigSource* config,
                                  PreparedModel* model) const {
  std::unique_ptr<TempDirectory> files;
  if (!override.files.empty()) {
    ASSIGN_OR_RETURN(files, MakeModelDirectory(override.files));
    model->model_dir = files->path();
  }
  config->model_dir = model->model_dir;
  ASSIGN_OR_RETURN(std::unique_ptr<AgentChain> agents, LoadAgents(*config));
  if (agents != nullptr) config->model_dir = model->model_dir = agents->location();
  if (files != nullptr || agents != nullptr) {
    model->source = std::make_shared<ModelSource>(std::move(files), std::move(agents));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<AgentChain>> ModelReader::LoadAgents(
    const ConfigSource& config) const {
  // Errors are not reported here: the later, full reading of the configuration reports them.
  const absl::StatusOr<ParsedConfig> written = ReadModelConfig(*options_.file_system, config);
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
    const absl::StatusOr<ParsedConfig> found = ReadModelConfig(*options_.file_system, there);
    return found.ok() ? found->Json() : std::string();
  };
  return AgentChain::Load(options_.agents, agents, config.model_dir, read_config);
}

}  // namespace nereid
