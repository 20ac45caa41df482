// SPDX-License-Identifier: Apache-2.0
#include "api/api_client.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "api/json_members.h"
#include "base/caught.h"
#include "base/status_macros.h"
#include "base/threads/thread.h"
#include "owner_socket_path.h"
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

bool IsThisMachine(const std::string& host) {
  return host == "localhost" || host == "::1" || absl::StartsWith(host, "127.");
}

absl::StatusOr<std::unique_ptr<ProbeConnection>> Connect(const ProbeRequest& request) {
  const ProbeTarget& target = request.targets[0];
  const bool as_anybody = request.headers.empty() && request.client_cert.empty() &&
                          request.root_cert.empty() && IsThisMachine(target.host);
  if (as_anybody) {
    for (const std::string& folder : OwnerSocketFolders()) {
      if (!CheckOwnerFolder(folder, geteuid()).ok()) continue;
      auto connection = ProbeConnection::OpenFile(
          absl::StrCat(folder, "/", OwnerSocketName(static_cast<uint16_t>(target.port))));
      if (connection.ok()) return connection;
    }
  }
  return ProbeConnection::Open(target, request);
}

}  // namespace

std::vector<Flag> ApiFlags(ProbeRequest* request, std::string timeout_help) {
  return ConnectionFlags(request, UsualHttpTarget().Url(), "http://HOST:PORT, or with https",
                         std::move(timeout_help));
}

absl::Status CompleteApiRequest(ProbeRequest* request) {
  if (request->targets.empty()) request->targets = {UsualHttpTarget()};
  RETURN_IF_ERROR(CheckConnection(*request));
  if (request->targets[0].protocol == ProbeProtocol::kHttp) return absl::OkStatus();
  return absl::InvalidArgumentError("--url must begin with http:// or https://");
}

absl::StatusOr<std::string> ApiGet(const ProbeRequest& request, const std::string& path) {
  const ProbeTarget& target = request.targets[0];
  ASSIGN_OR_RETURN(const auto connection, Connect(request));
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
  StartThread({.name = "API request"}, std::move(task)).detach();
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
