// Turns a checked configuration into the plain values that serving uses. Pure function.
#ifndef NEREID_CONFIG_COMPILE_H_
#define NEREID_CONFIG_COMPILE_H_

#include <cstdint>

#include "config/compiled_model.h"
#include "model_config.pb.h"

namespace nereid {

// REQUIRES: `config` and its instance groups are normalised, and all checks passed.
CompiledModel CompileModel(const inference::ModelConfig& config, int64_t version);

}  // namespace nereid

#endif  // NEREID_CONFIG_COMPILE_H_
