// SPDX-License-Identifier: Apache-2.0
#include "config/states.h"

#include <absl/strings/str_cat.h>

#include <optional>
#include <utility>

#include "base/status_macros.h"
#include "model_config.pb.h"

namespace nereid {
namespace {

using inference::ModelSequenceBatching;

constexpr uint64_t kEmptyTextSize = 4;  // an empty BYTES element: only its length field

StateSpec ToState(const ModelSequenceBatching::State& state, bool batching) {
  StateSpec spec;
  spec.input_name = state.input_name();
  spec.output_name = state.output_name();
  // Values of inference::DataType are those of DataType.
  spec.data_type = static_cast<DataType>(state.data_type());
  spec.dims.assign(state.dims().begin(), state.dims().end());
  spec.same_buffer = state.use_same_buffer_for_input_output();
  spec.growable = state.use_growable_memory();
  if (batching) spec.start_shape.push_back(1);
  const bool has_initial = state.initial_state_size() > 0;
  for (int i = 0; i < state.dims_size(); ++i) {
    const int64_t dim = has_initial ? state.initial_state(0).dims(i) : state.dims(i);
    spec.start_shape.push_back(dim == kVariableDim ? 1 : dim);
  }
  const uint64_t element =
      spec.data_type == DataType::kBytes ? kEmptyTextSize : DataTypeByteSize(spec.data_type);
  spec.start_byte_size =
      static_cast<uint64_t>(ElementCount(spec.start_shape).value_or(0)) * element;
  if (!has_initial) return spec;
  const ModelSequenceBatching::InitialState& initial = state.initial_state(0);
  // The value of zero_data makes no difference: setting it means zeros.
  spec.initial = InitialState::kZero;
  if (initial.state_data_case() == ModelSequenceBatching::InitialState::kDataFile) {
    spec.initial = InitialState::kFile;
    spec.initial_file = initial.data_file();
  }
  return spec;
}

// The path of a file in the model's folder `initial_state`. INVALID_ARGUMENT if it is outside that
// folder.
absl::StatusOr<std::string> FilePath(const StateSpec& spec, const std::string& model_dir) {
  const std::optional<std::string> relative = PathInside(spec.initial_file);
  if (!relative.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("initial state file '", spec.initial_file, "' of state '", spec.input_name,
                     "' is outside the model's folder 'initial_state'"));
  }
  return JoinPath(JoinPath(model_dir, "initial_state"), *relative);
}

}  // namespace

std::vector<StateSpec> ToStates(const inference::ModelConfig& config) {
  std::vector<StateSpec> states;
  for (const ModelSequenceBatching::State& state : config.sequence_batching().state()) {
    states.push_back(ToState(state, config.max_batch_size() > 0));
  }
  return states;
}

absl::Status LoadInitialStates(const FileSystem& fs, const std::string& model_dir,
                               CompiledModel* model) {
  for (StateSpec& spec : model->states) {
    if (spec.initial != InitialState::kFile) continue;
    ASSIGN_OR_RETURN(const std::string path, FilePath(spec, model_dir));
    ASSIGN_OR_RETURN(std::string bytes, fs.ReadFile(path));
    if (bytes.size() < spec.start_byte_size) {
      return absl::InvalidArgumentError(
          absl::StrCat("initial_state setting expects ", spec.start_byte_size,
                       " bytes, but the data provided from ", spec.initial_file, "only has ",
                       bytes.size(), " bytes."));
    }
    // The lengths of strings are checked only when the model reads them.
    if (spec.data_type != DataType::kBytes) bytes.resize(spec.start_byte_size);
    spec.initial_bytes = std::move(bytes);
  }
  return absl::OkStatus();
}

}  // namespace nereid
