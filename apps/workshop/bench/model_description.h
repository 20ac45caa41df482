// SPDX-License-Identifier: Apache-2.0
// What a server says about a model, read from the answers of both protocols. Pure functions.
#ifndef NEREID_APPS_WORKSHOP_BENCH_MODEL_DESCRIPTION_H_
#define NEREID_APPS_WORKSHOP_BENCH_MODEL_DESCRIPTION_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/data_type.h"

namespace nereid::bench {

struct TensorDescription {
  std::string name;
  DataType type = DataType::kInvalid;
  std::vector<int64_t> shape;  // -1: any
  bool optional = false;
};

struct ModelDescription {
  std::string name;
  std::vector<TensorDescription> inputs;
  std::vector<TensorDescription> outputs;
  // What only servers with the extension "model configuration" say.
  std::optional<int64_t> max_batch_size;
  bool decoupled = false;
};

// What a model has done since it was loaded.
struct ModelCounts {
  struct Duration {
    uint64_t count = 0;
    uint64_t nanoseconds = 0;
  };
  uint64_t inferences = 0;  // elements of batches
  uint64_t executions = 0;  // batches
  Duration success;
  Duration queue;
  Duration compute_input;
  Duration compute_infer;
  Duration compute_output;
};

// Each reads the body of an answer. DATA_LOSS if it is something else.
absl::StatusOr<ModelDescription> MetadataFromJson(absl::string_view json);
absl::StatusOr<ModelDescription> MetadataFromProto(absl::string_view message);
absl::Status AddConfigFromJson(absl::string_view json, ModelDescription* model);
absl::Status AddConfigFromProto(absl::string_view message, ModelDescription* model);
absl::StatusOr<ModelCounts> CountsFromJson(absl::string_view json);
absl::StatusOr<ModelCounts> CountsFromProto(absl::string_view message);

}  // namespace nereid::bench

#endif  // NEREID_APPS_WORKSHOP_BENCH_MODEL_DESCRIPTION_H_
