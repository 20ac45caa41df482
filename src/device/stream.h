// SPDX-License-Identifier: Apache-2.0
// Stream and Event: work of a GPU in order, and points in it. Both belong to whoever makes them,
// must not outlive their Gpu, and are thread-safe, as the driver is; what two threads put on a
// stream at a time comes in any order.
#ifndef NEREID_DEVICE_STREAM_H_
#define NEREID_DEVICE_STREAM_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/types/span.h>

#include <chrono>
#include <cstddef>
#include <memory>

#include "device/gpus.h"
#include "model/memory_kind.h"

namespace nereid {

// One piece of a list of copies. The places say what the addresses are, so that copies can be
// counted.
struct CopyItem {
  void* to = nullptr;
  MemoryPlace to_place;
  const void* from = nullptr;
  MemoryPlace from_place;
  size_t byte_size = 0;
};

CopyWay WayOf(const CopyItem& item);

class Event {
 public:
  static absl::StatusOr<std::unique_ptr<Event>> Create(Gpu* gpu);
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  // Blocks until what the stream held at the last Stream::Record is done; returns at once if there
  // was none.
  absl::Status Synchronize() const;
  // Whether it is done. Does not block.
  absl::StatusOr<bool> IsDone() const;
  // The GPU's time from `start` to this event. INVALID_ARGUMENT if one has not been recorded.
  absl::StatusOr<std::chrono::nanoseconds> Since(const Event& start) const;

 private:
  friend class Stream;
  Event(Gpu* gpu, cuda::Event event) : gpu_(gpu), event_(event) {}
  Gpu* const gpu_;
  const cuda::Event event_;
};

class Stream {
 public:
  enum class Priority { kUsual, kUrgent };  // the least and the greatest that the GPU knows

  static absl::StatusOr<std::unique_ptr<Stream>> Create(Gpu* gpu, Priority priority);
  // What the stream still holds goes on: synchronise first if it uses memory that will be freed.
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // Puts all copies on the stream, and counts them. Memory of the host that is not pinned may be
  // reused as soon as this returns, and copies to it are done by then; all other memory has to stay
  // until the stream or an event after this is done. After an error some of the copies may still
  // come: Synchronize before freeing anything.
  absl::Status Copy(absl::Span<const CopyItem> items);
  // Lets `event` stand for all that the stream holds now.
  absl::Status Record(Event* event);
  // What comes later on this stream begins when `event` is done, which may be of another GPU. Does
  // not block.
  absl::Status WaitFor(const Event& event);
  // Blocks until the stream is empty.
  absl::Status Synchronize();
  // Whether it is empty. Does not block.
  absl::StatusOr<bool> IsDone();

  Gpu* gpu() const { return gpu_; }
  // The driver's own.
  cuda::Stream native() const { return stream_; }

 private:
  Stream(Gpu* gpu, cuda::Stream stream) : gpu_(gpu), stream_(stream) {}
  Gpu* const gpu_;
  const cuda::Stream stream_;
};

}  // namespace nereid

#endif  // NEREID_DEVICE_STREAM_H_
