// SPDX-License-Identifier: Apache-2.0
// CompiledModel: everything the serving path needs to know about one model version, checked and
// stored as plain values. Built by ParsedConfig::Compile; owned by the model object, shared by its
// schedulers, instances and requests. Immutable.
#ifndef NEREID_CONFIG_COMPILED_MODEL_H_
#define NEREID_CONFIG_COMPILED_MODEL_H_

#include <absl/strings/string_view.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "config/ensemble_spec.h"
#include "config/state_spec.h"
#include "config/tfs_spec.h"
#include "config/warmup_spec.h"
#include "model/data_type.h"
#include "model/shape.h"

namespace nereid {

struct InputSpec {
  std::string name;
  DataType data_type = DataType::kInvalid;
  Shape dims;                    // without the batch dimension; kVariableDim if variable
  std::optional<Shape> reshape;  // what the backend sees instead of `dims`; may be empty
  bool optional = false;         // a request may leave this input out
  bool is_shape_tensor = false;
  bool allow_ragged = false;  // requests of different shapes may share a batch
  // Bytes of one batch item (of the whole tensor when max_batch_size is 0); none for BYTES or if a
  // dimension is variable.
  std::optional<int64_t> byte_size;
};

struct OutputSpec {
  std::string name;
  DataType data_type = DataType::kInvalid;
  Shape dims;
  std::optional<Shape> reshape;  // what the backend produces; clients see `dims`
  std::string label_filename;    // relative to the model directory; empty: no labels
};

// What happens to requests that wait at one priority level of a queue.
struct QueuePolicy {
  enum class TimeoutAction : uint8_t { kReject, kDelay };
  TimeoutAction timeout_action = TimeoutAction::kReject;
  Duration default_timeout{0};          // 0: none
  bool allow_timeout_override = false;  // a request may ask for a shorter one
  uint32_t max_queue_size = 0;          // requests; 0: no limit

  bool MayTimeOut() const { return default_timeout > Duration{0} || allow_timeout_override; }
};

struct BatchingOptions {
  bool enabled = false;  // dynamic_batching is configured, or the oldest strategy of sequences
  std::vector<int32_t> preferred_batch_sizes;  // ascending, distinct, within max_batch_size
  Duration max_queue_delay{0};
  bool preserve_ordering = false;
  uint64_t priority_levels = 0;  // 0: requests have no priorities
  uint64_t default_priority_level = 0;
  QueuePolicy default_queue_policy;
  std::map<uint64_t, QueuePolicy> priority_queue_policy;  // levels with a policy of their own

