#include "top/top_request.h"

#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <chrono>

#include "api/api_client.h"
#include "base/status_macros.h"
#include "probe/http_get.h"

namespace nereid {
namespace {

constexpr std::chrono::seconds kInterval(2);
// The server makes an answer anew every 250 ms, so that two of them always differ.
constexpr double kLeastSeconds = 0.5;
constexpr double kMostSeconds = 3600;

absl::StatusOr<Duration> ParseInterval(absl::string_view text) {
  double seconds = 0;
  if (!absl::SimpleAtod(text, &seconds) || !(seconds >= kLeastSeconds && seconds <= kMostSeconds)) {
    return absl::InvalidArgumentError(absl::StrCat("--interval is '", text,
                                                   "'; it has to be a number of seconds from ",
                                                   kLeastSeconds, " to ", kMostSeconds));
  }
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

std::string TopRequest::path() const {
  const std::string path = "/v2/nereid/live";
  return probe.model.empty() ? path : absl::StrCat(path, "?model=", PathSegmentOf(probe.model));
}

absl::StatusOr<TopRequest> ParseTopRequest(const std::vector<std::string>& args) {
  TopRequest request;
  request.interval = kInterval;
  std::vector<std::string> shared;  // options that other commands have, too
  for (const std::string& arg : args) {
    absl::string_view value = arg;
    if (arg == "--once") {
      request.once = true;
    } else if (arg == "--json") {
      request.json = true;
    } else if (absl::ConsumePrefix(&value, "--interval=")) {
      ASSIGN_OR_RETURN(request.interval, ParseInterval(value));
    } else if (absl::StartsWith(arg, "--")) {
      shared.push_back(arg);
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("'", arg, "' is no option; --model=NAME shows only that model"));
    }
  }
  ASSIGN_OR_RETURN(request.probe, ParseApiOptions(shared));
  if (!request.probe.version.empty()) {
    return absl::InvalidArgumentError(
        "--model has to be the name of a model alone: all its versions are shown");
  }
  return request;
}

}  // namespace nereid
