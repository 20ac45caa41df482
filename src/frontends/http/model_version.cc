// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/model_version.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include "server/server.h"

namespace nereid {

absl::StatusOr<int64_t> VersionOf(const PathNames& names) {
  const absl::string_view digits = names.version.encoded;
  if (digits.empty()) return kLatestVersion;
  int64_t version = 0;
  if (!absl::SimpleAtoi(digits, &version)) {
    return absl::InvalidArgumentError(
        absl::StrCat("failed to get model version from specified version string '", digits,
                     "' (details: stoll), version should be an integral value > 0"));
  }
  return version;
}

}  // namespace nereid
