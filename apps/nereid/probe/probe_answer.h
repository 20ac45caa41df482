// SPDX-License-Identifier: Apache-2.0
// What a server answers to a probe, in each protocol. Functions that block, without a time limit.
#ifndef NEREID_APPS_NEREID_PROBE_PROBE_ANSWER_H_
#define NEREID_APPS_NEREID_PROBE_PROBE_ANSWER_H_

#include <absl/status/statusor.h>

#include <string>

#include "probe/probe_connection.h"
#include "probe/probe_request.h"

namespace nereid {

struct ProbeAnswer {
  bool good = false;   // live or ready, whichever was asked
  std::string reason;  // if not good: what the server answers, for people; may be empty
};

// Bytes of an answer that are read; those of servers are far smaller.
inline constexpr size_t kMostProbeBytes = 64 << 10;

// By HTTP/1.1. An error if the server answers nothing, or no HTTP.
absl::StatusOr<ProbeAnswer> ProbeByHttp(const ProbeTarget& target, const ProbeRequest& request,
                                        ProbeConnection* connection);
// By a call of inference.GRPCInferenceService. An error if the server answers nothing, or no gRPC.
absl::StatusOr<ProbeAnswer> ProbeByGrpc(const ProbeTarget& target, const ProbeRequest& request,
                                        ProbeConnection* connection);

// `text` of a server, made fit for one line: short, without control characters.
std::string OnOneLine(const std::string& text);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_PROBE_PROBE_ANSWER_H_
