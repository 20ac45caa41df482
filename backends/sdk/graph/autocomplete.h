// SPDX-License-Identifier: Apache-2.0
// Fills the gaps of a model's configuration from the model itself. Pure.
#ifndef NEREID_BACKENDS_SDK_GRAPH_AUTOCOMPLETE_H_
#define NEREID_BACKENDS_SDK_GRAPH_AUTOCOMPLETE_H_

#include "backends/sdk/graph/signature.h"
#include "backends/sdk/json.h"
#include "backends/sdk/model_config.h"

namespace nereid_backend {

// The configuration of `config` with its gaps filled. What the author gave stays as it is:
// - A list of inputs or outputs that is given is not extended; only types and dims that its entries
//   lack are filled. A tensor that it leaves out is left out on purpose.
// - A list that is not given gets all inputs (except those that the server provides or keeps) or
// all
//   outputs of the model.
// - If both lists are given, max_batch_size and the scheduler stay. Otherwise max_batch_size is
//   ChooseMaxBatchSize, and dynamic batching is added if that is above 1 and no scheduler is
//   chosen.
//
// UNSUPPORTED if a tensor to be added has a type without an equivalent, INVALID_ARG if it cannot
// have the batches that the configuration asks for, or if a tensor has dims nowhere.
Result<Json> AutoCompleteConfig(const ModelConfig& config, const Signature& signature,
                                int64_t default_max_batch_size);

// The max_batch_size of the completed configuration. If a list is missing, 0 means "not given". It
// becomes `default_max_batch_size` if the model can batch: the first dimension of every input and
// output is open, those that have names in the file have the same, and no tensor that the
// configuration lists spells out all dimensions of the model's.
int64_t ChooseMaxBatchSize(const ModelConfig& config, const Signature& signature,
                           int64_t default_max_batch_size);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_GRAPH_AUTOCOMPLETE_H_
