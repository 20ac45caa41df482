// SPDX-License-Identifier: Apache-2.0
// The group of the API that each method of gRPC belongs to. A pure function, thread-safe.
#ifndef NEREID_FRONTENDS_GRPC_METHOD_GROUPS_H_
#define NEREID_FRONTENDS_GRPC_METHOD_GROUPS_H_

#include <absl/strings/string_view.h>

#include <optional>

#include "frontends/access/api_group.h"

namespace nereid {

// Of the method called "/<package>.<service>/<rpc>"; nothing for one that this server does not
// know.
std::optional<ApiGroup> GroupOfMethod(absl::string_view full_name);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_METHOD_GROUPS_H_
