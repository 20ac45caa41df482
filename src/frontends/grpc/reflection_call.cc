// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/reflection_call.h"

#include <chrono>
#include <string>
#include <utility>

namespace nereid {
namespace {

// Bytes of answers that may wait for the connection while the next request is answered.
constexpr size_t kAnswersAhead = 64 << 10;
// How long a client that was told to use another connection may think about its next request.
constexpr Duration kPause = std::chrono::seconds(1);

}  // namespace

ReflectionCall::ReflectionCall(Origin origin)
    : GrpcCall(std::move(origin), Messages::kMany), last_asked_(connection().loop()->Now()) {}

void ReflectionCall::OnMessage(std::shared_ptr<ReceivedBody> message) {
  last_asked_ = connection().loop()->Now();
  waiting_.push_back(std::move(message));
  AnswerWaiting();
}

void ReflectionCall::OnHalfClose() {
  half_closed_ = true;
  AnswerWaiting();
}

// Not from here: the connection is sending, and others should have their turn.
void ReflectionCall::OnSent() {
  if (!waiting_.empty()) Deliver();
}

void ReflectionCall::AnswerWaiting() {
  while (!ended() && !waiting_.empty() && stream()->unsent() <= kAnswersAhead) {
    const std::shared_ptr<ReceivedBody> request = std::move(waiting_.front());
    waiting_.pop_front();
    const absl::StatusOr<std::string> answer = environment().reflection.Answer(
        request->text(), environment().server->in_flight_bytes(), request->holder());
    if (!answer.ok()) {
      waiting_.clear();
      SendStatus(answer.status());
    } else {
      SendMessage(OutMessage(*answer));
    }
  }
  if (half_closed_ && waiting_.empty()) SendStatus(absl::OkStatus());
  if (MayRead()) ReadOn();
}

void ReflectionCall::OnSweep(TimePoint now) {
  GrpcCall::OnSweep(now);
  if (ended() || !connection().announced() || !waiting_.empty()) return;
  if (stream()->unsent() > 0 || now < last_asked_ + kPause) return;
  SendStatus(absl::UnavailableError("the connection ends: ask again over another one"));
}

}  // namespace nereid
