#include "frontends/grpc/stream_infer.h"

#include <utility>
#include <vector>

#include "base/io_thread.h"
#include "base/log.h"
#include "frontends/grpc/stream_request.h"

namespace nereid {
namespace {

// Metadata of a call that is to end with the first error.
constexpr char kEndAtErrors[] = "triton_grpc_error";

// Bytes of a stream that may wait for the connection while the next message is taken from the flow.
constexpr size_t kAheadBytes = 64 << 10;

}  // namespace

StreamInfer::StreamInfer(Origin origin)
    : GrpcCall(std::move(origin), Messages::kMany, &held_bytes_),
      flow_(environment().stream_limits, environment().server->clock()) {
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
    if (action.kind != StreamFlow::Action::Kind::kNone) left_.action = std::move(action);
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
  if (left.stalled) stream()->Reset(http2::ErrorCode::kCancel);
  Perform(std::move(left.action));
}

void StreamInfer::Perform(StreamFlow::Action action) {
  bool read = action.read;
  while (action.kind == StreamFlow::Action::Kind::kWrite) {
    const bool ok = !ended();
    SendMessage(*action.message);
    if (ok && stream()->unsent() > kAheadBytes) {
      writing_ = true;  // OnSent goes on
      break;
    }
    action = flow_.Written(ok);
    read = read || action.read;
  }
  if (action.kind == StreamFlow::Action::Kind::kFinish) {
    SendStatus(action.status);
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
}

void StreamInfer::HoldBack(const WaitingMessages& waiting, const StreamRequest& request) {
  if (OnIoThread() || flow_.HoldBack(waiting)) return;
  LOG_WARNING
      << request.About() << "gRPC: a client has taken nothing of its stream for "
      << std::chrono::duration_cast<std::chrono::seconds>(environment().stream_limits.stall).count()
      << " s; the stream is cancelled";
  {
    MutexLock lock(&mu_);
    left_.stalled = true;
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
