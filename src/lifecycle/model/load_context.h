// SPDX-License-Identifier: Apache-2.0
// LoadContext: what loading a model needs from the server. A plain value.
#ifndef NEREID_LIFECYCLE_MODEL_LOAD_CONTEXT_H_
#define NEREID_LIFECYCLE_MODEL_LOAD_CONTEXT_H_

#include <cstddef>

#include "backend_host/backend_registry.h"
#include "base/clock.h"
#include "base/threads/thread_pool.h"
#include "base/timer.h"
#include "cache/response_cache.h"
#include "device/devices.h"
#include "execution/host_policy.h"
#include "execution/rate_limiter.h"
#include "filesystem/file_system.h"
#include "infer/input_recorder.h"
#include "lifecycle/model/readiness_checker.h"
#include "observe/metrics/metrics_config.h"
#include "scheduling/ensemble/model_resolver.h"
#include "scheduling/make_scheduler.h"

namespace nereid {

// Outlives every model loaded with it.
struct LoadContext {
  const FileSystem* file_system = nullptr;
  BackendRegistry* backends = nullptr;
  Clock* clock = nullptr;
  bool auto_complete_config = true;
  ResponseCache* response_cache = nullptr;            // null: none
  ThreadPool* cache_executor = nullptr;               // null: the cache answers at once
  RateLimiter* rate_limiter = nullptr;                // null: instances need no resources
  const HostPolicySettings* host_policies = nullptr;  // null: none
  Duration inline_limit{0};                           // for executions by I/O threads; 0: none
  Timer* timer = nullptr;        // for time-outs in queues; null: noticed when an instance is idle
  size_t hold_until_queued = 0;  // see DynamicSchedulerOptions
  ModelResolver* resolver = nullptr;  // for ensembles; null: there are none
  // Allocates the tensors between the steps of ensembles; null: an allocator without a limit.
  const StepAllocator* step_allocator = nullptr;
  size_t hold_until_backlogged = 0;          // see SequenceSchedulerOptions
  void* server = nullptr;                    // TRITONSERVER_Server*, for the backends
  ReadinessChecker* readiness = nullptr;     // null: models count as ready without being asked
  MetricsConfig metrics;                     // what models record for the metrics page
  size_t recorded_events = 0;                // requests that each instance remembers; 0: none
  InputRecorder* input_recorder = nullptr;   // null: inputs are not recorded
  const Devices* devices = Devices::None();  // what instances may run on
  Duration metrics_interval{0};              // how long a reading of the instances' use is kept
};

inline PlacementRules PlacementRulesFor(const LoadContext& context, const LoadedBackend& backend) {
  return {backend.attributes().preferred_groups, context.devices->used(),
          context.devices->min_compute_capability(), backend.attributes().computes_on_cpus};
}

inline SchedulerTools ToolsOf(const LoadContext& context) {
  return {context.clock,
          context.timer,
          context.response_cache,
          context.cache_executor,
          context.hold_until_queued,
          context.hold_until_backlogged};
}

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_MODEL_LOAD_CONTEXT_H_
