// Endpoints about the model repository. Thread-safe.
#ifndef NEREID_FRONTENDS_HTTP_REPOSITORY_ENDPOINTS_H_
#define NEREID_FRONTENDS_HTTP_REPOSITORY_ENDPOINTS_H_

#include <absl/strings/string_view.h>

#include "frontends/http/http_message.h"
#include "frontends/http/router.h"
#include "server/server.h"

namespace nereid {

// `body` is that of the request; the repository that a path may name makes no difference.
HttpResponse RepositoryIndexResponse(const Server& server, absl::string_view body);

// Loads or unloads the route's model on a thread of its own, and answers from there.
void ControlModel(Server* server, const Route& route, absl::string_view body,
                  HttpResponder responder);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_REPOSITORY_ENDPOINTS_H_
