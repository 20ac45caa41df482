// The version of a model in a path. Pure, thread-safe.
#ifndef NEREID_FRONTENDS_HTTP_MODEL_VERSION_H_
#define NEREID_FRONTENDS_HTTP_MODEL_VERSION_H_

#include <absl/status/statusor.h>

#include <cstdint>

#include "frontends/http/router.h"

namespace nereid {

// kLatestVersion when the path names none. INVALID_ARGUMENT when the digits are no version.
absl::StatusOr<int64_t> VersionOf(const PathNames& names);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_MODEL_VERSION_H_
