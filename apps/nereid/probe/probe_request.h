// SPDX-License-Identifier: Apache-2.0
// What `nereid probe` is to ask, and where: its command line as a plain value.
#ifndef NEREID_APPS_NEREID_PROBE_PROBE_REQUEST_H_
#define NEREID_APPS_NEREID_PROBE_PROBE_REQUEST_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "options/command_table.h"
#include "options/probe_target.h"

namespace nereid {

// The environment's --url.
inline constexpr char kProbeUrlVariable[] = "NEREID_PROBE_URL";

struct ProbeRequest {
  bool live = false;                 // is the server live? Otherwise: is it, or the model, ready?
  std::string model;                 // empty: the whole server
  std::string version;               // empty: the server chooses
  std::vector<ProbeTarget> targets;  // the first at which something listens is asked
  Duration timeout = std::chrono::seconds(5);  // for everything together
  HttpHeaders headers;
  std::string root_cert;  // empty: certificates are not verified
  std::string client_cert;
  std::string client_key;
};

// The options of every command that asks a server as the probe does: --url, --timeout-s, --header
// and those of TLS. `request` outlives the table.
std::vector<Flag> ConnectionFlags(ProbeRequest* request, std::string default_url,
                                  std::string url_help, std::string timeout_help);
// Whether these fit together. INVALID_ARGUMENT.
absl::Status CheckConnection(const ProbeRequest& request);

CommandTable ProbeTable();

// `args`: the arguments after "probe". `default_url`: that of the environment; empty: the usual
// ports of this machine. INVALID_ARGUMENT.
absl::StatusOr<ProbeRequest> ParseProbeRequest(const std::vector<std::string>& args,
                                               const std::string& default_url);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_PROBE_PROBE_REQUEST_H_
