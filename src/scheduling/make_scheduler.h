// SPDX-License-Identifier: Apache-2.0
// Chooses the scheduler that a configuration asks for, and the layers in front of it. The only
// place that knows all schedulers. Stateless.
#ifndef NEREID_SCHEDULING_MAKE_SCHEDULER_H_
#define NEREID_SCHEDULING_MAKE_SCHEDULER_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <cstddef>
#include <functional>
#include <memory>

#include "base/clock.h"
#include "base/threads/thread_pool.h"
#include "base/timer.h"
#include "cache/response_cache.h"
#include "config/compiled_model.h"
#include "scheduling/ensemble/model_resolver.h"
#include "scheduling/ensemble/step_allocator.h"
#include "scheduling/ensemble/step_graph.h"
#include "scheduling/scheduler.h"

namespace nereid {

// What the server gives to the schedulers of all models; outlives them.
struct SchedulerTools {
  Clock* clock = nullptr;
  Timer* timer = nullptr;  // for time-outs in queues; null: noticed when an instance is idle
  ResponseCache* response_cache = nullptr;  // null: none
  ThreadPool* cache_executor = nullptr;     // null: the cache answers at once
  size_t hold_until_queued = 0;             // see DynamicSchedulerOptions
  size_t hold_until_backlogged = 0;         // see SequenceSchedulerOptions
};

// What a scheduler has to know about the backend's model and its instances.
struct BackendTraits {
  // Limit for executions by I/O threads; zero: only an instance's own thread may execute it.
  Duration inline_limit{0};
  bool executes_briefly = false;  // I/O threads may execute, unless the configuration forbids it
  bool rate_limited = false;      // instances need more than a batch before they execute
  // Makes the model's own batching functions; null if it has none. Called while the scheduler is
  // made, but not for a model with sequences.
  std::function<absl::StatusOr<std::unique_ptr<BatchStrategy>>()> make_strategy;
};

// Makes the scheduler of `model`, with all layers in front of it. `model` outlives the scheduler.
// `fingerprint`: ServingModel's. INVALID_ARGUMENT for a bad model parameter; errors of
// `backend.make_strategy`.
absl::StatusOr<std::unique_ptr<Scheduler>> MakeScheduler(const CompiledModel& model,
                                                         absl::string_view fingerprint,
                                                         const SchedulerTools& tools,
                                                         const BackendTraits& backend);

// Like MakeScheduler, for an ensemble. `resolver` and `allocator`: see EnsembleScheduler.
std::unique_ptr<Scheduler> MakeEnsembleScheduler(const CompiledModel& model,
                                                 absl::string_view fingerprint,
                                                 const SchedulerTools& tools, StepGraph graph,
                                                 ModelResolver* resolver,
                                                 const StepAllocator* allocator);

}  // namespace nereid

#endif  // NEREID_SCHEDULING_MAKE_SCHEDULER_H_
