// SPDX-License-Identifier: Apache-2.0
// ReflectionCall: one call of server reflection: answers each message in order, and ends when the
// client has asked its last one.
//
// Answers are many times as long as requests. So a request is answered only when few bytes of
// earlier answers wait for the client, and until all have been answered the client may send no more
// than its stream's window. Runs on its loop's thread.
#ifndef NEREID_FRONTENDS_GRPC_REFLECTION_CALL_H_
#define NEREID_FRONTENDS_GRPC_REFLECTION_CALL_H_

#include <deque>
#include <memory>

#include "base/clock.h"
#include "frontends/grpc/grpc_call.h"

namespace nereid {

class ReflectionCall final : public GrpcCall {
 public:
  explicit ReflectionCall(Origin origin);

  // GrpcCall
  void OnSent() override;
  void OnSweep(TimePoint now) override;
  void OnDelivery() override { AnswerWaiting(); }

 private:
  void OnMessage(std::shared_ptr<ReceivedBody> message) override;
  void OnHalfClose() override;
  void OnCancelled() override { waiting_.clear(); }
  bool MayRead() override { return waiting_.empty(); }

  // Answers as much as may be sent now.
  void AnswerWaiting();

  std::deque<std::shared_ptr<ReceivedBody>> waiting_;  // requests not answered
  bool half_closed_ = false;
  TimePoint last_asked_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_REFLECTION_CALL_H_
