// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/graph/accelerators.h"

#include <algorithm>

#include "backends/sdk/log.h"

namespace nereid_backend {

Error CheckGpuAccelerators(const ModelConfig& config,
                           std::initializer_list<std::string_view> known) {
  const Json& accelerators = config.json["optimization"]["execution_accelerators"];
  for (const Json& item : accelerators["gpu_execution_accelerator"].items()) {
    const std::string name = item["name"].AsString();
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return Error::InvalidArg(StrCat("unknown Execution Accelerator '", name, "' is requested"));
    }
    NB_LOG_WARNING("model '", config.name, "': GPU execution accelerator '", name,
                   "' is ignored: this backend runs on CPU");
  }
  return Error();
}

}  // namespace nereid_backend
