// SPDX-License-Identifier: Apache-2.0
// The trace extension, whatever the protocol: reads and changes settings for a client. Thread-safe;
// does not block.
#ifndef NEREID_FRONTENDS_TRACING_TRACE_SERVICE_H_
#define NEREID_FRONTENDS_TRACING_TRACE_SERVICE_H_

#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "frontends/tracing/trace_settings.h"
#include "frontends/tracing/tracing.h"
#include "server/server.h"

namespace nereid {

// An error unless `model` is empty, which stands for all models, or one that is ready.
absl::Status CheckTraceModel(const Server& server, const std::string& model);

// Changes the settings of `model` (empty: the global ones) by `update`, unless that is empty, and
// returns what they are then. Errors of CheckTraceModel and Tracing::Update.
absl::StatusOr<std::vector<TraceSettingText>> UpdateTraceSettings(const Server& server,
                                                                  Tracing* tracing,
                                                                  const std::string& model,
                                                                  const TraceUpdate& update);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_TRACING_TRACE_SERVICE_H_
