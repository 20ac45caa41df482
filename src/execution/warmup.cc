// SPDX-License-Identifier: Apache-2.0
#include "execution/warmup.h"

#include <absl/strings/str_cat.h>

#include <utility>

#include "base/log.h"
#include "base/mutex.h"
#include "base/status_macros.h"
#include "execution/warmup_data.h"
#include "infer/infer_request.h"
#include "infer/request_validator.h"
#include "infer/response.h"
#include "infer/sequence_states.h"
#include "memory/output_allocator.h"

namespace nereid {
namespace {

// Upper limits, because a client can choose these numbers: a load request may contain a
// configuration.
constexpr uint32_t kMaxRequests = 1 << 16;
constexpr uint32_t kMaxIterations = 1'000'000;

absl::Status CheckCounts(const WarmupSpec& spec) {
  const auto check = [&](const char* name, uint32_t value, uint32_t most) {
    if (value <= most) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("warmup sample '", spec.name, "' has ", name,
                                                   " ", value, ", the largest is ", most));
  };
  RETURN_IF_ERROR(check("batch_size", spec.batch_size, kMaxRequests));
  return check("count", spec.count, kMaxIterations);
}

}  // namespace

// One execution of a sample: makes the requests and receives the answers. Lives on the instance's
// thread; the answers may come from any thread.
class Warmup::Execution {
 public:
  Execution(const std::shared_ptr<ServingModel>& model, const Sample& sample)
      : model_(model), sample_(sample) {}

  // Makes the requests and checks them. Errors of RequestValidator; UNAVAILABLE if the model
  // closes.
  absl::Status Prepare();
  // Puts the requests in flight and returns them as a batch. REQUIRES: Prepare succeeded.
  Batch Issue() ABSL_LOCKS_EXCLUDED(mu_);
  // Waits until all requests are released and answered. Returns the errors that were answered, each
  // followed by "; ".
  std::string Wait() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  static void OnResponse(InferResponse* response, uint32_t flags, const ResponseTarget& target);
  static void OnRelease(InferRequest* request, uint32_t flags, const ReleaseTarget& target);
  absl::Status AddInputs(bool of_the_model, InferRequest* request) const;
  void AddError(const absl::Status& error) noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Takes a pass of the model's lifetime gate for each request. The request's stream returns it.
  absl::Status EnterModel();

  const std::shared_ptr<ServingModel> model_;
  const Sample& sample_;
  const HeapOutputAllocator allocator_{nullptr};
  std::vector<std::unique_ptr<InferRequest>> requests_;
  std::vector<ModelPass> passes_;  // one per request, until it is in flight
  Mutex mu_;
  CondVar changed_;
  size_t unanswered_ ABSL_GUARDED_BY(mu_) = 0;
  size_t unreleased_ ABSL_GUARDED_BY(mu_) = 0;
  std::string errors_ ABSL_GUARDED_BY(mu_);
};

absl::Status Warmup::Execution::AddInputs(bool of_the_model, InferRequest* request) const {
  for (const Input& input : sample_.inputs) {
    if (input.of_the_model != of_the_model) continue;
    ASSIGN_OR_RETURN(InferInput * added,
                     request->AddInput(input.name, input.data_type, input.shape));
    added->AppendBuffer({input.bytes.data(), input.bytes.size(), MemoryPlace{}});
    added->set_shape(input.shape);
  }
  return absl::OkStatus();
}

absl::Status Warmup::Execution::Prepare() {
  for (uint32_t i = 0; i < sample_.batch_size; ++i) {
    auto request = std::make_unique<InferRequest>(model_, model_->config().version);
    ReleaseTarget releases;
    releases.fn = &Execution::OnRelease;
    releases.userp = this;
    request->set_release_target(releases);
    ResponseTarget responses;
    responses.fn = &Execution::OnResponse;
    responses.userp = this;
    responses.allocator = &allocator_;
    request->set_response_target(responses);
    RETURN_IF_ERROR(AddInputs(/*of_the_model=*/true, request.get()));
    RETURN_IF_ERROR(request->lifecycle().MoveTo(RequestState::kInitialized, request->LogPrefix()));
    RETURN_IF_ERROR(RequestValidator::Prepare(request.get()));
    RETURN_IF_ERROR(AddInputs(/*of_the_model=*/false, request.get()));
    RETURN_IF_ERROR(SequenceStates::AttachThrowaway(model_->config(), request.get()));
    requests_.push_back(std::move(request));
  }
  return EnterModel();
}

absl::Status Warmup::Execution::EnterModel() {
  for (size_t i = 0; i < requests_.size(); ++i) {
    passes_.push_back(ModelPass::Enter(model_));
    if (passes_.back()) continue;
    passes_.clear();
    return absl::UnavailableError(
        absl::StrCat("model '", model_->config().name, "' is being unloaded"));
  }
  return absl::OkStatus();
}

