// LargeMessage: a compressed message of a call that takes an I/O thread too long, on its way
// through another thread (frontends/codec/inline_limits.h). Keeps its call alive until it is back.
// Thread-safe where it says so.
#ifndef NEREID_FRONTENDS_GRPC_LARGE_MESSAGE_H_
#define NEREID_FRONTENDS_GRPC_LARGE_MESSAGE_H_

#include <absl/status/statusor.h>

#include <atomic>
#include <memory>
#include <utility>

#include "base/spare_executor.h"
#include "frontends/codec/received_body.h"
#include "frontends/grpc/wire/message_decompression.h"
#include "frontends/transport/loop_connection.h"

namespace nereid {

class GrpcCall;

class LargeMessage final : public transport::Delivery,
                           public std::enable_shared_from_this<LargeMessage> {
 public:
  // `decompression` may have begun.
  LargeMessage(std::shared_ptr<GrpcCall> call, std::unique_ptr<MessageDecompression> decompression);

  // Has a thread of `executor` do the rest, and then the call's loop call GrpcCall::Resume. False
  // if too much is waiting there.
  bool TryRun(SpareExecutor* executor);
  // Any thread. The message is of no use any more.
  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  // The plain message, or why there is none. REQUIRES: called once, by Resume.
  absl::StatusOr<std::shared_ptr<ReceivedBody>> TakePlain() { return std::move(plain_); }

  // Delivery
  void OnDelivery() override;

 private:
  void Run();

  const std::shared_ptr<GrpcCall> call_;
  std::unique_ptr<MessageDecompression> decompression_;
  std::atomic<bool> cancelled_{false};
  // Written by the executor's thread before the message is handed to the loop.
  absl::StatusOr<std::shared_ptr<ReceivedBody>> plain_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_LARGE_MESSAGE_H_
