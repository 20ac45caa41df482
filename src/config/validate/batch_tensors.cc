// SPDX-License-Identifier: Apache-2.0
#include <absl/algorithm/container.h>
#include <absl/strings/str_cat.h>

#include <set>
#include <string>

#include "config/validate/checks.h"

namespace nereid {
namespace {

using inference::BatchInput;
using inference::BatchOutput;

// The rule for batch inputs and batch outputs: exactly one source, which is an input of the model.
template <typename BatchTensor>
void CheckSources(const inference::ModelConfig& config, const BatchTensor& tensor,
                  const char* direction, const std::string& kind, const std::string& field,
                  Diagnostics* diagnostics) {
  if (tensor.source_input_size() != 1) {
    diagnostics->Add(
        field + ".source_input",
        absl::StrCat("batch ", direction, " kind '", kind, "' expects 1 source input, got ",
                     tensor.source_input_size(), " for ", config.name()),
        "the input it is computed from");
  }
  for (const std::string& source : tensor.source_input()) {
    const bool known = absl::c_any_of(
        config.input(), [&](const inference::ModelInput& input) { return input.name() == source; });
    if (known) continue;
    diagnostics->Add(field + ".source_input",
                     absl::StrCat("unknown source input name '", source, "' for ", config.name()),
                     "an input of this configuration");
  }
}

void CheckBatchInput(const inference::ModelConfig& config, int index, Diagnostics* diagnostics) {
  const BatchInput& input = config.batch_input(index);
  const std::string field = absl::StrCat("batch_input[", index, "]");
  if (!BatchInput::Kind_IsValid(input.kind())) {
    diagnostics->Add(field + ".kind",
                     absl::StrCat("unknown batch input kind '", static_cast<int>(input.kind()),
                                  "' for ", config.name()),
                     "for instance BATCH_ELEMENT_COUNT");
  } else {
    CheckSources(config, input, "input", BatchInput::Kind_Name(input.kind()), field, diagnostics);
  }
  if (input.data_type() != inference::TYPE_INT32 && input.data_type() != inference::TYPE_FP32) {
    diagnostics->Add(
        field + ".data_type",
        absl::StrCat("batch input data type must be TYPE_INT32 or TYPE_FP32 for ", config.name()),
        absl::StrCat("got ", inference::DataType_Name(input.data_type())));
  }
}

void CheckBatchOutput(const inference::ModelConfig& config, int index,
                      std::set<std::string>* targets, Diagnostics* diagnostics) {
  const BatchOutput& output = config.batch_output(index);
  const std::string field = absl::StrCat("batch_output[", index, "]");
  if (!BatchOutput::Kind_IsValid(output.kind())) {
    diagnostics->Add(field + ".kind",
                     absl::StrCat("unknown batch output kind '", static_cast<int>(output.kind()),
                                  "' for ", config.name()),
                     "BATCH_SCATTER_WITH_INPUT_SHAPE");
  } else {
    CheckSources(config, output, "output", BatchOutput::Kind_Name(output.kind()), field,
                 diagnostics);
  }
  for (const std::string& target : output.target_name()) {
    const bool known = absl::c_any_of(
        config.output(), [&](const inference::ModelOutput& o) { return o.name() == target; });
    if (!known) {
      diagnostics->Add(
          field + ".target_name",
          absl::StrCat("unknown target output name '", target, "' for ", config.name()),
          "an output of this configuration");
    }
    if (!targets->insert(target).second) {
      diagnostics->Add(field + ".target_name",
                       absl::StrCat("target output name '", target,
                                    "' can only be specified once for ", config.name()),
                       "each output once");
    }
  }
}

}  // namespace

void CheckBatchTensors(const inference::ModelConfig& config, Diagnostics* diagnostics) {
  for (int i = 0; i < config.batch_input_size(); ++i) CheckBatchInput(config, i, diagnostics);
  std::set<std::string> targets;
  for (int i = 0; i < config.batch_output_size(); ++i) {
    CheckBatchOutput(config, i, &targets, diagnostics);
  }
}

}  // namespace nereid
