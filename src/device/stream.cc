// SPDX-License-Identifier: Apache-2.0
#include "device/stream.h"

#include <cmath>

#include "base/status_macros.h"

namespace nereid {

CopyWay WayOf(const CopyItem& item) {
  const bool to_gpu = item.to_place.type == MemoryType::kGpu;
  const bool from_gpu = item.from_place.type == MemoryType::kGpu;
  if (!to_gpu) return from_gpu ? CopyWay::kFromDevice : CopyWay::kOnHost;
  if (!from_gpu) return CopyWay::kToDevice;
  return item.to_place.id == item.from_place.id ? CopyWay::kWithinDevice : CopyWay::kBetweenDevices;
}

absl::StatusOr<std::unique_ptr<Event>> Event::Create(Gpu* gpu) {
  cuda::Event event = nullptr;
  RETURN_IF_ERROR(gpu->Call("make an event", [&](const cuda::Functions& call) {
    return call.EventCreate(&event, cuda::kEventBlockingSync);
  }));
  return std::unique_ptr<Event>(new Event(gpu, event));
}

Event::~Event() {
  gpu_->Release([&](const cuda::Functions& call) { return call.EventDestroy(event_); });
}

absl::Status Event::Synchronize() const {
  return gpu_->Call("finish its work up to an event",
                    [&](const cuda::Functions& call) { return call.EventSynchronize(event_); });
}

absl::StatusOr<bool> Event::IsDone() const {
  return gpu_->Poll("say whether an event is done",
                    [&](const cuda::Functions& call) { return call.EventQuery(event_); });
}

absl::StatusOr<std::chrono::nanoseconds> Event::Since(const Event& start) const {
  float milliseconds = 0;
  RETURN_IF_ERROR(
      gpu_->Call("say what time is between two events", [&](const cuda::Functions& call) {
        return call.EventElapsedTime(&milliseconds, start.event_, event_);
      }));
  return std::chrono::nanoseconds(std::llround(double{milliseconds} * 1e6));
}

absl::StatusOr<std::unique_ptr<Stream>> Stream::Create(Gpu* gpu, Priority priority) {
  cuda::Stream stream = nullptr;
  RETURN_IF_ERROR(gpu->Call("make a stream", [&](const cuda::Functions& call) {
    int least = 0, greatest = 0;
    const cuda::Result result = call.CtxGetStreamPriorityRange(&least, &greatest);
    if (result != cuda::kSuccess) return result;
    return call.StreamCreate(&stream, cuda::kStreamNonBlocking,
                             priority == Priority::kUrgent ? greatest : least);
  }));
  return std::unique_ptr<Stream>(new Stream(gpu, stream));
}

Stream::~Stream() {
  gpu_->Release([&](const cuda::Functions& call) { return call.StreamDestroy(stream_); });
}

absl::Status Stream::Copy(absl::Span<const CopyItem> items) {
  return gpu_->Call("copy", [&](const cuda::Functions& call) {
    for (const CopyItem& item : items) {
      if (item.byte_size == 0) continue;
      const cuda::Result result = call.MemcpyAsync(
          cuda::AddressOf(item.to), cuda::AddressOf(item.from), item.byte_size, stream_);
      if (result != cuda::kSuccess) return result;
      gpu_->CountCopy(WayOf(item), item.byte_size);
    }
    return cuda::kSuccess;
  });
}

absl::Status Stream::Record(Event* event) {
  return gpu_->Call("record an event", [&](const cuda::Functions& call) {
    return call.EventRecord(event->event_, stream_);
  });
}

absl::Status Stream::WaitFor(const Event& event) {
  return gpu_->Call("let a stream wait for an event", [&](const cuda::Functions& call) {
    return call.StreamWaitEvent(stream_, event.event_, 0);
  });
}

absl::Status Stream::Synchronize() {
  return gpu_->Call("finish the work of a stream",
                    [&](const cuda::Functions& call) { return call.StreamSynchronize(stream_); });
}

absl::StatusOr<bool> Stream::IsDone() {
  return gpu_->Poll("say whether a stream is empty",
                    [&](const cuda::Functions& call) { return call.StreamQuery(stream_); });
}

}  // namespace nereid
