// SPDX-License-Identifier: Apache-2.0
#include "frontends/tfs/tfs_outputs.h"

#include <absl/strings/str_cat.h>

#include <optional>
#include <utility>

#include "base/status_macros.h"
#include "frontends/codec/binary_tensor.h"
#include "frontends/tfs/tfs_tensor_reader.h"

namespace nereid {
namespace {

absl::Status CheckSize(const TfsOutput& output) {
  const std::optional<int64_t> count = ElementCount(output.shape);
  const bool fits = output.type == DataType::kBytes ? CountBytesElements(output.bytes) == count
                                                    : TensorByteSize(output.type, output.shape) ==
                                                          static_cast<int64_t>(output.bytes.size());
  if (count.has_value() && fits) return absl::OkStatus();
  return TfsMismatch(output.key(), absl::StrCat("does not have as many elements as its shape ",
                                                ShapeToString(output.shape)));
}

absl::StatusOr<TfsOutput> Find(const InferResponse& response, const TfsTensor& tensor) {
  const CompiledModel& model = response.model()->config();
  const OutputSpec& spec = model.outputs[tensor.index];
  for (const ResponseOutput& one : response.outputs()) {
    if (one.name() != spec.name) continue;
    const OutputBuffer& buffer = one.buffer();
    TfsOutput output{&tensor,
                     one.data_type(),
                     one.shape(),
                     {static_cast<const char*>(buffer.base), buffer.byte_size}};
    // The backend's tensor has no dimension there.
    if (spec.reshape.has_value() && spec.reshape->empty() && output.shape.size() == 2 &&
        IsElementPerRow(model, spec.dims)) {
      output.shape.pop_back();
    }
    RETURN_IF_ERROR(CheckSize(output));
    return output;
  }
  return TfsMismatch(tensor.key, "is missing in the model's response");
}

}  // namespace

absl::Status TfsMismatch(absl::string_view key, absl::string_view what) {
  return absl::InternalError(absl::StrCat("the output '", key, "' ", what));
}

absl::StatusOr<std::vector<TfsOutput>> FindTfsOutputs(const InferResponse& response,
                                                      absl::Span<const TfsTensor> wanted) {
  std::vector<TfsOutput> outputs;
  outputs.reserve(wanted.size());
  for (const TfsTensor& tensor : wanted) {
    ASSIGN_OR_RETURN(TfsOutput output, Find(response, tensor));
    outputs.push_back(std::move(output));
  }
  return outputs;
}

absl::StatusOr<int64_t> CountTfsRows(absl::Span<const TfsOutput> outputs) {
  std::optional<int64_t> rows;
  for (const TfsOutput& output : outputs) {
    if (output.shape.empty()) return TfsMismatch(output.key(), "is a scalar, which has no rows");
    if (rows.has_value() && *rows != output.shape.front()) {
      return TfsMismatch(output.key(), absl::StrCat("has ", output.shape.front(), " rows and '",
                                                    outputs.front().key(), "' has ", *rows));
    }
    rows = output.shape.front();
  }
  return rows.value_or(0);
}

absl::StatusOr<TfsClasses> FindTfsClasses(const InferResponse& response,
                                          absl::Span<const TfsOutput> outputs) {
  TfsClasses found;
  ASSIGN_OR_RETURN(found.rows, CountTfsRows(outputs));
  for (const TfsOutput& output : outputs) {
    const int64_t per_row = ElementCount(absl::MakeConstSpan(output.shape).subspan(1)).value_or(0);
    if (&output != outputs.data() && per_row != found.per_row) {
      return TfsMismatch(output.key(),
                         absl::StrCat("has ", per_row, " elements in each of the ", found.rows,
                                      " rows, and the other output has ", found.per_row));
    }
    found.per_row = per_row;
    if (output.key() == kTfsScores) {
      found.scores = &output;
      found.labelled = &response.model()->config().outputs[output.tensor->index].name;
    } else {
      found.classes = &output;
    }
  }
  return found;
}

absl::Status CheckTfsRegression(const TfsOutput& output) {
  if (!output.shape.empty() && ElementCount(output.shape) == output.shape.front()) {
    return absl::OkStatus();
  }
  return TfsMismatch(output.key(), absl::StrCat("has the shape ", ShapeToString(output.shape),
                                                ": a regression has one value in each row"));
}

}  // namespace nereid
