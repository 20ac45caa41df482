// Writes a request to the access log when it has been answered. Stateless.
#ifndef NEREID_FRONTENDS_HTTP_LOGGED_RESPONDER_H_
#define NEREID_FRONTENDS_HTTP_LOGGED_RESPONDER_H_

#include <string>

#include "base/clock.h"
#include "frontends/http/http_message.h"
#include "observe/access/access_log.h"

namespace nereid {

// A responder in front of `responder`, which writes a line to `log` once the answer is there: for
// an answer that is produced piece by piece, at its end; for a client that left before, with status
// 499. `model`: that of the request, or empty. `log` and `clock` outlive the request. REQUIRES:
// called inside HttpHandler::Handle on its thread.
HttpResponder LogAnswer(AccessLog* log, const Clock& clock, const HttpRequest& request,
                        std::string model, HttpResponder responder);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_LOGGED_RESPONDER_H_
