// SPDX-License-Identifier: Apache-2.0
// The outputs of a response as clients of TensorFlow Serving's API see them, and what
// classifications and regressions are made of. Views of the response; pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_TFS_TFS_OUTPUTS_H_
#define NEREID_FRONTENDS_TFS_TFS_OUTPUTS_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <cstdint>
#include <string>
#include <vector>

#include "config/tfs_spec.h"
#include "infer/response.h"
#include "model/data_type.h"
#include "model/shape.h"

namespace nereid {

struct TfsOutput {
  const TfsTensor* tensor = nullptr;  // of the signature
  DataType type = DataType::kInvalid;
  Shape shape;
  absl::string_view bytes;  // as many elements as the shape has

  const std::string& key() const { return tensor->key; }
};

// INTERNAL for an output that does not fit the signature.
absl::Status TfsMismatch(absl::string_view key, absl::string_view what);

// Those of `wanted`, in that order. INTERNAL if the model has not sent one, or not as it says.
absl::StatusOr<std::vector<TfsOutput>> FindTfsOutputs(const InferResponse& response,
                                                      absl::Span<const TfsTensor> wanted);

// The number of rows that all `outputs` have. INTERNAL if they have none, or different ones.
absl::StatusOr<int64_t> CountTfsRows(absl::Span<const TfsOutput> outputs);

// Classes and scores of the rows; either may be missing.
struct TfsClasses {
  const TfsOutput* scores = nullptr;
  const TfsOutput* classes = nullptr;
  const std::string* labelled = nullptr;  // the model's output whose labels count
  int64_t rows = 0;
  int64_t per_row = 0;
};

// Of the outputs of a signature that classifies. INTERNAL if they do not fit each other.
absl::StatusOr<TfsClasses> FindTfsClasses(const InferResponse& response,
                                          absl::Span<const TfsOutput> outputs);

// INTERNAL if `output` is no regression, which has one value in each row.
absl::Status CheckTfsRegression(const TfsOutput& output);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_TFS_TFS_OUTPUTS_H_
