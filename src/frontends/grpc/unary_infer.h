// UnaryInfer: one ModelInfer call, from waiting for the call to its end.
//
// It owns the received message, the core's request and the response until four events have
// happened, in any order: the request is released, its final response has arrived, gRPC has taken
// the answer, and gRPC reports that the call is over. Each event drops one reference. The last one
// makes the object idle, and the object returns to its queue for the next call.
//
// Owned by itself while waiting or in progress, otherwise by the queue. Begins on the thread of its
// queue; release and responses may come on any thread.
#ifndef NEREID_FRONTENDS_GRPC_UNARY_INFER_H_
#define NEREID_FRONTENDS_GRPC_UNARY_INFER_H_

#include <absl/status/status.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/async_unary_call.h>
#include <grpcpp/support/byte_buffer.h>

#include <atomic>
#include <memory>
#include <optional>

#include "base/budget.h"
#include "base/gate.h"
#include "base/mutex.h"
#include "frontends/codec/output_formats.h"
#include "frontends/codec/request_buffers.h"
#include "frontends/grpc/call_queue.h"
#include "frontends/grpc/completion_tag.h"
#include "frontends/grpc/infer_service.h"
#include "frontends/grpc/proto_writer.h"
#include "frontends/grpc/received_message.h"
#include "infer/infer_request.h"
#include "infer/response.h"

namespace nereid {

class UnaryInfer {
 public:
  // Waits for one more call on `queue`, with an idle object of the queue or a new one. Does nothing
  // if the queue is stopped.
  static void AwaitCall(const std::shared_ptr<InferEnvironment>& environment,
                        const std::shared_ptr<CallQueue>& queue);

  UnaryInfer() = default;
  UnaryInfer(const UnaryInfer&) = delete;
  UnaryInfer& operator=(const UnaryInfer&) = delete;

 private:
  // The state that exists from the wait for a call to its end.
  struct Call {
    Call(std::shared_ptr<InferEnvironment> environment_in, std::shared_ptr<CallQueue> queue_in)
        : environment(std::move(environment_in)), queue(std::move(queue_in)), writer(&context) {}

    const std::shared_ptr<InferEnvironment> environment;
    const std::shared_ptr<CallQueue> queue;
    grpc::ServerContext context;
    grpc::ServerAsyncResponseWriter<grpc::ByteBuffer> writer;
    std::optional<InferRequest> request;
    BudgetUnits slot;             // of the server's requests in flight
    PeerAccounts::Entry account;  // where it counts whose calls they are
    Gate::Pass counted;           // of environment->calls
    bool issued = false;          // the core had or has the request
  };

  // ---- Events.
  void OnArrived(bool ok);
  void OnDone(bool ok);
  void OnFinished(bool ok);
  static void OnRelease(InferRequest* request, uint32_t flags, const ReleaseTarget& target);
  static void OnResponse(InferResponse* response, uint32_t flags, const ResponseTarget& target);

  // Issues the request. After an error the core keeps nothing of it.
  absl::Status Begin();
  absl::Status TakeSlot();
  absl::Status MakeRequest();
  void Receive(std::unique_ptr<InferResponse> response, bool is_final) ABSL_LOCKS_EXCLUDED(mu_);
  // Sends the response that the core delivered.
  void Answer() ABSL_LOCKS_EXCLUDED(mu_);
  void Send(std::unique_ptr<InferResponse> response);
  void SendError(const absl::Status& error);
  // No further operation will be started for the call, or the last one has ended.
  void Finished();
  // Returns what only the request needs.
  void DropMessage();
  void DropReference();

  MemberTag<UnaryInfer, &UnaryInfer::OnArrived> arrived_{this};
  MemberTag<UnaryInfer, &UnaryInfer::OnDone> done_{this};
  MemberTag<UnaryInfer, &UnaryInfer::OnFinished> finished_{this};
  std::atomic<int> references_{0};
  std::optional<Call> call_;

  // The message, reused from call to call.
  ReceivedMessage received_;
  RequestBuffers buffers_;

  OutputFormats formats_;
  ProtoWriter proto_writer_;
  Mutex mu_;
  uint32_t response_count_ ABSL_GUARDED_BY(mu_) = 0;
  std::unique_ptr<InferResponse> response_ ABSL_GUARDED_BY(mu_);  // the first response
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_UNARY_INFER_H_
