// SPDX-License-Identifier: Apache-2.0
// EnsembleSpec: the steps of an ensemble and how tensors connect them, as configured. Plain values.
#ifndef NEREID_CONFIG_ENSEMBLE_SPEC_H_
#define NEREID_CONFIG_ENSEMBLE_SPEC_H_

#include <cstdint>
#include <string>
#include <vector>

namespace nereid {

// An input or output of a step's model, and the tensor of the ensemble that it reads or writes.
struct TensorMapping {
  std::string name;
  std::string tensor;
};

struct EnsembleStep {
  std::string model_name;
  int64_t model_version = -1;          // negative: the highest ready one
  std::string space;                   // of the ensemble; its models are preferred (ModelId)
  std::vector<TensorMapping> inputs;   // by name
  std::vector<TensorMapping> outputs;  // by name
};

struct EnsembleSpec {
  std::vector<EnsembleStep> steps;  // empty: the model is no ensemble
  // How many executions of one step a single request may have under way; 0: any number.
  uint32_t max_inflight_requests = 0;
};

}  // namespace nereid

#endif  // NEREID_CONFIG_ENSEMBLE_SPEC_H_
