#include "probe/probe_request.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/string_view.h>
#include <absl/strings/strip.h>

#include <algorithm>
#include <chrono>

#include "base/status_macros.h"

namespace nereid {
namespace {

constexpr int kHttpPort = 8000;
constexpr int kGrpcPort = 8001;
constexpr int kMostPort = 65535;
constexpr double kMostSeconds = 3600;
constexpr std::chrono::seconds kTimeout(5);
// Not "localhost": a container need not know that name.
constexpr char kThisMachine[] = "127.0.0.1";

struct Scheme {
  absl::string_view prefix;
  ProbeProtocol protocol;
  bool tls;
  int port;  // if the URL gives none
};
constexpr Scheme kSchemes[] = {
    {"http://", ProbeProtocol::kHttp, false, kHttpPort},
    {"https://", ProbeProtocol::kHttp, true, kHttpPort},
    {"grpc://", ProbeProtocol::kGrpc, false, kGrpcPort},
    {"grpcs://", ProbeProtocol::kGrpc, true, kGrpcPort},
};

// `from`: where the URL was given.
absl::StatusOr<ProbeTarget> UrlFrom(absl::string_view from, const std::string& url) {
  absl::StatusOr<ProbeTarget> target = ParseProbeUrl(url);
  if (target.ok()) return target;
  return absl::InvalidArgumentError(absl::StrCat(from, ": ", target.status().message()));
}

absl::Status BadUrl(absl::string_view url) {
  return absl::InvalidArgumentError(absl::StrCat(
      "the URL '", url, "' has to be http://HOST:PORT, or with https, grpc or grpcs, and no path"));
}

// Splits "HOST", "HOST:PORT", "[::1]" or "[::1]:PORT". False if `text` is none of these.
bool SplitAuthority(absl::string_view text, std::string* host, int* port) {
  absl::string_view rest;
  if (absl::ConsumePrefix(&text, "[")) {
    const size_t end = text.find(']');
    if (end == absl::string_view::npos) return false;
    *host = std::string(text.substr(0, end));
    rest = text.substr(end + 1);
  } else {
    const size_t end = std::min(text.find(':'), text.size());
    *host = std::string(text.substr(0, end));
    rest = text.substr(end);
  }
  if (host->empty()) return false;
  if (rest.empty()) return true;
  return absl::ConsumePrefix(&rest, ":") && absl::SimpleAtoi(rest, port) && *port > 0 &&
         *port <= kMostPort;
}

absl::StatusOr<Duration> ParseTimeout(absl::string_view text) {
  double seconds = 0;
  if (!absl::SimpleAtod(text, &seconds) || !(seconds > 0 && seconds <= kMostSeconds)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--timeout-s is '", text,
                     "'; it has to be a number of seconds above 0, and at most ", kMostSeconds));
  }
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

bool IsHeaderName(absl::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) || absl::StrContains("!#$%&'*+-.^_`|~", static_cast<char>(c));
  });
}

absl::Status ParseArgument(const std::string& arg, ProbeRequest* request, bool* ready) {
  absl::string_view value = arg;
  if (arg == "--help") {
    request->help = true;
  } else if (arg == "--live") {
    request->live = true;
  } else if (arg == "--ready") {
    *ready = true;
  } else if (absl::ConsumePrefix(&value, "--model=")) {
    return ParseModelOption(value, &request->model, &request->version);
  } else if (absl::ConsumePrefix(&value, "--url=")) {
    ASSIGN_OR_RETURN(ProbeTarget target, UrlFrom("--url", std::string(value)));
    request->targets = {std::move(target)};
  } else if (absl::ConsumePrefix(&value, "--timeout-s=")) {
    ASSIGN_OR_RETURN(request->timeout, ParseTimeout(value));
  } else if (absl::ConsumePrefix(&value, "--header=")) {
    ASSIGN_OR_RETURN(request->headers.emplace_back(), ParseHeaderOption(value));
  } else if (absl::ConsumePrefix(&value, "--root-cert=")) {
    request->root_cert = std::string(value);
  } else if (absl::ConsumePrefix(&value, "--client-cert=")) {
    request->client_cert = std::string(value);
  } else if (absl::ConsumePrefix(&value, "--client-key=")) {
    request->client_key = std::string(value);
  } else {
    return absl::InvalidArgumentError(absl::StrCat("unknown option ", arg));
  }
  return absl::OkStatus();
}

