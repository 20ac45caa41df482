// SPDX-License-Identifier: Apache-2.0
// The key in an Authorization header. Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_ACCESS_BEARER_H_
#define NEREID_FRONTENDS_ACCESS_BEARER_H_

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/string_view.h>

namespace nereid {

// The key in the value of an Authorization header (RFC 6750, 2.1), a view into it; empty if there
// is none.
inline absl::string_view BearerKey(absl::string_view authorization) {
  constexpr absl::string_view kBearer = "bearer ";
  if (!absl::StartsWithIgnoreCase(authorization, kBearer)) return {};
  return absl::StripAsciiWhitespace(authorization.substr(kBearer.size()));
}

}  // namespace nereid

#endif  // NEREID_FRONTENDS_ACCESS_BEARER_H_
