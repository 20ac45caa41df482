// SPDX-License-Identifier: Apache-2.0
// Options about access and headers that both protocols have, under names of their own.
#ifndef NEREID_APPS_NEREID_FLAGS_ACCESS_FLAGS_H_
#define NEREID_APPS_NEREID_FLAGS_ACCESS_FLAGS_H_

#include <absl/strings/string_view.h>

#include "frontends/access/restricted_apis.h"
#include "frontends/header_forwarding/header_forwarding.h"
#include "options/flag.h"

namespace nereid {

// --http-restricted-api or --grpc-restricted-protocol. `thing` is what its messages call a group,
// `header` how the help names the header, `groups` those that it can restrict. Names live as long
// as the program.
Flag RestrictedFlag(const char* name, const char* thing, absl::string_view header,
                    ApiGroupSet groups, RestrictedApis* target);
// --http-header-forward-pattern or --grpc-header-forward-pattern.
Flag ForwardingFlag(const char* name, absl::string_view what, HeaderForwarding* target);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_FLAGS_ACCESS_FLAGS_H_
