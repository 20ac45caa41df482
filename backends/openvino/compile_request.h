// SPDX-License-Identifier: Apache-2.0
// The runtime settings in a model's configuration: threads, streams, precision, cache. Values.
#ifndef NEREID_BACKENDS_OPENVINO_COMPILE_REQUEST_H_
#define NEREID_BACKENDS_OPENVINO_COMPILE_REQUEST_H_

#include <openvino/core/any.hpp>
#include <openvino/core/type/element_type.hpp>
#include <openvino/runtime/properties.hpp>
#include <optional>
#include <string>
#include <vector>

#include "backends/openvino/environment.h"
#include "backends/sdk/error.h"
#include "backends/sdk/model_config.h"

namespace nereid_backend {

// The model's parameters, parsed and checked, before the runtime sees them.
struct CompileRequest {
  int64_t inference_threads = 0;  // INFERENCE_NUM_THREADS; 0: as many as the CPU budget allows
  std::optional<ov::streams::Num> streams;               // NUM_STREAMS
  std::optional<ov::hint::PerformanceMode> performance;  // PERFORMANCE_HINT
  std::optional<ov::element::Type> precision;            // INFERENCE_PRECISION_HINT, HINT_BF16
  bool reshape = false;  // RESHAPE_IO_LAYERS: the model takes the configuration's shapes
  // FIXED_BATCH_SIZES: rows of the batches that have a graph of their own; without a value, the
  // backend chooses
  std::optional<std::vector<int64_t>> fixed_batch_sizes;
  std::string extension;             // CPU_EXTENSION_PATH
  std::string cache_dir;             // CACHE_DIR
  bool terminate_late_runs = false;  // a run also ends early if its requests have timed out
  int64_t sequence_states = 1024;    // MAX_SEQUENCE_STATES: most that an instance holds at a time

  // INVALID_ARG for values that make no sense.
  static Result<CompileRequest> FromConfig(const ModelConfig& config);

  // The properties of a compiled model.
  ov::AnyMap Build(const Environment& environment) const;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_OPENVINO_COMPILE_REQUEST_H_
