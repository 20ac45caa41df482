#include "frontends/grpc/large_message.h"

#include <utility>

#include "frontends/codec/inline_limits.h"
#include "frontends/grpc/grpc_call.h"

namespace nereid {

LargeMessage::LargeMessage(std::shared_ptr<GrpcCall> call,
                           std::unique_ptr<MessageDecompression> decompression)
    : call_(std::move(call)), decompression_(std::move(decompression)) {}

bool LargeMessage::TryRun(SpareExecutor* executor) {
  return executor->TryRun([self = shared_from_this()] { self->Run(); });
}

void LargeMessage::Run() {
  absl::StatusOr<bool> done = false;
  while (done.ok() && !*done && !cancelled_.load(std::memory_order_relaxed)) {
    done = decompression_->Run(decompression_->filled() + kPlainBytesPerStep);
  }
  if (!done.ok()) {
    plain_ = done.status();
  } else if (*done) {
    plain_ = decompression_->Finish();
  } else {
    plain_ = absl::CancelledError("the call has ended");
  }
  decompression_.reset();  // returns what it holds of the byte limit
  call_->loop()->Deliver(shared_from_this());
}

void LargeMessage::OnDelivery() { call_->Resume(this); }

}  // namespace nereid
