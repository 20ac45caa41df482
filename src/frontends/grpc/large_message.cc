// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/large_message.h"

#include <absl/cleanup/cleanup.h>

#include <utility>

#include "frontends/grpc/grpc_call.h"

namespace nereid {

LargeMessage::LargeMessage(std::shared_ptr<GrpcCall> call, Work work, std::function<void()> finish)
    : call_(std::move(call)),
      work_(std::move(work)),
      finish_(std::move(finish)),
      waits_(work_ == nullptr) {}

bool LargeMessage::TryRun(ThreadPool* executor) {
  return executor->TryRun([self = shared_from_this()] { self->Run(); });
}

void LargeMessage::Run() {
  // Also if the system has no more memory.
  const absl::Cleanup deliver = [this] { call_->loop()->Deliver(shared_from_this()); };
  const Work work = std::move(work_);  // what it holds is dropped here
  work(cancelled_);
}

void LargeMessage::Return() {
  if (!returned_.exchange(true)) call_->loop()->Deliver(shared_from_this());
}

void LargeMessage::Cancel() {
  cancelled_.store(true, std::memory_order_relaxed);
  if (waits_) Return();
}

void LargeMessage::OnDelivery() { call_->Resume(this); }

}  // namespace nereid
