#include "frontends/grpc/stream_infer.h"

#include <grpcpp/support/string_ref.h>

#include <utility>
#include <vector>

#include "base/io_thread.h"
#include "base/log.h"
#include "frontends/grpc/status_map.h"
#include "frontends/grpc/stream_request.h"

namespace nereid {
namespace {

// Metadata of a call that is to end with the first error.
constexpr char kEndAtErrors[] = "triton_grpc_error";

bool AsksToEndAtErrors(const grpc::ServerContext& context) {
  const auto entry = context.client_metadata().find(kEndAtErrors);
  return entry != context.client_metadata().end() && entry->second == "true";
}

}  // namespace

StreamInfer::StreamInfer(std::shared_ptr<InferEnvironment> environment,
                         std::shared_ptr<CallQueue> queue)
    : environment_(std::move(environment)),
      queue_(std::move(queue)),
      flow_(environment_->stream_limits, environment_->server->clock()) {}

void StreamInfer::AwaitCall(const std::shared_ptr<InferEnvironment>& environment,
                            const std::shared_ptr<CallQueue>& queue) {
  const auto call = std::make_shared<StreamInfer>(environment, queue);
  call->context_.AsyncNotifyWhenDone(&call->done_);
  call->StartOperation([&](grpc::ServerCompletionQueue* completion_queue) {
    environment->service.RequestModelStreamInfer(&call->context_, &call->stream_, completion_queue,
                                                 &call->arrived_);
  });
}

void StreamInfer::OnArrived(bool ok) {
  if (ok) {        // otherwise the server is shut down
    AddEvents(1);  // the end of the call will be reported
    AwaitCall(environment_, queue_);
    environment_->Prepare(&context_);
    ends_at_errors_ = AsksToEndAtErrors(context_);
    StartRead();
  }
  EventDelivered();
}

void StreamInfer::StartRead() {
  StartOperation([this](grpc::ServerCompletionQueue*) { stream_.Read(&received_, &read_); });
}

void StreamInfer::OnRead(bool ok) {
  if (ok) {
    const auto request = std::make_shared<StreamRequest>(shared_from_this());
    request->bytes()->Swap(&received_);
    request->Begin();
    if (flow_.MayRead()) StartRead();
  } else {
    Act(flow_.HalfClose());
  }
  EventDelivered();
}

void StreamInfer::OnWritten(bool ok) {
  Act(flow_.Written(ok));
  EventDelivered();
}

void StreamInfer::OnFinished(bool) {
  if (gone()) CancelRequests();
  EventDelivered();
}

void StreamInfer::OnDone(bool) {
  if (context_.IsCancelled()) {
    gone_.store(true, std::memory_order_relaxed);
    CancelRequests();
    Act(flow_.Break());
  }
  EventDelivered();
}

void StreamInfer::Act(const StreamFlow::Action& action) {
  switch (action.kind) {
    case StreamFlow::Action::Kind::kNone:
      break;
    case StreamFlow::Action::Kind::kWrite: {
      grpc::WriteOptions options;
      // gRPC may then put several messages into one packet.
      if (action.more) options.set_buffer_hint();
      const bool started = StartOperation([&](grpc::ServerCompletionQueue*) {
        stream_.Write(*action.message, options, &written_);
      });
      if (!started) Act(flow_.Written(/*ok=*/false));
      break;
    }
    case StreamFlow::Action::Kind::kFinish:
      StartOperation([&](grpc::ServerCompletionQueue*) {
        stream_.Finish(ToGrpcStatus(action.status), &finished_);
      });
      break;
  }
  if (action.read) StartRead();
}

void StreamInfer::Fail(const absl::Status& error) {
  gone_.store(true, std::memory_order_relaxed);
  Act(flow_.Fail(error));
}

void StreamInfer::HoldBack(const WaitingMessages& waiting) {
  if (OnIoThread() || flow_.HoldBack(waiting)) return;
  LOG_WARNING
      << "gRPC: a client has taken nothing of its stream for "
      << std::chrono::duration_cast<std::chrono::seconds>(environment_->stream_limits.stall).count()
      << " s; the stream is cancelled";
  context_.TryCancel();
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

template <typename Start>
bool StreamInfer::StartOperation(Start start) {
  AddEvents(1);
  if (queue_->StartOperation(start)) return true;
  EventDelivered();
  return false;
}

void StreamInfer::AddEvents(int count) {
  MutexLock lock(&mu_);
  if (events_owed_ == 0) self_ = shared_from_this();
  events_owed_ += count;
}

void StreamInfer::EventDelivered() {
  std::shared_ptr<StreamInfer> last;  // may destroy this object, after the lock
  MutexLock lock(&mu_);
  if (--events_owed_ == 0) last = std::move(self_);
}

}  // namespace nereid
