// SPDX-License-Identifier: Apache-2.0
// Which parts of the configuration language this server does not implement, and which it accepts
// without any effect. The list shrinks as features arrive. Pure functions.
#ifndef NEREID_CONFIG_SUPPORTED_H_
#define NEREID_CONFIG_SUPPORTED_H_

#include <string>
#include <vector>

#include "config/diagnostics.h"
#include "model_config.pb.h"

namespace nereid {

// Reports every unimplemented field whose absence a model would notice: a model must not be served
// in a way that its configuration does not say.
void CheckSupported(const inference::ModelConfig& config, Diagnostics* diagnostics);

// One line per field that is set but ignored, because it takes effect only on other machines (with
// GPUs, say) or together with another field. Call before defaults are written.
std::vector<std::string> FieldsWithoutEffect(const inference::ModelConfig& config);

}  // namespace nereid

#endif  // NEREID_CONFIG_SUPPORTED_H_
