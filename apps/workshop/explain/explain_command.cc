// SPDX-License-Identifier: Apache-2.0
#include "explain/explain_command.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <csignal>
#include <ostream>

#include "api/api_client.h"
#include "base/caught.h"
#include "base/status_macros.h"
#include "explain/explain_request.h"
#include "explain/explain_text.h"
#include "explain/records.h"
#include "options/parse.h"
#include "probe/http_get.h"

namespace nereid {
namespace {

constexpr int kGood = 0;
constexpr int kNotGood = 1;
constexpr int kWrongOptions = 2;
constexpr size_t kMostExplained = 3;  // requests of one id

absl::StatusOr<std::string> ExplainModel(const ExplainRequest& request, const std::string& name,
                                         const std::string& version, bool colour) {
  std::string path = absl::StrCat("/v2/nereid/models/", PathSegmentOf(name));
  if (!version.empty()) absl::StrAppend(&path, "/versions/", version);
  ASSIGN_OR_RETURN(std::string json,
                   ApiGet(request.probe, absl::StrCat(path, "/timeline?limit=10000")));
  if (request.json) return absl::StrCat(json, "\n");
  ASSIGN_OR_RETURN(const ShownTimeline timeline, ReadTimeline(json));
  if (!timeline.recording) {
    return absl::StrCat("Model ", name,
                        " records nothing: the server was started with "
                        "--recorder-events=0.\n");
  }
  if (timeline.requests.empty()) {
    return absl::StrCat("Model ", name, " has had no request yet.\n");
  }
  return ExplainModelText(timeline, colour);
}

// NOT_FOUND: no request with this id is remembered.
absl::StatusOr<std::string> ExplainId(const ExplainRequest& request, bool colour) {
  ASSIGN_OR_RETURN(
      std::string json,
      ApiGet(request.probe, absl::StrCat("/v2/nereid/requests/", PathSegmentOf(request.subject))));
  ASSIGN_OR_RETURN(const std::vector<ShownRequest> found, ReadRequests(json));
  if (found.empty()) return absl::NotFoundError("");
  if (request.json) return absl::StrCat(json, "\n");
  std::string text;
  const size_t shown = std::min(found.size(), kMostExplained);
  for (size_t i = 0; i < shown; ++i) {
    absl::StrAppend(&text, i == 0 ? "" : "\n", ExplainRequestText(found[i], colour));
  }
  if (found.size() > shown) {
    absl::StrAppend(&text, "\nThere are ", found.size() - shown,
                    " older records of this id; --json prints them all.\n");
  }
  return text;
}

absl::StatusOr<std::string> Explain(const ExplainRequest& request, bool colour) {
  const ProbeRequest& probe = request.probe;
  if (!probe.model.empty()) return ExplainModel(request, probe.model, probe.version, colour);
  absl::StatusOr<std::string> text = ExplainId(request, colour);
  if (text.ok() || !absl::IsNotFound(text.status())) return text;
  text = ExplainModel(request, request.subject, "", colour);
  if (text.ok() || !absl::IsNotFound(text.status())) return text;
  return absl::NotFoundError(
      absl::StrCat("it serves no model '", request.subject,
                   "' and remembers no request with that id (each instance keeps its last ones: "
                   "--recorder-events)"));
}

absl::StatusOr<std::string> ExplainWithin(const ExplainRequest& request, bool colour) try {
  ApiAnswer explained = AskOnThread([request, colour] { return Explain(request, colour); });
  return Await(request.probe.timeout, &explained);
} catch (...) {
  return CaughtStatus();
}

}  // namespace

int ExplainCommand(const std::vector<std::string>& args, bool colour, std::ostream& out,
                   std::ostream& err) {
  const absl::StatusOr<ExplainRequest> request = ParseExplainRequest(args);
  if (!request.ok()) return WrongCommandLine("explain", request.status(), err);
  std::signal(SIGPIPE, SIG_IGN);  // TLS writes to sockets without MSG_NOSIGNAL
  const absl::StatusOr<std::string> text = ExplainWithin(*request, colour);
  if (!text.ok()) {
    err << "nereid explain: " << request->probe.targets[0].Url() << ": " << text.status().message()
        << ".\n";
    return absl::IsInvalidArgument(text.status()) ? kWrongOptions : kNotGood;
  }
  out << *text;
  return kGood;
}

}  // namespace nereid
