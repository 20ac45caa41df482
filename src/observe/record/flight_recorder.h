// SPDX-License-Identifier: Apache-2.0
// FlightRecorder: the last requests and executions of one model version. Each running instance has
// a shard, that is rings of its own; shard 0 is for requests that no instance saw. Thread-safe;
// recording takes no lock, allocates nothing and waits for nobody. Owned by the
// serving model, and as old as that.
#ifndef NEREID_OBSERVE_RECORD_FLIGHT_RECORDER_H_
#define NEREID_OBSERVE_RECORD_FLIGHT_RECORDER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/export.h"
#include "base/mutex.h"
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

  // A shard that an instance has for itself, until this is destroyed. Moves to one owner.
  class NEREID_API Lease {
   public:
    Lease() = default;
    Lease(Lease&& other) noexcept
        : recorder_(std::exchange(other.recorder_, nullptr)), shard_(other.shard_) {}
    Lease& operator=(Lease&& other) noexcept {
      std::swap(recorder_, other.recorder_);
      std::swap(shard_, other.shard_);
      return *this;
    }
    ~Lease();
    uint16_t shard() const { return shard_; }

   private:
    friend class FlightRecorder;
    Lease(FlightRecorder* recorder, uint16_t shard) : recorder_(recorder), shard_(shard) {}
    FlightRecorder* recorder_ = nullptr;  // null: nothing to give back
    uint16_t shard_ = 0;
  };
  // An instance that has, or had, a shard.
  struct InstanceOfShard {
    std::string name;  // empty until the shard is taken
    bool gone = false;
  };

  // `shards` >= 1: 1 + number of instances at first. `events`: requests, and as many executions,
  // that each shard keeps at least; 0: nothing is recorded. Throws std::bad_alloc.
  FlightRecorder(size_t shards, size_t events);
  ~FlightRecorder();

  bool enabled() const { return enabled_; }

  // A shard for an instance that begins: that of a former instance of this name, one that nobody
  // has had, or a new one. If many former instances left theirs, that of the one that went first.
  // Shard 0 if nothing is recorded. Throws std::bad_alloc, and std::length_error if there are
  // 65,535.
  Lease TakeShard(const std::string& name) ABSL_LOCKS_EXCLUDED(mu_);
  // The name of the instance that has `shard`, or had it last; empty if none has.
  std::string InstanceName(size_t shard) const ABSL_LOCKS_EXCLUDED(mu_);
  // Of shards 1, 2, ...
  std::vector<InstanceOfShard> Instances() const ABSL_LOCKS_EXCLUDED(mu_);

  // The number of the next execution of instance `shard`, from 1. REQUIRES: as for its record.
  uint64_t NextBatch(size_t shard);
  // Keeps the record with its instance. REQUIRES: record.instance is 0, or was a shard at first or
  // in a lease.
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
  struct Seat {
    InstanceOfShard instance;
    uint64_t went = 0;  // when it was given back, counted; 0: never
  };
  // More shards of former instances are not kept for the sake of their records.
  static constexpr size_t kMostLeft = 64;
  static constexpr size_t kSegments = 17;

  // Its segment, and the place there.
  std::pair<size_t, size_t> PlaceOf(size_t shard) const;
  Shard& At(size_t shard) const {
    const auto [segment, place] = PlaceOf(shard);
    return *segments_[segment][place];
  }
  void AddShard() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The shard that `name` gets, of those that nobody has; 0: none.
  size_t FindShard(const std::string& name) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void GiveBack(size_t shard) noexcept ABSL_LOCKS_EXCLUDED(mu_);
  std::vector<const Shard*> All() const ABSL_LOCKS_EXCLUDED(mu_);

  const bool enabled_;
  const size_t events_;
  const size_t first_;  // shards in the first segment; each further one doubles their number
  // A shard is put in once, with mu_, before anybody knows its number; whoever records into it
  // reads it without a lock.
  std::array<std::unique_ptr<std::unique_ptr<Shard>[]>, kSegments> segments_;
  mutable Mutex mu_;
  std::vector<Seat> seats_ ABSL_GUARDED_BY(mu_);  // one per shard; empty when off
  uint64_t gone_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace nereid

#endif  // NEREID_OBSERVE_RECORD_FLIGHT_RECORDER_H_