Batch Warmup::Execution::Issue() {
  {
    MutexLock lock(&mu_);
    unanswered_ = unreleased_ = requests_.size();
  }
  const uint64_t now = ToNanos(model_->clock()->Now());
  Batch batch;
  batch.reserve(requests_.size());
  for (const std::unique_ptr<InferRequest>& request : requests_) {
    request->BeginFlight(std::move(passes_.back()), now);
    passes_.pop_back();
    request->set_queue_start_ns(now);
    request->lifecycle().MoveTo(RequestState::kPending, "").IgnoreError();
    model_->statistics().AddPending(1);
    batch.push_back(RequestPtr(request.get()));
  }
  return batch;
}

std::string Warmup::Execution::Wait() {
  MutexLock lock(&mu_);
  while (unanswered_ > 0 || unreleased_ > 0) changed_.Wait(&mu_);
  return errors_;
}

void Warmup::Execution::OnResponse(InferResponse* response, uint32_t flags,
                                   const ResponseTarget& target) {
  absl::Status status;
  if (response != nullptr) {
    status = response->status();
    delete response;  // `allocator_` owns its buffers, and may go after the last answer
  }
  auto* const self = static_cast<Execution*>(target.userp);
  MutexLock lock(&self->mu_);
  if (!status.ok()) self->AddError(status);
  if ((flags & kResponseCompleteFinal) == 0) return;
  --self->unanswered_;
  self->changed_.NotifyAll();
}

void Warmup::Execution::AddError(const absl::Status& error) noexcept try {
  absl::StrAppend(&errors_, error.message(), "; ");
} catch (const std::bad_alloc&) {
  if (errors_.empty()) errors_ = "out of memory";  // short enough to need no memory
}

void Warmup::Execution::OnRelease(InferRequest*, uint32_t, const ReleaseTarget& target) {
  auto* const self = static_cast<Execution*>(target.userp);
  MutexLock lock(&self->mu_);
  --self->unreleased_;
  self->changed_.NotifyAll();
}

absl::StatusOr<Warmup::Sample> Warmup::MakeSample(const CompiledModel& model,
                                                  const WarmupSpec& spec, const FileSystem& fs,
                                                  const std::string& model_dir) {
  Sample sample{spec.name, spec.batch_size, spec.count, {}};
  for (const WarmupInput& input : spec.inputs) {
    Input made;
    made.name = input.name;
    made.data_type = input.data_type;
    const int index = model.FindInput(input.name);
    made.of_the_model = index >= 0;
    const bool batched = model.max_batch_size > 0 &&
                         !(index >= 0 && model.inputs[static_cast<size_t>(index)].is_shape_tensor);
    if (batched) made.shape.push_back(1);
    made.shape.insert(made.shape.end(), input.dims.begin(), input.dims.end());
    ASSIGN_OR_RETURN(made.bytes, WarmupBytes(input, fs, model_dir));
    sample.inputs.push_back(std::move(made));
  }
  return sample;
}

absl::StatusOr<Warmup> Warmup::Make(const CompiledModel& model, const FileSystem& fs,
                                    const std::string& model_dir) {
  Warmup warmup;
  for (const WarmupSpec& spec : model.warmup) {
    if (spec.batch_size == 0) {
      LOG_VERBOSE(1) << "Skipping batch 0 warmup sample '" << spec.name << "'";
      continue;
    }
    RETURN_IF_ERROR(CheckCounts(spec));
    ASSIGN_OR_RETURN(Sample sample, MakeSample(model, spec, fs, model_dir));
    warmup.samples_.push_back(std::move(sample));
  }
  return warmup;
}

absl::Status Warmup::Run(const std::shared_ptr<ServingModel>& model, const std::string& name,
                         Instance* instance) const {
  for (const Sample& sample : samples_) {
    for (uint32_t iteration = 1; iteration <= sample.count; ++iteration) {
      LOG_VERBOSE(1) << "model '" << model->config().name << "' instance " << name
                     << " is running warmup sample '" << sample.name << "' for iteration "
                     << iteration;
      Execution execution(model, sample);
      RETURN_IF_ERROR(execution.Prepare());
      instance->Execute(execution.Issue());
      const std::string errors = execution.Wait();
      if (errors.empty()) continue;
      LOG_VERBOSE(1) << "model '" << model->config().name << "' instance " << name
                     << " failed to run warmup sample '" << sample.name << "'";
      return absl::InvalidArgumentError(
          absl::StrCat("failed to run warmup sample '", sample.name, "': ", errors));
    }
  }
  return absl::OkStatus();
}

}  // namespace nereid
