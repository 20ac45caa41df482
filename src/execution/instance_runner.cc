// SPDX-License-Identifier: Apache-2.0
#include "execution/instance_runner.h"

#include <absl/cleanup/cleanup.h>

#include <new>
#include <utility>

#include "base/caught.h"
#include "base/insist.h"
#include "base/status_macros.h"
#include "base/threads/thread.h"

namespace nereid {

InstanceRunner::InstanceRunner(const std::string& name, std::unique_ptr<Instance> instance,
                               BatchSource* source, InstanceSetup setup)
    : instance_(std::move(instance)),
      source_(source),
      setup_(std::move(setup)),
      thread_(StartThread({.name = name}, [this] { Run(); })) {}

InstanceRunner::~InstanceRunner() { Join(); }

void InstanceRunner::Join() {
  Command(Order::kQuit);
  if (thread_.joinable()) thread_.join();
}

absl::Status InstanceRunner::WaitInitialized() {
  MutexLock lock(&mu_);
  while (!initialized_.has_value()) changed_.Wait(&mu_);
  return *initialized_;
}

void InstanceRunner::Serve() { Command(Order::kServe); }

void InstanceRunner::Command(Order order) {
  {
    MutexLock lock(&mu_);
    // Only the first order counts: an instance that serves ends when its source ends.
    if (order_ == Order::kNone) order_ = order;
  }
  changed_.NotifyAll();
}

InstanceRunner::Order InstanceRunner::AwaitOrder() {
  MutexLock lock(&mu_);
  while (order_ == Order::kNone) changed_.Wait(&mu_);
  return order_;
}

absl::Status InstanceRunner::Initialize() {
  if (setup_.before) RETURN_IF_ERROR(setup_.before());
  RETURN_IF_ERROR(instance_->Initialize());
  if (!setup_.after) return absl::OkStatus();
  absl::Cleanup finalize = [this] { instance_->Finalize(); };
  RETURN_IF_ERROR(setup_.after(instance_.get()));
  std::move(finalize).Cancel();
  return absl::OkStatus();
}

absl::Status InstanceRunner::TryInitialize() noexcept try { return Initialize(); } catch (...) {
  return CaughtStatus();
}

Batch InstanceRunner::Pull(std::optional<Duration> took) noexcept {
  while (true) {
    try {
      return source_->Pull(instance_.get(), took);
    } catch (const std::bad_alloc&) {
      took.reset();
      WaitForMemory(Clock::Real());
    }
  }
}

void InstanceRunner::Run() {
  const absl::Status status = TryInitialize();
  setup_ = {};  // destroys the functions and all that they hold
  {
    MutexLock lock(&mu_);
    initialized_ = status;
  }
  changed_.NotifyAll();
  if (!status.ok()) return;
  if (AwaitOrder() == Order::kServe) {
    WakeWhenDue();  // queue delays; not before the backend has started threads of its own
    Batch batch = Pull(std::nullopt);
    while (!batch.empty()) {
      const Duration took = instance_->Execute(std::move(batch));
      batch = Pull(took);
    }
  }
  instance_->Finalize();
}

}  // namespace nereid
