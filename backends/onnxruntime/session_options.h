// SPDX-License-Identifier: Apache-2.0
// The options of a model's session, from its configuration: thread counts, memory, graph
// optimisation, execution accelerators, the runtime's own configuration entries. Values.
#ifndef NEREID_BACKENDS_ONNXRUNTIME_SESSION_OPTIONS_H_
#define NEREID_BACKENDS_ONNXRUNTIME_SESSION_OPTIONS_H_

#include <onnxruntime_cxx_api.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/onnxruntime/environment.h"
#include "backends/sdk/error.h"
#include "backends/sdk/model_config.h"

namespace nereid_backend {

// The options in the configuration, parsed and checked, before the runtime sees them.
struct SessionRequest {
  std::optional<int64_t> intra_op_threads;  // 0: as many as the CPU budget allows
  std::optional<int64_t> inter_op_threads;
  bool parallel = false;            // execution_mode
  std::optional<bool> mem_arena;    // unset: as fixed_shapes, or on if shrinkage is requested
  std::optional<bool> mem_pattern;  // unset: as fixed_shapes
  std::string arena_shrinkage;      // for every Run; "cpu:0"
  // Only the batch dimension varies. Then the memory that the runtime keeps between runs is
  // bounded, and keeping it pays: without the arena all memory of a large batch comes from the
  // kernel anew. If shapes vary freely, the memory plans (one per shape) and the arena would grow
  // forever.
  bool fixed_shapes = false;
  bool terminate_late_runs = false;
  GraphOptimizationLevel graph_level = ORT_ENABLE_ALL;
  std::vector<std::pair<std::string, std::string>> entries;  // session configuration entries
  // Options of the execution accelerator openvino, if it is requested.
  std::optional<std::vector<std::pair<std::string, std::string>>> openvino;
  std::vector<std::string> op_libraries;  // custom operators

  // INVALID_ARG for values that make no sense and for unknown accelerators.
  static Result<SessionRequest> FromConfig(const ModelConfig& config);

  bool arena_enabled() const {
    return mem_arena.value_or(fixed_shapes || !arena_shrinkage.empty());
  }
  bool pattern_enabled() const { return mem_pattern.value_or(fixed_shapes); }
  // True if the model gets its own threads instead of the shared pool.
  bool OwnThreads(const Environment& environment) const;
  // One sentence for the log: says which threads will run the model.
  std::string ThreadPlan(const Environment& environment) const;

  // UNSUPPORTED for accelerators that are not available here. May throw Ort::Exception.
  Result<Ort::SessionOptions> Build(const Environment& environment) const;
  Ort::RunOptions BuildRunOptions() const;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_ONNXRUNTIME_SESSION_OPTIONS_H_
