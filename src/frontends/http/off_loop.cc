#include "frontends/http/off_loop.h"

#include <memory>
#include <utility>

#include "frontends/http/status_map.h"

namespace nereid {

void RespondOffLoop(SpareExecutor* executor, HttpResponder responder,
                    absl::AnyInvocable<HttpResponse()> make) {
  AnswerOffLoop(executor, std::move(responder),
                [make = std::move(make)](HttpResponder later) mutable { later.Complete(make()); });
}

void AnswerOffLoop(SpareExecutor* executor, HttpResponder responder,
                   absl::AnyInvocable<void(HttpResponder)> answer) {
  struct Job {
    HttpResponder responder;
    absl::AnyInvocable<void(HttpResponder)> answer;
  };
  // Shared, because a function object must be copyable.
  const auto job = std::make_shared<Job>(Job{std::move(responder), std::move(answer)});
  if (executor->TryRun([job] { job->answer(std::move(job->responder)); })) return;
  job->responder.Complete(StatusResponse(
      absl::UnavailableError("too many administration requests at a time: try again later")));
}

}  // namespace nereid
