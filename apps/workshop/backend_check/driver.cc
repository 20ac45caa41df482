// SPDX-License-Identifier: Apache-2.0
#include "backend_check/driver.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "backend_check/ledger.h"
#include "backend_check/output_checks.h"
#include "backend_check/recorder.h"
#include "base/status_macros.h"
#include "trial_request.h"

namespace nereid {
namespace {

// All pieces of an input, joined.
std::string BytesOf(const InferInput& input) {
  std::string bytes;
  for (const InputBuffer& buffer : input.buffers()) {
    bytes.append(static_cast<const char*>(buffer.base), buffer.byte_size);
  }
  return bytes;
}

}  // namespace

void Driver::OnRelease(InferRequest* request, uint32_t flags, const ReleaseTarget& target) {
  auto* const exchange = static_cast<Exchange*>(target.userp);
  Driver* const driver = exchange->driver;
  MutexLock lock(&driver->mu_);
  exchange->released = true;
  driver->changed_.NotifyAll();
}

void Driver::OnResponse(InferResponse* response, uint32_t flags, const ResponseTarget& target) {
  auto* const exchange = static_cast<Exchange*>(target.userp);
  Driver* const driver = exchange->driver;
  MutexLock lock(&driver->mu_);
  if (response != nullptr) exchange->responses.emplace_back(response);
  if ((flags & kResponseCompleteFinal) != 0) exchange->ended = true;
  driver->changed_.NotifyAll();
}

absl::Status Driver::Prepare(const Wave& wave, Exchange* exchange) {
  ASSIGN_OR_RETURN(std::shared_ptr<ServingModel> model, server_->FindModel(model_, kLatestVersion));
  const bool sequences = model->config().sequence.enabled;
  exchange->driver = this;
  exchange->request = std::make_unique<InferRequest>(std::move(model), kLatestVersion);
  InferRequest* const request = exchange->request.get();
  if (json_.empty()) {
    ASSIGN_OR_RETURN(const ModelMetadata metadata,
                     server_->GetModelMetadata(model_, kLatestVersion));
    RETURN_IF_ERROR(AddSampleInputs(metadata, request, &exchange->buffers));
  } else {
    RETURN_IF_ERROR(FillFromJson(json_, request, &exchange->buffers));
  }
  if (sequences) {
    request->set_correlation_id(CorrelationId(next_sequence_));
    request->set_flags(wave.flags);
    if ((wave.flags & kRequestFlagSequenceEnd) != 0) ++next_sequence_;
  }
  for (const InferInput& input : request->inputs()) exchange->inputs.push_back(BytesOf(input));
  ReleaseTarget release;
  release.fn = &OnRelease;
  release.userp = exchange;
  request->set_release_target(release);
  ResponseTarget target;
  target.fn = &OnResponse;
  target.userp = exchange;
  target.allocator = &allocator_;
  request->set_response_target(target);
  return absl::OkStatus();
}

bool Driver::AllBack(const std::vector<std::unique_ptr<Exchange>>& exchanges) {
  for (const auto& exchange : exchanges) {
    if (!exchange->ended || !exchange->released) return false;
  }
  return true;
}

absl::Status Driver::Send(const Wave& wave) {
  std::vector<std::unique_ptr<Exchange>> exchanges;
  for (int i = 0; i < wave.count; ++i) {
    exchanges.push_back(std::make_unique<Exchange>());
    RETURN_IF_ERROR(Prepare(wave, exchanges.back().get()));
  }
  absl::Status refused;
  size_t sent = 0;
  while (sent < exchanges.size() && refused.ok()) {
    refused = server_->Infer(exchanges[sent]->request.get());
    if (refused.ok()) ++sent;
  }
  exchanges.resize(sent);
  if (wave.cancel) {
    for (const auto& exchange : exchanges) exchange->request->Cancel().IgnoreError();
  }
  // A call that does not return is found first (call_watch.h).
  const TimePoint deadline = Clock::Real()->Now() + timeout_ + std::chrono::seconds(1);
  bool back = false;
  {
    MutexLock lock(&mu_);
    while (!(back = AllBack(exchanges)) && Clock::Real()->Now() < deadline) {
      changed_.WaitUntil(&mu_, deadline);
    }
  }
  Ledger::Get().CheckRequests();
  if (!back) {
    for (auto& exchange : exchanges) (void)exchange.release();  // the backend may still use it
    return absl::UnavailableError("requests did not come back in time");
  }
  for (const auto& exchange : exchanges) Check(*exchange);
  if (keep_) std::move(exchanges.begin(), exchanges.end(), std::back_inserter(kept_));
  return refused;
}

absl::Status Driver::SendSequence(int length) {
  for (int i = 0; i < length; ++i) {
    Wave wave;
    wave.flags = (i == 0 ? kRequestFlagSequenceStart : 0u) |
                 (i + 1 == length ? kRequestFlagSequenceEnd : 0u);
    RETURN_IF_ERROR(Send(wave));
  }
  return absl::OkStatus();
}

void Driver::Check(const Exchange& exchange) {
  size_t index = 0;
  for (const InferInput& input : exchange.request->inputs()) {
    if (BytesOf(input) != exchange.inputs[index++]) {
      Recorder::Get().Found("input-changed", absl::StrCat("input '", input.name(), "'"));
    }
  }
  for (const auto& response : exchange.responses) CheckResponse(exchange, *response);
}

void Driver::CheckResponse(const Exchange& exchange, const InferResponse& response) {
  if (!response.status().ok()) {
    if (response.status().code() == absl::StatusCode::kCancelled) return;
    Recorder::Get().Note(
        absl::StrCat("a request was answered by an error: ", response.status().message()));
    return;
  }
  any_good_ = true;
  const CompiledModel& model = response.model()->config();
  const int64_t rows = model.decoupled ? 0 : exchange.request->batch_size();
  for (const ResponseOutput& output : response.outputs()) {
    for (const auto& [id, detail] : CheckOutput(model, output, rows)) {
      Recorder::Get().Found(id, detail);
    }
  }
}

}  // namespace nereid
