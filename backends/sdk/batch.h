// SPDX-License-Identifier: Apache-2.0
// Batch: the requests of one ModelInstanceExecute call, from arrival to release. It enforces the
// rules that are easy to break: every request gets exactly one response with the final flag, a
// failure affects only its own request, statistics are reported before release, and everything is
// released. Used by the thread that runs Execute, or passed as a whole to another thread by
// backends that compute while the instance continues.
//
//   return RunBatch(instance, requests, count, [&](Batch& batch) -> Error { ... });
#ifndef NEREID_BACKENDS_SDK_BATCH_H_
#define NEREID_BACKENDS_SDK_BATCH_H_

#include <cstdint>
#include <vector>

#include "backends/sdk/boundary.h"
#include "backends/sdk/error.h"
#include "triton/core/tritonbackend.h"

namespace nereid_backend {

// Steady clock, as required by the server's statistics.
uint64_t NowNs();

class Batch {
 public:
  using Clock = uint64_t (*)();  // nanoseconds

  // Takes the requests, which belong to the backend from now on.
  Batch(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests, uint32_t count,
        Clock now = &NowNs);
  // REQUIRES: Finish() was called.
  ~Batch() = default;
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  size_t size() const { return slots_.size(); }
  TRITONBACKEND_Request* request(size_t i) const { return slots_[i].request; }
  // False once the request has been answered with an error.
  bool live(size_t i) const { return !slots_[i].failed; }
  size_t live_count() const;

  // Rows (first dimension) that request i adds to the batch; 1 until set. Only for batching models.
  void set_rows(size_t i, int64_t rows) { slots_[i].rows = rows; }
  int64_t rows(size_t i) const { return slots_[i].rows; }
  // Sum over the live requests.
  int64_t live_rows() const;

  // The response to request i, made on first use; owned by the batch.
  Result<TRITONBACKEND_Response*> Response(size_t i);

  // Discards the unsent response to request i, with its outputs; the next Response(i) is new.
  void DropResponse(size_t i);

  // Answers request i with `error`, now. REQUIRES: live(i).
  void Fail(size_t i, const Error& error);
  // As above, for every live request.
  void FailAll(const Error& error);

  // Time stamps for the statistics: computation begins, ends. A batch that is computed in several
  // turns has a pair per turn. The reported computation begins with the first turn and lasts as
  // long as all turns together; the time between turns counts as output. Without stamps all time is
  // computation; a turn that was not ended ends with the batch.
  void MarkComputeStart();
  void MarkComputeEnd();
  // A turn that was measured elsewhere, for instance in a process that computes for this one: from
  // `start` to `end` on the steady clock. Time before the batch or in the future is cut off.
  void MarkComputed(uint64_t start, uint64_t end);

  // Reports statistics, sends the responses of the live requests and releases all requests.
  void Finish();

 private:
  struct Slot {
    TRITONBACKEND_Request* request = nullptr;
    TRITONBACKEND_Response* response = nullptr;
    int64_t rows = 1;
    bool failed = false;
  };

  void ReportStatistics(uint64_t end);
  // Sends the response, if there is one, and releases the request.
  void Send(Slot* slot);

  TRITONBACKEND_ModelInstance* const instance_;
  const Clock now_;
  std::vector<Slot> slots_;
  const uint64_t exec_start_;
  uint64_t compute_start_ = 0;  // of the first turn; 0 before that turn
  uint64_t turn_start_ = 0;     // of the current turn; 0 between turns
  uint64_t computed_ns_ = 0;    // in the finished turns
};

// The skeleton of ModelInstanceExecute. `body(Batch&)` fills responses and fails single requests;
// an Error that it returns, or an exception, fails the requests that are still live. Returns null
// unless the batch could not even be set up; the requests then still belong to the server.
template <typename Body>
TRITONSERVER_Error* RunBatch(TRITONBACKEND_ModelInstance* instance,
                             TRITONBACKEND_Request** requests, uint32_t count,
                             Body&& body) noexcept {
  return Guard("ModelInstanceExecute", [&]() -> Error {
    Batch batch(instance, requests, count);
    const Error error = Guarded("ModelInstanceExecute", [&] { return body(batch); });
    if (!error.ok()) batch.FailAll(error);
    batch.Finish();
    return Error();
  });
}

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_BATCH_H_
