// What a model's configuration says about others: the models that it is made of, the agents that
// look after it; and whether two configurations are so much alike that a model that runs with the
// one can go on with the other. Pure functions.
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

// Each pair of name and version once, in the order of the steps; none for other models.
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
  kInPlace,  // only in instance groups and version policy
  kOther,
};

ConfigChange CompareConfigs(const ParsedConfig& before, const ParsedConfig& after);

// `running`, as its backend has completed it, with the instance groups and the version policy of
// `wanted`. The groups are to be normalised again.
ParsedConfig ChangedInPlace(const ParsedConfig& running, const ParsedConfig& wanted);

}  // namespace nereid

#endif  // NEREID_CONFIG_RELATIONS_H_
