// What `nereid probe` is to ask, and where: its command line as a plain value.
#ifndef NEREID_APPS_NEREID_PROBE_PROBE_REQUEST_H_
#define NEREID_APPS_NEREID_PROBE_PROBE_REQUEST_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace nereid {

// The environment's --url.
inline constexpr char kProbeUrlVariable[] = "NEREID_PROBE_URL";

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

struct ProbeRequest {
  bool help = false;
  bool live = false;                 // is the server live? Otherwise: is it, or the model, ready?
  std::string model;                 // empty: the whole server
  std::string version;               // empty: the server chooses
  std::vector<ProbeTarget> targets;  // the first at which something listens is asked
  Duration timeout{0};               // for everything together
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string root_cert;                                     // empty: any certificate will do
  std::string client_cert;
  std::string client_key;
};

// "http://HOST[:PORT]", or with https, grpc or grpcs. INVALID_ARGUMENT.
absl::StatusOr<ProbeTarget> ParseProbeUrl(const std::string& url);

// The values of --model, "NAME" or "NAME:VERSION", and of --header, "NAME:VALUE", where the name is
// returned in lower case. INVALID_ARGUMENT.
absl::Status ParseModelOption(absl::string_view text, std::string* model, std::string* version);
absl::StatusOr<std::pair<std::string, std::string>> ParseHeaderOption(absl::string_view text);

// `args`: the arguments after "probe". `default_url`: that of the environment; empty: the usual
// ports of this machine. INVALID_ARGUMENT.
absl::StatusOr<ProbeRequest> ParseProbeRequest(const std::vector<std::string>& args,
                                               const std::string& default_url);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_PROBE_PROBE_REQUEST_H_
