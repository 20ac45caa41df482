// Endpoints about the server's health. Thread-safe.
#ifndef NEREID_FRONTENDS_HTTP_SERVER_ENDPOINTS_H_
#define NEREID_FRONTENDS_HTTP_SERVER_ENDPOINTS_H_

#include "frontends/http/http_message.h"
#include "server/server.h"

namespace nereid {

// 200 with an empty body, or 503 with the reason.
HttpResponse ServerLiveResponse(const Server& server);
HttpResponse ServerReadyResponse(const Server& server);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_SERVER_ENDPOINTS_H_
