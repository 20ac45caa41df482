// SPDX-License-Identifier: Apache-2.0
// The authority of a request or of a page's origin: "name[:port]" or "[address][:port]", and which
// names nobody else can point at this machine. Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_HTTP_AUTHORITY_H_
#define NEREID_FRONTENDS_HTTP_AUTHORITY_H_

#include <absl/strings/string_view.h>

#include <optional>
#include <string>
#include <vector>

namespace nereid {

struct Authority {
  absl::string_view name;  // an address of IPv6 is in brackets
  absl::string_view port;  // decimal digits; empty: the default of the scheme
};

// The parts of `text`; nothing for another form, for instance with a user or an empty port.
std::optional<Authority> SplitAuthority(absl::string_view text);

// Whether `name` is `localhost` or an address. Whoever owns a domain can point any of its names at
// this machine (DNS rebinding), but neither of these.
bool IsLocalhostOrAddress(absl::string_view name);

// By which names the operator of this machine calls it: its host name.
std::vector<std::string> NamesOfThisMachine();

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_AUTHORITY_H_
