// SPDX-License-Identifier: Apache-2.0
// Single calls that are no part of a load: questions about a model, and the registration of shared
// memory. Functions that block for at most some seconds.
#ifndef NEREID_APPS_WORKSHOP_BENCH_CONTROL_CALL_H_
#define NEREID_APPS_WORKSHOP_BENCH_CONTROL_CALL_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <string>

#include "apps/loadgen/endpoint.h"

namespace nereid::bench {

// The body of the answer to an HTTP request. FAILED_PRECONDITION with the server's words if it
// refuses, UNAVAILABLE if it cannot be reached, DEADLINE_EXCEEDED if it is silent.
absl::StatusOr<std::string> CallHttp(const Endpoint& endpoint, const char* method,
                                     const std::string& path, const std::string& body = "");
// The message of the answer to `method` of inference.GRPCInferenceService; the same errors.
absl::StatusOr<std::string> CallGrpc(const Endpoint& endpoint, absl::string_view method,
                                     const std::string& message);

// What a server says about a failure, for people: of {"error":"..."} the text, in one line.
std::string PlainError(absl::string_view text);

}  // namespace nereid::bench

#endif  // NEREID_APPS_WORKSHOP_BENCH_CONTROL_CALL_H_
