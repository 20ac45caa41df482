// SPDX-License-Identifier: Apache-2.0
#include <absl/algorithm/container.h>
#include <absl/strings/str_cat.h>

#include <set>
#include <string>

#include "config/validate/checks.h"
#include "model/shape.h"

namespace nereid {
namespace {

using inference::ModelSequenceBatching;
using Initial = inference::ModelSequenceBatching::InitialState;
using State = inference::ModelSequenceBatching::State;

// One state, and where to report its problems.
struct StatePlace {
  const State& state;
  std::string field;
  const inference::ModelConfig& config;
};

bool IsInput(const inference::ModelConfig& config, const std::string& name) {
  return absl::c_any_of(config.input(), [&](const auto& input) { return input.name() == name; }) ||
         absl::c_any_of(config.sequence_batching().control_input(),
                        [&](const auto& control) { return control.name() == name; });
}

void CheckTensor(const StatePlace& place, Diagnostics* diagnostics) {
  const State& state = place.state;
  const std::string suffix = absl::StrCat(" for ", place.config.name());
  if (state.input_name().empty()) {
    diagnostics->Add(absl::StrCat(place.field, ".input_name"),
                     absl::StrCat("state must have an 'input_name'", suffix),
                     "the model's input for the state");
  } else if (IsInput(place.config, state.input_name())) {
    diagnostics->Add(absl::StrCat(place.field, ".input_name"),
                     absl::StrCat("state input name '", state.input_name(),
                                  "' is also the name of another input", suffix),
                     "a state is not listed as input: clients do not send it");
  }
  if (state.output_name().empty()) {
    diagnostics->Add(absl::StrCat(place.field, ".output_name"),
                     absl::StrCat("state must have an 'output_name'", suffix),
                     "the model's output for the state");
  }
  if (state.data_type() == inference::TYPE_INVALID) {
    diagnostics->Add(
        absl::StrCat(place.field, ".data_type"),
        absl::StrCat("state '", state.input_name(), "' must specify 'data_type'", suffix),
        "that of the model's input");
  }
  const bool bad_dim =
      absl::c_any_of(state.dims(), [](int64_t dim) { return dim < kVariableDim || dim == 0; });
  // The byte size must not overflow even with the largest elements.
  Shape largest(state.dims().begin(), state.dims().end());
  for (int64_t& dim : largest) dim = dim == kVariableDim ? 1 : dim;
  if (bad_dim || !TensorByteSize(DataType::kFp64, largest).has_value()) {
    diagnostics->Add(
        absl::StrCat(place.field, ".dims"),
        absl::StrCat("state '", state.input_name(), "' has dimensions that can not be", suffix),
        "each is positive, or -1 where it varies");
  }
}

void CheckInitialDims(const StatePlace& place, const std::string& field, Diagnostics* diagnostics) {
  const State& state = place.state;
  const Initial& initial = state.initial_state(0);
  if (initial.dims_size() != state.dims_size()) {
    diagnostics->Add(
        field,
        absl::StrCat("Number of dimensions in 'initial_state' doesn't match the size "
                     "of 'state' dimensions for state input '",
                     state.input_name(), "'. ", initial.dims_size(), " != ", state.dims_size()),
        "as many dims as the state has");
    return;
  }
  for (int i = 0; i < initial.dims_size(); ++i) {
    if (initial.dims(i) == kVariableDim) {
      diagnostics->Add(field,
                       absl::StrCat("'initial_state' field for state input name '",
                                    state.input_name(), "' contains variable dimensions."),
                       "the dims that a sequence starts with");
      return;
    }
    if (initial.dims(i) > 0 &&
        (state.dims(i) == kVariableDim || state.dims(i) == initial.dims(i))) {
      continue;
    }
    diagnostics->Add(field,
                     absl::StrCat("'initial_state' dim for input name '", state.input_name(),
                                  "' doesn't match 'state' dim description. ", initial.dims(i),
                                  " != ", state.dims(i)),
                     "-1 in the state allows any positive one");
    return;
  }
  const Shape dims(initial.dims().begin(), initial.dims().end());
  if (!TensorByteSize(DataType::kFp64, dims).has_value()) {
    diagnostics->Add(field,
                     absl::StrCat("'initial_state' for state input '", state.input_name(),
                                  "' is too large for ", place.config.name()),
                     "smaller dims");
  }
}

void CheckInitial(const StatePlace& place, Diagnostics* diagnostics) {
  const State& state = place.state;
  const std::string field = absl::StrCat(place.field, ".initial_state");
  if (state.initial_state_size() == 0) return;
  if (state.initial_state_size() > 1) {
    diagnostics->Add(field,
                     absl::StrCat("initial_state field for state input '", state.input_name(),
                                  "' must contain exactly one or zero element. Found '",
                                  state.initial_state_size(), "' elements."),
                     "keep the one that sequences start with");
    return;
  }
  const Initial& initial = state.initial_state(0);
  if (initial.name().empty()) {
    diagnostics->Add(absl::StrCat(field, "[0].name"),
                     absl::StrCat("Field 'name' must be set when using initial_state for state "
                                  "input '",
                                  state.input_name(), "'."),
                     "any name");
  }
  if (initial.data_type() != state.data_type()) {
    diagnostics->Add(absl::StrCat(field, "[0].data_type"),
                     absl::StrCat("The data type used for 'initial_state' field of state '",
                                  state.input_name(), "' does not match the state data type."),
                     absl::StrCat("expected ", inference::DataType_Name(state.data_type()),
                                  ", got ", inference::DataType_Name(initial.data_type())));
  }
  CheckInitialDims(place, absl::StrCat(field, "[0].dims"), diagnostics);
  if (initial.state_data_case() == Initial::STATE_DATA_NOT_SET) {
    diagnostics->Add(absl::StrCat(field, "[0]"),
                     absl::StrCat("initial_state setting expects state'", state.input_name(),
                                  "' to have state_data set"),
                     "zero_data: true, or a data_file in the model's folder initial_state");
  }
}

std::string GrowableField(int index) {
  return absl::StrCat("sequence_batching.state[", index, "].use_growable_memory");
}

void CheckMemory(const StatePlace& place, int index, Diagnostics* diagnostics) {
  const State& state = place.state;
  if (!state.use_growable_memory() || state.use_same_buffer_for_input_output()) return;
  diagnostics->Add(GrowableField(index),
                   absl::StrCat("In order to 'use_growable_memory', you must also enable "
                                "'use_single_buffer' for state input name '",
                                state.input_name(), "'."),
                   "set use_same_buffer_for_input_output");
}

}  // namespace

void CheckGrowableStates(const inference::ModelConfig& config, Diagnostics* diagnostics) {
  const auto other = absl::c_find_if(config.instance_group(), [](const auto& group) {
    return group.kind() != inference::ModelInstanceGroup::KIND_GPU;
  });
  if (other == config.instance_group().end()) return;
  const auto& states = config.sequence_batching().state();
  for (int i = 0; i < states.size(); ++i) {
    if (!states[i].use_growable_memory()) continue;
    diagnostics->Add(
        GrowableField(i),
        absl::StrCat("'use_growable_memory' can only work with KIND_GPU model instances right now. "
                     "Please either change the instance type to KIND_GPU or set "
                     "'use_growable_memory' to false for state input '",
                     states[i].input_name(), "'."),
        absl::StrCat("instances of group ", other->name(), " are of ",
                     inference::ModelInstanceGroup::Kind_Name(other->kind())));
  }
}

void CheckStates(const inference::ModelConfig& config, Diagnostics* diagnostics) {
  std::set<std::string> inputs;
  std::set<std::string> outputs;
  const ModelSequenceBatching& batching = config.sequence_batching();
  for (int i = 0; i < batching.state_size(); ++i) {
    const StatePlace place{batching.state(i), absl::StrCat("sequence_batching.state[", i, "]"),
                           config};
    CheckTensor(place, diagnostics);
    const std::string& input = place.state.input_name();
    if (!input.empty() && !inputs.insert(input).second) {
      diagnostics->Add(absl::StrCat(place.field, ".input_name"),
                       absl::StrCat("State input name '", input, "' specified more than once."),
                       "each state once");
    }
    const std::string& output = place.state.output_name();
    if (!output.empty() && !outputs.insert(output).second) {
      diagnostics->Add(absl::StrCat(place.field, ".output_name"),
                       absl::StrCat("State output name '", output, "' specified more than once."),
                       "each state once");
    }
    CheckInitial(place, diagnostics);
    CheckMemory(place, i, diagnostics);
  }
}

}  // namespace nereid
