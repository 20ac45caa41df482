// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/authority.h"

#include <absl/algorithm/container.h>
#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/strip.h>
#include <arpa/inet.h>
#include <unistd.h>

#include <array>

namespace nereid {
namespace {

bool IsAddress(absl::string_view text, int family) {
  in6_addr address;  // large enough for both families
  return ::inet_pton(family, std::string(text).c_str(), &address) == 1;
}

}  // namespace

std::optional<Authority> SplitAuthority(absl::string_view text) {
  size_t end = text.find(':');
  absl::string_view name = text.substr(0, end);
  if (absl::StartsWith(text, "[")) {
    end = text.find(']');
    if (end == absl::string_view::npos) return std::nullopt;
    name = text.substr(0, ++end);
  }
  if (name.empty()) return std::nullopt;
  absl::string_view port = end < text.size() ? text.substr(end) : "";
  if (absl::ConsumePrefix(&port, ":") && port.empty()) return std::nullopt;
  if (!absl::c_all_of(port, absl::ascii_isdigit)) return std::nullopt;
  return Authority{name, port};
}

bool IsLocalhostOrAddress(absl::string_view name) {
  if (absl::EqualsIgnoreCase(name, "localhost")) return true;
  if (absl::ConsumePrefix(&name, "[")) {
    return absl::ConsumeSuffix(&name, "]") && IsAddress(name, AF_INET6);
  }
  return IsAddress(name, AF_INET);
}

std::vector<std::string> NamesOfThisMachine() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return {};
  return {std::string(name.data())};
}

}  // namespace nereid
