// SPDX-License-Identifier: Apache-2.0
#include "tests/support/simulated_cuda/work.h"

#include <cstring>
#include <utility>

namespace nereid::simulated_cuda {

WorkQueues::WorkQueues(uint32_t seed, std::function<bool(int device)> on_copy,
                       std::function<bool(int device)> has_failed)
    : random_(seed),
      is_random_(seed != 0),
      on_copy_(std::move(on_copy)),
      has_failed_(std::move(has_failed)) {}

SimulatedStream* WorkQueues::AddStream(int device) {
  auto stream = std::make_shared<SimulatedStream>();
  stream->device = device;
  SimulatedStream* const raw = stream.get();
  streams_.emplace(raw, std::move(stream));
  return raw;
}

SimulatedEvent* WorkQueues::AddEvent(int device) {
  auto event = std::make_shared<SimulatedEvent>();
  event->device = device;
  SimulatedEvent* const raw = event.get();
  events_.emplace(raw, std::move(event));
  return raw;
}

std::shared_ptr<SimulatedStream> WorkQueues::Find(cuda::Stream stream) const {
  const auto found = streams_.find(stream);
  const bool exists = found != streams_.end() && dropped_.count(stream) == 0;
  return exists ? found->second : nullptr;
}

std::shared_ptr<SimulatedEvent> WorkQueues::Find(cuda::Event event) const {
  const auto found = events_.find(event);
  return found == events_.end() ? nullptr : found->second;
}

void WorkQueues::Drop(const std::shared_ptr<SimulatedStream>& stream) {
  if (stream->waiting.empty()) {
    streams_.erase(stream.get());
  } else {
    dropped_.emplace(stream.get(), stream);
  }
}

void WorkQueues::Drop(const std::shared_ptr<SimulatedEvent>& event) { events_.erase(event.get()); }

void WorkQueues::Put(const std::shared_ptr<SimulatedStream>& stream, Work work) {
  stream->waiting.push_back(std::move(work));
  if (is_random_) DoSomeEarly();
}

void WorkQueues::DoSomeEarly() {
  std::vector<std::shared_ptr<SimulatedStream>> all;
  for (const auto& [raw, stream] : streams_) all.push_back(stream);
  for (uint32_t pieces = random_() % 3; pieces > 0; --pieces) {
    const auto& stream = all[random_() % all.size()];
    if (!stream->waiting.empty()) DoOne(stream);
  }
}

void WorkQueues::DoOne(const std::shared_ptr<SimulatedStream>& stream) {
  if (const Work& next = stream->waiting.front(); next.kind == Work::Kind::kWait) {
    DoUntil(next.event, next.until, next.source);
  }
  const Work work = std::move(stream->waiting.front());
  stream->waiting.pop_front();
  if (work.kind == Work::Kind::kRecord) {
    work.event->done = work.until;
    work.event->time_ns = time_ns_;
  } else if (work.kind == Work::Kind::kCopy && on_copy_(stream->device)) {
    std::memcpy(work.to, work.staged.empty() ? work.from : work.staged.data(), work.size);
    ++copies_;
    time_ns_ += 1000 + work.size / 10;
  }
  if (stream->waiting.empty() && dropped_.erase(stream.get()) > 0) streams_.erase(stream.get());
}

void WorkQueues::DoAll(const std::shared_ptr<SimulatedStream>& stream) {
  while (!stream->waiting.empty()) DoOne(stream);
}

void WorkQueues::DoUntil(const std::shared_ptr<SimulatedEvent>& event, uint64_t record,
                         const std::shared_ptr<SimulatedStream>& source) {
  while (event->done < record && !source->waiting.empty()) DoOne(source);
}

bool WorkQueues::DoEverything(uintptr_t block) {
  bool is_used = false;
  std::vector<std::shared_ptr<SimulatedStream>> all;
  for (const auto& [raw, stream] : streams_) {
    all.push_back(stream);
    if (has_failed_(stream->device)) continue;
    for (const Work& work : stream->waiting) {
      is_used |= work.to_block == block || work.from_block == block;
    }
  }
  for (const auto& stream : all) DoAll(stream);
  return is_used;
}

uint64_t WorkQueues::waiting_copies() const {
  uint64_t count = 0;
  for (const auto& [raw, stream] : streams_) {
    for (const Work& work : stream->waiting) count += work.kind == Work::Kind::kCopy;
  }
  return count;
}

}  // namespace nereid::simulated_cuda
