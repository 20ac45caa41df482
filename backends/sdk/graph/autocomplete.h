// Fills the gaps of a model's configuration from the model itself. Pure.
#ifndef NEREID_BACKENDS_SDK_GRAPH_AUTOCOMPLETE_H_
#define NEREID_BACKENDS_SDK_GRAPH_AUTOCOMPLETE_H_

#include "backends/sdk/graph/signature.h"
#include "backends/sdk/json.h"
#include "backends/sdk/model_config.h"

namespace nereid_backend {

// The configuration of `config` with its gaps filled: inputs and outputs that it does not list
// (except those that the sequence batcher provides or keeps), types and dims of those listed
// without them, max_batch_size, and dynamic batching if that is above 1 and no scheduler is chosen.
//
// max_batch_size 0 means "not given" here. It becomes `default_max_batch_size` if the model can
// batch, which means that the first dimension of every input and output is open, and no tensor that
// the configuration lists spells out all dimensions of the model's. UNSUPPORTED if a tensor to be
// added has a type without an equivalent.
Result<Json> AutoCompleteConfig(const ModelConfig& config, const Signature& signature,
                                int64_t default_max_batch_size);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_GRAPH_AUTOCOMPLETE_H_
