// SPDX-License-Identifier: Apache-2.0
// StreamInfer: one ModelStreamInfer call: carries out what StreamFlow decides, and hands each
// message that arrives to a StreamRequest.
//
// Kept alive by its stream and by its requests. Messages arrive and leave on the thread of the
// connection's loop; the methods that requests call are thread-safe.
#ifndef NEREID_FRONTENDS_GRPC_STREAM_INFER_H_
#define NEREID_FRONTENDS_GRPC_STREAM_INFER_H_

#include <absl/container/flat_hash_set.h>
#include <absl/status/status.h>

#include <atomic>
#include <memory>
#include <utility>

#include "base/mutex.h"
#include "frontends/grpc/grpc_call.h"
#include "frontends/grpc/stream_flow.h"
#include "infer/inline_turn.h"

namespace nereid {

class StreamRequest;

class StreamInfer final : public GrpcCall {
 public:
  explicit StreamInfer(Origin origin);
  ~StreamInfer() override;

  // ---- For the requests of the stream.
  GrpcEnvironment& env() { return environment(); }
  using GrpcCall::AwaitModel;
  using GrpcCall::ForwardMetadata;
  using GrpcCall::holder;
  using GrpcCall::RunElsewhere;
  InlineTurn* turn() { return connection().loop()->turn(); }
  // The client asked for the call to end with the first error, instead of messages about errors.
  bool ends_at_errors() const { return ends_at_errors_; }
  // Whether everything sent is dropped.
  bool gone() const { return gone_.load(std::memory_order_relaxed); }
  MessageCoding coding() const { return answer_coding(); }

  void BeginRequest() { flow_.BeginRequest(); }
  void EndRequest() { Act(flow_.EndRequest()); }
  void RequestGone(WaitingMessages* waiting) { Act(flow_.RequestGone(waiting)); }
  // Number of requests of the stream that exist.
  int64_t requests() const { return flow_.requests(); }
  StreamFlow::Order::Ticket TakePlace() { return flow_.TakePlace(); }
  void Send(StreamFlow::MessagePtr message) { Act(flow_.Send(std::move(message))); }
  void SendInOrder(StreamFlow::Order::Ticket place, StreamFlow::MessagePtr message) {
    Act(flow_.SendInOrder(place, std::move(message)));
  }
  // Ends the call with `error`, and cancels the requests in progress.
  void Fail(const absl::Status& error) ABSL_LOCKS_EXCLUDED(mu_);
  // The credit of a request with several responses.
  std::shared_ptr<ResponseCredit> MakeCredit() const {
    return std::make_shared<ResponseCredit>(flow_.account(), environment().stream_limits.bytes);
  }
  uint64_t waiting_bytes() const { return flow_.account()->load(std::memory_order_relaxed); }
  // From Register to Unregister, cancelling the call cancels the request.
  void Register(StreamRequest* request) ABSL_LOCKS_EXCLUDED(mu_);
  void Unregister(StreamRequest* request) ABSL_LOCKS_EXCLUDED(mu_);

  // Since when the stream waits for its next message, while requests are traced. Loop's thread.
  uint64_t waiting_since_ns() const { return waiting_since_ns_; }
  const http2::Stream& calls_stream() const { return *stream(); }

  // GrpcCall
  void OnDelivery() override ABSL_LOCKS_EXCLUDED(mu_);
  void OnSent() override;

 private:
  // What other threads leave for the loop's.
  struct Left {
    StreamFlow::Action action;
    bool cancel = false;  // the requests in progress
  };

  void OnBegin() override { waiting_since_ns_ = environment().TimeForTraces(); }
  void OnMessage(std::shared_ptr<ReceivedBody> message) override {
    BeginRequestWith(std::move(message), absl::OkStatus());
  }
  void OnRefused(std::shared_ptr<ReceivedBody> message, const absl::Status& error) override {
    BeginRequestWith(std::move(message), error);
  }
  void BeginRequestWith(std::shared_ptr<ReceivedBody> message, const absl::Status& refused);
  void OnHalfClose() override;
  void OnCancelled() override;
  bool MayRead() override { return reading_; }

  // Carries out `action`, or leaves it for the loop's thread.
  void Act(StreamFlow::Action action) ABSL_LOCKS_EXCLUDED(mu_);
  void Perform(StreamFlow::Action action);
  void CancelRequests() ABSL_LOCKS_EXCLUDED(mu_);

  StreamFlow flow_;
  bool ends_at_errors_ = false;  // set before the first request
  std::atomic<bool> gone_{false};

  // Loop's thread only.
  bool reading_ = true;   // further requests may begin
  bool writing_ = false;  // the end of a write is owed to the flow
  uint64_t waiting_since_ns_ = 0;

  Mutex mu_;
  Left left_ ABSL_GUARDED_BY(mu_);
  bool delivered_ ABSL_GUARDED_BY(mu_) = false;  // the loop's thread will look at left_
  absl::flat_hash_set<StreamRequest*> requests_ ABSL_GUARDED_BY(mu_);
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_STREAM_INFER_H_
