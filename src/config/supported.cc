// SPDX-License-Identifier: Apache-2.0
#include "config/supported.h"

#include <absl/strings/str_cat.h>

#include "config/compile.h"

namespace nereid {
namespace {

// All fields that are refused are for models of TensorRT.
constexpr char kHint[] =
    "it is for TensorRT, whose models this server does not run; remove it, and serve the model in "
    "another format, such as ONNX";

// Reports fields as not supported. Lives for one check.
class Unsupported {
 public:
  Unsupported(const inference::ModelConfig& config, Diagnostics* diagnostics)
      : config_(config), diagnostics_(*diagnostics) {}

  void Report(const std::string& field, bool used) {
    if (!used) return;
    diagnostics_.Add(
        field, absl::StrCat("'", field, "' is not supported by this server for ", config_.name()),
        kHint);
  }

 private:
  const inference::ModelConfig& config_;
  Diagnostics& diagnostics_;
};

void ReportTensors(const inference::ModelConfig& config, Unsupported* unsupported) {
  for (int i = 0; i < config.input_size(); ++i) {
    const inference::ModelInput& input = config.input(i);
    const std::string field = absl::StrCat("input[", i, "]");
    unsupported->Report(field + ".is_shape_tensor", input.is_shape_tensor());
    unsupported->Report(field + ".is_non_linear_format_io", input.is_non_linear_format_io());
  }
  for (int i = 0; i < config.output_size(); ++i) {
    const inference::ModelOutput& output = config.output(i);
    const std::string field = absl::StrCat("output[", i, "]");
    unsupported->Report(field + ".is_shape_tensor", output.is_shape_tensor());
    unsupported->Report(field + ".is_non_linear_format_io", output.is_non_linear_format_io());
  }
}

void ReportInstanceGroups(const inference::ModelConfig& config, Unsupported* unsupported) {
  for (int i = 0; i < config.instance_group_size(); ++i) {
    const inference::ModelInstanceGroup& group = config.instance_group(i);
    const std::string field = absl::StrCat("instance_group[", i, "]");
    unsupported->Report(field + ".secondary_devices", !group.secondary_devices().empty());
    unsupported->Report(field + ".profile", !group.profile().empty());
  }
}

}  // namespace

void CheckSupported(const inference::ModelConfig& config, Diagnostics* diagnostics) {
  Unsupported unsupported(config, diagnostics);
  ReportTensors(config, &unsupported);
  ReportInstanceGroups(config, &unsupported);
}

std::vector<std::string> FieldsWithoutEffect(const inference::ModelConfig& config) {
  std::vector<std::string> lines;
  const auto add = [&](absl::string_view field, bool set, absl::string_view why) {
    if (!set) return;
    lines.push_back(absl::StrCat("model '", config.name(), "': '", field, "' has no effect ", why));
  };
  const auto note = [&](absl::string_view field, bool set) {
    add(field, set, "on this server, whose backends do not use it");
  };
  bool names_namespace = false;
  for (const auto& step : config.ensemble_scheduling().step()) {
    names_namespace = names_namespace || !step.model_namespace().empty();
  }
  add("ensemble_scheduling.step.model_namespace", names_namespace,
      "because it is reserved: an ensemble takes models of its own namespace first");
  const inference::ModelOptimizationPolicy& optimization = config.optimization();
  note("optimization.priority",
       optimization.priority() != inference::ModelOptimizationPolicy::PRIORITY_DEFAULT);
  note("optimization.cuda", optimization.has_cuda());
  note("optimization.input_pinned_memory", optimization.has_input_pinned_memory());
  note("optimization.output_pinned_memory", optimization.has_output_pinned_memory());
  note("optimization.gather_kernel_buffer_threshold",
       optimization.gather_kernel_buffer_threshold() != 0);
  note("optimization.eager_batching", optimization.eager_batching());
  note("cc_model_filenames", !config.cc_model_filenames().empty());
  for (const inference::ModelMetrics::MetricControl& control :
       config.model_metrics().metric_control()) {
    const std::string& family = control.metric_identifier().family();
    if (family == kFirstResponseFamily) continue;
    lines.push_back(absl::StrCat("Metric family '", family,
                                 "' in 'metric_identifier' is not a customizable metric in Triton "
                                 "core."));
  }
  const inference::ModelDynamicBatching& batching = config.dynamic_batching();
  const bool has_levels = batching.priority_levels() != 0;
  constexpr absl::string_view kNoLevels = "without priority_levels";
  add("dynamic_batching.default_priority_level",
      !has_levels && batching.default_priority_level() != 0, kNoLevels);
  add("dynamic_batching.priority_queue_policy",
      !has_levels && !batching.priority_queue_policy().empty(), kNoLevels);
  return lines;
}

}  // namespace nereid
