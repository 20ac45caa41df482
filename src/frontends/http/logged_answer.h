// SPDX-License-Identifier: Apache-2.0
// Writes a request to the access log when it has been answered.
#ifndef NEREID_FRONTENDS_HTTP_LOGGED_ANSWER_H_
#define NEREID_FRONTENDS_HTTP_LOGGED_ANSWER_H_

#include <memory>
#include <string>

#include "base/clock.h"
#include "frontends/http/http_message.h"
#include "observe/access/access_log.h"

namespace nereid {

// Writes a line to `log` once the answer is there: for an answer that is produced piece by piece,
// at its end; for a client that left before, with status 499. `origin`: where `request` comes from.
// `model`: that of the request, or empty. `log` outlives the request.
std::unique_ptr<HttpAnswerObserver> LogAnswer(AccessLog* log, const Clock& clock,
                                              const HttpRequest& request, HttpOrigin origin,
                                              std::string model);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_LOGGED_ANSWER_H_
