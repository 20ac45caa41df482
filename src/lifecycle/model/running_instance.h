// RunningInstance: one instance of a model with its thread. Owned by its InstanceSet.
// Thread-compatible except for `in_use`.
#ifndef NEREID_LIFECYCLE_MODEL_RUNNING_INSTANCE_H_
#define NEREID_LIFECYCLE_MODEL_RUNNING_INSTANCE_H_

#include <memory>

#include "backend_host/backend_instance.h"
#include "base/gate.h"
#include "config/compiled_model.h"
#include "execution/instance_runner.h"
#include "execution/rate_limited_source.h"

namespace nereid {

struct RunningInstance {
  ~RunningInstance() { Close(); }

  void Serve() {
    if (!spec.passive) runner->Serve();
  }
  // Stops waiting for resources.
  void Close() {
    if (limited != nullptr) limited->Close();
  }

  InstanceSpec spec;
  FlightRecorder::Lease records;               // outlives the executions
  int place = 0;                               // number among the model's instances
  std::unique_ptr<RateLimitedSource> limited;  // null without rate limiter
  BackendInstance* backend = nullptr;          // owned by the runner
  Gate in_use;                                 // others use `backend`; closed before its end
  std::unique_ptr<InstanceRunner> runner;      // joins before the source is destroyed
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_MODEL_RUNNING_INSTANCE_H_
