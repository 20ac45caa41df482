// SPDX-License-Identifier: Apache-2.0
// GpuPipeline: the life of a batch on a GPU. Copies in, the computation and copies out are put on
// three streams, ordered by events, so that the next batch's inputs travel while this one computes.
// A batch costs one wait that blocks, and it is not the thread that executes the instance that
// waits: Run returns when the batch is enqueued, and the server forms the next one.
//
//   Run:     slot free? - stage - copies in - [computation] - copies out
//   waiter:                                      wait for the copies out - answer, release
#ifndef NEREID_BACKENDS_SDK_GPU_PIPELINE_H_
#define NEREID_BACKENDS_SDK_GPU_PIPELINE_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "backends/sdk/error.h"
#include "nereid/backend.h"

namespace nereid_backend {

// The streams and events of one instance. An event is known by its slot and its point.
// Thread-compatible, but Synchronize and Elapsed may run while another thread works on another
// slot.
class GpuWork {
 public:
  enum class Line { kIn, kCompute, kOut };
  enum class Point { kStaged, kStarted, kComputed, kDone };
  static constexpr int kLines = 3;
  static constexpr int kPoints = 4;

  virtual ~GpuWork() = default;
  virtual Error Copy(Line line, const std::vector<NEREID_GpuCopy>& copies) = 0;
  // The driver's stream, for a library that computes; null if there is none.
  virtual void* Native(Line line) = 0;
  virtual Error Record(Line line, int slot, Point point) = 0;
  virtual Error Wait(Line line, int slot, Point point) = 0;
  virtual Error Synchronize(int slot, Point point) = 0;
  virtual Result<uint64_t> ElapsedNs(int slot, Point from, Point to) = 0;
};

// What a backend does for one batch. The slot's number says which of its buffers the batch has:
// nobody else uses them until Finish returns.
class GpuJob {
 public:
  virtual ~GpuJob() = default;
  // Says what has to be copied to the GPU. May copy small tensors of the host to pinned memory
  // first. As the next two, called once, in this order, by the thread that calls Run; an error ends
  // the batch.
  virtual Error Stage(int slot, std::vector<NEREID_GpuCopy>* in) = 0;
  // Puts the computation on GpuWork::Line::kCompute, and does not wait for it.
  virtual Error Compute(int slot, GpuWork* work) = 0;
  // Says what has to be copied from the GPU.
  virtual Error Collect(int slot, std::vector<NEREID_GpuCopy>* out) = 0;
  // Answers and releases the requests: all is done or, after an error, nothing of it goes on.
  // `computed_ns`: how long the GPU took for the computation alone.
  virtual void Finish(int slot, const Error& error, uint64_t computed_ns) noexcept = 0;
};

class GpuPipeline {
 public:
  // `slots`: batches under way. With 1, as it has to be where a batch needs what the one before has
  // left (sequences, implicit state), Run waits itself and there is no other thread.
  GpuPipeline(std::unique_ptr<GpuWork> work, int slots);
  // Waits for all batches.
  ~GpuPipeline();
  GpuPipeline(const GpuPipeline&) = delete;
  GpuPipeline& operator=(const GpuPipeline&) = delete;

  // Waits until a slot is free, and puts the batch on the GPU. Batches are finished in the order of
  // their calls, each exactly once. One thread at a time.
  void Run(std::unique_ptr<GpuJob> job) noexcept;

 private:
  enum class State { kFree, kTaken, kEnqueued };
  struct Slot {
    State state = State::kFree;   // guarded by mu_
    std::unique_ptr<GpuJob> job;  // this and the next belong to whoever has taken the slot or, once
    Error error;                  // it is enqueued, to the waiter; why not all is on the GPU
  };

  int TakeSlot();
  Error Enqueue(GpuJob* job, int slot);
  // The end of what is in the slot.
  void End(int number) noexcept;
  void SetState(Slot* slot, State state) noexcept;
  void WaitForBatches() noexcept;

  const std::unique_ptr<GpuWork> work_;
  std::vector<Slot> slots_;             // taken in turn, and free again in the same order
  std::vector<NEREID_GpuCopy> copies_;  // of the thread that calls Run, as the next
  size_t next_ = 0;                     // the slot to take
  std::mutex mu_;
  std::condition_variable changed_;  // a state, or ends_
  bool ends_ = false;                // guarded by mu_
  std::thread waiter_;               // with more than one slot
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_GPU_PIPELINE_H_
