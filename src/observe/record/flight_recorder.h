// FlightRecorder: the last requests and executions of one model version. Each instance records into
// rings of its own, the shard of its statistics; shard 0 is for requests that no instance saw.
// Thread-safe; recording takes no lock, allocates nothing and waits for nobody. Owned by the
// serving model, and as old as that.
#ifndef NEREID_OBSERVE_RECORD_FLIGHT_RECORDER_H_
#define NEREID_OBSERVE_RECORD_FLIGHT_RECORDER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/export.h"
#include "observe/record/flight_record.h"
#include "observe/record/record_ring.h"

namespace nereid {

// How far a reader that follows a recorder has got. Plain value.
struct RecordCursor {
  struct Shard {
    uint64_t flights = 0;  // numbers of the next records
    uint64_t batches = 0;
  };
  std::vector<Shard> shards;
  uint64_t lost = 0;  // records that were replaced before they were read
};

class NEREID_API FlightRecorder {
 public:
  // Bound of `events`.
  static constexpr size_t kMostEvents = 1 << 20;

  // `shards` >= 1: 1 + number of instances. `events`: requests, and as many executions, that each
  // shard keeps at least; 0: nothing is recorded. Throws std::bad_alloc.
  FlightRecorder(size_t shards, size_t events);
  ~FlightRecorder();

  bool enabled() const { return enabled_; }

  // The number of the next execution of instance `shard`, from 1. REQUIRES: as for its record.
  uint64_t NextBatch(size_t shard);
  // Keeps the record with its instance; REQUIRES: record.instance < shards.
  void Record(const FlightRecord& record);
  // REQUIRES: an instance's executions do not overlap, and each one happens before the next.
  void Record(const BatchRecord& record);
  // A number for a request that has steps. No two requests of the process have the same.
  static uint64_t NextEnsemble();

  // ---- Reports. They copy the rings, and do not disturb the recording.
  // The newest `most` records, newest first, of those that ended after `since`.
  std::vector<FlightRecord> Flights(uint64_t since, size_t most) const;
  std::vector<BatchRecord> Batches(uint64_t since, size_t most) const;
  // Calls `flight` and `batch` with the records since the last call with this cursor, those of each
  // shard in the order in which they were written.
  void Follow(RecordCursor* cursor, const std::function<void(const FlightRecord&)>& flight,
              const std::function<void(const BatchRecord&)>& batch) const;

 private:
  struct Shard;

  const bool enabled_;
  std::vector<std::unique_ptr<Shard>> shards_;  // constant after construction; empty when off
};

}  // namespace nereid

#endif  // NEREID_OBSERVE_RECORD_FLIGHT_RECORDER_H_
