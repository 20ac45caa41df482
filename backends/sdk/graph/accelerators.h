// SPDX-License-Identifier: Apache-2.0
// The execution accelerators of a configuration, as far as several backends treat them alike. Pure
// but for the log.
#ifndef NEREID_BACKENDS_SDK_GRAPH_ACCELERATORS_H_
#define NEREID_BACKENDS_SDK_GRAPH_ACCELERATORS_H_

#include <initializer_list>
#include <string_view>

#include "backends/sdk/error.h"
#include "backends/sdk/model_config.h"

namespace nereid_backend {

// INVALID_ARG if the configuration names an accelerator for GPUs that is not one of `known`. The
// log says that the known ones are ignored.
Error CheckGpuAccelerators(const ModelConfig& config,
                           std::initializer_list<std::string_view> known);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_GRAPH_ACCELERATORS_H_
