#include "api/api_client.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "api/json_members.h"
#include "base/caught.h"
#include "base/status_macros.h"
#include "probe/http_get.h"
#include "probe/probe_answer.h"
#include "probe/probe_connection.h"

namespace nereid {
namespace {

constexpr int kOk = 200;
// The longest answer is a timeline of 10,000 requests.
constexpr size_t kMostBytes = 64 << 20;

absl::StatusCode CodeOf(int http_status) {
  switch (http_status) {
    case 400:
    case 404:
      return absl::StatusCode::kNotFound;
    case 401:
    case 403:
      return absl::StatusCode::kPermissionDenied;
    default:
      return absl::StatusCode::kUnknown;
  }
}

}  // namespace

absl::StatusOr<ProbeRequest> ParseApiOptions(const std::vector<std::string>& args) {
  for (const std::string& arg : args) {
    if (arg == "--live" || arg == "--ready") {
      return absl::InvalidArgumentError(absl::StrCat("unknown option ", arg));
    }
  }
  ASSIGN_OR_RETURN(ProbeRequest request, ParseProbeRequest(args, ""));
  if (request.help) return request;
  std::vector<ProbeTarget>& targets = request.targets;
  targets.erase(std::remove_if(targets.begin(), targets.end(),
                               [](const ProbeTarget& target) {
                                 return target.protocol != ProbeProtocol::kHttp;
                               }),
                targets.end());
  if (targets.empty()) {
    return absl::InvalidArgumentError("--url must begin with http:// or https://");
  }
  return request;
}

absl::StatusOr<std::string> ApiGet(const ProbeRequest& request, const std::string& path) {
  const ProbeTarget& target = request.targets[0];
  ASSIGN_OR_RETURN(const auto connection, ProbeConnection::Open(target, request));
  HttpGetRequest get;
  get.path = path;
  get.headers = request.headers;
  get.version = "HTTP/1.0";
  get.most_bytes = kMostBytes;
  ASSIGN_OR_RETURN(HttpGetAnswer answer, HttpGet(target, get, connection.get()));
  if (answer.status == kOk) return std::move(answer.body);
  const std::string error = ReadError(answer.body);
  return absl::Status(CodeOf(answer.status),
                      absl::StrCat("it answers HTTP ", answer.status, ": ",
                                   OnOneLine(error.empty() ? answer.body : error)));
}

ApiAnswer AskOnThread(std::function<absl::StatusOr<std::string>()> ask) {
  std::packaged_task<absl::StatusOr<std::string>()> task(
      [ask = std::move(ask)]() -> absl::StatusOr<std::string> {
        try {
          return ask();
        } catch (...) {
          return CaughtStatus();
        }
      });
  ApiAnswer answer = task.get_future();
  std::thread(std::move(task)).detach();
  return answer;
}

absl::StatusOr<std::string> Await(Duration timeout, ApiAnswer* answer) {
  if (answer->wait_for(timeout) == std::future_status::ready) return answer->get();
  return NoAnswerWithin(timeout);
}

absl::Status NoAnswerWithin(Duration timeout) {
  const double seconds = std::chrono::duration<double>(timeout).count();
  return absl::DeadlineExceededError(absl::StrCat("no answer within ", seconds, " s"));
}

}  // namespace nereid
