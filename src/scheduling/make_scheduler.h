// Which scheduler a configuration asks for, and what stands in front of it. The only place that
// knows all of them. Stateless.
#ifndef NEREID_SCHEDULING_MAKE_SCHEDULER_H_
#define NEREID_SCHEDULING_MAKE_SCHEDULER_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <cstddef>
#include <functional>
#include <memory>

#include "base/clock.h"
#include "base/executor.h"
#include "base/timer.h"
#include "cache/response_cache.h"
#include "config/compiled_model.h"
#include "memory/output_allocator.h"
#include "scheduling/dynamic/batch_strategy.h"
#include "scheduling/ensemble/model_resolver.h"
#include "scheduling/ensemble/step_graph.h"
#include "scheduling/scheduler.h"

namespace nereid {

// What the server gives to the schedulers of all models; outlives them.
struct SchedulerTools {
  Clock* clock = nullptr;
  Timer* timer = nullptr;  // for time-outs in queues; null: noticed when an instance is idle
  ResponseCache* response_cache = nullptr;  // null: none
  Executor* cache_executor = nullptr;       // null: the cache answers at once
  size_t hold_until_queued = 0;             // see DynamicSchedulerOptions
  size_t hold_until_backlogged = 0;         // see SequenceSchedulerOptions
};

// What a scheduler has to know of the backend's model and of its instances.
struct BackendTraits {
  // Of executions by I/O threads; zero: no thread but its own may execute an instance.
  Duration inline_limit{0};
  bool executes_briefly = false;  // I/O threads may, unless the configuration says otherwise
  bool rate_limited = false;      // instances need more than a batch before they execute
  // The model's own batching functions; null where it has none. Called while the scheduler is made,
  // and not for a model of sequences.
  std::function<absl::StatusOr<std::unique_ptr<BatchStrategy>>()> make_strategy;
};

// The scheduler of `model`, which outlives it, with all that stands in front. `fingerprint`:
// ServingModel's. INVALID_ARGUMENT for a bad model parameter; errors of `backend.make_strategy`.
absl::StatusOr<std::unique_ptr<Scheduler>> MakeScheduler(const CompiledModel& model,
                                                         absl::string_view fingerprint,
                                                         const SchedulerTools& tools,
                                                         const BackendTraits& backend);

// The same for an ensemble. `resolver` and `allocator` as EnsembleScheduler has them.
std::unique_ptr<Scheduler> MakeEnsembleScheduler(const CompiledModel& model,
                                                 absl::string_view fingerprint,
                                                 const SchedulerTools& tools, StepGraph graph,
                                                 ModelResolver* resolver,
                                                 const HeapOutputAllocator* allocator);

}  // namespace nereid

#endif  // NEREID_SCHEDULING_MAKE_SCHEDULER_H_
