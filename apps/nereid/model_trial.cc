// SPDX-License-Identifier: Apache-2.0
#include "model_trial.h"

#include <absl/strings/str_cat.h>

#include <ostream>
#include <utility>

#include "base/status_macros.h"
#include "printed_tensor.h"
#include "trial_request.h"

namespace nereid {
namespace {

constexpr uint64_t kSequence = 1;

}  // namespace

void ModelTrial::OnRelease(InferRequest* request, uint32_t flags, const ReleaseTarget& target) {
  auto* const trial = static_cast<ModelTrial*>(target.userp);
  MutexLock lock(&trial->mu_);
  trial->released_ = true;
  trial->changed_.NotifyAll();
}

void ModelTrial::OnResponse(InferResponse* response, uint32_t flags, const ResponseTarget& target) {
  auto* const trial = static_cast<ModelTrial*>(target.userp);
  Received received;
  received.response.reset(response);
  received.final = (flags & kResponseCompleteFinal) != 0;
  MutexLock lock(&trial->mu_);
  trial->received_.push_back(std::move(received));
  trial->changed_.NotifyAll();
}

absl::Status ModelTrial::FillSample(const std::string& model, InferRequest* request,
                                    RequestBuffers* buffers) {
  ASSIGN_OR_RETURN(const ModelMetadata metadata, server_->GetModelMetadata(model, kLatestVersion));
  RETURN_IF_ERROR(AddSampleInputs(metadata, request, buffers));
  for (const InferInput& input : request->inputs()) {
    const InputBuffer whole = input.buffers().empty() ? InputBuffer() : input.buffers()[0];
    out_ << "  "
         << PrintTensor(input.name(), input.data_type(), input.sent_shape(),
                        {static_cast<const char*>(whole.base), whole.byte_size})
         << "\n";
  }
  return absl::OkStatus();
}

absl::Status ModelTrial::Fill(const Plan& plan, int index, InferRequest* request,
                              RequestBuffers* buffers) {
  if (plan.json.empty()) {
    RETURN_IF_ERROR(FillSample(plan.model, request, buffers));
  } else {
    RETURN_IF_ERROR(FillFromJson(plan.json, request, buffers));
  }
  if (plan.sequence && !request->correlation_id().present()) {
    request->set_correlation_id(CorrelationId(kSequence));
    request->set_flags((index == 0 ? kRequestFlagSequenceStart : 0) |
                       (index + 1 == plan.count ? kRequestFlagSequenceEnd : 0));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> ModelTrial::Run(const Plan& plan) {
  for (int index = 0; index < plan.count; ++index) {
    ASSIGN_OR_RETURN(std::shared_ptr<ServingModel> model,
                     server_->FindModel(plan.model, kLatestVersion));
    RequestBuffers buffers;
    InferRequest request(std::move(model), kLatestVersion);
    out_ << "request";
    if (plan.count > 1) out_ << " " << index + 1 << " of " << plan.count;
    out_ << (plan.json.empty() ? ", made up:\n" : ":\n");
    RETURN_IF_ERROR(Fill(plan, index, &request, &buffers));
    ReleaseTarget release;
    release.fn = &OnRelease;
    release.userp = this;
    request.set_release_target(release);
    ResponseTarget target;
    target.fn = &OnResponse;
    target.userp = this;
    target.allocator = &allocator_;
    request.set_response_target(target);
    const TimePoint start = server_->clock()->Now();
    RETURN_IF_ERROR(server_->Infer(&request));
    if (!PrintAnswers(start)) return false;
  }
  return true;
}

ModelTrial::Received ModelTrial::Next() {
  MutexLock lock(&mu_);
  while (received_.empty()) changed_.Wait(&mu_);
  Received received = std::move(received_.front());
  received_.pop_front();
  return received;
}

bool ModelTrial::PrintAnswers(TimePoint start) {
  bool good = true;
  size_t count = 0;
  bool ended = false;
  while (!ended) {
    const Received received = Next();
    ended = received.final;
    if (received.response == nullptr) continue;
    ++count;
    const auto passed = std::chrono::duration<double, std::milli>(server_->clock()->Now() - start);
    out_ << "response after " << absl::StrCat(passed.count()) << " ms:\n";
    good = Print(*received.response) && good;
    out_.flush();
  }
  if (count == 0) out_ << "no response: the model has answered by the end alone\n";
  MutexLock lock(&mu_);
  while (!released_) changed_.Wait(&mu_);
  released_ = false;
  return good;
}

bool ModelTrial::Print(const InferResponse& response) {
  if (!response.status().ok()) {
    out_ << "  ERROR " << absl::StatusCodeToString(response.status().code()) << ": "
         << response.status().message() << "\n";
    return false;
  }
  for (const ResponseOutput& output : response.outputs()) {
    const OutputBuffer& buffer = output.buffer();
    out_ << "  "
         << PrintTensor(output.name(), output.data_type(), output.shape(),
                        {static_cast<const char*>(buffer.base), buffer.byte_size})
         << "\n";
  }
  if (response.outputs().empty()) out_ << "  (no outputs)\n";
  return true;
}

}  // namespace nereid
