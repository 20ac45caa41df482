#include "explain/explain_request.h"

#include <absl/strings/match.h>

#include "api/api_client.h"
#include "base/status_macros.h"

namespace nereid {

absl::StatusOr<ExplainRequest> ParseExplainRequest(const std::vector<std::string>& args) {
  ExplainRequest request;
  std::vector<std::string> shared;  // options that `nereid probe` has, too
  for (const std::string& arg : args) {
    if (arg == "--json") {
      request.json = true;
    } else if (absl::StartsWith(arg, "--")) {
      shared.push_back(arg);
    } else if (!request.subject.empty() || arg.empty()) {
      return absl::InvalidArgumentError(
          "only one request or model can be explained at a time, and it must have a name");
    } else {
      request.subject = arg;
    }
  }
  ASSIGN_OR_RETURN(request.probe, ParseApiOptions(shared));
  if (request.probe.help) return request;
  if (request.subject.empty() == request.probe.model.empty()) {
    return absl::InvalidArgumentError(
        "name what is to be explained: the id of a request or a model, or --model=NAME");
  }
  return request;
}

}  // namespace nereid
