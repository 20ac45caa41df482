#include "backends/openvino/run_pool.h"

#include <algorithm>

#include "backends/sdk/boundary.h"

namespace nereid_backend {

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
