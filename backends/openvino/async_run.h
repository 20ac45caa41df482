// AsyncRun: a batch that the runtime computes while the instance continues. It owns the batch from
// Begin to the end. The runtime's thread that completes a run answers its requests and starts the
// next run of the batch. Used by one thread at a time: first the caller of Begin, then the
// runtime's.
#ifndef NEREID_BACKENDS_OPENVINO_ASYNC_RUN_H_
#define NEREID_BACKENDS_OPENVINO_ASYNC_RUN_H_

#include <exception>
#include <functional>
#include <memory>

#include "backends/openvino/run.h"
#include "backends/sdk/batch.h"

namespace nereid_backend {

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

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_OPENVINO_ASYNC_RUN_H_
