// ConsoleGuard: whom a console port answers. A browser runs pages of anybody, so a port on this
// machine is within reach of the whole web: by a page that sends requests to it (which Origin
// tells), by a name that its owner has pointed at this machine (which Host tells), and by other
// users of the machine (who do not know the token). Immutable, thread-safe.
#ifndef NEREID_FRONTENDS_HTTP_CONSOLE_CONSOLE_GUARD_H_
#define NEREID_FRONTENDS_HTTP_CONSOLE_CONSOLE_GUARD_H_

#include <absl/strings/string_view.h>

#include <optional>
#include <string>

#include "frontends/access/secret.h"
#include "frontends/http/http_message.h"

namespace nereid {

class ConsoleGuard {
 public:
  // `address` is where the port listens, an address or a host name.
  ConsoleGuard(std::string address, absl::string_view token);

  // For every request: nothing if Host and Origin are the console's own, otherwise a 403. The host
  // has to be `localhost`, an address, which no foreign name stands for, or the name of the
  // port's own address; with any port number, because tunnels have others. A request without Origin
  // comes from no page of another origin that could change anything.
  std::optional<HttpResponse> RefuseSource(const HttpRequest& request) const;

  // For requests of the API: nothing if the request knows the token, otherwise a 401.
  std::optional<HttpResponse> RefuseStranger(const HttpRequest& request) const;

 private:
  bool IsOwnHost(absl::string_view host) const;

  const std::string address_;
  const Secret token_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_CONSOLE_CONSOLE_GUARD_H_
