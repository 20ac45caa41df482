// SPDX-License-Identifier: Apache-2.0
#include "flags/access_flags.h"

#include <absl/strings/str_cat.h>

#include <string>
#include <utility>

#include "flags/flag_table.h"
#include "options/flag_kinds.h"

namespace nereid {

Flag RestrictedFlag(const char* name, const char* thing, absl::string_view header,
                    ApiGroupSet groups, RestrictedApis* target) {
  return Repeated(
      {name, "<groups>:<key>=<value>", "",
       absl::StrCat("Groups of the API, separated by commas, that are open only to requests with ",
                    header, " of this value: ", ApiGroupNames(groups),
                    ". May be given several times."),
       [option = absl::StrCat("--", name), thing, groups, target](absl::string_view value) {
         return target->Add(value, {option.c_str(), thing, groups});
       }});
}

Flag ForwardingFlag(const char* name, absl::string_view what, HeaderForwarding* target) {
  return {name, "<pattern>", "",
          absl::StrCat("Models get the ", what,
                       " whose name holds this regular expression (RE2, in "
                       "any case) as parameters of the request."),
          [target](absl::string_view value) {
            absl::StatusOr<HeaderForwarding> made = HeaderForwarding::Create(std::string(value));
            if (made.ok()) *target = *std::move(made);
            return made.status();
          }};
}

FlagGroup AccessFlags(Settings* s) {
  return {"Access",
          {OfFile(StringFlag(
               "api-key-file", &s->api_key_file,
               "File of keys and the groups of the API that each opens, for HTTP and gRPC; "
               "it is read again when it changes. Without one no key is asked for.")),
           BooleanFlag("allow-nereid-api", &s->allow_nereid_api,
                       "Open /v2/nereid, where the server shows its last requests and batches, to "
                       "everybody. Otherwise it is open only with --http-restricted-api=nereid:... "
                       "or --api-key-file, to clients that know the key."),
           BooleanFlag("owner-socket", &s->owner_socket,
                       "Let nereid top and nereid explain of the user who runs the server see "
                       "/v2/nereid in any case, through a Unix socket that nobody else may use.")}};
}

}  // namespace nereid
