// Server::Infer: from a request in a frontend's hands to one in a scheduler's queue.
#include <absl/cleanup/cleanup.h>
#include <absl/strings/str_cat.h>

#include <utility>

#include "base/status_macros.h"
#include "infer/issue.h"
#include "lifecycle/model_manager.h"
#include "server/server.h"

namespace nereid {
namespace {

// How often a request is tried on a version that has taken the place of one that was going. Each
// time takes another swap in the moment between look-up and entry.
constexpr int kMostSwaps = 16;

absl::Status CheckCallbacks(const InferRequest& request) {
  if (request.release_target().fn == nullptr || request.response_target().fn == nullptr ||
      request.response_target().allocator == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(request.LogPrefix(),
                     "the request needs a release callback, a response callback and a response "
                     "allocator before it can be issued"));
  }
  return absl::OkStatus();
}

}  // namespace

std::shared_ptr<ServingModel> Server::HomeOfSequence(const InferRequest& request) const {
  const std::shared_ptr<ServingModel>& model = request.model();
  const CorrelationId& id = request.correlation_id();
  if (!model->config().sequence.enabled || !id.present() ||
      (request.flags() & kRequestFlagSequenceStart) != 0) {
    return nullptr;
  }
  if (model->HasSequence(id)) return model;
  return models_->FindSequence(model->config().name, request.requested_version(), id);
}

absl::StatusOr<bool> Server::EnterGate(ServingModel* model, uint64_t open_of_client,
                                       bool join) const {
  const uint64_t limit = options_.max_model_requests;
  const Gate::Entry entry = model->lifetime().EnterFairly(limit, open_of_client, join);
  if (entry != Gate::Entry::kFull) return entry == Gate::Entry::kInside;
  return absl::UnavailableError(absl::StrCat("server limit 'requests of a model' of ", limit,
                                             " is exhausted for model '", model->config().name,
                                             "'; try again later or raise --max-model-requests"));
}

absl::Status Server::EnterModel(InferRequest* request) const {
  const uint64_t open = request->open_of_client;
  // A sequence goes on where it has begun, also while that is being unloaded.
  if (std::shared_ptr<ServingModel> home = HomeOfSequence(*request); home != nullptr) {
    ASSIGN_OR_RETURN(const bool inside, EnterGate(home.get(), open, /*join=*/true));
    if (inside) {
      if (home != request->model()) request->Rebind(std::move(home));
      return absl::OkStatus();
    }
  }
  if (request->model()->AdmissionOpen()) {
    ASSIGN_OR_RETURN(const bool inside, EnterGate(request->model().get(), open, /*join=*/false));
    if (inside) return absl::OkStatus();
  }
  // That version is going: a newer one may have taken its place since the request was made.
  const CompiledModel& going = request->model()->config();
  for (int swaps = 0; swaps < kMostSwaps; ++swaps) {
    ASSIGN_OR_RETURN(std::shared_ptr<ServingModel> model,
                     FindModel(going.name, request->requested_version()));
    ASSIGN_OR_RETURN(const bool inside, EnterGate(model.get(), open, /*join=*/false));
    if (!inside) continue;
    request->Rebind(std::move(model));
    return absl::OkStatus();
  }
  return absl::UnavailableError(absl::StrCat("Request for unknown model: '", going.name,
                                             "' version ", going.version,
                                             " is not at ready state"));
}

absl::Status Server::InferForClient(InferRequest* request) {
  const bool draining = state_.load(std::memory_order_relaxed) == State::kExiting;
  if (draining && HomeOfSequence(*request) == nullptr) {
    return absl::UnavailableError(
        "Server is stopping, scheduler for model has stopped accepting new inference requests");
  }
  return Infer(request);
}

absl::Status Server::Infer(InferRequest* request, TracePtr trace) {
  if (state_.load(std::memory_order_acquire) == State::kStopped) {
    return absl::UnavailableError("Server not ready");
  }
  RETURN_IF_ERROR(CheckCallbacks(*request));
  absl::Status issued = TryInfer(request, &trace);
  // Its version began to unload after it was looked up: by now there may be another.
  for (int swaps = 0; swaps < kMostSwaps; ++swaps) {
    if (issued.ok() || request->model()->AdmissionOpen()) break;
    const std::shared_ptr<ServingModel> going = request->model();
    issued = TryInfer(request, &trace);
    if (request->model() == going) break;  // nothing has taken its place
  }
  return issued;
}

absl::Status Server::TryInfer(InferRequest* request, TracePtr* trace) const {
  if (absl::Status moved = request->lifecycle().MoveTo(RequestState::kInitialized, "");
      !moved.ok()) {
    return absl::Status(moved.code(), absl::StrCat(request->LogPrefix(), moved.message()));
  }
  RETURN_IF_ERROR(EnterModel(request));
  if (*trace == nullptr) return IssueRequest(request, ToNanos(clock_->Now()));
  request->set_trace(std::move(*trace));
  absl::Cleanup take_back = [&] { *trace = request->TakeTrace(); };
  RETURN_IF_ERROR(IssueRequest(request, ToNanos(clock_->Now())));
  std::move(take_back).Cancel();
  return absl::OkStatus();
}

}  // namespace nereid
