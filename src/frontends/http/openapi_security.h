// SPDX-License-Identifier: Apache-2.0
// OpenApiSecurity: which keys and headers requests have to carry, as an OpenAPI document tells it:
// only what this server asks for at the moment. Immutable.
#ifndef NEREID_FRONTENDS_HTTP_OPENAPI_SECURITY_H_
#define NEREID_FRONTENDS_HTTP_OPENAPI_SECURITY_H_

#include <array>
#include <string>
#include <vector>

#include "base/json_writer.h"
#include "frontends/access/access_control.h"

namespace nereid {

class OpenApiSecurity {
 public:
  explicit OpenApiSecurity(const AccessControl& access);

  bool operator==(const OpenApiSecurity& other) const { return needs_ == other.needs_; }

  // Adds the member "securitySchemes" of "components", if there are any.
  void WriteSchemes(JsonWriter* w) const;
  // Adds the member "security" of an operation of the group, if it needs something.
  void WriteNeeds(ApiGroup group, JsonWriter* w) const;

 private:
  // The name of the scheme of a header of headers_.
  std::string SchemeOf(const std::string& header) const;

  std::array<AccessControl::Needs, kApiGroups> needs_;
  std::vector<std::string> headers_;  // of all groups, each once
  bool keys_ = false;                 // some group needs a key
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_OPENAPI_SECURITY_H_
