// SPDX-License-Identifier: Apache-2.0
// Batches of a few sizes run on graphs of their own, whose shapes are fixed: OpenVINO then knows
// all sizes when it compiles, and has less to do in each run. docs/adr/0032-fixed-batch-sizes.md
#ifndef NEREID_BACKENDS_OPENVINO_FIXED_BATCHES_H_
#define NEREID_BACKENDS_OPENVINO_FIXED_BATCHES_H_

#include <cstdint>
#include <openvino/core/model.hpp>
#include <string>
#include <vector>

#include "backends/openvino/compile_request.h"
#include "backends/sdk/error.h"
#include "backends/sdk/graph/bound_model.h"
#include "backends/sdk/model_config.h"

namespace nereid_backend {

// The sizes to compile for, in rows: those that the configuration asks for, or 1 and max_batch_size
// if the weights, of which each graph has a copy, are small. Empty if the model cannot have any;
// then `*why_not` says why. INVALID_ARG for a size beyond max_batch_size. `one_at_a_time`: an
// instance runs one batch after the other.
Result<std::vector<int64_t>> ChooseFixedBatchSizes(const CompileRequest& request,
                                                   const ModelConfig& config,
                                                   const BoundModel& bound, const ov::Model& graph,
                                                   bool one_at_a_time, std::string* why_not);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_OPENVINO_FIXED_BATCHES_H_
