// SPDX-License-Identifier: Apache-2.0
// Asks a running server for the JSON of one of its routes, for commands such as `nereid explain`.
// Stateless, and thread-safe.
#ifndef NEREID_APPS_WORKSHOP_API_API_CLIENT_H_
#define NEREID_APPS_WORKSHOP_API_API_CLIENT_H_

#include <absl/status/statusor.h>

#include <functional>
#include <future>
#include <string>
#include <vector>

#include "base/clock.h"
#include "probe/probe_request.h"

namespace nereid {

// The options that say where to ask, and how: those of `nereid probe`, with HTTP alone. `request`
// outlives the table, and is complete when its second function has been called after parsing.
std::vector<Flag> ApiFlags(ProbeRequest* request, std::string timeout_help);
absl::Status CompleteApiRequest(ProbeRequest* request);

// The body of a good answer. A server on this machine that the same user runs is asked through the
// socket that it has for its owner, unless the request has a header or certificates. Errors have a
// message that says what the server says: NOT_FOUND if it does not know what is asked for,
// PERMISSION_DENIED if it does not want to tell. Blocks, without a time limit.
absl::StatusOr<std::string> ApiGet(const ProbeRequest& request, const std::string& path);

using ApiAnswer = std::future<absl::StatusOr<std::string>>;
// Calls `ask` on a thread of its own, because nothing else limits how long a look-up of a name
// takes. The thread goes on if nobody waits for it, so `ask` owns what it uses. Throws
// std::system_error if there is no thread.
ApiAnswer AskOnThread(std::function<absl::StatusOr<std::string>()> ask);
// DEADLINE_EXCEEDED if there is no answer within `timeout`.
absl::StatusOr<std::string> Await(Duration timeout, ApiAnswer* answer);
absl::Status NoAnswerWithin(Duration timeout);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_API_API_CLIENT_H_
