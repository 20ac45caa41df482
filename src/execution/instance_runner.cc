#include "execution/instance_runner.h"

#include <pthread.h>

namespace nereid {

InstanceRunner::InstanceRunner(std::string name, std::unique_ptr<Instance> instance,
                               BatchSource* source)
    : name_(std::move(name)),
      instance_(std::move(instance)),
      source_(source),
      thread_([this] { Run(); }) {
  // The kernel keeps 15 characters of a thread's name.
  pthread_setname_np(thread_.native_handle(), name_.substr(0, 15).c_str());
}

InstanceRunner::~InstanceRunner() {
  Command(Order::kQuit);
  thread_.join();
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
    // Serving ends when the source does, not by an order.
    if (order_ == Order::kNone) order_ = order;
  }
  changed_.NotifyAll();
}

InstanceRunner::Order InstanceRunner::AwaitOrder() {
  MutexLock lock(&mu_);
  while (order_ == Order::kNone) changed_.Wait(&mu_);
  return order_;
}

void InstanceRunner::Run() {
  const absl::Status status = instance_->Initialize();
  {
    MutexLock lock(&mu_);
    initialized_ = status;
  }
  changed_.NotifyAll();
  if (!status.ok()) return;
  if (AwaitOrder() == Order::kServe) {
    Batch batch = source_->Pull(instance_.get(), std::nullopt);
    while (!batch.empty()) {
      const Duration took = instance_->Execute(std::move(batch));
      batch = source_->Pull(instance_.get(), took);
    }
  }
  instance_->Finalize();
}

}  // namespace nereid
