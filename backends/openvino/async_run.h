// AsyncRun: a batch on its way through the runtime while the instance goes on. It owns the batch
// from Begin to the end; the runtime's thread that completes a run answers, and starts the next run
// of the batch. Used by one thread at a time: the one that calls Begin, then the runtime's.
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
  // `done` is called when all requests of a batch are answered and released, as the last thing that
  // this does with it; it must not throw. May throw ov::Exception.
  AsyncRun(const OpenVinoModel& model, std::function<void()> done);
  AsyncRun(const AsyncRun&) = delete;
  AsyncRun& operator=(const AsyncRun&) = delete;

  // REQUIRES: no batch is under way.
  void Begin(std::unique_ptr<Batch> batch) noexcept;

 private:
  // Starts the next run, or ends the batch when there is none.
  void Proceed() noexcept;
  // OK: a run is under way, and this is in the hands of the thread that completes it.
  Error Start();
  // On a thread of the runtime.
  void OnCompleted(const std::exception_ptr& failure) noexcept;
  void EndBatch() noexcept;

  const std::function<void()> done_;
  std::unique_ptr<Batch> batch_;
  Run run_;  // after what its callback uses
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_OPENVINO_ASYNC_RUN_H_
