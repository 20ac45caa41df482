// SPDX-License-Identifier: Apache-2.0
#include "options/probe_target.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <algorithm>
#include <chrono>

#include "base/status_macros.h"
#include "options/command_flags.h"

namespace nereid {
namespace {

constexpr int kHttpPort = 8000;
constexpr int kGrpcPort = 8001;
constexpr int kMostPort = 65535;
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

bool IsHeaderName(absl::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) || absl::StrContains("!#$%&'*+-.^_`|~", static_cast<char>(c));
  });
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

}  // namespace

ProbeTarget UsualHttpTarget() { return {ProbeProtocol::kHttp, false, kThisMachine, kHttpPort}; }
ProbeTarget UsualGrpcTarget() { return {ProbeProtocol::kGrpc, false, kThisMachine, kGrpcPort}; }

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

absl::StatusOr<ProbeTarget> ParseProbeUrlOf(absl::string_view from, const std::string& url) {
  absl::StatusOr<ProbeTarget> target = ParseProbeUrl(url);
  if (target.ok()) return target;
  return absl::InvalidArgumentError(absl::StrCat(from, ": ", target.status().message()));
}

Flag UrlFlag(ProbeTarget* to, std::string default_text, std::string help) {
  return {"url", "URL", std::move(default_text), std::move(help),
          [to](absl::string_view text) -> absl::Status {
            ASSIGN_OR_RETURN(*to, ParseProbeUrlOf("--url", std::string(text)));
            return absl::OkStatus();
          }};
}

Flag ModelFlag(std::string* model, std::string* version, std::string help) {
  return {"model", "NAME[:VERSION]", "", std::move(help),
          [=](absl::string_view text) { return ParseModelOption(text, model, version); }};
}

Flag HeaderFlag(HttpHeaders* to) {
  Flag flag = {"header", "NAME:VALUE", "", "send this header; may be repeated",
               [to](absl::string_view text) -> absl::Status {
                 ASSIGN_OR_RETURN(to->emplace_back(), ParseHeaderOption(text));
                 return absl::OkStatus();
               }};
  flag.repeated = true;
  return flag;
}

Flag TimeoutFlag(Duration* to, double most_seconds, std::string help) {
  const double by_default = std::chrono::duration<double>(*to).count();
  return {"timeout-s", "SECONDS", absl::StrCat(by_default), std::move(help),
          [=](absl::string_view text) -> absl::Status {
            double seconds = 0;
            if (!absl::SimpleAtod(text, &seconds) || !(seconds > 0 && seconds <= most_seconds)) {
              return WrongValue(
                  "timeout-s", text,
                  absl::StrCat("a number of seconds above 0, and at most ", most_seconds));
            }
            *to = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
            return absl::OkStatus();
          }};
}

}  // namespace nereid
