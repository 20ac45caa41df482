// SPDX-License-Identifier: Apache-2.0
// ConsoleGuard: whom a console port answers. A browser runs pages of anybody, so a port on this
// machine is within reach of the whole web: by a page that sends requests to it (which Origin
// tells), by a name that its owner has pointed at this machine (which Host tells), and by other
// users of the machine (who know neither the token nor the key of --http-restricted-api). Immutable
// but for the keys that `access` may read from a file; thread-safe.
#ifndef NEREID_FRONTENDS_HTTP_CONSOLE_CONSOLE_GUARD_H_
#define NEREID_FRONTENDS_HTTP_CONSOLE_CONSOLE_GUARD_H_

#include <absl/strings/string_view.h>

#include <cstdint>
#include <optional>
#include <string>

#include "frontends/access/access_control.h"
#include "frontends/access/secret.h"
#include "frontends/http/http_message.h"

namespace nereid {

class ConsoleGuard {
 public:
  // Who sends a request of the API.
  enum class Visitor : uint8_t {
    kStranger,
    kKeyHolder,  // has the restricted API's key for the group `nereid`, but not the token
    kOwner       // has the token
  };

  // `address` is where the port listens, an address or a host name. `access` is that of the HTTP
  // port.
  ConsoleGuard(std::string address, absl::string_view token, AccessControl access);

  // For every request: nothing if Host and Origin are the console's own, otherwise a 403. The host
  // has to be `localhost`, an address, which no foreign name stands for, or the name of the
  // port's own address; with any port number, because tunnels have others. A request without Origin
  // comes from no page of another origin that could change anything.
  std::optional<HttpResponse> RefuseSource(const HttpRequest& request) const;

  // For requests of the API.
  Visitor Recognise(const HttpRequest& request) const;
  // What a stranger is answered: a 401 that says what is missing.
  HttpResponse StrangerResponse() const;

 private:
  bool IsOwnHost(absl::string_view host) const;

  const std::string address_;
  const Secret token_;
  const AccessControl access_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_CONSOLE_CONSOLE_GUARD_H_
