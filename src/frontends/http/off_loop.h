// Answers whose making may take long, or wait for a disk: they are made on another thread than the
// event loop's. Stateless.
#ifndef NEREID_FRONTENDS_HTTP_OFF_LOOP_H_
#define NEREID_FRONTENDS_HTTP_OFF_LOOP_H_

#include <absl/functional/any_invocable.h>

#include "base/spare_executor.h"
#include "frontends/http/http_message.h"

namespace nereid {

// Has `make` run on a thread of `executor`, and its result sent; 503 if too much waits there
// already. If the client is gone by then the result is dropped. Never blocks.
void RespondOffLoop(SpareExecutor* executor, HttpResponder responder,
                    absl::AnyInvocable<HttpResponse()> make);

// The same for an answer that `answer` sees to itself, there or later.
void AnswerOffLoop(SpareExecutor* executor, HttpResponder responder,
                   absl::AnyInvocable<void(HttpResponder)> answer);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_OFF_LOOP_H_
