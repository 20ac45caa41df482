// EnsembleContext: what all requests to one version of an ensemble have in common. Owned by the
// EnsembleScheduler. Thread-safe.
#ifndef NEREID_SCHEDULING_ENSEMBLE_ENSEMBLE_CONTEXT_H_
#define NEREID_SCHEDULING_ENSEMBLE_ENSEMBLE_CONTEXT_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"
#include "config/compiled_model.h"
#include "memory/output_allocator.h"
#include "scheduling/ensemble/model_resolver.h"
#include "scheduling/ensemble/step_gate.h"
#include "scheduling/ensemble/step_graph.h"

namespace nereid {

struct EnsembleContext {
  // All but the graph outlive this. `allocator_in` also outlives the responses of the steps'
  // models.
  EnsembleContext(const CompiledModel* config_in, StepGraph graph_in, ModelResolver* resolver_in,
                  const HeapOutputAllocator* allocator_in, Clock* clock_in)
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
  const HeapOutputAllocator* const allocator;  // of the tensors that steps write
  Clock* const clock;

  StepGate gate;
  Mutex runs_mu;                      // guards the slots of the ensemble's requests
  std::atomic<size_t> peak_bytes{0};  // the most that tensors between steps took in one request
  // By output: whether it was logged that an answer was without this output.
  const std::unique_ptr<std::atomic<bool>[]> told_left_out;
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_ENSEMBLE_ENSEMBLE_CONTEXT_H_
