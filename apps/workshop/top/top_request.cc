// SPDX-License-Identifier: Apache-2.0
#include "top/top_request.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <chrono>
#include <utility>

#include "api/api_client.h"
#include "base/status_macros.h"
#include "options/command_flags.h"
#include "options/parse.h"
#include "probe/http_get.h"

namespace nereid {
namespace {

// The server makes an answer anew every 250 ms, so that two of them always differ.
constexpr double kLeastSeconds = 0.5;
constexpr double kMostSeconds = 3600;

Flag IntervalFlag(Duration* to) {
  const double by_default = std::chrono::duration<double>(*to).count();
  return {"interval", "SECONDS", absl::StrCat(by_default), "from one look to the next",
          [to](absl::string_view text) -> absl::Status {
            double seconds = 0;
            if (!absl::SimpleAtod(text, &seconds) ||
                !(seconds >= kLeastSeconds && seconds <= kMostSeconds)) {
              return WrongValue(
                  "interval", text,
                  absl::StrCat("a number of seconds from ", kLeastSeconds, " to ", kMostSeconds));
            }
            *to = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
            return absl::OkStatus();
          }};
}

CommandTable TableFor(TopRequest* request) {
  CommandTable table;
  table.name = "top";
  table.summary = "show what a running server does, model by model";
  table.synopsis = "[MODEL] [options]";
  table.description = {
      "Shows what a running server does: for each model version its requests and failures per "
      "second, the length of its queue, the mean batch size, the share of the time that its "
      "instances work, how long requests wait and compute, and why batches leave the queue. In a "
      "terminal, the screen is renewed until q or Ctrl-C; elsewhere a table is printed every few "
      "seconds.",
      "A server on this machine tells the user who runs it. For others it must be started with "
      "--allow-nereid-api=true, or with a key for /v2/nereid."};
  table.flags = {IntervalFlag(&request->interval),
                 TurnOnFlag("once", &request->once, "print one table, of one interval, and end"),
                 TurnOnFlag("json", &request->json,
                            "print the answers of the server as they are, one on a line"),
                 ModelFlag(&request->probe.model, &request->probe.version, "only this model")};
  table.flags.back().argument = "NAME";
  for (Flag& flag : ApiFlags(&request->probe, "how many seconds an answer may take")) {
    table.flags.push_back(std::move(flag));
  }
  table.argument = {"MODEL", [request](absl::string_view text) {
                      return ParseModelOption(text, &request->probe.model, &request->probe.version);
                    }};
  table.exit_status = "0: shown; 1: the server does not answer, or refuses to; 2: wrong options.";
  return table;
}

}  // namespace

std::string TopRequest::path() const {
  const std::string path = "/v2/nereid/live";
  return probe.model.empty() ? path : absl::StrCat(path, "?model=", PathSegmentOf(probe.model));
}

CommandTable TopTable() { return DescribedBy(&TableFor); }

absl::StatusOr<TopRequest> ParseTopRequest(const std::vector<std::string>& args) {
  TopRequest request;
  RETURN_IF_ERROR(ParseCommandArguments(TableFor(&request), args));
  RETURN_IF_ERROR(CompleteApiRequest(&request.probe));
  if (!request.probe.version.empty()) {
    return absl::InvalidArgumentError(
        "--model has to be the name of a model alone: all its versions are shown");
  }
  return request;
}

}  // namespace nereid
