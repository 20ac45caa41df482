// SPDX-License-Identifier: Apache-2.0
// StreamRequest: the flight of one request of an inference stream: its message, and the messages of
// its answers.
//
// Also kept alive by each of its messages until that has been written. Begins on the thread of the
// stream's loop; release and responses may come on any thread.
#ifndef NEREID_FRONTENDS_GRPC_STREAM_REQUEST_H_
#define NEREID_FRONTENDS_GRPC_STREAM_REQUEST_H_

#include <absl/status/status.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "base/budget.h"
#include "base/gate.h"
#include "frontends/codec/output_formats.h"
#include "frontends/codec/request_buffers.h"
#include "frontends/grpc/grpc_trace.h"
#include "frontends/grpc/received_message.h"
#include "frontends/grpc/stream_flow.h"
#include "frontends/grpc/stream_messages.h"
#include "infer/flight.h"

namespace nereid {

class StreamInfer;

class StreamRequest final : public Flight, public std::enable_shared_from_this<StreamRequest> {
 public:
  explicit StreamRequest(std::shared_ptr<StreamInfer> stream);
  ~StreamRequest() override;

  // Makes `request` that of `message`, and hands it to the server; errors go to the client.
  // `refused`: the error of a message that must not be carried out; then `message` may be null.
  static void Begin(std::shared_ptr<StreamRequest> request, std::shared_ptr<ReceivedBody> message,
                    const absl::Status& refused);
  // For lines of the log about the request.
  LogAbout About() const;

 private:
  // ---- Flight
  void OnReleased() override;
  void OnResponse(std::unique_ptr<InferResponse> response, bool is_final) override;

  // After an error the core keeps nothing of the request.
  static absl::Status TryBegin(std::shared_ptr<StreamRequest>* request);
  // The steps from the message to the core. Those for any thread may run while the stream ends.
  static absl::Status ReadElsewhere(std::shared_ptr<StreamRequest>* given);
  static absl::Status ReadAndIssue(std::shared_ptr<StreamRequest>* request);
  // If the model is being loaded: takes `step` again when it is there. Otherwise returns `error`.
  using Step = absl::Status (*)(std::shared_ptr<StreamRequest>* request);
  static absl::Status WaitAfter(const absl::Status& error,
                                const std::shared_ptr<StreamRequest>& request, Step step);
  absl::Status ParseAndRead();  // any thread: the first steps of a large message
  absl::Status MakeDraft();     // any thread
  void NoteDraft();
  absl::Status ReadDraft();  // any thread
  static absl::Status IssueDraft(std::shared_ptr<StreamRequest>* request);
  // Charges the request to the server's limits, as one of its stream's requests.
  absl::Status TakeUnits();
  absl::StatusOr<bool> ParseAtOnce();
  void Refuse(const absl::Status& error);
  // A response of a decoupled model, or none if only the end is reported.
  void ReceiveOneOfMany(std::unique_ptr<InferResponse> response, bool is_final);
  // The response of any other model, which must send exactly one.
  void ReceiveOnly(std::unique_ptr<InferResponse> response, bool is_final);
  void SendResponse(std::unique_ptr<InferResponse> response, bool is_final);
  void SendError(const absl::Status& error, bool is_final);
  void Send(StreamFlow::MessagePtr message);
  StreamFlow::MessagePtr NewMessage();

  const std::shared_ptr<StreamInfer> stream_;
  bool begun_ = false;  // exists for the stream
  Gate::Pass counted_;  // of the environment's gate of calls
  BudgetUnits cost_;    // of the objects, until the last answer is written
  ReceivedMessage received_;
  RequestBuffers buffers_;
  OutputFormats formats_;
  RequestNames names_;
  bool decoupled_ = false;
  bool wants_empty_final_ = false;
  std::optional<StreamFlow::Order::Ticket> place_;  // set if the request is answered in order
  OnlyResponse response_;                           // for ReceiveOnly
  WaitingMessages waiting_;
  TracedRequestPtr traced_;  // constant once issued
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_STREAM_REQUEST_H_
