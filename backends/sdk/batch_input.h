// SPDX-License-Identifier: Apache-2.0
// BatchInput: a tensor that a backend computes from the shapes of the requests in a batch, as one
// `batch_input` of the configuration describes it. Immutable; thread-safe.
#ifndef NEREID_BACKENDS_SDK_BATCH_INPUT_H_
#define NEREID_BACKENDS_SDK_BATCH_INPUT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "backends/sdk/error.h"
#include "backends/sdk/model_config.h"
#include "triton/core/tritonbackend.h"

namespace nereid_backend {

// Shape of an input in one request as the backend sees it, including the batch dimension if the
// model has one. Points into the request.
struct ShapeView {
  const int64_t* dims = nullptr;
  size_t dim_count = 0;
};

// Content of the tensor. "Elements" are those of the source input, including the batch dimension.
enum class BatchInputKind {
  kElementCount,                     // [requests]: elements of each
  kAccumulatedElementCount,          // [requests]: elements up to and including each
  kAccumulatedElementCountWithZero,  // [requests + 1]: the same after a 0
  kMaxElementCountAsShape,  // [most elements of a request]: zeros; the shape is the information
  kItemShape,               // [rows of all requests, dims of a row]: dims of each row
  kItemShapeFlatten,        // the same as one dimension
};

class BatchInput {
 public:
  // The batch inputs of `config`, in its order. INVALID_ARG if one is not what a server lets
  // through: an unknown kind, a type other than INT32 and FP32, not exactly one source that is an
  // input.
  static Result<std::vector<BatchInput>> ReadAll(const ModelConfig& config);

  BatchInputKind kind() const { return kind_; }
  TRITONSERVER_DataType type() const { return type_; }
  const std::string& source() const { return source_; }
  // The inputs of the model that receive the tensor.
  const std::vector<std::string>& targets() const { return targets_; }
  // Shape of the tensor as far as the configuration determines it; -1 for dimensions that depend on
  // the batch.
  Shape OpenShape() const;

  // For one batch: `sources` are the shapes of the source input in its requests, in their order.
  Shape ShapeFor(const std::vector<ShapeView>& sources) const;
  // Writes the tensor of that shape to `destination`: 4 bytes per element. INVALID_ARG if a number
  // does not fit an INT32.
  Error Fill(const std::vector<ShapeView>& sources, char* destination) const;

 private:
  BatchInput() = default;
  size_t RowsOf(const ShapeView& source) const;
  std::vector<int64_t> Values(const std::vector<ShapeView>& sources) const;

  BatchInputKind kind_ = BatchInputKind::kElementCount;
  TRITONSERVER_DataType type_ = TRITONSERVER_TYPE_INVALID;
  std::string source_;
  std::vector<std::string> targets_;
  bool batching_ = false;  // shapes begin with the batch dimension
  size_t row_rank_ = 0;    // dims of a row of the source
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_BATCH_INPUT_H_
