// SPDX-License-Identifier: Apache-2.0
// BatchOutput: outputs that hold the results of all requests of a batch end to end and are divided
// according to the shapes of an input, as one `batch_output` of the configuration describes them
// (BATCH_SCATTER_WITH_INPUT_SHAPE, the only kind there is). Immutable; thread-safe.
#ifndef NEREID_BACKENDS_SDK_BATCH_OUTPUT_H_
#define NEREID_BACKENDS_SDK_BATCH_OUTPUT_H_

#include <string>
#include <string_view>
#include <vector>

#include "backends/sdk/batch_input.h"
#include "backends/sdk/error.h"
#include "backends/sdk/model_config.h"

namespace nereid_backend {

class BatchOutput {
 public:
  // The batch outputs of `config`, in its order. INVALID_ARG if one is not what a server lets
  // through (an unknown kind, not exactly one source that is an input, a target that is not an
  // output), or if an output has a variable dimension where its source has no dimension.
  static Result<std::vector<BatchOutput>> ReadAll(const ModelConfig& config);

  const std::string& source() const { return source_; }
  const std::vector<std::string>& targets() const { return targets_; }
  bool Has(std::string_view output) const;

 private:
  BatchOutput() = default;

  std::string source_;
  std::vector<std::string> targets_;
};

// Shape of the part that belongs to one request, of an output with these `dims` (without the batch
// dimension): variable dimensions, and the batch dimension if the model has one, are those of
// `source`, the shape of the source input in that request.
Shape ScatteredShape(const Shape& dims, bool batching, const ShapeView& source);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_BATCH_OUTPUT_H_
