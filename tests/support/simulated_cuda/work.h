// SPDX-License-Identifier: Apache-2.0
// Streams and events of the simulated driver, without threads and without time. What is put on a
// stream is done as late as the driver's promises allow: when somebody waits for it. A wait that is
// missing therefore shows in every run, as bytes that have not come. With a seed, some of the work
// is done earlier, in an order that differs from seed to seed. Thread-compatible: the simulator's
// lock guards it.
#ifndef NEREID_TESTS_SUPPORT_SIMULATED_CUDA_WORK_H_
#define NEREID_TESTS_SUPPORT_SIMULATED_CUDA_WORK_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "device/cuda_abi.h"

namespace nereid::simulated_cuda {

struct SimulatedStream;

struct SimulatedEvent {
  int device = 0;
  uint64_t recorded = 0;                    // how often it has been put on a stream
  uint64_t done = 0;                        // how many of these are done
  uint64_t time_ns = 0;                     // of the last one that is done
  std::shared_ptr<SimulatedStream> stream;  // of the last one
};

struct Work {
  enum class Kind { kCopy, kRecord, kWait };
  Kind kind = Kind::kCopy;
  // Copies.
  char* to = nullptr;
  const char* from = nullptr;
  size_t size = 0;
  uintptr_t to_block = 0;    // 0: ordinary memory of the host
  uintptr_t from_block = 0;  // likewise
  std::vector<char> staged;  // the bytes, if they come from ordinary memory
  // Records and waits.
  std::shared_ptr<SimulatedEvent> event;
  uint64_t until = 0;  // the record that is waited for, or that this is
  std::shared_ptr<SimulatedStream> source;
};

struct SimulatedStream {
  int device = 0;
  std::deque<Work> waiting;
};

class WorkQueues {
 public:
  // `on_copy` is asked before each copy of a stream, and says whether it takes place. What a device
  // that has failed, as `has_failed` says, still has on its streams takes no place.
  WorkQueues(uint32_t seed, std::function<bool(int device)> on_copy,
             std::function<bool(int device)> has_failed);

  SimulatedStream* AddStream(int device);
  SimulatedEvent* AddEvent(int device);
  // Null if there is none.
  std::shared_ptr<SimulatedStream> Find(cuda::Stream stream) const;
  std::shared_ptr<SimulatedEvent> Find(cuda::Event event) const;
  // What the stream holds is done at its time: the stream goes when it is empty.
  void Drop(const std::shared_ptr<SimulatedStream>& stream);
  void Drop(const std::shared_ptr<SimulatedEvent>& event);

  void Put(const std::shared_ptr<SimulatedStream>& stream, Work work);
  // Does the stream's oldest piece of work, and first what that waits for.
  void DoOne(const std::shared_ptr<SimulatedStream>& stream);
  void DoAll(const std::shared_ptr<SimulatedStream>& stream);
  void DoUntil(const std::shared_ptr<SimulatedEvent>& event, uint64_t record,
               const std::shared_ptr<SimulatedStream>& source);
  // Does all work of all streams, and says whether any of it uses the block and takes place.
  bool DoEverything(uintptr_t block);

  uint64_t streams() const { return streams_.size() - dropped_.size(); }
  uint64_t events() const { return events_.size(); }
  uint64_t waiting_copies() const;
  uint64_t copies() const { return copies_; }

 private:
  void DoSomeEarly();

  std::mt19937 random_;
  const bool is_random_;
  const std::function<bool(int device)> on_copy_;
  const std::function<bool(int device)> has_failed_;
  std::map<const void*, std::shared_ptr<SimulatedStream>> streams_;
  std::map<const void*, std::shared_ptr<SimulatedStream>> dropped_;  // of these
  std::map<const void*, std::shared_ptr<SimulatedEvent>> events_;
  uint64_t copies_ = 0;
  uint64_t time_ns_ = 0;  // 1 us and 1 ns per 10 bytes for each copy
};

}  // namespace nereid::simulated_cuda

#endif  // NEREID_TESTS_SUPPORT_SIMULATED_CUDA_WORK_H_
