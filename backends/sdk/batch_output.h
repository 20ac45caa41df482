// BatchOutput: outputs that hold the results of all requests of a batch end to end and are cut by
// the shapes of an input, as one `batch_output` of the configuration describes them
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
  // Those of `config`, in its order. INVALID_ARG when one is not what a server lets through (an
  // unknown kind, not exactly one source that is an input, a target that is no output), and when an
  // output has a variable dimension where its source has no dimension.
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
// dimension): variable ones, and the batch dimension where the model has one, are as in `source`,
// the shape of the source input in that request.
Shape ScatteredShape(const Shape& dims, bool batching, const ShapeView& source);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_BATCH_OUTPUT_H_
