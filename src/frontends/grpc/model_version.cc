// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/model_version.h"

#include <absl/strings/str_cat.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "frontends/codec/request_limits.h"
#include "server/server.h"

namespace nereid {

absl::StatusOr<int64_t> ParseModelVersion(absl::string_view text) {
  if (text.empty()) return kLatestVersion;
  if (const absl::Status fits = CheckLength("version of the model", text); !fits.ok()) return fits;
  const std::string terminated(text);
  char* end = nullptr;
  errno = 0;
  const int64_t version = std::strtoll(terminated.c_str(), &end, 10);
  if (end == terminated.c_str() || errno == ERANGE) {
    // "stol" is the name of a library function; clients expect it in the text.
    return absl::InvalidArgumentError(
        absl::StrCat("failed to get model version from specified version string '", text,
                     "' (details: stol), version should be an integral value > 0"));
  }
  if (version < 0) {
    return absl::InvalidArgumentError(absl::StrCat("invalid model version specified '", text,
                                                   "' , version should be an integral value > 0"));
  }
  return version;
}

}  // namespace nereid
