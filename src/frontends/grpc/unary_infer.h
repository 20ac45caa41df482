// SPDX-License-Identifier: Apache-2.0
// UnaryInfer: one call that infers once, and the flight of its request: the received message and
// the message of the answer. What the messages are is its subclass's: ModelInfer, TfsInfer.
//
// Kept alive as a call until its stream is closed, and as a flight until the request's two ends.
// Begins and answers on the thread of its connection's loop; release and responses may come on any
// thread.
#ifndef NEREID_FRONTENDS_GRPC_UNARY_INFER_H_
#define NEREID_FRONTENDS_GRPC_UNARY_INFER_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "base/budget.h"
#include "base/gate.h"
#include "base/threads/thread_pool.h"
#include "frontends/codec/received_body.h"
#include "frontends/codec/request_buffers.h"
#include "frontends/grpc/grpc_call.h"
#include "frontends/grpc/grpc_trace.h"
#include "frontends/grpc/out_message.h"
#include "infer/flight.h"

namespace nereid {

class UnaryInfer : public GrpcCall, public Flight {
 public:
  explicit UnaryInfer(Origin origin) : GrpcCall(std::move(origin)) {}

  void OnDelivery() override { SendAnswer(); }

 protected:
  struct Asked {
    std::shared_ptr<ServingModel> model;
    int64_t version;  // as the client has it, or kLatestVersion
  };

  // ---- The messages of the method.
  // Takes the bytes of the request.
  virtual void Take(std::shared_ptr<ReceivedBody> message) = 0;
  // Parses them, unless that takes an I/O thread too long: then returns false, and ParseElsewhere
  // is called on a thread that may take its time. `executor`, which outlives the call, is for what
  // may be done later.
  virtual absl::StatusOr<bool> ParseAtOnce(Budget* budget) = 0;
  virtual absl::Status ParseElsewhere(Budget* budget, ThreadPool* executor) = 0;
  // Of the parsed request. Any thread, as for the next two.
  virtual absl::StatusOr<Asked> FindModel() = 0;
  // Empty if the method knows none.
  virtual absl::string_view request_id() const { return {}; }
  // Fills `request` with views of the message and of `buffers`.
  virtual absl::Status Read(InferRequest* request, RequestBuffers* buffers) = 0;
  // Nobody needs the message any more. Any thread; called once or more.
  virtual void Clear() = 0;
  // Where outputs are written.
  virtual Outputs MakeOutputs() = 0;
  // The answer. Any thread, once.
  virtual absl::StatusOr<OutMessage> Write(std::unique_ptr<InferResponse> response) = 0;

  // The memory of an answer is paid for with these from Write on, until the stream pays for it.
  void PayForWriting(BudgetUnits units) { writing_units_ = std::move(units); }

 private:
  // ---- GrpcCall
  void OnBegin() override { waiting_since_ns_ = environment().TimeForTraces(); }
  void OnMessage(std::shared_ptr<ReceivedBody> message) override;
  void OnHalfClose() override;
  void OnCancelled() override { Cancel(); }
  LogAbout AboutRequest() const override { return about_; }
  void OnStreamClosed() override {
    if (answered_) counted_ = Gate::Pass();
    sent_.reset();
  }

  // ---- Flight
  void OnReleased() override;
  void OnResponse(std::unique_ptr<InferResponse> response, bool is_final) override;

  // Begins the request of the message. After an error the core keeps nothing of it.
  absl::Status Begin();
  // The steps from the message to the core. Those for any thread may run while the call ends.
  absl::Status ReadElsewhere();  // makes another thread do the first steps
  absl::Status ParseAndRead();   // any thread: the first steps of a large message
  absl::Status ReadAndIssue();   // all steps of a small message that is parsed
  // If the model is being loaded: takes `step` again when it is there. Otherwise returns `error`.
  absl::Status WaitAfter(const absl::Status& error, absl::Status (UnaryInfer::*step)());
  absl::Status MakeDraft();  // any thread
  void NoteDraft();
  absl::Status IssueDraft();
  void Refuse(const absl::Status& error);
  // Makes the answer of the response that the core delivered, on the thread that delivers it.
  absl::StatusOr<OutMessage> MakeAnswer();
  void SendAnswer();

  bool begun_ = false;  // the message has arrived
  Gate::Pass counted_;  // of the environment's gate of calls
  RequestBuffers buffers_;
  OnlyResponse response_;
  // Written by the thread that delivers the final response, before the call is handed to the loop.
  absl::StatusOr<OutMessage> answer_;
  BudgetUnits writing_units_;
  bool answered_ = false;  // loop's thread: the answer was sent, or cannot be
  uint64_t waiting_since_ns_ = 0;
  LogAbout about_;                    // for the log; empty unless verbose lines are written
  TracedRequestPtr traced_;           // constant once issued
  std::shared_ptr<const void> sent_;  // loop's thread: kept until the answer is sent
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_UNARY_INFER_H_
