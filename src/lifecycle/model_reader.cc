#include "lifecycle/model_reader.h"

#include <utility>

#include "base/log.h"
#include "base/status_macros.h"

namespace nereid {

std::vector<std::string> PreparedModel::MemberNames() const {
  std::vector<std::string> names;
  for (const EnsembleMember& member : members) names.push_back(member.name);
  return names;
}

// What a model is loaded from, when that is not the repository itself.
struct ModelReader::Source {
  std::unique_ptr<TempDirectory> files;
  std::unique_ptr<AgentChain> agents;
};

std::shared_ptr<const PreparedModel> ModelReader::Read(const ModelId& id, ModelFiles files,
                                                       bool rename,
                                                       const LoadOverride& override) const {
  auto model = std::make_shared<PreparedModel>();
  model->id = id;
  model->files = std::move(files);
  model->model_dir = model->files.directory;
  model->overridden = !override.empty();
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
  auto source = std::make_shared<Source>();
  if (!override.files.empty()) {
    ASSIGN_OR_RETURN(source->files, MakeModelDirectory(override.files));
    model->model_dir = source->files->path();
    model->source = source;
  }
  config->model_dir = model->model_dir;
  // What is wrong with it comes up when it is read for good.
  const absl::StatusOr<ParsedConfig> written = ReadModelConfig(*options_.file_system, *config);
  if (!written.ok()) return absl::OkStatus();
  const std::vector<RepositoryAgentSpec> agents = RepositoryAgentsOf(*written);
  if (agents.empty()) return absl::OkStatus();
  if (options_.agents == nullptr) {
    return absl::InvalidArgumentError("there is no directory of repository agents");
  }
  const auto read_config = [&](const std::string& location) {
    ConfigSource there = *config;
    there.model_dir = location;
    there.override_json.reset();
    const absl::StatusOr<ParsedConfig> found = ReadModelConfig(*options_.file_system, there);
    return found.ok() ? found->Json() : std::string();
  };
  ASSIGN_OR_RETURN(source->agents,
                   AgentChain::Load(options_.agents, agents, model->model_dir, read_config));
  model->agents = source->agents.get();
  model->source = source;
  config->model_dir = model->model_dir = source->agents->location();
  return absl::OkStatus();
}

}  // namespace nereid
