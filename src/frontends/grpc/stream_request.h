// StreamRequest: one request of an inference stream, from its message to its last response.
//
// Kept alive by the core until the request is released and its final response has arrived, in
// either order, and by each of its messages until that has been written. Begins on the thread of
// the stream's queue; release and responses may come on any thread.
#ifndef NEREID_FRONTENDS_GRPC_STREAM_REQUEST_H_
#define NEREID_FRONTENDS_GRPC_STREAM_REQUEST_H_

#include <absl/status/status.h>
#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "base/budget.h"
#include "base/gate.h"
#include "base/mutex.h"
#include "frontends/codec/output_formats.h"
#include "frontends/codec/request_buffers.h"
#include "frontends/grpc/received_message.h"
#include "frontends/grpc/stream_flow.h"
#include "frontends/grpc/stream_messages.h"
#include "infer/infer_request.h"
#include "infer/response.h"

namespace nereid {

class StreamInfer;

class StreamRequest final : public std::enable_shared_from_this<StreamRequest> {
 public:
  explicit StreamRequest(std::shared_ptr<StreamInfer> stream);
  ~StreamRequest();
  StreamRequest(const StreamRequest&) = delete;
  StreamRequest& operator=(const StreamRequest&) = delete;

  // Receives the message before Begin.
  grpc::ByteBuffer* bytes() { return received_.bytes(); }
  // Hands the request to the server; errors go to the client.
  void Begin();
  // Asks the core to cancel. On the thread of the queue. REQUIRES: registered with the stream.
  void Cancel();

 private:
  static void OnRelease(InferRequest* request, uint32_t flags, const ReleaseTarget& target);
  static void OnResponse(InferResponse* response, uint32_t flags, const ResponseTarget& target);

  // After an error the core keeps nothing of the request.
  absl::Status TryBegin();
  absl::Status MakeRequest();
  absl::Status Issue();
  // Charges the request to the server's limits, as one of its stream's requests.
  absl::Status TakeUnits();
  void ReturnUnits();
  absl::Status Parse();
  void Refuse(const absl::Status& error);
  // A response of a decoupled model, or none if only the end is reported.
  void ReceiveOneOfMany(std::unique_ptr<InferResponse> response, bool is_final);
  // The response of any other model, which must send exactly one.
  void ReceiveOnly(std::unique_ptr<InferResponse> response, bool is_final) ABSL_LOCKS_EXCLUDED(mu_);
  void SendResponse(std::unique_ptr<InferResponse> response, bool is_final);
  void SendError(const absl::Status& error, bool is_final);
  void Send(StreamFlow::MessagePtr message);
  StreamFlow::MessagePtr NewMessage();

  const std::shared_ptr<StreamInfer> stream_;
  bool begun_ = false;  // exists for the stream
  Gate::Pass counted_;  // of the environment's gate of calls
  BudgetUnits slot_;    // of the server's requests in flight
  BudgetUnits bytes_;   // for the message; while the core may need it
  ReceivedMessage received_;
  RequestBuffers buffers_;
  OutputFormats formats_;
  RequestNames names_;
  bool decoupled_ = false;
  bool wants_empty_final_ = false;
  std::optional<StreamFlow::Order::Ticket> place_;  // set if the request is answered in order
  std::optional<InferRequest> request_;
  WaitingMessages waiting_;

  // Each keeps this object alive until its event.
  std::shared_ptr<StreamRequest> until_released_;
  std::shared_ptr<StreamRequest> until_answered_;

  Mutex mu_;  // for ReceiveOnly
  uint32_t response_count_ ABSL_GUARDED_BY(mu_) = 0;
  std::unique_ptr<InferResponse> response_ ABSL_GUARDED_BY(mu_);  // the first response
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_STREAM_REQUEST_H_