  // The level of a request that asks for priority `asked`; level 0 if the model has no priorities.
  uint64_t LevelOf(uint64_t asked) const {
    if (priority_levels == 0) return 0;
    return asked == 0 || asked > priority_levels ? default_priority_level : asked;
  }
  const QueuePolicy& PolicyOf(uint64_t level) const {
    const auto own = priority_queue_policy.find(level);
    return own == priority_queue_policy.end() ? default_queue_policy : own->second;
  }
};

// A tensor that tells the model where in its sequence a request stands. Clients do not send this
// tensor.
struct SequenceControl {
  enum class Kind : uint8_t { kStart, kReady, kEnd, kCorrelationId };
  std::string input;  // input name of the model
  Kind kind = Kind::kStart;
  DataType data_type = DataType::kInvalid;
  // The bytes of one element; empty for the correlation id.
  std::string false_value;
  std::string true_value;
};

// How sequences of requests are scheduled.
struct SequenceOptions {
  bool enabled = false;    // sequence_batching is configured
  bool oldest = false;     // false: direct strategy; `batching` says how batches form
  bool iterative = false;  // the backend may return a request to be scheduled again
  uint32_t slots = 1;      // sequences per instance at a time; at least 1
  Duration max_idle{0};    // a sequence without a request for this long ends
  // Direct strategy only: how long a batch waits for the required share of its slots to fill.
  Duration max_queue_delay{0};
  float minimum_slot_utilization = 0;
  std::vector<SequenceControl> controls;
};

// Values equal TRITONSERVER_InstanceGroupKind.
enum class InstanceKind : int { kAuto = 0, kCpu = 1, kGpu = 2, kModel = 3 };

// Name as spelt in the C API and the configuration: "KIND_CPU".
inline const char* InstanceKindName(InstanceKind kind) {
  switch (kind) {
    case InstanceKind::kAuto:
      return "KIND_AUTO";
    case InstanceKind::kCpu:
      return "KIND_CPU";
    case InstanceKind::kGpu:
      return "KIND_GPU";
    case InstanceKind::kModel:
      return "KIND_MODEL";
  }
  return "KIND_AUTO";
}

// A resource that an execution takes from the rate limiter.
struct ResourceNeed {
  std::string name;
  bool global = false;  // one pool for all devices, not one per device
  uint32_t count = 0;
};

struct InstanceSpec {
  std::string name;  // "<group>_<index>"
  InstanceKind kind = InstanceKind::kCpu;
  int32_t device_id = 0;         // 0 unless kGpu
  std::string host_policy_name;  // from the configuration, else the default of the kind
  std::vector<ResourceNeed> resources;
  bool passive = false;        // initialised, but never executes a batch
  uint32_t rate_priority = 1;  // 2 gets half as many turns as 1; at least 1
};

struct CompiledModel {
  std::string name;
  int64_t version = 0;
  std::string platform;
  std::string backend;
  std::string default_model_filename;
  int32_t max_batch_size = 0;  // 0: tensors have no batch dimension
  bool decoupled = false;
  bool response_cache = false;  // responses may be stored and reused for equal requests
  // Answers depend on earlier requests: the model has a sequence scheduler or, for an ensemble, a
  // member that keeps state. The latter is set by whoever knows the members.
  bool keeps_state = false;
  std::vector<InputSpec> inputs;    // in the order of the configuration
  std::vector<OutputSpec> outputs;  // in the order of the configuration
  size_t required_input_count = 0;  // inputs that are not optional
  bool has_optional_inputs = false;
  // Requests may share a batch only if their inputs have equal shapes, because some input that is
  // not ragged has a variable dimension.
  bool needs_shape_equality = false;
  BatchingOptions batching;
  EnsembleSpec ensemble;  // steps of an ensemble, which has no instances
  SequenceOptions sequence;
  std::vector<StateSpec> states;        // tensors that the server carries along each sequence
  std::vector<InstanceSpec> instances;  // at least one
  std::vector<WarmupSpec> warmup;       // executed by each instance before the model is ready
  std::map<std::string, std::string> parameters;
  TfsSpec tfs;                                     // read from them
  std::map<std::string, std::string> metric_tags;  // labels of the model's metrics
  // Bounds of the histogram of first responses, ascending; none: the usual ones.
  std::optional<std::vector<double>> first_response_ms;
  std::string json;  // the whole configuration, in the form that clients and backends read

  // Index into `inputs` / `outputs`, or -1.
  int FindInput(absl::string_view input) const { return Find(inputs, input); }
  int FindOutput(absl::string_view output) const { return Find(outputs, output); }
  bool HasGpuInstance() const {
    for (const InstanceSpec& instance : instances) {
      if (instance.kind == InstanceKind::kGpu) return true;
    }
    return false;
  }

 private:
  // Models have a handful of tensors: comparing lengths and bytes beats hashing.
  template <typename Spec>
  static int Find(const std::vector<Spec>& specs, absl::string_view name) {
    for (size_t i = 0; i < specs.size(); ++i) {
      if (absl::string_view(specs[i].name) == name) return static_cast<int>(i);
    }
    return -1;
  }
};

}  // namespace nereid

#endif  // NEREID_CONFIG_COMPILED_MODEL_H_
