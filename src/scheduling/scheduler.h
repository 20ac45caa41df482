// Scheduler: decides when the requests of one model run and in which batches. BatchSource: where
// an idle instance takes its next batch. Both thread-safe.
#ifndef NEREID_SCHEDULING_SCHEDULER_H_
#define NEREID_SCHEDULING_SCHEDULER_H_

#include <absl/status/status.h>

#include <vector>

#include "infer/request_ptr.h"

namespace nereid {

// Requests that run together, oldest first. Empty: there is nothing more to come, stop pulling.
using Batch = std::vector<RequestPtr>;

class BatchSource {
 public:
  virtual ~BatchSource() = default;
  // Blocks an instance's thread until a batch is due or the scheduler is shut down.
  virtual Batch Pull() = 0;
};

class Scheduler {
 public:
  virtual ~Scheduler() = default;

  // Takes over `*request` if and only if it returns OK. UNAVAILABLE: admission is closed, or the
  // queue is full. Never blocks.
  virtual absl::Status Enqueue(RequestPtr* request) = 0;
  // The first door: from now on Enqueue refuses; what is queued still runs.
  virtual void CloseAdmission() = 0;
  // Looks again for cancelled requests. Never blocks.
  virtual void OnCancel() = 0;
  // Pull returns empty batches from now on. What is still queued is answered UNAVAILABLE.
  virtual void Shutdown() = 0;
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_SCHEDULER_H_
