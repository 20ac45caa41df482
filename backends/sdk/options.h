// SPDX-License-Identifier: Apache-2.0
// Reads parameters and settings by a backend's tables (option_table.h), and says in the log what
// has no effect and what is unknown. Stateless.
#ifndef NEREID_BACKENDS_SDK_OPTIONS_H_
#define NEREID_BACKENDS_SDK_OPTIONS_H_

#include "backends/sdk/error.h"
#include "backends/sdk/json.h"
#include "backends/sdk/model_config.h"
#include "backends/sdk/option_table.h"
#include "triton/core/tritonbackend.h"

namespace nereid_backend {

// The parameters of a model. INVALID_ARG for the first value that its kind does not allow.
Result<OptionValues> ReadParameters(const BackendOptions& options, const ModelConfig& config);

// The backend's settings, as ReadBackendSettings returns them; errors as above. `backend`: the name
// for texts, if it is not that of `options`.
Result<OptionValues> ReadSettings(const BackendOptions& options, const Json& cmdline,
                                  std::string_view backend = "");

// The setting default-max-batch-size, which every server gives: the batch size of a model that can
// batch and has no configuration.
int64_t DefaultMaxBatchSize(const OptionValues& settings);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_OPTIONS_H_
