// SPDX-License-Identifier: Apache-2.0
// Classification of an output: returns its best classes as text instead of its numbers. Shared by
// the HTTP and gRPC frontends. Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_CODEC_CLASSIFICATION_H_
#define NEREID_FRONTENDS_CODEC_CLASSIFICATION_H_

#include <absl/functional/function_ref.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "infer/response.h"
#include "model/data_type.h"
#include "model/shape.h"

namespace nereid {

// A BYTES tensor of elements "<score>:<index>[:<label>]", best score first. Equal scores are
// ordered by index; NaN comes last.
struct Classification {
  Shape shape;  // [k], or [batch, k] for a model with batching
  std::string tensor;
};

// A tensor to be classified. A view.
struct ScoreTensor {
  DataType data_type = DataType::kInvalid;
  absl::Span<const int64_t> shape;
  absl::string_view bytes;
  bool batched = false;  // the first dimension counts independent items
};

// Returns the label of a class, or null. The text only needs to live until the next call.
using LabelFn = absl::FunctionRef<const char*(size_t index)>;

// The best min(class_count, elements per item) classes of each item. INVALID_ARGUMENT for types
// without a numeric order and for very large tensors, INTERNAL if the bytes do not fit the shape.
absl::StatusOr<Classification> Classify(const ScoreTensor& scores, uint64_t class_count,
                                        LabelFn label);

// The same for an output of a response, with the labels of its model.
absl::StatusOr<Classification> ClassifyOutput(const InferResponse& response,
                                              const ResponseOutput& output, uint64_t class_count);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_CLASSIFICATION_H_
