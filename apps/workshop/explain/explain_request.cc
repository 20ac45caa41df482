// SPDX-License-Identifier: Apache-2.0
#include "explain/explain_request.h"

#include <utility>

#include "api/api_client.h"
#include "base/status_macros.h"
#include "options/command_flags.h"
#include "options/parse.h"

namespace nereid {
namespace {

CommandTable TableFor(ExplainRequest* request) {
  CommandTable table;
  table.name = "explain";
  table.summary = "say where the time of a request went, or why batches are as they are";
  table.synopsis = "REQUEST_ID|MODEL [options]";
  table.description = {
      "Asks a running server where the time of a request went, and in which batch and why; or how "
      "large a model's batches are, why they leave the queue, and where the time of its requests "
      "goes.",
      "A server on this machine tells the user who runs it. For others it must be started with "
      "--allow-nereid-api=true, or with a key for /v2/nereid."};
  table.flags = {ModelFlag(&request->probe.model, &request->probe.version,
                           "the model, also if a request has an id of that name"),
                 TurnOnFlag("json", &request->json, "print the records of the server as they are")};
  for (Flag& flag : ApiFlags(&request->probe, "seconds for everything together")) {
    table.flags.push_back(std::move(flag));
  }
  table.argument = {"REQUEST_ID|MODEL", StoreIn(&request->subject)};
  table.exit_status = "0: explained; 1: nothing is known of it, or no answer; 2: wrong options.";
  return table;
}

}  // namespace

CommandTable ExplainTable() { return DescribedBy(&TableFor); }

absl::StatusOr<ExplainRequest> ParseExplainRequest(const std::vector<std::string>& args) {
  ExplainRequest request;
  RETURN_IF_ERROR(ParseCommandArguments(TableFor(&request), args));
  RETURN_IF_ERROR(CompleteApiRequest(&request.probe));
  if (request.subject.empty() == request.probe.model.empty()) {
    return absl::InvalidArgumentError(
        "one thing can be explained at a time: the id of a request, the name of a model, or "
        "--model=NAME");
  }
  return request;
}

}  // namespace nereid
