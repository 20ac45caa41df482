// SPDX-License-Identifier: Apache-2.0
// LargeMessage: work on a message of a call that takes an I/O thread too long, on its way through
// another thread (frontends/codec/inline_limits.h): decompression, parsing. Or a message that waits
// for something. Keeps its call alive until it is back. Thread-safe where it says so.
#ifndef NEREID_FRONTENDS_GRPC_LARGE_MESSAGE_H_
#define NEREID_FRONTENDS_GRPC_LARGE_MESSAGE_H_

#include <atomic>
#include <functional>
#include <memory>

#include "base/threads/thread_pool.h"
#include "frontends/transport/loop_connection.h"

namespace nereid {

class GrpcCall;

class LargeMessage final : public transport::Delivery,
                           public std::enable_shared_from_this<LargeMessage> {
 public:
  // `cancelled` becomes true when the result is of no use any more.
  using Work = std::function<void(const std::atomic<bool>& cancelled)>;

  // `work` is to be done elsewhere, and then, whatever became of it, `finish` by the call's loop.
  // Null for a message that waits.
  LargeMessage(std::shared_ptr<GrpcCall> call, Work work, std::function<void()> finish);

  // Has a thread of `executor` do the work, and then the call's loop call GrpcCall::Resume. False
  // if too much is waiting there.
  bool TryRun(ThreadPool* executor);
  // Any thread. Has the call's loop call GrpcCall::Resume, for a message without work that waits.
  // Only the first call has an effect.
  void Return();
  // Any thread. The message is of no use any more: if it waits, it does not any longer.
  void Cancel();
  // REQUIRES: called once, by Resume.
  void Finish() { finish_(); }

  // Delivery
  void OnDelivery() override;

 private:
  void Run();

  const std::shared_ptr<GrpcCall> call_;
  Work work_;
  const std::function<void()> finish_;
  const bool waits_;
  std::atomic<bool> returned_{false};  // Return was called
  std::atomic<bool> cancelled_{false};
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_LARGE_MESSAGE_H_