absl::Status CheckTogether(const ProbeRequest& request, bool ready) {
  if (request.live && (ready || !request.model.empty())) {
    return absl::InvalidArgumentError(
        absl::StrCat("--live and ", ready ? "--ready" : "--model",
                     " exclude each other: only a whole server can be asked whether it is live"));
  }
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

}  // namespace

std::string ProbeTarget::Authority() const {
  const bool bracketed = absl::StrContains(host, ':');
  return absl::StrCat(bracketed ? "[" : "", host, bracketed ? "]" : "", ":", port);
}

std::string ProbeTarget::Url() const {
  for (const Scheme& scheme : kSchemes) {
    if (scheme.protocol == protocol && scheme.tls == tls) {
      return absl::StrCat(scheme.prefix, Authority());
    }
  }
  return Authority();
}

absl::Status ParseModelOption(absl::string_view text, std::string* model, std::string* version) {
  const size_t end = std::min(text.find(':'), text.size());
  *model = std::string(text.substr(0, end));
  uint64_t number = 0;
  const bool versioned = end < text.size();
  if (versioned) *version = std::string(text.substr(end + 1));
  if (model->empty() || (versioned && !absl::SimpleAtoi(*version, &number))) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--model is '", text, "'; it has to be NAME or NAME:VERSION, where VERSION is a number"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::pair<std::string, std::string>> ParseHeaderOption(absl::string_view text) {
  const size_t end = std::min(text.find(':'), text.size());
  const absl::string_view name = text.substr(0, end);
  const absl::string_view value =
      absl::StripAsciiWhitespace(text.substr(std::min(end + 1, text.size())));
  const bool printable = std::all_of(value.begin(), value.end(), [](unsigned char c) {
    return c == '\t' || (c >= ' ' && c != 0x7F);
  });
  // The value is not repeated, because it may be a key.
  if (end == text.size() || !IsHeaderName(name) || !printable) {
    return absl::InvalidArgumentError(
        "a --header has to be NAME:VALUE, as in --header='authorization: Bearer KEY'");
  }
  return std::pair(absl::AsciiStrToLower(name), std::string(value));
}

absl::StatusOr<ProbeTarget> ParseProbeUrl(const std::string& url) {
  for (const Scheme& scheme : kSchemes) {
    absl::string_view rest = url;
    if (!absl::ConsumePrefix(&rest, scheme.prefix)) continue;
    absl::ConsumeSuffix(&rest, "/");
    ProbeTarget target{scheme.protocol, scheme.tls, "", scheme.port};
    const bool clean = std::none_of(rest.begin(), rest.end(), [](unsigned char c) {
      return c <= ' ' || c == '/' || c == '@' || c == '?' || c == '#' || c == 0x7F;
    });
    if (!clean || !SplitAuthority(rest, &target.host, &target.port)) return BadUrl(url);
    return target;
  }
  return BadUrl(url);
}

absl::StatusOr<ProbeRequest> ParseProbeRequest(const std::vector<std::string>& args,
                                               const std::string& default_url) {
  ProbeRequest request;
  request.timeout = kTimeout;
  bool ready = false;
  for (const std::string& arg : args) RETURN_IF_ERROR(ParseArgument(arg, &request, &ready));
  if (request.help) return request;
  if (request.targets.empty() && !default_url.empty()) {
    ASSIGN_OR_RETURN(ProbeTarget target, UrlFrom(kProbeUrlVariable, default_url));
    request.targets = {std::move(target)};
  }
  if (request.targets.empty()) {
    request.targets = {{ProbeProtocol::kHttp, false, kThisMachine, kHttpPort},
                       {ProbeProtocol::kGrpc, false, kThisMachine, kGrpcPort}};
  }
  RETURN_IF_ERROR(CheckTogether(request, ready));
  return request;
}

}  // namespace nereid
