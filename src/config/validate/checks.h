// SPDX-License-Identifier: Apache-2.0
// The checks of a configuration, by subject. Each reports every problem it finds, in the order of
// the fields, and changes nothing. Pure functions. Clients and scripts match on the texts; ` for
// <m>` in a text is the name in the configuration.
#ifndef NEREID_CONFIG_VALIDATE_CHECKS_H_
#define NEREID_CONFIG_VALIDATE_CHECKS_H_

#include "config/diagnostics.h"
#include "config/parsed_config.h"
#include "model_config.pb.h"

namespace nereid {

// Name, platform and backend, batch size, version policy, options that exclude each other.
// REQUIRES, here and below: NormalizeConfig was applied.
void CheckGeneral(const inference::ModelConfig& config, Diagnostics* diagnostics);
void CheckDynamicBatching(const inference::ModelConfig& config, Diagnostics* diagnostics);
void CheckSequenceBatching(const inference::ModelConfig& config, Diagnostics* diagnostics);
// sequence_batching.state.
void CheckStates(const inference::ModelConfig& config, Diagnostics* diagnostics);
// An ensemble, as far as it can be checked without its composing models.
void CheckEnsemble(const inference::ModelConfig& config, Diagnostics* diagnostics);
void CheckMetrics(const inference::ModelConfig& config, Diagnostics* diagnostics);

// Inputs and outputs: names, types, dimensions, reshapes, label files.
void CheckTensors(const inference::ModelConfig& config, Diagnostics* diagnostics);
// batch_input and batch_output.
void CheckBatchTensors(const inference::ModelConfig& config, Diagnostics* diagnostics);

// REQUIRES: NormalizeInstanceGroups was applied with the same rules.
void CheckInstanceGroups(const inference::ModelConfig& config, const PlacementRules& rules,
                         Diagnostics* diagnostics);

// That states which grow where they are belong to instances on GPUs. REQUIRES: as above.
void CheckGrowableStates(const inference::ModelConfig& config, Diagnostics* diagnostics);

// All checks that are possible before a backend has seen the configuration.
inline void CheckConfig(const inference::ModelConfig& config, Diagnostics* diagnostics) {
  CheckGeneral(config, diagnostics);
  CheckDynamicBatching(config, diagnostics);
  CheckSequenceBatching(config, diagnostics);
  CheckStates(config, diagnostics);
  CheckEnsemble(config, diagnostics);
  CheckMetrics(config, diagnostics);
}

// The fields that a backend may still complete.
inline void CheckInputsAndOutputs(const inference::ModelConfig& config, Diagnostics* diagnostics) {
  CheckTensors(config, diagnostics);
  CheckBatchTensors(config, diagnostics);
}

}  // namespace nereid

#endif  // NEREID_CONFIG_VALIDATE_CHECKS_H_
