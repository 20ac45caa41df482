// Server::Infer: from a request in a frontend's hands to one in a scheduler's queue.
#include <absl/strings/str_cat.h>

#include "base/status_macros.h"
#include "infer/issue.h"
#include "lifecycle/model_manager.h"
#include "server/server.h"

namespace nereid {
namespace {

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

absl::Status Server::EnterModel(InferRequest* request) const {
  // A sequence goes on where it has begun, also while that is being unloaded.
  if (std::shared_ptr<ServingModel> home = HomeOfSequence(*request);
      home != nullptr && home->lifetime().Join()) {
    if (home != request->model()) request->Rebind(std::move(home));
    return absl::OkStatus();
  }
  if (request->model()->AdmissionOpen() && request->model()->lifetime().Enter()) {
    return absl::OkStatus();
  }
  // That version is going: a newer one may have taken its place since the request was made.
  ASSIGN_OR_RETURN(std::shared_ptr<ServingModel> model,
                   FindModel(request->model()->config().name, request->requested_version()));
  if (!model->lifetime().Enter()) {
    return absl::UnavailableError(absl::StrCat("Request for unknown model: '", model->config().name,
                                               "' version ", model->config().version,
                                               " is not at ready state"));
  }
  request->Rebind(std::move(model));
  return absl::OkStatus();
}

absl::Status Server::Infer(InferRequest* request) {
  if (state_.load(std::memory_order_acquire) == State::kStopped) {
    return absl::UnavailableError("Server not ready");
  }
  RETURN_IF_ERROR(CheckCallbacks(*request));
  absl::Status issued = TryInfer(request);
  // Its version began to unload after it was looked up: by now there may be another.
  if (!issued.ok() && !request->model()->AdmissionOpen()) issued = TryInfer(request);
  return issued;
}

absl::Status Server::TryInfer(InferRequest* request) const {
  RETURN_IF_ERROR(request->lifecycle().MoveTo(RequestState::kInitialized, request->LogPrefix()));
  RETURN_IF_ERROR(EnterModel(request));
  return IssueRequest(request, ToNanos(clock_->Now()));
}

}  // namespace nereid
