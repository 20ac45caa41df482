// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/run_pool.h"

#include <algorithm>

#include "backends/sdk/boundary.h"
#include "backends/sdk/log.h"
#include "backends/sdk/openvino/ov_error.h"

namespace nereid_backend {

AsyncRun::AsyncRun(const OpenVinoModel& model, std::function<void()> done)
    : done_(std::move(done)), run_(model) {}

void AsyncRun::Begin(std::unique_ptr<Batch> batch) noexcept {
  batch_ = std::move(batch);
  const Error error = Guarded("ModelInstanceExecute", [&]() -> Error {
    run_.executor().Begin(batch_.get());
    return Error();
  });
  if (error.ok()) {
    Proceed();
    return;
  }
  batch_->FailAll(error);
  EndBatch();
}

void AsyncRun::Proceed() noexcept {
  const Error error = Guarded("ModelInstanceExecute", [&]() -> Error {
    while (run_.executor().Next()) {
      const Error started = Start();
      if (started.ok()) return Error();
      run_.executor().End(started);
    }
    EndBatch();
    return Error();
  });
  if (error.ok()) return;
  batch_->FailAll(error);
  EndBatch();
}

Error AsyncRun::Start() {
  return OvTry("", [&]() -> Error {
    run_.SetTensors();
    // Set each time, because the runtime has no callback while that of an earlier run has not
    // returned yet.
    run_.request().set_callback([this](std::exception_ptr failure) { OnCompleted(failure); });
    batch_->MarkComputeStart();
    run_.BeginWatch();
    Error started = OvTry("", [&]() -> Error {
      run_.request().start_async();
      return Error();
    });
    return started.ok() ? Error() : run_.EndWatch(std::move(started));
  });
}

void AsyncRun::OnCompleted(const std::exception_ptr& failure) noexcept {
  batch_->MarkComputeEnd();
  const Error error = Guarded("ModelInstanceExecute", [&]() -> Error {
    bool fits = true;
    Error ran = run_.EndWatch(OvTry("", [&]() -> Error {
      if (failure != nullptr) std::rethrow_exception(failure);
      fits = run_.TakeOutputs();
      return Error();
    }));
    if ((!fits || IsOutputMismatch(ran)) && run_.Replan()) {
      ran = Start();
      if (ran.ok()) return Error();
    }
    run_.executor().End(ran);
    Proceed();
    return Error();
  });
  if (error.ok()) return;
  batch_->FailAll(error);
  EndBatch();
}

void AsyncRun::EndBatch() noexcept {
  NB_LOG_IF_ERROR(Guard("ModelInstanceExecute",
                        [&]() -> Error {
                          batch_->Finish();
                          return Error();
                        }),
                  "failed to end a batch");
  batch_.reset();
  done_();
}

RunPool::RunPool(const OpenVinoModel& model, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    slots_.push_back(std::make_unique<Slot>());
    Slot* const slot = slots_.back().get();
    slot->run = std::make_unique<AsyncRun>(model, [this, slot] { GiveBack(slot); });
  }
}

TRITONSERVER_Error* RunPool::Start(TRITONBACKEND_ModelInstance* instance,
                                   TRITONBACKEND_Request** requests, uint32_t count) noexcept {
  return Guard("ModelInstanceExecute", [&]() -> Error {
    auto batch = std::make_unique<Batch>(instance, requests, count);
    Take(instance)->Begin(std::move(batch));
    AwaitIdle();
    return Error();
  });
}

RunPool::Slot* RunPool::FindIdle() {
  const auto found = std::find_if(slots_.begin(), slots_.end(),
                                  [](const auto& slot) { return slot->instance == nullptr; });
  return found == slots_.end() ? nullptr : found->get();
}

AsyncRun* RunPool::Take(const TRITONBACKEND_ModelInstance* instance) {
  std::unique_lock lock(mu_);
  Slot* slot = nullptr;
  changed_.wait(lock, [&] { return (slot = FindIdle()) != nullptr; });
  slot->instance = instance;
  return slot->run.get();
}

void RunPool::AwaitIdle() {
  std::unique_lock lock(mu_);
  changed_.wait(lock, [&] { return FindIdle() != nullptr; });
}

void RunPool::AwaitNone(const TRITONBACKEND_ModelInstance* instance) {
  std::unique_lock lock(mu_);
  changed_.wait(lock, [&] {
    return std::none_of(slots_.begin(), slots_.end(),
                        [&](const auto& slot) { return slot->instance == instance; });
  });
}

void RunPool::GiveBack(Slot* slot) {
  // Under the lock, because the waiting thread may destroy the pool as soon as the lock is
  // released.
  const std::lock_guard lock(mu_);
  slot->instance = nullptr;
  changed_.notify_all();
}

}  // namespace nereid_backend
