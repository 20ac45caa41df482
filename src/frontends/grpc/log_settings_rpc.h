// SPDX-License-Identifier: Apache-2.0
// The RPC LogSettings. A pure function but for the log of the process. Thread-safe.
#ifndef NEREID_FRONTENDS_GRPC_LOG_SETTINGS_RPC_H_
#define NEREID_FRONTENDS_GRPC_LOG_SETTINGS_RPC_H_

#include <absl/status/status.h>

#include "grpc_service.pb.h"
#include "server/server.h"

namespace nereid {

// Applies the settings of `request`, and answers with all settings as they are then. Those before a
// bad one, in the order of the answer, have been applied.
absl::Status UpdateLogSettings(Server* server, const inference::LogSettingsRequest& request,
                               inference::LogSettingsResponse* response);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_LOG_SETTINGS_RPC_H_
