// What of the configuration language this server does not implement, and what it accepts although
// it changes nothing here. The list shrinks as features arrive. Pure functions.
#ifndef NEREID_CONFIG_SUPPORTED_H_
#define NEREID_CONFIG_SUPPORTED_H_

#include <string>
#include <vector>

#include "config/diagnostics.h"
#include "model_config.pb.h"

namespace nereid {

// Reports every field whose absence a model would notice: a model must not be served in another
// way than its configuration says.
void CheckSupported(const inference::ModelConfig& config, Diagnostics* diagnostics);

// One line for each field that is set and ignored: it means something on other machines (with GPUs,
// say), or together with another field. Call before defaults are written.
std::vector<std::string> FieldsWithoutEffect(const inference::ModelConfig& config);

}  // namespace nereid

#endif  // NEREID_CONFIG_SUPPORTED_H_
