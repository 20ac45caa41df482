// SPDX-License-Identifier: Apache-2.0
// Writes the defaults that depend on other fields into a configuration. Pure functions.
#ifndef NEREID_CONFIG_NORMALIZE_H_
#define NEREID_CONFIG_NORMALIZE_H_

#include <string>
#include <vector>

#include "config/parsed_config.h"
#include "model_config.pb.h"

namespace nereid {

inline constexpr char kEnsemblePlatform[] = "ensemble";

// Everything except instance groups. Idempotent.
void NormalizeConfig(inference::ModelConfig* config);

// Completes names, kinds, counts and GPUs of instance groups, and adds a group if there is none.
// Does nothing for ensembles. KIND_AUTO becomes KIND_GPU where the backend and the server have
// GPUs, and KIND_CPU otherwise. Returns, where the server has GPUs, a line for the log per group:
// where it runs, and why.
std::vector<std::string> NormalizeInstanceGroups(const PlacementRules& rules,
                                                 inference::ModelConfig* config);

}  // namespace nereid

#endif  // NEREID_CONFIG_NORMALIZE_H_
