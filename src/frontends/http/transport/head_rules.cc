// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/transport/head_rules.h"

#include <absl/algorithm/container.h>
#include <absl/strings/escaping.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <array>
#include <cstddef>
#include <string>

namespace nereid::http {
namespace {

constexpr size_t kMostQuotedBytes = 100;
constexpr std::array<SingleField, 9> kSingleFields = {{
    {"Host", false},  // RFC 9112, 3.2
    {"Origin"},
    {"Authorization"},
    {"Expect"},
    {"Content-Type"},
    {"Content-Encoding", false},  // twice the same would be compressed twice
    {"Inference-Header-Content-Length"},
    // What the request is about, on the ports of cloud platforms.
    {"X-Vertex-Ai-Triton-Redirect"},
    {"X-Amzn-SageMaker-Target-Model"},
}};

std::string Quoted(absl::string_view value) {
  return absl::StrCat("'", absl::CHexEscape(value.substr(0, kMostQuotedBytes)), "'");
}

// By character: whether no URL has it in a host, so that two programs may read the host
// differently.
constexpr std::array<bool, 256> kOddInHost = [] {
  std::array<bool, 256> odd{};
  for (size_t c = 0; c < odd.size(); ++c) odd[c] = c <= ' ' || c > '~';
  for (const char c : {'/', '\\', '?', '#', '@', ','}) odd[static_cast<unsigned char>(c)] = true;
  return odd;
}();

bool IsOddHost(absl::string_view host) {
  return absl::c_any_of(host, [](char c) { return kOddInHost[static_cast<unsigned char>(c)]; });
}

// `host`: the Host header; null if there is none. `asked`: the host that counts.
std::optional<Refusal> CheckHost(const HttpHeader* host, absl::string_view asked,
                                 HttpVersion version) {
  if (host == nullptr && version == HttpVersion::k11) {
    return Refusal{400, "a request of HTTP/1.1 needs the header 'Host'"};
  }
  const absl::string_view header = host == nullptr ? absl::string_view() : host->value;
  const bool same = header == asked;  // mostly, and then to be looked at once
  const bool odd_header = IsOddHost(header);
  if (odd_header || (!same && IsOddHost(asked))) {
    return Refusal{400, absl::StrCat("the host ", Quoted(odd_header ? header : asked),
                                     " is not of the form name:port")};
  }
  const bool may_differ = version != HttpVersion::k2 || host == nullptr;
  if (may_differ || same || absl::EqualsIgnoreCase(header, asked)) return std::nullopt;
  return Refusal{400, absl::StrCat("a request names one host, but ':authority' is ", Quoted(asked),
                                   " and 'host' is ", Quoted(header))};
}

}  // namespace

absl::Span<const SingleField> SingleFields() { return kSingleFields; }

std::optional<Refusal> CheckHead(const HttpRequest& request, HttpVersion version) {
  std::array<const HttpHeader*, kSingleFields.size()> first{};
  for (const HttpHeader& header : request.headers()) {
    for (size_t i = 0; i < kSingleFields.size(); ++i) {
      const SingleField& field = kSingleFields[i];
      if (header.name.size() != field.name.size()) continue;  // mostly
      if (!absl::EqualsIgnoreCase(header.name, field.name)) continue;
      const HttpHeader* const before = first[i];
      first[i] = &header;
      if (before == nullptr || (field.may_repeat_value && before->value == header.value)) break;
      return Refusal{400, absl::StrCat("the header '", field.name,
                                       "' may stand in a request once, "
                                       "but it is given as ",
                                       Quoted(before->value), " and as ", Quoted(header.value))};
    }
  }
  return CheckHost(first[0], request.authority(), version);
}

}  // namespace nereid::http
