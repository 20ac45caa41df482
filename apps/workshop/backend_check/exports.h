// SPDX-License-Identifier: Apache-2.0
// What a backend's shared object exports, read from the file without loading it. Stateless.
#ifndef NEREID_APPS_WORKSHOP_BACKEND_CHECK_EXPORTS_H_
#define NEREID_APPS_WORKSHOP_BACKEND_CHECK_EXPORTS_H_

#include <absl/status/statusor.h>

#include <functional>
#include <string>
#include <vector>

#include "backend_check/trial_result.h"

namespace nereid {

// Names of the global symbols that the file defines, in its order. INVALID_ARGUMENT if it is no
// shared object; NOT_FOUND if it can not be read.
absl::StatusOr<std::vector<std::string>> ReadExports(const std::string& path);

// Adds findings and notes about `exports` to `result`. `of_server`: whether the server's library
// has a function of this name.
void CheckExports(const std::vector<std::string>& exports,
                  const std::function<bool(const std::string&)>& of_server, TrialResult* result);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_BACKEND_CHECK_EXPORTS_H_
