// SPDX-License-Identifier: Apache-2.0
// StepNetwork: computes the steps that a TokenScheduler plans. One thread at a time.
#ifndef NEREID_BACKENDS_GENERATIVE_NETWORK_STEP_NETWORK_H_
#define NEREID_BACKENDS_GENERATIVE_NETWORK_STEP_NETWORK_H_

#include <cstddef>
#include <span>

#include "backends/generative/scheduler/token_scheduler.h"
#include "backends/sdk/error.h"

namespace nereid_backend {

class StepNetwork {
 public:
  virtual ~StepNetwork() = default;

  // Computes all parts of `step`. After an error, what the step wrote into its blocks is undefined.
  // REQUIRES: the step has parts.
  virtual Error Compute(const Step& step) = 0;
  // The logits of the `index`-th part with is_last of the step computed last.
  virtual std::span<const float> Logits(size_t index) const = 0;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_GENERATIVE_NETWORK_STEP_NETWORK_H_
