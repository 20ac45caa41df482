// SPDX-License-Identifier: Apache-2.0
#include <absl/algorithm/container.h>
#include <absl/strings/str_cat.h>

#include <set>
#include <string>

#include "config/validate/checks.h"

namespace nereid {
namespace {

using inference::ModelSequenceBatching;
using Control = inference::ModelSequenceBatching::Control;

constexpr char kBatchStrategyParameter[] = "TRITON_BATCH_STRATEGY_PATH";

// One control of one control input, and where to report its problems.
struct ControlPlace {
  const Control& control;
  std::string kind;  // CONTROL_SEQUENCE_...
  std::string field;
  const std::string& model;
};

void CheckBooleanControl(const ControlPlace& place, Diagnostics* diagnostics) {
  const Control& control = place.control;
  const std::string suffix = absl::StrCat(" for ", place.kind, " for ", place.model);
  const int given = (control.int32_false_true_size() != 0) + (control.fp32_false_true_size() != 0) +
                    (control.bool_false_true_size() != 0);
  if (given == 0) {
    diagnostics->Add(place.field,
                     absl::StrCat("sequence batching must specify either 'int32_false_true', "
                                  "'fp32_false_true' or 'bool_false_true'",
                                  suffix),
                     "for instance int32_false_true: [ 0, 1 ]");
  } else if (given > 1) {
    diagnostics->Add(place.field,
                     absl::StrCat("sequence batching specifies more than one from "
                                  "'int32_false_true', 'fp32_false_true' and 'bool_false_true'",
                                  suffix),
                     "keep the one of the tensor's data type");
  }
  const auto check_size = [&](const char* name, int size) {
    if (size == 0 || size == 2) return;
    diagnostics->Add(
        absl::StrCat(place.field, ".", name),
        absl::StrCat("sequence batching control '", name, "' must have exactly 2 entries", suffix),
        absl::StrCat("got ", size, "; the values for false and true"));
  };
  check_size("int32_false_true", control.int32_false_true_size());
  check_size("fp32_false_true", control.fp32_false_true_size());
  check_size("bool_false_true", control.bool_false_true_size());
}

bool IsCorrelationIdType(inference::DataType type) {
  return type == inference::TYPE_UINT64 || type == inference::TYPE_INT64 ||
         type == inference::TYPE_UINT32 || type == inference::TYPE_INT32 ||
         type == inference::TYPE_STRING;
}

void CheckCorrelationControl(const ControlPlace& place, Diagnostics* diagnostics) {
  const Control& control = place.control;
  if (control.int32_false_true_size() != 0 || control.fp32_false_true_size() != 0 ||
      control.bool_false_true_size() != 0) {
    diagnostics->Add(place.field,
                     absl::StrCat("sequence batching must not specify either 'int32_false_true', "
                                  "'fp32_false_true' or 'bool_false_true' for ",
                                  place.kind, " for ", place.model),
                     "set data_type instead");
  }
  if (!IsCorrelationIdType(control.data_type())) {
    diagnostics->Add(
        absl::StrCat(place.field, ".data_type"),
        absl::StrCat("unexpected data type for control CONTROL_SEQUENCE_CORRID for ", place.model,
                     ". Allowed data types are TYPE_UINT64, TYPE_INT64, TYPE_UINT32, "
                     "TYPE_INT32 and TYPE_STRING"),
        absl::StrCat("got ", inference::DataType_Name(control.data_type())));
  }
}

void CheckControls(const inference::ModelConfig& config, Diagnostics* diagnostics) {
  const ModelSequenceBatching& batching = config.sequence_batching();
  std::set<std::string> names;
  std::set<std::string> kinds;
  for (int i = 0; i < batching.control_input_size(); ++i) {
    const ModelSequenceBatching::ControlInput& input = batching.control_input(i);
    const std::string field = absl::StrCat("sequence_batching.control_input[", i, "]");
    if (input.name().empty()) {
      diagnostics->Add(
          absl::StrCat(field, ".name"),
          absl::StrCat("sequence batching control tensor must have a name for ", config.name()),
          "the model's input for the control");
    } else if (!names.insert(input.name()).second) {
      diagnostics->Add(
          absl::StrCat(field, ".name"),
          absl::StrCat("sequence batching control tensor '", input.name(),
                       "' is specified for multiple control kinds for ", config.name()),
          "each tensor once");
    }
    for (int j = 0; j < input.control_size(); ++j) {
      const ControlPlace place{input.control(j), Control::Kind_Name(input.control(j).kind()),
                               absl::StrCat(field, ".control[", j, "]"), config.name()};
      if (!kinds.insert(place.kind).second) {
        diagnostics->Add(absl::StrCat(place.field, ".kind"),
                         absl::StrCat("sequence batching specifies multiple ", place.kind,
                                      " tensors for ", config.name()),
                         "each kind once");
      }
      if (place.control.kind() == Control::CONTROL_SEQUENCE_CORRID) {
        CheckCorrelationControl(place, diagnostics);
      } else {
        CheckBooleanControl(place, diagnostics);
      }
    }
  }
}

void CheckStrategy(const inference::ModelConfig& config, Diagnostics* diagnostics) {
  const ModelSequenceBatching& batching = config.sequence_batching();
  const auto& sizes = batching.oldest().preferred_batch_size();
  for (int i = 0; i < sizes.size(); ++i) {
    const std::string field =
        absl::StrCat("sequence_batching.oldest.preferred_batch_size[", i, "]");
    if (sizes[i] <= 0) {
      diagnostics->Add(field,
                       absl::StrCat("sequence batching preferred batch size must be positive for ",
                                    config.name()),
                       absl::StrCat("got ", sizes[i]));
    } else if (sizes[i] > config.max_batch_size()) {
      diagnostics->Add(
          field,
          absl::StrCat("sequence batching preferred batch size must be <= max batch size for ",
                       config.name()),
          absl::StrCat(sizes[i], " is larger than max_batch_size ", config.max_batch_size()));
    }
  }
  const float utilization = batching.direct().minimum_slot_utilization();
  if (!(utilization >= 0.0f && utilization <= 1.0f)) {  // also NaN
    diagnostics->Add("sequence_batching.direct.minimum_slot_utilization",
                     absl::StrCat("sequence batching minimum slot utilization must be in range "
                                  "(0.0, 1.0] for ",
                                  config.name()),
                     absl::StrCat("got ", utilization));
  }
}

}  // namespace

void CheckSequenceBatching(const inference::ModelConfig& config, Diagnostics* diagnostics) {
  if (!config.has_sequence_batching()) return;
  if (config.response_cache().enable()) {
    diagnostics->Add("response_cache.enable",
                     absl::StrCat("Response Cache does not currently support model ", config.name(),
                                  " with sequence batching scheduler. Please disable the "
                                  "response cache."),
                     "set it to false");
  }
  if (config.parameters().contains(kBatchStrategyParameter)) {
    diagnostics->Add(absl::StrCat("parameters.", kBatchStrategyParameter),
                     absl::StrCat(kBatchStrategyParameter,
                                  " cannot be specified with sequence batcher, using default "
                                  "batching strategy"),
                     "remove it");
  }
  CheckControls(config, diagnostics);
  CheckStrategy(config, diagnostics);
}

}  // namespace nereid
