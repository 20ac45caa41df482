// SPDX-License-Identifier: Apache-2.0
#include "frontends/tracing/trace_service.h"

#include <absl/strings/str_cat.h>

#include "base/status_macros.h"

namespace nereid {

absl::Status CheckTraceModel(const Server& server, const std::string& model) {
  if (model.empty()) return absl::OkStatus();
  const absl::StatusOr<bool> ready = server.IsModelReady(model, -1, ReadinessFrom::kLastAnswer);
  if (ready.ok() && *ready) return absl::OkStatus();
  if (!ready.ok() && !server.IsLive().ok()) return ready.status();  // it is stopping
  return absl::InvalidArgumentError(absl::StrCat("Request for unknown model : ", model));
}

absl::StatusOr<std::vector<TraceSettingText>> UpdateTraceSettings(const Server& server,
                                                                  Tracing* tracing,
                                                                  const std::string& model,
                                                                  const TraceUpdate& update) {
  RETURN_IF_ERROR(CheckTraceModel(server, model));
  if (!update.empty()) RETURN_IF_ERROR(tracing->Update(model, update));
  return tracing->Settings(model);
}

}  // namespace nereid
