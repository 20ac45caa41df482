// SPDX-License-Identifier: Apache-2.0
#include "observe/record/flight_recorder.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>

namespace nereid {
namespace {

// Records have 16 bits for the number of a shard.
constexpr size_t kMostShards = std::numeric_limits<uint16_t>::max();

uint64_t EndOf(const FlightRecord& record) { return record.sent; }
uint64_t EndOf(const BatchRecord& record) { return record.exec_end; }

// The newest first, at most `most`.
template <class T>
void KeepNewest(size_t most, std::vector<T>* records) {
  const auto newer = [](const T& a, const T& b) { return EndOf(a) > EndOf(b); };
  const auto end = records->begin() + static_cast<ptrdiff_t>(std::min(most, records->size()));
  std::partial_sort(records->begin(), end, records->end(), newer);
  records->erase(end, records->end());
}

}  // namespace

struct alignas(64) FlightRecorder::Shard {
  explicit Shard(size_t events) : flights(events), batches(events) {}

  RecordRing<FlightRecord> flights;
  // An instance executes one batch at a time.
  RecordRing<BatchRecord, RingWriters::kOne> batches;
  std::atomic<uint64_t> executions{0};
};

FlightRecorder::FlightRecorder(size_t shards, size_t events)
    : enabled_(events > 0), events_(std::min(events, kMostEvents)), first_(shards) {
  MutexLock lock(&mu_);
  for (size_t i = 0; enabled_ && i < shards; ++i) AddShard();
}

FlightRecorder::~FlightRecorder() = default;

// ---- Shards

FlightRecorder::Lease::~Lease() {
  if (recorder_ != nullptr) recorder_->GiveBack(shard_);
}

std::pair<size_t, size_t> FlightRecorder::PlaceOf(size_t shard) const {
  if (shard < first_) return {0, shard};
  const size_t segment = static_cast<size_t>(std::bit_width(shard / first_));
  return {segment, shard - (first_ << (segment - 1))};
}

void FlightRecorder::AddShard() {
  const auto [segment, place] = PlaceOf(seats_.size());
  if (seats_.size() > kMostShards) throw std::length_error("too many instances");
  seats_.reserve(seats_.size() + 1);
  if (segments_[segment] == nullptr) {
    const size_t size = segment == 0 ? first_ : first_ << (segment - 1);
    segments_[segment] = std::make_unique<std::unique_ptr<Shard>[]>(size);
  }
  segments_[segment][place] = std::make_unique<Shard>(events_);
  seats_.emplace_back();
}

size_t FlightRecorder::FindShard(const std::string& name) const {
  size_t untaken = 0;
  size_t oldest = 0;
  size_t left = 0;
  for (size_t i = 1; i < seats_.size(); ++i) {
    const Seat& seat = seats_[i];
    if (seat.instance.name.empty() && untaken == 0) untaken = i;
    if (!seat.instance.gone) continue;
    if (seat.instance.name == name) return i;
    if (oldest == 0 || seat.went < seats_[oldest].went) oldest = i;
    ++left;
  }
  if (untaken != 0) return untaken;
  return left >= kMostLeft ? oldest : 0;
}

FlightRecorder::Lease FlightRecorder::TakeShard(const std::string& name) {
  if (!enabled_) return Lease();
  InstanceOfShard instance{name, false};
  MutexLock lock(&mu_);
  size_t shard = FindShard(name);
  if (shard == 0) {
    AddShard();
    shard = seats_.size() - 1;
  }
  seats_[shard].instance = std::move(instance);
  return {this, static_cast<uint16_t>(shard)};
}

void FlightRecorder::GiveBack(size_t shard) noexcept {
  MutexLock lock(&mu_);
  seats_[shard].instance.gone = true;
  seats_[shard].went = ++gone_;
}

std::string FlightRecorder::InstanceName(size_t shard) const {
  MutexLock lock(&mu_);
  return shard < seats_.size() ? seats_[shard].instance.name : "";
}

std::vector<FlightRecorder::InstanceOfShard> FlightRecorder::Instances() const {
  std::vector<InstanceOfShard> instances;
  MutexLock lock(&mu_);
  for (size_t i = 1; i < seats_.size(); ++i) instances.push_back(seats_[i].instance);
  return instances;
}

std::vector<const FlightRecorder::Shard*> FlightRecorder::All() const {
  std::vector<const Shard*> shards;
  MutexLock lock(&mu_);
  for (size_t i = 0; i < seats_.size(); ++i) shards.push_back(&At(i));
  return shards;
}

// ---- Records

uint64_t FlightRecorder::NextBatch(size_t shard) {
  if (!enabled_) return 0;
  std::atomic<uint64_t>& executions = At(shard).executions;
  const uint64_t number = executions.load(std::memory_order_relaxed) + 1;
  executions.store(number, std::memory_order_relaxed);
  return number;
}

void FlightRecorder::Record(const FlightRecord& record) {
  if (enabled_) At(record.instance).flights.Write(record);
}

void FlightRecorder::Record(const BatchRecord& record) {
  if (enabled_) At(record.instance).batches.Write(record);
}

uint64_t FlightRecorder::NextEnsemble() {
  static std::atomic<uint64_t> last{0};
  return 1 + last.fetch_add(1, std::memory_order_relaxed);
}

std::vector<FlightRecord> FlightRecorder::Flights(uint64_t since, size_t most) const {
  std::vector<FlightRecord> records;
  for (const Shard* const shard : All()) {
    shard->flights.Read([&](const FlightRecord& record) {
      if (EndOf(record) > since) records.push_back(record);
    });
  }
  KeepNewest(most, &records);
  return records;
}

std::vector<BatchRecord> FlightRecorder::Batches(uint64_t since, size_t most) const {
  std::vector<BatchRecord> records;
  for (const Shard* const shard : All()) {
    shard->batches.Read([&](const BatchRecord& record) {
      if (EndOf(record) > since) records.push_back(record);
    });
  }
  KeepNewest(most, &records);
  return records;
}

void FlightRecorder::Follow(RecordCursor* cursor,
                            const std::function<void(const FlightRecord&)>& flight,
                            const std::function<void(const BatchRecord&)>& batch) const {
  const std::vector<const Shard*> shards = All();
  cursor->shards.resize(shards.size());
  for (size_t i = 0; i < shards.size(); ++i) {
    RecordCursor::Shard& at = cursor->shards[i];
    at.flights = shards[i]->flights.ReadOn(at.flights, flight, &cursor->lost);
    at.batches = shards[i]->batches.ReadOn(at.batches, batch, &cursor->lost);
  }
}

}  // namespace nereid
