// SPDX-License-Identifier: Apache-2.0
#include "backend_host/backend_instance.h"

#include <absl/strings/str_cat.h>

#include <chrono>
#include <new>
#include <optional>
#include <utility>

#include "backend_host/execution_records.h"
#include "base/caught.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "infer/request_trace.h"

namespace nereid {
namespace {

TRITONBACKEND_ModelInstance* Handle(BackendInstance* instance) {
  return reinterpret_cast<TRITONBACKEND_ModelInstance*>(instance);
}

}  // namespace

BackendInstance::BackendInstance(BackendModel* model, InstanceSpec spec, int index,
                                 uint16_t record_shard, std::string host_policy)
    : model_(model),
      spec_(std::move(spec)),
      index_(index),
      record_shard_(record_shard),
      host_policy_{std::move(host_policy)} {
  const auto promise = std::make_shared<std::promise<void>>();
  all_back_ = promise->get_future();
  lender_ = std::shared_ptr<const void>(this, [promise](const void*) { promise->set_value(); });
}

void BackendInstance::OnBackendsThread(absl::FunctionRef<void()> job) {
  if (device_thread_ == nullptr) return job();
  device_thread_->Run(job);
}

absl::Status BackendInstance::Initialize() {
  const LoadedBackend& backend = *model_->backend();
  const auto initialize = backend.entry_points().instance_initialize;
  if (initialize != nullptr) {
    absl::Status status;
    OnBackendsThread([&] {
      status = CallBackend(backend.name(), model_->name(), "TRITONBACKEND_ModelInstanceInitialize",
                           [&] { return initialize(Handle(this)); });
    });
    RETURN_IF_ERROR(status);
  }
  SetTakesRequests(!spec_.passive);
  return absl::OkStatus();
}

void BackendInstance::SetTakesRequests(bool takes) {
  bool changed = false;
  {
    MutexLock lock(&mu_);
    takes_requests_ = takes;
    changed = Recount();
  }
  if (changed) model_->TellAvailability();
}

void BackendInstance::set_available(bool available) {
  bool changed = false;
  {
    MutexLock lock(&mu_);
    available_.store(available, std::memory_order_release);
    changed = Recount();
  }
  if (changed) model_->TellAvailability();
}

bool BackendInstance::Recount() {
  const bool counts = takes_requests_ && available_.load(std::memory_order_relaxed);
  if (counts == counted_) return false;
  counted_ = counts;
  model_->CountAvailable(counts ? 1 : -1);
  return true;
}

void BackendInstance::Finalize() {
  SetTakesRequests(false);
  lender_.reset();
  const auto settle = [this] {
    if (const auto settled = std::exchange(settled_, nullptr)) settled();
  };
  if (all_back_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) settle();
  all_back_.wait();
  const LoadedBackend& backend = *model_->backend();
  if (const auto finalize = backend.entry_points().instance_finalize; finalize != nullptr) {
    absl::Status status;
    OnBackendsThread([&] {
      status = CallBackend(backend.name(), model_->name(), "TRITONBACKEND_ModelInstanceFinalize",
                           [&] { return finalize(Handle(this)); });
    });
    if (!status.ok()) {
      LOG_ERROR << "failed finalizing instance '" << spec_.name << "': " << status.message();
    }
  }
  settle();
}

absl::Status BackendInstance::CheckReady() {
  const LoadedBackend& backend = *model_->backend();
  const auto ready = backend.entry_points().instance_ready;
  if (ready == nullptr) return absl::OkStatus();
  return CallBackend(backend.name(), model_->name(), "TRITONBACKEND_ModelInstanceReady",
                     [&] { return ready(Handle(this)); });
}

std::shared_ptr<LentBatch> BackendInstance::Lend(Batch* batch,
                                                 std::vector<TRITONBACKEND_Request*>* pointers) {
  auto lent = std::make_shared<LentBatch>(batch->size(), lender_);
  pointers->clear();
  pointers->reserve(batch->size());  // no further memory is needed from here on
  released_.reserve(batch->size());
  if (batch->origin.separate) {
    for (const RequestPtr& request : *batch) TraceLent({&request, 1});
  } else {
    TraceLent(*batch);
  }
  ModelStatistics& statistics = model_->serving_model()->statistics();
  int64_t counted = 0;
  for (RequestPtr& owned : *batch) {
    InferRequest* const request = owned.release();
    if (absl::Status moved = request->lifecycle().MoveTo(RequestState::kExecuting, "");
        !moved.ok()) {
      LOG_ERROR_SELDOM << request->About() << moved.message();
    }
    if (!request->is_synthetic()) ++counted;
    request->Lend(lent, static_cast<uint32_t>(pointers->size()));
    pointers->push_back(reinterpret_cast<TRITONBACKEND_Request*>(request));
  }
  statistics.AddPending(-counted);
  return lent;
}

Duration BackendInstance::Execute(Batch batch) {
  Duration took(0);
  OnBackendsThread([&] { took = ExecuteHere(std::move(batch)); });
  return took;
}

Duration BackendInstance::ExecuteHere(Batch batch) {
  Clock* const clock = model_->serving_model()->clock();
  const TimePoint start = clock->Now();
  const Duration in_receivers = ResponseStream::TimeInReceivers();
  busy_since_ns_.store(ToNanos(start), std::memory_order_relaxed);
  on_loan_ = batch.origin.by_caller;
  std::optional<ExecutionRecords> records;
  std::shared_ptr<LentBatch> lent;
  try {
    records.emplace(batch, record_shard_, ToNanos(start), &model_->serving_model()->recorder());
    lent = Lend(&batch, &pointers_);
  } catch (const std::bad_alloc&) {
    for (RequestPtr& request : batch) {
      request->RespondError(OutOfMemory(), FailureReason::kOther);
      request.reset();
    }
    const TimePoint end = clock->Now();
    if (records.has_value()) records->End(ToNanos(end), /*failed=*/true);
    EndBusy(start, end);
    return Duration(0);
  }
  // Ends last, when a request that comes back may be seen by others, or be executed again.
  const ExecutionScope scope(lent.get(), &released_);
  const LoadedBackend& backend = *model_->backend();
  const absl::Status status =
      CallBackend(backend.name(), model_->name(), "TRITONBACKEND_ModelInstanceExecute", [&] {
        return backend.entry_points().instance_execute(Handle(this), pointers_.data(),
                                                       static_cast<uint32_t>(pointers_.size()));
      });
  if (!status.ok()) TakeBack(lent.get(), pointers_, status);
  const TimePoint end = clock->Now();
  records->End(ToNanos(end), !status.ok());
  EndBusy(start, end);
  return end - start - (ResponseStream::TimeInReceivers() - in_receivers);
}

void BackendInstance::EndBusy(TimePoint start, TimePoint end) {
  // In this order, so that whoever adds both does not count the execution twice.
  busy_since_ns_.store(0, std::memory_order_release);
  model_->serving_model()->statistics().RecordBusy(statistics_shard(),
                                                   ToNanos(end) - ToNanos(start));
}

void BackendInstance::TakeBack(LentBatch* lent, const std::vector<TRITONBACKEND_Request*>& pointers,
                               const absl::Status& error) {
  for (uint32_t slot = 0; slot < pointers.size(); ++slot) {
    // A request that is already claimed may no longer exist, so it must not be touched.
    if (!lent->Claim(slot)) continue;
    RequestPtr request(reinterpret_cast<InferRequest*>(pointers[slot]));
    request->RespondError(error, FailureReason::kBackend);
  }
}

void BackendInstance::ReportMemory(std::vector<TRITONSERVER_BufferAttributes> usage) {
  MutexLock lock(&mu_);
  memory_ = std::move(usage);
}

std::vector<TRITONSERVER_BufferAttributes> BackendInstance::memory() const {
  MutexLock lock(&mu_);
  return memory_;
}

}  // namespace nereid
