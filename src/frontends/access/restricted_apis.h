// SPDX-License-Identifier: Apache-2.0
// RestrictedApis: groups of the API that are open only to requests with a certain header, as
// --http-restricted-api and --grpc-restricted-protocol say. A plain value, filled while the options
// are read and constant from then on.
#ifndef NEREID_FRONTENDS_ACCESS_RESTRICTED_APIS_H_
#define NEREID_FRONTENDS_ACCESS_RESTRICTED_APIS_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <array>
#include <optional>
#include <string>

#include "frontends/access/api_group.h"
#include "frontends/access/secret.h"

namespace nereid {

class RestrictedApis {
 public:
  struct Header {
    std::string key;  // as the operator wrote it
    Secret value;
  };
  // How messages name the option, and what it restricts.
  struct OptionNames {
    const char* option;                  // "--http-restricted-api"
    const char* thing;                   // "api"
    ApiGroupSet groups = kAllApiGroups;  // that it can restrict
  };

  // Adds "<groups>:<key>=<value>", the groups separated by commas. INVALID_ARGUMENT for another
  // form, an unknown group, and one that was given before.
  absl::Status Add(absl::string_view text, const OptionNames& names);

  // What requests of `group` need; null: nothing.
  const Header* Find(ApiGroup group) const {
    const std::optional<Header>& header = headers_[static_cast<size_t>(group)];
    return header.has_value() ? &*header : nullptr;
  }
  bool empty() const { return empty_; }

 private:
  std::array<std::optional<Header>, kApiGroups> headers_;
  bool empty_ = true;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_ACCESS_RESTRICTED_APIS_H_
