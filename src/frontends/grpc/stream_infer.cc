// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/stream_infer.h"

#include <utility>
#include <vector>

#include "frontends/grpc/stream_request.h"

namespace nereid {
namespace {

// Metadata of a call that is to end with the first error.
constexpr char kEndAtErrors[] = "triton_grpc_error";

// Bytes of a stream that may wait for the connection while the next message is taken from the flow.
constexpr size_t kAheadBytes = 64 << 10;

}  // namespace

StreamInfer::StreamInfer(Origin origin)
    : GrpcCall(std::move(origin), Messages::kMany), flow_(environment().stream_limits) {
  ends_at_errors_ = header(kEndAtErrors) == "true";
  CompressAnswersFor(environment().compression);
}

StreamInfer::~StreamInfer() = default;

// ---- Requests

void StreamInfer::BeginRequestWith(std::shared_ptr<ReceivedBody> message,
                                   const absl::Status& refused) {
  const auto self = std::static_pointer_cast<StreamInfer>(shared_from_this());
  StreamRequest::Begin(std::make_shared<StreamRequest>(self), std::move(message), refused);
  reading_ = flow_.MayRead();
  waiting_since_ns_ = environment().TimeForTraces();
}

void StreamInfer::OnHalfClose() { Act(flow_.HalfClose()); }

// ---- What the flow decides

void StreamInfer::Act(StreamFlow::Action action) {
  if (action.kind == StreamFlow::Action::Kind::kNone && !action.read) return;
  if (OnLoop()) return Perform(std::move(action));
  {
    MutexLock lock(&mu_);
    // A write and the end of a call never come together: the flow waits for the end of a write.
    const bool read = left_.action.read || action.read;
    left_.action.credited.Add(std::move(action.credited));
    if (action.kind != StreamFlow::Action::Kind::kNone) {
      action.credited = std::move(left_.action.credited);
      left_.action = std::move(action);
    }
    left_.action.read = read;
    if (std::exchange(delivered_, true)) return;
  }
  Deliver();
}

void StreamInfer::OnDelivery() {
  Left left;
  {
    MutexLock lock(&mu_);
    left = std::exchange(left_, Left());
    delivered_ = false;
  }
  if (left.cancel) CancelRequests();
  Perform(std::move(left.action));
}

void StreamInfer::Perform(StreamFlow::Action action) {
  bool read = action.read;
  // Called at the end, because they may send.
  ResponseCredit::Woken credited = std::move(action.credited);
  while (action.kind == StreamFlow::Action::Kind::kWrite) {
    const bool ok = !ended();
    // Unless the call pays for the message while it waits in the stream, the flow keeps what does.
    const bool ahead = ok && stream()->unsent() + action.message->size() <= kAheadBytes &&
                       PayForAnswer(action.message->own_size()).ok();
    SendPaid(*action.message);
    if (ok && !ahead) {
      writing_ = true;  // OnSent goes on
      break;
    }
    action = flow_.Written(ok);
    credited.Add(std::move(action.credited));
    read = read || action.read;
  }
  if (action.kind == StreamFlow::Action::Kind::kFinish) {
    // Whatever RESOURCE_EXHAUSTED comes from here is about this stream (UnreadError).
    SendStatus(absl::IsResourceExhausted(action.status) ? GrpcCode::kResourceExhausted
                                                        : GrpcCodeOfCore(action.status.code()),
               action.status.message());
    if (gone()) CancelRequests();
  }
  if (!read) return;
  reading_ = true;
  ReadOn();
}

void StreamInfer::OnSent() {
  if (std::exchange(writing_, false)) Perform(flow_.Written(/*ok=*/true));
}

// ---- Ends

void StreamInfer::OnCancelled() {
  gone_.store(true, std::memory_order_relaxed);
  CancelRequests();
  if (std::exchange(writing_, false)) Act(flow_.Written(/*ok=*/false));
  Act(flow_.Break());
}

void StreamInfer::Fail(const absl::Status& error) {
  gone_.store(true, std::memory_order_relaxed);
  Act(flow_.Fail(error));
  // The end of the call may have to wait until the client has taken a message. The requests must
  // not. They are cancelled by the loop's thread, as when the client leaves.
  {
    MutexLock lock(&mu_);
    left_.cancel = true;
    if (std::exchange(delivered_, true)) return;
  }
  Deliver();
}

void StreamInfer::Register(StreamRequest* request) {
  MutexLock lock(&mu_);
  requests_.insert(request);
}

void StreamInfer::Unregister(StreamRequest* request) {
  MutexLock lock(&mu_);
  requests_.erase(request);
}

void StreamInfer::CancelRequests() {
  std::vector<std::shared_ptr<StreamRequest>> requests;
  {
    MutexLock lock(&mu_);
    requests.reserve(requests_.size());
    for (StreamRequest* request : requests_) requests.push_back(request->shared_from_this());
  }
  for (const auto& request : requests) request->Cancel();
}

}  // namespace nereid
