// SPDX-License-Identifier: Apache-2.0
// Server::Infer: finds the version that serves a request, and issues the request to it.
#include <absl/strings/str_cat.h>

#include <utility>

#include "base/status_macros.h"
#include "infer/infer_request.h"
#include "infer/request_validator.h"
#include "lifecycle/model_manager.h"
#include "scheduling/scheduler.h"
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

absl::Status NeverEntered(const InferRequest& request) {
  const CompiledModel& config = request.model()->config();
  return absl::UnavailableError(absl::StrCat("Request for unknown model: '", config.name,
                                             "' version ", config.version,
                                             " is not at ready state"));
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

bool Server::ContinuesSequence(const InferRequest& request) const {
  if (HomeOfSequence(request) != nullptr) return true;
  const bool begins = (request.flags() & kRequestFlagSequenceStart) != 0;
  return !begins && request.correlation_id().present() &&
         request.model()->MembersHaveSequence(request);
}

absl::StatusOr<ModelPass> Server::EnterVersion(std::shared_ptr<ServingModel> model,
                                               uint64_t open_of_client, bool join) const {
  const uint64_t limit = options_.max_model_requests;
  const CompiledModel& config = model->config();
  Gate::Entry entry;
  ModelPass pass = ModelPass::EnterFairly(std::move(model), limit, open_of_client, join, &entry);
  if (pass && options_.control_mode == ModelControlMode::kOnDemand) {
    pass.model()->NoteUse(clock_->Now());
  }
  if (entry != Gate::Entry::kFull) return pass;
  return absl::UnavailableError(absl::StrCat("server limit 'requests of a model' of ", limit,
                                             " is exhausted for model '", config.name,
                                             "'; try again later or raise --max-model-requests"));
}

absl::StatusOr<ModelPass> Server::EnterModel(const InferRequest& request) const {
  const uint64_t open = request.open_of_client();
  // A sequence stays with the version that it began with, even while that version is unloaded.
  if (std::shared_ptr<ServingModel> home = HomeOfSequence(request); home != nullptr) {
    ASSIGN_OR_RETURN(ModelPass pass, EnterVersion(std::move(home), open, /*join=*/true));
    if (pass) return pass;
  }
  if (request.model()->AdmissionOpen()) {
    ASSIGN_OR_RETURN(ModelPass pass, EnterVersion(request.model(), open, /*join=*/false));
    if (pass) return pass;
  }
  // That version is being unloaded. A newer one may have replaced it since the request was made.
  ASSIGN_OR_RETURN(std::shared_ptr<ServingModel> model,
                   FindModel(request.model()->config().name, request.requested_version()));
  return EnterVersion(std::move(model), open, /*join=*/false);
}

absl::Status Server::InferForClient(InferRequest* request) {
  const bool draining = state_.load(std::memory_order_relaxed) == State::kExiting;
  if (draining && !ContinuesSequence(*request)) return absl::UnavailableError(kStoppingText);
  return Infer(request);
}

absl::Status Server::Infer(InferRequest* request, TracePtr trace) {
  if (state_.load(std::memory_order_acquire) == State::kStopped) {
    return absl::UnavailableError("Server not ready");
  }
  if (absl::Status callbacks = CheckCallbacks(*request); !callbacks.ok()) {
    // What is wrong with the content comes first, as in Triton.
    if (!request->in_flight()) RETURN_IF_ERROR(RequestValidator::Prepare(request));
    return callbacks;
  }
  absl::Status issued;
  std::shared_ptr<ServingModel> tried;
  // A version may begin to unload after it was found, before or after it was entered. Then another
  // may have replaced it.
  for (int swaps = 0; swaps < kMostSwaps; ++swaps) {
    if (absl::Status moved = request->lifecycle().MoveTo(RequestState::kInitialized, "");
        !moved.ok()) {
      issued = absl::Status(moved.code(), absl::StrCat(request->LogPrefix(), moved.message()));
      break;
    }
    absl::StatusOr<ModelPass> pass = EnterModel(*request);
    if (!pass.ok()) {
      issued = pass.status();
    } else if (!*pass) {  // it was replaced before it could be entered
      issued = NeverEntered(*request);
      continue;
    } else {
      if (pass->model() != request->model()) request->Rebind(pass->model());
      issued = IssueRequest(*std::move(pass), request, ToNanos(clock_->Now()), &trace);
    }
    if (issued.ok()) return issued;  // the request may be its maker's again, or gone
    const bool is_going = !request->model()->AdmissionOpen();
    if (!is_going || request->model() == tried) break;  // not replaced
    tried = request->model();
  }
  InferenceTrace* const told = trace != nullptr ? trace.get() : request->trace();
  if (told != nullptr) told->ReportError(issued.message());
  return issued;
}

}  // namespace nereid
