// SPDX-License-Identifier: Apache-2.0
// The methods of TensorFlow Serving's API that do not infer: states and signatures of models. Pure
// functions, thread-safe.
#ifndef NEREID_FRONTENDS_GRPC_TFS_TFS_SERVICE_H_
#define NEREID_FRONTENDS_GRPC_TFS_TFS_SERVICE_H_

#include <absl/strings/string_view.h>

#include "frontends/grpc/admin_service.h"
#include "server/server.h"

namespace nereid {

// `server` outlives the methods.
void AddTfsMethods(Server* server, AdminService::Methods* methods);

// What to do instead of calling a method of TensorFlow Serving that this server does not have;
// empty for any other. `full_name` is "/<package>.<service>/<rpc>".
absl::string_view InsteadOfTfsMethod(absl::string_view full_name);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_TFS_TFS_SERVICE_H_
