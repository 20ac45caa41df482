// CallQueue: one completion queue, the thread that drains it, and the idle call objects that
// belong to it. Shared by the server and the calls under way. Thread-safe.
#ifndef NEREID_FRONTENDS_GRPC_CALL_QUEUE_H_
#define NEREID_FRONTENDS_GRPC_CALL_QUEUE_H_

#include <grpcpp/completion_queue.h>

#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "base/gate.h"
#include "base/mutex.h"
#include "infer/inline_turn.h"

namespace nereid {

class UnaryInfer;

class CallQueue {
 public:
  CallQueue(std::unique_ptr<grpc::ServerCompletionQueue> queue, size_t pool_size);
  // REQUIRES: Start was not called, or Stop was.
  ~CallQueue();
  CallQueue(const CallQueue&) = delete;
  CallQueue& operator=(const CallQueue&) = delete;

  void Start();
  // Ends the thread once the operations under way have ended; StartOperation refuses from now on.
  // Blocks. REQUIRES: the gRPC server is shut down.
  void Stop();

  // Runs `start`, which starts operations on the queue; false, and `start` does not run, when the
  // queue is stopped. Operations may be started on no other way.
  template <typename Start>
  [[nodiscard]] bool StartOperation(Start start) {
    const Gate::Pass inside = operations_.Enter();
    if (!inside) return false;
    start(queue_.get());
    return true;
  }

  // Of the queue's thread.
  InlineTurn* turn() { return &turn_; }

  // An idle call object; null if there is none.
  std::unique_ptr<UnaryInfer> TakeIdle() ABSL_LOCKS_EXCLUDED(mu_);
  // Keeps `call` for the next one, or deletes it if there are enough.
  void ReturnIdle(std::unique_ptr<UnaryInfer> call) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void Run();
  // An event that is there already; false if there is none.
  bool TakeEvent(void** tag, bool* ok);

  const std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  InlineTurn turn_;  // owned by thread_
  std::thread thread_;
  Gate operations_;

  Mutex mu_;
  size_t pool_size_ ABSL_GUARDED_BY(mu_);
  std::vector<std::unique_ptr<UnaryInfer>> idle_ ABSL_GUARDED_BY(mu_);
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_CALL_QUEUE_H_
