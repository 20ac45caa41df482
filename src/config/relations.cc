// SPDX-License-Identifier: Apache-2.0
#include "config/relations.h"

#include <absl/algorithm/container.h>
#include <google/protobuf/util/message_differencer.h>

#include <map>
#include <memory>
#include <utility>

#include "model_config.pb.h"

namespace nereid {

using google::protobuf::util::MessageDifferencer;

std::vector<EnsembleMember> EnsembleMembersOf(const ParsedConfig& config) {
  std::vector<EnsembleMember> members;
  for (const auto& step : config.proto().ensemble_scheduling().step()) {
    EnsembleMember member{step.model_name(), step.model_version()};
    if (!absl::c_linear_search(members, member)) members.push_back(std::move(member));
  }
  return members;
}

std::vector<RepositoryAgentSpec> RepositoryAgentsOf(const ParsedConfig& config) {
  std::vector<RepositoryAgentSpec> agents;
  for (const auto& agent : config.proto().model_repository_agents().agents()) {
    RepositoryAgentSpec& spec = agents.emplace_back();
    spec.name = agent.name();
    const std::map<std::string, std::string> sorted(agent.parameters().begin(),
                                                    agent.parameters().end());
    spec.parameters.assign(sorted.begin(), sorted.end());
  }
  return agents;
}

ConfigChange CompareConfigs(const ParsedConfig& before, const ParsedConfig& after) {
  if (MessageDifferencer::Equals(before.proto(), after.proto())) return ConfigChange::kNone;
  inference::ModelConfig old_rest = before.proto();
  inference::ModelConfig new_rest = after.proto();
  for (inference::ModelConfig* config : {&old_rest, &new_rest}) {
    config->clear_instance_group();
    config->clear_version_policy();
  }
  return MessageDifferencer::Equals(old_rest, new_rest) ? ConfigChange::kInPlace
                                                        : ConfigChange::kOther;
}

ParsedConfig ChangedInPlace(const ParsedConfig& running, const ParsedConfig& wanted) {
  auto config = std::make_unique<inference::ModelConfig>(running.proto());
  *config->mutable_instance_group() = wanted.proto().instance_group();
  *config->mutable_version_policy() = wanted.proto().version_policy();
  return ParsedConfig(std::move(config), /*provided=*/true);
}

}  // namespace nereid
