// Server::Infer: finds the version that serves a request, and issues the request to it.
#include <absl/cleanup/cleanup.h>
#include <absl/strings/str_cat.h>

#include <optional>
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
  const CompiledModel& going = request.model()->config();
  auto entered = RetryOverSwaps([&]() -> std::optional<absl::StatusOr<ModelPass>> {
    absl::StatusOr<std::shared_ptr<ServingModel>> model =
        FindModel(going.name, request.requested_version());
    if (!model.ok()) return model.status();
    absl::StatusOr<ModelPass> pass = EnterVersion(*std::move(model), open, /*join=*/false);
    if (pass.ok() && !*pass) return std::nullopt;
    return pass;
  });
  if (entered.has_value()) return *std::move(entered);
  return absl::UnavailableError(absl::StrCat("Request for unknown model: '", going.name,
                                             "' version ", going.version,
                                             " is not at ready state"));
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
  const auto outcome = RetryOverSwaps([&]() -> std::optional<absl::Status> {
    issued = TryInfer(request, &trace);
    // The version may have begun to unload after the look-up. Then another may have replaced it.
    const bool is_going = !issued.ok() && !request->model()->AdmissionOpen();
    if (!is_going || request->model() == tried) return issued;  // not replaced
    tried = request->model();
    return std::nullopt;
  });
  issued = outcome.value_or(issued);
  if (issued.ok()) return issued;  // the request may be its maker's again, or gone
  InferenceTrace* const told = trace != nullptr ? trace.get() : request->trace();
  if (told != nullptr) told->ReportError(issued.message());
  return issued;
}

absl::Status Server::TryInfer(InferRequest* request, TracePtr* trace) const {
  if (absl::Status moved = request->lifecycle().MoveTo(RequestState::kInitialized, "");
      !moved.ok()) {
    return absl::Status(moved.code(), absl::StrCat(request->LogPrefix(), moved.message()));
  }
  ASSIGN_OR_RETURN(ModelPass pass, EnterModel(*request));
  if (pass.model() != request->model()) request->Rebind(pass.model());
  if (*trace == nullptr) return IssueRequest(std::move(pass), request, ToNanos(clock_->Now()));
  request->set_trace(std::move(*trace));
  absl::Cleanup take_back = [&] { *trace = request->TakeTrace(); };
  RETURN_IF_ERROR(IssueRequest(std::move(pass), request, ToNanos(clock_->Now())));
  std::move(take_back).Cancel();
  return absl::OkStatus();
}

}  // namespace nereid
