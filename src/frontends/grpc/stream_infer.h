// StreamInfer: one ModelStreamInfer call: a thin shell that carries out with gRPC what StreamFlow
// decides, and hands each message that arrives to a StreamRequest.
//
// Kept alive by itself while gRPC owes it an event, and by its requests. Events arrive on the
// thread of its queue; the methods that requests call are thread-safe.
#ifndef NEREID_FRONTENDS_GRPC_STREAM_INFER_H_
#define NEREID_FRONTENDS_GRPC_STREAM_INFER_H_

#include <absl/container/flat_hash_set.h>
#include <absl/status/status.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/byte_buffer.h>

#include <atomic>
#include <memory>

#include "base/mutex.h"
#include "frontends/grpc/call_queue.h"
#include "frontends/grpc/completion_tag.h"
#include "frontends/grpc/infer_service.h"
#include "frontends/grpc/stream_flow.h"

namespace nereid {

class StreamRequest;

class StreamInfer final : public std::enable_shared_from_this<StreamInfer> {
 public:
  // Waits for one more call on `queue`. Does nothing if the queue is stopped.
  static void AwaitCall(const std::shared_ptr<InferEnvironment>& environment,
                        const std::shared_ptr<CallQueue>& queue);

  StreamInfer(std::shared_ptr<InferEnvironment> environment, std::shared_ptr<CallQueue> queue);
  StreamInfer(const StreamInfer&) = delete;
  StreamInfer& operator=(const StreamInfer&) = delete;

  // ---- For the requests of the stream.
  InferEnvironment& environment() { return *environment_; }
  CallQueue* queue() { return queue_.get(); }
  // The client asked for the call to end with the first error, instead of messages about errors.
  bool ends_at_errors() const { return ends_at_errors_; }
  // Whether everything sent is dropped.
  bool gone() const { return gone_.load(std::memory_order_relaxed); }

  void BeginRequest() { flow_.BeginRequest(); }
  void EndRequest() { Act(flow_.EndRequest()); }
  void RequestGone() { Act(flow_.RequestGone()); }
  // Number of requests of the stream that exist.
  int64_t requests() const { return flow_.requests(); }
  // The share of the server's byte limit that the requests hold, as reported by them.
  std::atomic<uint64_t>* held_bytes() { return &held_bytes_; }
  StreamFlow::Order::Ticket TakePlace() { return flow_.TakePlace(); }
  void Send(StreamFlow::MessagePtr message) { Act(flow_.Send(std::move(message))); }
  void SendInOrder(StreamFlow::Order::Ticket place, StreamFlow::MessagePtr message) {
    Act(flow_.SendInOrder(place, std::move(message)));
  }
  // Ends the call with `error`, and with it the requests in progress.
  void Fail(const absl::Status& error);
  // Blocks a thread that sends faster than the client reads, but never an I/O thread.
  void HoldBack(const WaitingMessages& waiting);
  // From Register to Unregister, cancelling the call cancels the request.
  void Register(StreamRequest* request) ABSL_LOCKS_EXCLUDED(mu_);
  void Unregister(StreamRequest* request) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // ---- Events.
  void OnArrived(bool ok);
  void OnRead(bool ok);
  void OnWritten(bool ok);
  void OnFinished(bool ok);
  void OnDone(bool ok);

  void Act(const StreamFlow::Action& action);
  void StartRead();
  // On the thread of the queue, so no request begins meanwhile.
  void CancelRequests() ABSL_LOCKS_EXCLUDED(mu_);
  // Runs `start`, which starts one operation; returns false if the queue is stopped.
  template <typename Start>
  bool StartOperation(Start start);
  // gRPC owes one more event / has delivered an event.
  void AddEvents(int count) ABSL_LOCKS_EXCLUDED(mu_);
  void EventDelivered() ABSL_LOCKS_EXCLUDED(mu_);

  const std::shared_ptr<InferEnvironment> environment_;
  const std::shared_ptr<CallQueue> queue_;
  MemberTag<StreamInfer, &StreamInfer::OnArrived> arrived_{this};
  MemberTag<StreamInfer, &StreamInfer::OnRead> read_{this};
  MemberTag<StreamInfer, &StreamInfer::OnWritten> written_{this};
  MemberTag<StreamInfer, &StreamInfer::OnFinished> finished_{this};
  MemberTag<StreamInfer, &StreamInfer::OnDone> done_{this};
  grpc::ServerContext context_;
  grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer> stream_{&context_};
  grpc::ByteBuffer received_;
  StreamFlow flow_;
  bool ends_at_errors_ = false;  // set before the first request
  std::atomic<bool> gone_{false};
  std::atomic<uint64_t> held_bytes_{0};

  Mutex mu_;
  int events_owed_ ABSL_GUARDED_BY(mu_) = 0;
  std::shared_ptr<StreamInfer> self_ ABSL_GUARDED_BY(mu_);  // while events are owed
  absl::flat_hash_set<StreamRequest*> requests_ ABSL_GUARDED_BY(mu_);
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_STREAM_INFER_H_
