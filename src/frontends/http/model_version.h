// SPDX-License-Identifier: Apache-2.0
// Reads the version of a model from a path. Pure, thread-safe.
#ifndef NEREID_FRONTENDS_HTTP_MODEL_VERSION_H_
#define NEREID_FRONTENDS_HTTP_MODEL_VERSION_H_

#include <absl/status/statusor.h>

#include <cstdint>

#include "frontends/http/router.h"

namespace nereid {

// kLatestVersion if the path names none. INVALID_ARGUMENT if the digits are not a valid version.
absl::StatusOr<int64_t> VersionOf(const PathNames& names);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_MODEL_VERSION_H_
