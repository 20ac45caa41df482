// SPDX-License-Identifier: Apache-2.0
#include "probe/probe_request.h"

#include <absl/strings/str_cat.h>

#include <utility>

#include "base/status_macros.h"
#include "options/command_flags.h"
#include "options/parse.h"

namespace nereid {
namespace {

constexpr double kMostSeconds = 3600;

// What the setters fill.
struct ProbeLine {
  ProbeRequest request;
  bool ready = false;
};

CommandTable TableFor(ProbeLine* line) {
  ProbeRequest* const request = &line->request;
  CommandTable table;
  table.name = "probe";
  table.summary = "ask a running server whether it is ready";
  table.synopsis = "[options]";
  table.description = {
      "Asks a running server whether it is ready to serve, and prints the answer as one sentence."};
  table.flags = {
      TurnOnFlag("ready", &line->ready, "is the server ready? (what is asked without an option)"),
      TurnOnFlag("live", &request->live, "is it live?"),
      ModelFlag(&request->model, &request->version, "is this model ready?")};
  for (Flag& flag : ConnectionFlags(
           request, "",
           absl::StrCat("http://HOST:PORT, or with https, grpc or grpcs; without it ",
                        kProbeUrlVariable, ", and without that ", UsualHttpTarget().Url(), ", or ",
                        UsualGrpcTarget().Url(), " if nothing listens there"),
           "seconds for everything together")) {
    table.flags.push_back(std::move(flag));
  }
  table.exit_status = "0: yes; 1: no, or no answer; 2: wrong options.";
  return table;
}

absl::Status CheckQuestion(const ProbeRequest& request, bool ready) {
  if (!request.live || (!ready && request.model.empty())) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--live and ", ready ? "--ready" : "--model",
                   " exclude each other: only a whole server can be asked whether it is live"));
}

}  // namespace

absl::Status CheckConnection(const ProbeRequest& request) {
  if (request.client_cert.empty() != request.client_key.empty()) {
    return absl::InvalidArgumentError("--client-cert and --client-key need each other");
  }
  const bool uses_tls = !request.root_cert.empty() || !request.client_cert.empty();
  if (uses_tls && !request.targets[0].tls) {
    return absl::InvalidArgumentError(absl::StrCat(
        "certificates need a --url with https or grpcs; it is ", request.targets[0].Url()));
  }
  return absl::OkStatus();
}

std::vector<Flag> ConnectionFlags(ProbeRequest* request, std::string default_url,
                                  std::string url_help, std::string timeout_help) {
  Flag url = UrlFlag(nullptr, std::move(default_url), std::move(url_help));
  url.set = [request](absl::string_view text) -> absl::Status {
    ASSIGN_OR_RETURN(ProbeTarget target, ParseProbeUrlOf("--url", std::string(text)));
    request->targets = {std::move(target)};
    return absl::OkStatus();
  };
  return {std::move(url),
          TimeoutFlag(&request->timeout, kMostSeconds, std::move(timeout_help)),
          HeaderFlag(&request->headers),
          FileFlag("root-cert", &request->root_cert,
                   "trust only servers with a certificate of these authorities; without it, "
                   "certificates are not verified"),
          FileFlag("client-cert", &request->client_cert,
                   "this client's certificate, for servers that ask for one"),
          FileFlag("client-key", &request->client_key, "the key of --client-cert")};
}

CommandTable ProbeTable() { return DescribedBy(&TableFor); }

absl::StatusOr<ProbeRequest> ParseProbeRequest(const std::vector<std::string>& args,
                                               const std::string& default_url) {
  ProbeLine line;
  RETURN_IF_ERROR(ParseCommandArguments(TableFor(&line), args));
  ProbeRequest& request = line.request;
  if (request.targets.empty() && !default_url.empty()) {
    ASSIGN_OR_RETURN(ProbeTarget target, ParseProbeUrlOf(kProbeUrlVariable, default_url));
    request.targets = {std::move(target)};
  }
  if (request.targets.empty()) request.targets = {UsualHttpTarget(), UsualGrpcTarget()};
  RETURN_IF_ERROR(CheckQuestion(request, line.ready));
  RETURN_IF_ERROR(CheckConnection(request));
  return std::move(request);
}

}  // namespace nereid
