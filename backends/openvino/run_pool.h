// SPDX-License-Identifier: Apache-2.0
// RunPool: the batches of a model in progress, shared by its instances. There are as many as the
// runtime has streams: more would only take requests out of the server's queue, where they can
// still be ordered and joined. Thread-safe.
#ifndef NEREID_BACKENDS_OPENVINO_RUN_POOL_H_
#define NEREID_BACKENDS_OPENVINO_RUN_POOL_H_

#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "backends/openvino/run.h"
#include "backends/sdk/batch.h"
#include "backends/sdk/error.h"

namespace nereid_backend {

// AsyncRun: a batch that the runtime computes while the instance continues. It owns the batch from
// Begin to the end. The runtime's thread that completes a run answers its requests and starts the
// next run of the batch. Used by one thread at a time: first the caller of Begin, then the
// runtime's.
class AsyncRun {
 public:
  // `done` is called when all requests of a batch are answered and released, as the last step of
  // the batch; it must not throw. May throw ov::Exception.
  AsyncRun(const OpenVinoModel& model, std::function<void()> done);
  AsyncRun(const AsyncRun&) = delete;
  AsyncRun& operator=(const AsyncRun&) = delete;

  // REQUIRES: no batch is in progress.
  void Begin(std::unique_ptr<Batch> batch) noexcept;

 private:
  // Starts the next run, or ends the batch if there is none.
  void Proceed() noexcept;
  // OK: a run is in progress, and the object belongs to the thread that completes the run.
  Error Start();
  // On a thread of the runtime.
  void OnCompleted(const std::exception_ptr& failure) noexcept;
  void EndBatch() noexcept;

  const std::function<void()> done_;
  std::unique_ptr<Batch> batch_;
  Run run_;  // declared after the members that its callback uses
};

class RunPool {
 public:
  // May throw ov::Exception. `model` outlives the pool.
  RunPool(const OpenVinoModel& model, size_t count);
  // REQUIRES: no batch is in progress.
  ~RunPool() = default;

  size_t size() const { return slots_.size(); }

  // Starts the requests, for ModelInstanceExecute of `instance`. Waits for an idle run before it
  // starts them. Waits for one again before it returns, so that the next batch forms while all runs
  // are busy. Returns an error only if the batch could not even be set up; the requests then still
  // belong to the server.
  TRITONSERVER_Error* Start(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
                            uint32_t count) noexcept;

  // Waits until no batch of `instance` is in progress.
  void AwaitNone(const TRITONBACKEND_ModelInstance* instance);

 private:
  struct Slot {
    std::unique_ptr<AsyncRun> run;
    const TRITONBACKEND_ModelInstance* instance = nullptr;  // guarded by mu_; null: idle
  };

  // An idle slot, which belongs to `instance` from now on.
  AsyncRun* Take(const TRITONBACKEND_ModelInstance* instance);
  void AwaitIdle();
  // REQUIRES: mu_ is held. Null if all are busy.
  Slot* FindIdle();
  void GiveBack(Slot* slot);

  std::mutex mu_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Slot>> slots_;  // constant after the constructor, except Slot
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_OPENVINO_RUN_POOL_H_
