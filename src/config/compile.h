// SPDX-License-Identifier: Apache-2.0
// Turns a checked configuration into the plain values that serving uses. Pure function.
#ifndef NEREID_CONFIG_COMPILE_H_
#define NEREID_CONFIG_COMPILE_H_

#include <cstdint>

#include "config/compiled_model.h"
#include "model_config.pb.h"

namespace nereid {

// The only family whose buckets a configuration may choose (model_metrics).
inline constexpr char kFirstResponseFamily[] = "nv_inference_first_response_histogram_ms";

// REQUIRES: `config` and its instance groups are normalised, and all checks passed.
CompiledModel CompileModel(const inference::ModelConfig& config, int64_t version);

}  // namespace nereid

#endif  // NEREID_CONFIG_COMPILE_H_
