#include "observe/record/flight_recorder.h"

#include <algorithm>

namespace nereid {
namespace {

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

FlightRecorder::FlightRecorder(size_t shards, size_t events) : enabled_(events > 0) {
  for (size_t i = 0; enabled_ && i < shards; ++i) {
    shards_.push_back(std::make_unique<Shard>(std::min(events, kMostEvents)));
  }
}

FlightRecorder::~FlightRecorder() = default;

uint64_t FlightRecorder::NextBatch(size_t shard) {
  if (!enabled_) return 0;
  std::atomic<uint64_t>& executions = shards_[shard]->executions;
  const uint64_t number = executions.load(std::memory_order_relaxed) + 1;
  executions.store(number, std::memory_order_relaxed);
  return number;
}

void FlightRecorder::Record(const FlightRecord& record) {
  if (enabled_) shards_[record.instance]->flights.Write(record);
}

void FlightRecorder::Record(const BatchRecord& record) {
  if (enabled_) shards_[record.instance]->batches.Write(record);
}

uint64_t FlightRecorder::NextEnsemble() {
  static std::atomic<uint64_t> last{0};
  return 1 + last.fetch_add(1, std::memory_order_relaxed);
}

std::vector<FlightRecord> FlightRecorder::Flights(uint64_t since, size_t most) const {
  std::vector<FlightRecord> records;
  for (const auto& shard : shards_) {
    shard->flights.Read([&](const FlightRecord& record) {
      if (EndOf(record) > since) records.push_back(record);
    });
  }
  KeepNewest(most, &records);
  return records;
}

std::vector<BatchRecord> FlightRecorder::Batches(uint64_t since, size_t most) const {
  std::vector<BatchRecord> records;
  for (const auto& shard : shards_) {
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
  cursor->shards.resize(shards_.size());
  for (size_t i = 0; i < shards_.size(); ++i) {
    RecordCursor::Shard& at = cursor->shards[i];
    at.flights = shards_[i]->flights.ReadOn(at.flights, flight, &cursor->lost);
    at.batches = shards_[i]->batches.ReadOn(at.batches, batch, &cursor->lost);
  }
}

}  // namespace nereid
