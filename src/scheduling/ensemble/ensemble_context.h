// SPDX-License-Identifier: Apache-2.0
// EnsembleContext: what all requests to one version of an ensemble have in common. Owned by the
// EnsembleScheduler. Thread-safe.
#ifndef NEREID_SCHEDULING_ENSEMBLE_ENSEMBLE_CONTEXT_H_
#define NEREID_SCHEDULING_ENSEMBLE_ENSEMBLE_CONTEXT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "config/compiled_model.h"
#include "scheduling/ensemble/model_resolver.h"
#include "scheduling/ensemble/step_allocator.h"
#include "scheduling/ensemble/step_graph.h"

namespace nereid {

class EnsembleRun;

// How many executions of a step all requests to one ensemble may have under way together
// (max_inflight_requests). The others wait here, without a thread, in the order in which they came.
//
// A step also waits while as many executions of a step that reads its outputs wait as may be under
// way: otherwise the outputs of a fast step would pile up before a slow one. Where a decoupled step
// is involved, credit limits that instead (ensemble_run.h).
//
// Thread-safe. Owned by the ensemble's context.
class StepGate {
 public:
  // An execution that waits, or waited.
  struct Entry {
    std::shared_ptr<EnsembleRun> run;
    StepRun step;
  };
  // The caller of a function that fills this starts the executions, without a lock.
  using Entries = std::list<Entry>;

  // `limit`: 0: any number, and no function may be called.
  StepGate(const StepGraph& graph, uint32_t limit);

  bool limits() const { return limit_ > 0; }
  // True: `step` starts now, and Leave has to be called when it has ended. False: it waits. May
  // throw std::bad_alloc; then it does not wait.
  bool Enter(std::shared_ptr<EnsembleRun> run, const StepRun& step) ABSL_LOCKS_EXCLUDED(mu_);
  // An execution of `step` has ended. Moves those that may start now to `*start`.
  void Leave(uint32_t step, Entries* start) noexcept ABSL_LOCKS_EXCLUDED(mu_);
  // Moves what waits for `run` to `*removed`, and those that may start now to `*start`.
  void Remove(const EnsembleRun* run, Entries* removed, Entries* start) noexcept
      ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Step {
    std::vector<uint32_t> readers;  // whose waiting executions hold this step back
    uint32_t active = 0;
    Entries waiting = {};
  };

  bool MayStart(const Step& step) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void StartMore(Entries* start) noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const uint32_t limit_;
  Mutex mu_;
  std::vector<Step> steps_ ABSL_GUARDED_BY(mu_);
};

struct EnsembleContext {
  // All but the graph outlive this. `allocator_in` also outlives the responses of the steps'
  // models.
  EnsembleContext(const CompiledModel* config_in, StepGraph graph_in, ModelResolver* resolver_in,
                  const StepAllocator* allocator_in, Clock* clock_in)
      : config(config_in),
        graph(std::move(graph_in)),
        resolver(resolver_in),
        allocator(allocator_in),
        clock(clock_in),
        gate(graph, config_in->ensemble.max_inflight_requests),
        told_left_out(std::make_unique<std::atomic<bool>[]>(graph.outputs().size())) {}

  const CompiledModel* const config;
  const StepGraph graph;
  ModelResolver* const resolver;
  const StepAllocator* const allocator;  // of the tensors that steps write
  Clock* const clock;

  StepGate gate;
  Mutex runs_mu;                      // guards FindSlot<EnsembleRun> of the requests
  std::atomic<size_t> peak_bytes{0};  // the most that tensors between steps took in one request
  // By output: whether it was logged that an answer was without this output.
  const std::unique_ptr<std::atomic<bool>[]> told_left_out;
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_ENSEMBLE_ENSEMBLE_CONTEXT_H_
