// SPDX-License-Identifier: Apache-2.0
// What can be given to the backends of this project, but for the one that only tests load: their
// tables, for `nereid check`. Constants.
#ifndef NEREID_APPS_NEREID_BACKEND_OPTIONS_H_
#define NEREID_APPS_NEREID_BACKEND_OPTIONS_H_

#include <map>
#include <span>
#include <string>
#include <vector>

#include "backends/sdk/option_table.h"
#include "lifecycle/repository_check.h"

namespace nereid {

std::span<const nereid_backend::BackendOptions* const> AllBackendOptions();

// See ParameterCheck: what the backend would say when it loads the model.
std::vector<ParameterRemark> CheckParametersByTable(
    const std::string& backend, const std::string& model,
    const std::map<std::string, std::string>& parameters);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_BACKEND_OPTIONS_H_
