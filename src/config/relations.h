// SPDX-License-Identifier: Apache-2.0
// How a model's configuration relates to others: the models that it is composed of, the agents that
// process it, and whether two configurations are so alike that a running model can switch from one
// to the other without a reload. Pure functions.
#ifndef NEREID_CONFIG_RELATIONS_H_
#define NEREID_CONFIG_RELATIONS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "config/parsed_config.h"

namespace nereid {

// A model that an ensemble uses.
struct EnsembleMember {
  std::string name;
  int64_t version = -1;  // -1: whichever is the latest

  friend bool operator==(const EnsembleMember&, const EnsembleMember&) = default;
};

// Each pair of name and version once, in the order of the steps; empty for models other than
// ensembles.
std::vector<EnsembleMember> EnsembleMembersOf(const ParsedConfig& config);

// One of `model_repository_agents`.
struct RepositoryAgentSpec {
  std::string name;
  std::vector<std::pair<std::string, std::string>> parameters;  // by name

  friend bool operator==(const RepositoryAgentSpec&, const RepositoryAgentSpec&) = default;
};

// In the order of the configuration.
std::vector<RepositoryAgentSpec> RepositoryAgentsOf(const ParsedConfig& config);

enum class ConfigChange {
  kNone,
  kInPlace,  // they differ only in instance groups and version policy
  kOther,
};

ConfigChange CompareConfigs(const ParsedConfig& before, const ParsedConfig& after);

// `running`, as completed by its backend, with the instance groups and the version policy of
// `wanted`. The groups must be normalised again.
ParsedConfig ChangedInPlace(const ParsedConfig& running, const ParsedConfig& wanted);

}  // namespace nereid

#endif  // NEREID_CONFIG_RELATIONS_H_
