// RunPool: the batches of a model that are under way at a time, shared by its instances. As many as
// the runtime has streams for: more would only take requests out of the server's queue, where they
// can still be ordered and joined. Thread-safe.
#ifndef NEREID_BACKENDS_OPENVINO_RUN_POOL_H_
#define NEREID_BACKENDS_OPENVINO_RUN_POOL_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "backends/openvino/async_run.h"
#include "backends/sdk/error.h"

namespace nereid_backend {

class RunPool {
 public:
  // May throw ov::Exception. `model` outlives this.
  RunPool(const OpenVinoModel& model, size_t count);
  // REQUIRES: nothing is under way.
  ~RunPool() = default;

  size_t size() const { return slots_.size(); }

  // Sets the requests on their way, for ModelInstanceExecute of `instance`. Waits for a run that is
  // idle, and once more before it returns, so that the next batch forms while all are busy. Null
  // unless not even the batch could be set up (the requests are then still the server's).
  TRITONSERVER_Error* Start(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
                            uint32_t count) noexcept;

  // Waits until nothing of `instance` is under way.
  void AwaitNone(const TRITONBACKEND_ModelInstance* instance);

 private:
  struct Slot {
    std::unique_ptr<AsyncRun> run;
    const TRITONBACKEND_ModelInstance* instance = nullptr;  // guarded by mu_; null: idle
  };

  // An idle one, which is `instance`'s from now on.
  AsyncRun* Take(const TRITONBACKEND_ModelInstance* instance);
  void AwaitIdle();
  // REQUIRES: mu_ is held. Null when all are busy.
  Slot* FindIdle();
  void GiveBack(Slot* slot);

  std::mutex mu_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Slot>> slots_;  // constant after the constructor, but for Slot's own
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_OPENVINO_RUN_POOL_H_
