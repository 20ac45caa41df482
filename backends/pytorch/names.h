// SPDX-License-Identifier: Apache-2.0
// Maps the tensors of a configuration to the arguments and results of a network, by Triton's
// rules. Pure except for a warning in the log.
//
// Inputs follow the first rule that holds for all inputs of the configuration: the network takes a
// dictionary (names are keys); the names are those of arguments; the names are NAME__INDEX; the
// order of the configuration. Controls and states of a sequence follow a rule per name: key,
// argument, or NAME__INDEX. The same applies to outputs, without arguments.
#ifndef NEREID_BACKENDS_PYTORCH_NAMES_H_
#define NEREID_BACKENDS_PYTORCH_NAMES_H_

#include <string>
#include <vector>

#include "backends/pytorch/forward.h"
#include "backends/sdk/error.h"
#include "backends/sdk/model_config.h"

namespace nereid_backend {

// A tensor and its place: an index in Forward::arguments or Forward::returned. For a dictionary,
// the name is the key and the index is unused.
struct Named {
  std::string name;
  TRITONSERVER_DataType type = TRITONSERVER_TYPE_INVALID;
  size_t index = 0;
};

// Everything that a run takes: inputs, targets of batch inputs, controls, states. An Error if two
// of them share a place, a place does not exist or is of another kind, or an argument without a
// default has no source.
Result<std::vector<Named>> NameInputs(const ModelConfig& config, const Forward& forward);

// Everything that a run returns: outputs and states. A name may be both and is then listed once.
Result<std::vector<Named>> NameOutputs(const ModelConfig& config, const Forward& forward);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTORCH_NAMES_H_
