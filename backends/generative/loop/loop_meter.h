// SPDX-License-Identifier: Apache-2.0
// LoopMeter: what a TokenLoop tells of its work. MetricsMeter makes the server's metrics of it. One
// thread.
#ifndef NEREID_BACKENDS_GENERATIVE_LOOP_LOOP_METER_H_
#define NEREID_BACKENDS_GENERATIVE_LOOP_LOOP_METER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "backends/sdk/error.h"

namespace nereid_backend {

class LoopMeter {
 public:
  struct Counts {
    // Since the beginning.
    uint64_t prompt_tokens = 0;
    uint64_t cached_tokens = 0;
    uint64_t generated_tokens = 0;
    uint64_t preemptions = 0;
    // Now.
    size_t running = 0;
    size_t waiting = 0;
    size_t used_blocks = 0;
    size_t blocks = 0;
  };

  virtual ~LoopMeter() = default;

  // A sequence got its first token so long after its request came, or the next one after the last.
  virtual void OnFirstToken(double seconds) = 0;
  virtual void OnNextToken(double seconds) = 0;
  // After each step.
  virtual void OnStep(const Counts& counts) = 0;
};

// Adds to metrics with the labels `model` and `version`, which all instances share. An error if the
// server has no metrics.
Result<std::unique_ptr<LoopMeter>> MakeMetricsMeter(const std::string& model, int64_t version);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_GENERATIVE_LOOP_LOOP_METER_H_
