#include "frontends/grpc/unary_infer.h"

#include <absl/strings/str_cat.h>

#include <utility>

#include "base/log.h"
#include "base/status_macros.h"
#include "frontends/grpc/infer_request_reader.h"
#include "frontends/grpc/model_version.h"
#include "frontends/grpc/status_map.h"

namespace nereid {
namespace {

constexpr size_t kKeptHeaderBytes = 16384;  // larger messages leave no memory behind
constexpr size_t kKeptSlices = 1024;

// Keeps a response as long as slices point into its buffers.
class SharedResponse {
 public:
  // One reference for the caller.
  explicit SharedResponse(std::unique_ptr<InferResponse> response)
      : response_(std::move(response)) {}

  grpc::Slice MakeSlice(absl::string_view bytes) {
    references_.fetch_add(1, std::memory_order_relaxed);
    return grpc::Slice(const_cast<char*>(bytes.data()), bytes.size(), &SharedResponse::Drop, this);
  }

  static void Drop(void* shared) {
    auto* const self = static_cast<SharedResponse*>(shared);
    if (self->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete self;
  }

 private:
  ~SharedResponse() = default;

  const std::unique_ptr<InferResponse> response_;
  std::atomic<int> references_{1};
};

grpc::ByteBuffer Assemble(absl::Span<const WirePiece> pieces,
                          std::unique_ptr<InferResponse> response) {
  if (pieces.size() == 1 && !pieces[0].of_response) {
    const grpc::Slice slice(pieces[0].bytes.data(), pieces[0].bytes.size());
    return grpc::ByteBuffer(&slice, 1);
  }
  auto* const shared = new SharedResponse(std::move(response));
  std::vector<grpc::Slice> slices;
  slices.reserve(pieces.size());
  for (const WirePiece& piece : pieces) {
    slices.push_back(piece.of_response ? shared->MakeSlice(piece.bytes)
                                       : grpc::Slice(piece.bytes.data(), piece.bytes.size()));
  }
  SharedResponse::Drop(shared);
  return grpc::ByteBuffer(slices.data(), slices.size());
}

grpc_compression_level LevelOf(GrpcCompression compression) {
  switch (compression) {
    case GrpcCompression::kNone:
      return GRPC_COMPRESS_LEVEL_NONE;
    case GrpcCompression::kLow:
      return GRPC_COMPRESS_LEVEL_LOW;
    case GrpcCompression::kMedium:
      return GRPC_COMPRESS_LEVEL_MED;
    case GrpcCompression::kHigh:
      return GRPC_COMPRESS_LEVEL_HIGH;
  }
  return GRPC_COMPRESS_LEVEL_NONE;
}

}  // namespace

void UnaryInfer::AwaitCall(const std::shared_ptr<InferEnvironment>& environment,
                           const std::shared_ptr<CallQueue>& queue) {
  std::unique_ptr<UnaryInfer> call = queue->TakeIdle();
  if (call == nullptr) call = std::make_unique<UnaryInfer>();
  call->call_.emplace(environment, queue);
  Call& next = *call->call_;
  next.context.AsyncNotifyWhenDone(&call->done_);
  // One until gRPC has taken the answer, one until it says that the call is over.
  call->references_.store(2, std::memory_order_relaxed);
  const bool started = queue->StartOperation([&](grpc::ServerCompletionQueue* completion_queue) {
    environment->service.RequestModelInfer(&next.context, &call->received_, &next.writer,
                                           completion_queue, &call->arrived_);
  });
  if (started) call.release();  // comes back with an event
}

void UnaryInfer::OnArrived(bool ok) {
  if (!ok) {  // the server is shut down
    delete this;
    return;
  }
  AwaitCall(call_->environment, call_->queue);
  if (const absl::Status begun = Begin(); !begun.ok()) {
    call_->request.reset();
    DropMessage();
    SendError(begun);
  }
}

absl::Status UnaryInfer::Begin() {
  InferEnvironment& environment = *call_->environment;
  if (!environment.calls.Enter()) {
    return absl::UnavailableError(
        "GRPC server is shutting down and has stopped accepting new requests.");
  }
  call_->counted = true;
  if (environment.compression != GrpcCompression::kNone) {
    call_->context.set_compression_level(LevelOf(environment.compression));
  }
  ASSIGN_OR_RETURN(BudgetUnits units,
                   environment.server->in_flight_bytes()->Take(received_.Length()));
  RETURN_IF_ERROR(ReadMessage());
  RETURN_IF_ERROR(MakeRequest());
  call_->request->set_units(std::move(units));
  call_->request->set_release_target({&UnaryInfer::OnRelease, this});
  call_->request->set_response_target(
      {&UnaryInfer::OnResponse, this, nullptr, &environment.allocator, nullptr});
  // One until the request is released, one until its final response is there. Both may happen
  // before Infer returns.
  references_.fetch_add(2, std::memory_order_relaxed);
  call_->issued = true;
  call_->request->inline_turn = call_->queue->turn();
  absl::Status issued = environment.server->Infer(&*call_->request);
  if (!issued.ok()) {
    call_->issued = false;
    references_.fetch_sub(2, std::memory_order_relaxed);
  }
  return issued;
}

absl::Status UnaryInfer::ReadMessage() {
  if (!received_.Dump(&slices_).ok()) return absl::InternalError("Unable to read request");
  slice_views_.reserve(slices_.size());
  for (const grpc::Slice& slice : slices_) {
    slice_views_.emplace_back(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  if (!message_.has_value()) message_.emplace();
  if (!SplitMessage(slice_views_, &split_) ||
      !message_->ParseFromArray(split_.header.data(), static_cast<int>(split_.header.size()))) {
    return absl::InvalidArgumentError("Unable to parse request");
  }
  if (const uint64_t typed_bytes = TypedContentBytes(*message_); typed_bytes > 0) {
    ASSIGN_OR_RETURN(call_->typed_units,
                     call_->environment->server->in_flight_bytes()->Take(typed_bytes));
  }
  return absl::OkStatus();
}

absl::Status UnaryInfer::MakeRequest() {
  ASSIGN_OR_RETURN(const int64_t version, ParseModelVersion(message_->model_version()));
  ASSIGN_OR_RETURN(std::shared_ptr<ServingModel> model,
                   call_->environment->server->FindModel(message_->model_name(), version));
  if (model->config().decoupled) {
    return absl::UnimplementedError(
        "ModelInfer RPC doesn't support models with decoupled transaction policy");
  }
  call_->request.emplace(std::move(model), version);
  return ReadInferRequest({*message_, split_}, &*call_->request, &buffers_, &formats_);
}

void UnaryInfer::OnDone(bool ok) {
  if (call_->context.IsCancelled() && call_->issued) {
    LOG_VERBOSE(1) << "Cancellation notification received for ModelInfer of '"
                   << call_->request->model()->config().name << "'";
    if (const absl::Status cancelled = call_->request->Cancel(); !cancelled.ok()) {
      LOG_ERROR << "cannot cancel a request: " << cancelled.message();
    }
  }
  DropReference();
}

void UnaryInfer::OnRelease(InferRequest* request, uint32_t flags, const ReleaseTarget& target) {
  auto* const self = static_cast<UnaryInfer*>(target.userp);
  request->RemoveAllInputs();
  self->DropMessage();
  self->DropReference();
}

void UnaryInfer::OnResponse(InferResponse* response, uint32_t flags, const ResponseTarget& target) {
  auto* const self = static_cast<UnaryInfer*>(target.userp);
  self->Receive(std::unique_ptr<InferResponse>(response), (flags & kResponseCompleteFinal) != 0);
}

void UnaryInfer::Receive(std::unique_ptr<InferResponse> response, bool is_final) {
  if (response != nullptr) {
    MutexLock lock(&mu_);
    if (++response_count_ == 1) response_ = std::move(response);
  }
  if (!is_final) return;
  Answer();
  DropReference();
}

void UnaryInfer::Answer() {
  uint32_t count;
  std::unique_ptr<InferResponse> response;
  {
    MutexLock lock(&mu_);
    count = response_count_;
    response = std::move(response_);
  }
  if (count != 1) {
    SendError(absl::InternalError(absl::StrCat("expected a single response, got ", count)));
  } else if (!response->status().ok()) {
    SendError(response->status());
  } else {
    Send(std::move(response));
  }
}

void UnaryInfer::Send(std::unique_ptr<InferResponse> response) {
  const absl::StatusOr<absl::Span<const WirePiece>> pieces =
      proto_writer_.Write(*response, formats_);
  if (!pieces.ok()) return SendError(pieces.status());
  const grpc::ByteBuffer message = Assemble(*pieces, std::move(response));
  const bool started = call_->queue->StartOperation([&](grpc::ServerCompletionQueue*) {
    call_->writer.Finish(message, grpc::Status(), &finished_);
  });
  if (!started) Finished();
}

void UnaryInfer::SendError(const absl::Status& error) {
  const bool started = call_->queue->StartOperation([&](grpc::ServerCompletionQueue*) {
    call_->writer.FinishWithError(ToGrpcStatus(error), &finished_);
  });
  if (!started) Finished();
}

void UnaryInfer::OnFinished(bool ok) { Finished(); }

void UnaryInfer::Finished() {
  if (call_->counted) call_->environment->calls.Leave();
  DropReference();
}

void UnaryInfer::DropMessage() {
  const bool large = split_.header.size() > kKeptHeaderBytes;
  if (large) {
    message_.reset();
  } else if (message_.has_value()) {
    message_->Clear();
  }
  split_.Clear();
  buffers_.Clear();
  slice_views_.clear();
  slices_.clear();
  if (slices_.capacity() > kKeptSlices) {
    slices_ = {};
    slice_views_ = {};
  }
  received_.Clear();
  call_->typed_units.Return();
}

void UnaryInfer::DropReference() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  {
    MutexLock lock(&mu_);
    response_count_ = 0;
    response_.reset();
  }
  formats_ = OutputFormats();
  proto_writer_.Clear();
  // The queue may be kept by this call alone.
  const std::shared_ptr<CallQueue> queue = call_->queue;
  call_.reset();
  queue->ReturnIdle(std::unique_ptr<UnaryInfer>(this));
}

}  // namespace nereid
