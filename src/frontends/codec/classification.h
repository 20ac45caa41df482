// Classification of an output: its best classes as text instead of its numbers. Shared by the HTTP
// and the gRPC frontend. Pure functions, thread-safe.
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

// A BYTES tensor of elements "<score>:<index>[:<label>]", best score first. Equal scores stay in
// the order of their index; NaN comes last.
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

// Label of a class, or null. The text need only live until the next call.
using LabelFn = absl::FunctionRef<const char*(size_t index)>;

// The best min(class_count, elements of an item) classes of each item. INVALID_ARGUMENT for types
// without an order of numbers and for very large tensors, INTERNAL if bytes do not fit the shape.
absl::StatusOr<Classification> Classify(const ScoreTensor& scores, uint64_t class_count,
                                        LabelFn label);

// The same for an output of a response, with the labels of its model.
absl::StatusOr<Classification> ClassifyOutput(const InferResponse& response,
                                              const ResponseOutput& output, uint64_t class_count);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_CLASSIFICATION_H_
