// CallQueue: one completion queue, the thread that drains it, and the idle call objects that belong
// to it. Shared by the server and by the calls in progress. Thread-safe.
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
  // Ends the thread once all operations in progress have ended; from now on StartOperation refuses.
  // Blocks. REQUIRES: the gRPC server is shut down.
  void Stop();

  // Runs `start`, which starts operations on the queue. Returns false without running `start` if
  // the queue is stopped. Operations must not be started in any other way.
  template <typename Start>
  [[nodiscard]] bool StartOperation(Start start) {
    const Gate::Pass inside = operations_.Enter();
    if (!inside) return false;
    start(queue_.get());
    return true;
  }

  // On the queue's thread only.
  InlineTurn* turn() { return &turn_; }

  // An idle call object; null if there is none.
  std::unique_ptr<UnaryInfer> TakeIdle() ABSL_LOCKS_EXCLUDED(mu_);
  // Keeps `call` for reuse, or deletes it if enough are kept.
  void ReturnIdle(std::unique_ptr<UnaryInfer> call) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void Run();
  // Takes an event that is already available; false if there is none.
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
