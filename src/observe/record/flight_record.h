// SPDX-License-Identifier: Apache-2.0
// FlightRecord: what is remembered of one request; BatchRecord: of one execution. Plain values,
// whole words, so that a RecordRing can keep them. What is not a time is a number whose meaning the
// writers define. All times are nanoseconds of the steady clock; 0: has not happened, or is not
// known.
#ifndef NEREID_OBSERVE_RECORD_FLIGHT_RECORD_H_
#define NEREID_OBSERVE_RECORD_FLIGHT_RECORD_H_

#include <absl/strings/string_view.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace nereid {

// How a request ended.
enum class FlightOutcome : uint8_t {
  kOk,
  kError,      // of the model, or because the server lacks something
  kCancelled,  // by its client
  kTimedOut,   // in a queue
  kRefused,    // was not let into a queue
  kCacheHit    // answered from the response cache
};
inline constexpr size_t kFlightOutcomes = 6;
// "ok", "error", ...; lives as long as the program.
const char* NameOf(FlightOutcome outcome);

// The first bytes of a text that a client has chosen, and whether there were more.
template <size_t kBytes>
struct TextPrefix {
  static_assert(kBytes < 255);
  static constexpr uint8_t kCut = 255;  // `length` of a text that does not fit

  void Set(absl::string_view text) {
    length = text.size() > kBytes ? kCut : static_cast<uint8_t>(text.size());
    std::memcpy(bytes.data(), text.data(), std::min(text.size(), kBytes));
  }
  absl::string_view text() const { return {bytes.data(), std::min<size_t>(length, kBytes)}; }
  bool cut() const { return length == kCut; }
  // Whether `text` may be the whole text.
  bool Matches(absl::string_view whole) const {
    return cut() ? whole.size() > kBytes && whole.substr(0, kBytes) == text() : whole == text();
  }

  std::array<char, kBytes> bytes;
  uint8_t length;
};

// What most requests lack comes last, since a RecordRing does not write a tail of zeros.
struct FlightRecord {
  // ---- In the order in which they happen.
  uint64_t request_start = 0;
  uint64_t queue_start = 0;    // admitted: the scheduler has the request
  uint64_t pulled = 0;         // its batch left the queue
  uint64_t exec_start = 0;     // its instance began to execute
  uint64_t compute_start = 0;  // as reported by the backend: inputs are there
  uint64_t compute_end = 0;    // as reported by the backend: outputs are computed
  uint64_t answered = 0;       // the final response was handed to its receiver
  uint64_t sent = 0;           // the receiver has taken it

  // ---- What it is.
  uint64_t batch = 0;  // the number of its batch in its instance; 0: in none
  uint32_t batch_size = 0;
  uint16_t step = 0;      // number of the step in the ensemble `parent`
  uint16_t instance = 0;  // shard of the recorder; 0: no instance saw the request
  // Requests of a model with equal keys have inputs of equal shapes, apart from the batch
  // dimension; 0: the model leaves no choice. For replays (docs/operate/recording.md).
  uint32_t shapes = 0;
  uint16_t flags = 0;  // start and end of a sequence, as in the C API
  // 1 + the number of the slot that its sequence had in the instance; 0: it had none, or one beyond
  // kSlotsTold.
  uint16_t sequence_slot = 0;
  FlightOutcome outcome = FlightOutcome::kOk;
  TextPrefix<38> id{};  // of the request

  // ---- What most requests lack. The first three are times between `queue_start` and `pulled`.
  uint64_t looked_up = 0;          // the response cache has said what it has
  uint64_t slot = 0;               // its sequence got a slot of an instance, after waiting for one
  uint64_t staged = 0;             // its batch was due; the instance waits for the rate limiter
  uint64_t timeout_us = 0;         // as its maker has asked; 0: none. For replays
  uint64_t ensemble = 0;           // number of an ensemble's request; 0: it is none
  uint64_t parent = 0;             // the ensemble's request of which this is a step; 0: of none
  uint64_t priority = 0;           // level of the queue
  uint64_t sequence = 0;           // its correlation id; of a text: see sequence_text
  TextPrefix<15> sequence_text{};  // empty: the id is a number, or there is none

  static constexpr uint32_t kSlotsTold = 65535;
  void SetSequenceSlot(uint32_t slot) {
    sequence_slot = static_cast<uint16_t>(slot < kSlotsTold ? slot + 1 : 0);
  }
};
static_assert(sizeof(FlightRecord) == 208);

struct BatchRecord {
  uint64_t number = 0;  // counts the executions of the instance, from 1
  uint64_t pulled = 0;  // see FlightRecord
  uint64_t staged = 0;
  uint64_t exec_start = 0;
  uint64_t exec_end = 0;  // Execute has returned
  uint32_t requests = 0;  // without fillers
  uint32_t units = 0;     // their batch sizes together
  uint32_t fillers = 0;   // requests for gaps and ends of sequences
  uint16_t instance = 0;  // see FlightRecord
  uint8_t reason = 0;     // scheduling/batch.h
  // Executed by a thread that had the instance on loan, not by the instance's own; and: Execute has
  // returned an error.
  bool by_caller : 1 = false;
  bool failed : 1 = false;
};
static_assert(sizeof(BatchRecord) == 56);

}  // namespace nereid

#endif  // NEREID_OBSERVE_RECORD_FLIGHT_RECORD_H_
