// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/off_loop.h"

#include <utility>

#include "frontends/http/status_map.h"

namespace nereid {

void RespondOffLoop(ThreadPool* executor, HttpResponder responder,
                    absl::AnyInvocable<HttpResponse()> make) {
  AnswerOffLoop(executor, std::move(responder),
                [make = std::move(make)](HttpResponder later) mutable { later.Complete(make()); });
}

void AnswerOffLoop(ThreadPool* executor, HttpResponder responder,
                   absl::AnyInvocable<void(HttpResponder)> answer) {
  struct Job {
    HttpResponder responder;
    absl::AnyInvocable<void(HttpResponder)> answer;
    void operator()() { answer(std::move(responder)); }
  };
  Job job{std::move(responder), std::move(answer)};
  if (executor->TryRun(std::move(job))) return;
  job.responder.Complete(StatusResponse(
      absl::UnavailableError("too many administration requests at a time: try again later")));
}

absl::Status TooManyLargeBodies() {
  return absl::UnavailableError(
      "too many large request bodies are being read at a time: try again later");
}

absl::Status TooManyLargeAnswers() {
  return absl::UnavailableError(
      "too many large answers are being written at a time: try again later");
}

}  // namespace nereid
