// SPDX-License-Identifier: Apache-2.0
#include "probe/probe_command.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <chrono>
#include <csignal>
#include <future>
#include <memory>
#include <ostream>

#include "base/caught.h"
#include "base/status_macros.h"
#include "base/threads/thread.h"
#include "options/parse.h"
#include "probe/probe_answer.h"
#include "probe/probe_connection.h"
#include "probe/probe_request.h"

namespace nereid {
namespace {

constexpr int kGood = 0;
// Also without an answer: Docker reserves 2, and Kubernetes knows only 0 and the rest.
constexpr int kNotGood = 1;
constexpr int kCannot = 2;

struct Outcome {
  int exit_status = kNotGood;
  std::string sentence;
};

// "The server at http://127.0.0.1:8000", "Model 'm' at ..."
std::string Subject(const ProbeRequest& request, const ProbeTarget& target) {
  std::string subject = "The server";
  if (!request.model.empty()) {
    subject = absl::StrCat("Model '", request.model, "'");
    if (!request.version.empty()) absl::StrAppend(&subject, " version ", request.version);
  }
  return absl::StrCat(subject, " at ", target.Url());
}

absl::StatusOr<ProbeAnswer> Ask(const ProbeTarget& target, const ProbeRequest& request,
                                ProbeConnection* connection) {
  return target.protocol == ProbeProtocol::kHttp ? ProbeByHttp(target, request, connection)
                                                 : ProbeByGrpc(target, request, connection);
}

Outcome Judge(const ProbeTarget& target, const ProbeRequest& request,
              const absl::StatusOr<ProbeAnswer>& answer) {
  if (!answer.ok()) {
    return {kNotGood,
            absl::StrCat("No answer from ", target.Url(), ": ", answer.status().message())};
  }
  const std::string subject = Subject(request, target);
  const char* const state = request.live ? "live" : "ready";
  if (answer->good) return {kGood, absl::StrCat(subject, " is ", state)};
  return {kNotGood, absl::StrCat(subject, " is not ", state, answer->reason.empty() ? "" : ": ",
                                 answer->reason)};
}

Outcome Probe(const ProbeRequest& request) {
  std::vector<std::string> silent;
  for (const ProbeTarget& target : request.targets) {
    const auto connection = ProbeConnection::Open(target, request);
    if (connection.ok()) return Judge(target, request, Ask(target, request, connection->get()));
    if (absl::IsInvalidArgument(connection.status())) {
      return {kCannot, absl::StrCat("nereid probe: ", connection.status().message())};
    }
    if (!absl::IsUnavailable(connection.status())) {
      return Judge(target, request, connection.status());
    }
    silent.push_back(target.Url());
  }
  return {kNotGood, absl::StrCat("No answer from ", absl::StrJoin(silent, " or "),
                                 ": nothing listens there")};
}

// Probes on a thread of its own, because nothing else limits how long a look-up of a name takes.
Outcome ProbeWithin(const ProbeRequest& request) try {
  std::packaged_task<Outcome()> task([request] { return Probe(request); });
  std::future<Outcome> outcome = task.get_future();
  StartThread({.name = "probe"}, std::move(task)).detach();
  if (outcome.wait_for(request.timeout) == std::future_status::ready) return outcome.get();
  const double seconds = std::chrono::duration<double>(request.timeout).count();
  return {kNotGood,
          absl::StrCat("No answer from ", request.targets[0].Url(), " within ", seconds, " s")};
} catch (...) {
  return {kNotGood, absl::StrCat("The probe failed: ", CaughtStatus().message())};
}

}  // namespace

int ProbeCommand(const std::vector<std::string>& args, const std::string& default_url,
                 std::ostream& out, std::ostream& err) {
  const absl::StatusOr<ProbeRequest> request = ParseProbeRequest(args, default_url);
  if (!request.ok()) return WrongCommandLine("probe", request.status(), err);
  std::signal(SIGPIPE, SIG_IGN);  // TLS writes to sockets without MSG_NOSIGNAL
  const Outcome outcome = ProbeWithin(*request);
  (outcome.exit_status == kCannot ? err : out) << outcome.sentence << ".\n";
  return outcome.exit_status;
}

}  // namespace nereid
