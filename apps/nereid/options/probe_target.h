// SPDX-License-Identifier: Apache-2.0
// The server that a command asks: its URL, a model of it, and headers for it, with the options that
// name them. All commands that ask a server have these. Plain values and pure functions.
#ifndef NEREID_APPS_NEREID_OPTIONS_PROBE_TARGET_H_
#define NEREID_APPS_NEREID_OPTIONS_PROBE_TARGET_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "options/flag.h"

namespace nereid {

enum class ProbeProtocol { kHttp, kGrpc };

// One port of a server.
struct ProbeTarget {
  ProbeProtocol protocol = ProbeProtocol::kHttp;
  bool tls = false;
  std::string host;  // a name or an address; one of IPv6 without brackets
  int port = 0;

  // As it is written on the command line: "grpc://localhost:8001".
  std::string Url() const;
  // "localhost:8001"
  std::string Authority() const;
};

// The usual ports of this machine.
ProbeTarget UsualHttpTarget();
ProbeTarget UsualGrpcTarget();

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

// "http://HOST[:PORT]", or with https, grpc or grpcs. INVALID_ARGUMENT.
absl::StatusOr<ProbeTarget> ParseProbeUrl(const std::string& url);
// The same, with `from`, where the URL was given, in the error.
absl::StatusOr<ProbeTarget> ParseProbeUrlOf(absl::string_view from, const std::string& url);

// --url; `*to` keeps its value unless the option is given. `help` may add what is special.
Flag UrlFlag(ProbeTarget* to, std::string default_text, std::string help);
// --model: "NAME" or "NAME:VERSION"
Flag ModelFlag(std::string* model, std::string* version, std::string help);
absl::Status ParseModelOption(absl::string_view text, std::string* model, std::string* version);
// --header: "NAME:VALUE"; may be repeated. `to` gets the name in lower case.
Flag HeaderFlag(HttpHeaders* to);
// --timeout-s: a number of seconds above 0
Flag TimeoutFlag(Duration* to, double most_seconds, std::string help);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_OPTIONS_PROBE_TARGET_H_
