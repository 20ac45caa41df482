// SPDX-License-Identifier: Apache-2.0
// Writes the defaults that depend on other fields into a configuration. Pure functions.
#ifndef NEREID_CONFIG_NORMALIZE_H_
#define NEREID_CONFIG_NORMALIZE_H_

#include <absl/types/span.h>

#include "config/parsed_config.h"
#include "model_config.pb.h"

namespace nereid {

inline constexpr char kEnsemblePlatform[] = "ensemble";

// Everything except instance groups. Idempotent.
void NormalizeConfig(inference::ModelConfig* config);

// Completes names, kinds and counts of instance groups, and adds a group if there is none. Does
// nothing for ensembles. This server has no GPUs: preferences for them are ignored, and KIND_AUTO
// becomes KIND_CPU.
void NormalizeInstanceGroups(absl::Span<const PreferredGroup> preferred,
                             inference::ModelConfig* config);

}  // namespace nereid

#endif  // NEREID_CONFIG_NORMALIZE_H_
