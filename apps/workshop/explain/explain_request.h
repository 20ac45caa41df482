// SPDX-License-Identifier: Apache-2.0
// What `nereid explain` is to ask, and where: its command line as a plain value.
#ifndef NEREID_APPS_WORKSHOP_EXPLAIN_EXPLAIN_REQUEST_H_
#define NEREID_APPS_WORKSHOP_EXPLAIN_EXPLAIN_REQUEST_H_

#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "options/command_table.h"
#include "probe/probe_request.h"

namespace nereid {

struct ExplainRequest {
  std::string subject;  // id of a request, or name of a model; empty: probe.model is asked for
  bool json = false;
  ProbeRequest probe;  // where to ask, and how; at least one target, all of HTTP
};

CommandTable ExplainTable();

// INVALID_ARGUMENT.
absl::StatusOr<ExplainRequest> ParseExplainRequest(const std::vector<std::string>& args);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_EXPLAIN_EXPLAIN_REQUEST_H_
