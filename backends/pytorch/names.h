// Which tensor of a configuration is which argument or result of a network: the original's rules.
// Pure but for a warning in the log.
//
// Inputs, the first rule that holds for all of the configuration's: the network takes a dictionary
// (names are keys); names are those of arguments; names are NAME__INDEX; the order of the
// configuration. Controls and states of a sequence follow a rule for each name: key, argument, or
// NAME__INDEX. Outputs likewise, without arguments.
#ifndef NEREID_BACKENDS_PYTORCH_NAMES_H_
#define NEREID_BACKENDS_PYTORCH_NAMES_H_

#include <string>
#include <vector>

#include "backends/pytorch/forward.h"
#include "backends/sdk/error.h"
#include "backends/sdk/model_config.h"

namespace nereid_backend {

// A tensor and its place: an index in Forward::arguments or Forward::returned. Of a dictionary the
// name is the key and the index means nothing.
struct Named {
  std::string name;
  TRITONSERVER_DataType type = TRITONSERVER_TYPE_INVALID;
  size_t index = 0;
};

// Everything that a run takes: inputs, targets of batch inputs, controls, states. An Error when two
// have one place, a place does not exist or is of another kind, or an argument without default has
// no source.
Result<std::vector<Named>> NameInputs(const ModelConfig& config, const Forward& forward);

// Everything that a run gives: outputs and states. A name may be both, and is listed once.
Result<std::vector<Named>> NameOutputs(const ModelConfig& config, const Forward& forward);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTORCH_NAMES_H_
