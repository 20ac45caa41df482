// SPDX-License-Identifier: Apache-2.0
// Environment: what all PyTorch models of the process share. Made in TRITONBACKEND_Initialize,
// destroyed in TRITONBACKEND_Finalize. Thread-safe.
#ifndef NEREID_BACKENDS_PYTORCH_ENVIRONMENT_H_
#define NEREID_BACKENDS_PYTORCH_ENVIRONMENT_H_

#include <memory>

#include "backends/pytorch/cpu_permits.h"
#include "backends/pytorch/parameters.h"
#include "backends/sdk/cpu_budget.h"
#include "backends/sdk/error.h"

namespace nereid_backend {

class Environment {
 public:
  // Reads the settings, of which there are none but the server's own, and sets PyTorch up.
  static Result<std::unique_ptr<Environment>> Create(TRITONBACKEND_Backend* backend);

  const CpuBudget& budget() const { return budget_; }
  CpuPermits* permits() const { return &permits_; }

  // Applies those parameters of `model` that PyTorch has once per process. If another model has set
  // them differently, the inter-op pool keeps its size and the others change; both cases are
  // logged.
  void Apply(const std::string& model, const Parameters& parameters, bool forks) const;

 private:
  explicit Environment(const CpuBudget& budget) : budget_(budget), permits_(budget.threads) {}

  const CpuBudget budget_;
  mutable CpuPermits permits_;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTORCH_ENVIRONMENT_H_
