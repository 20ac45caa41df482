// SPDX-License-Identifier: Apache-2.0
// Answers that may take long to produce, or that wait for a disk. They are produced on a thread
// other than the event loop's. Stateless.
#ifndef NEREID_FRONTENDS_HTTP_OFF_LOOP_H_
#define NEREID_FRONTENDS_HTTP_OFF_LOOP_H_

#include <absl/functional/any_invocable.h>
#include <absl/status/status.h>

#include <memory>
#include <utility>

#include "base/threads/thread_pool.h"
#include "frontends/http/http_message.h"

namespace nereid {

// Runs `make` on a thread of `executor` and sends its result; sends 503 if too much is waiting
// there already. If the client has gone by then, the result is dropped. Never blocks.
void RespondOffLoop(ThreadPool* executor, HttpResponder responder,
                    absl::AnyInvocable<HttpResponse()> make);

// The same for an `answer` that completes the request itself, there or later.
void AnswerOffLoop(ThreadPool* executor, HttpResponder responder,
                   absl::AnyInvocable<void(HttpResponder)> answer);

// Why a large body is not read: the I/O thread must not do it, and the others have enough to do.
absl::Status TooManyLargeBodies();
// The same for an answer that an I/O thread got from the model.
absl::Status TooManyLargeAnswers();

// Reads the large body of `request` by `read(*request, inference.get())`, and gives the outcome and
// `inference` to `issue`, on a thread of `executor`. Refuses the inference if too much is waiting
// there already. Never blocks.
template <typename Inference, typename Read, typename Issue>
void ReadOffLoop(ThreadPool* executor, std::unique_ptr<HttpRequest> request,
                 std::shared_ptr<Inference> inference, Read read, Issue issue) {
  const std::shared_ptr<Inference> refused = inference;
  const bool taken = executor->TryRun(
      [request = std::move(request), read, issue, inference = std::move(inference)]() mutable {
        absl::Status done = read(*request, inference.get());
        if (done.ok() && inference->cancelled()) {
          done = absl::CancelledError("the request was cancelled");
        }
        request.reset();  // the inference holds the body
        issue(done, std::move(inference));
      });
  if (!taken) refused->Refuse(TooManyLargeBodies());
}

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_OFF_LOOP_H_
