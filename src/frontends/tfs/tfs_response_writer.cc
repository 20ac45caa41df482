// SPDX-License-Identifier: Apache-2.0
#include "frontends/tfs/tfs_response_writer.h"

#include <absl/status/statusor.h>
#include <absl/strings/escaping.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/types/span.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/json_writer.h"
#include "base/status_macros.h"
#include "frontends/codec/binary_tensor.h"
#include "frontends/codec/json_tensor_writer.h"
#include "frontends/tfs/tfs_tensor_reader.h"

namespace nereid {
namespace {

// Outputs whose keys end so hold bytes, not text.
constexpr absl::string_view kBinarySuffix = "_bytes";

absl::Status Mismatch(absl::string_view key, absl::string_view what) {
  return absl::InternalError(absl::StrCat("the output '", key, "' ", what));
}

// An output as clients of this API see it, and the elements that are not yet written.
class Tensor {
 public:
  // INTERNAL if the model has not sent the output, or not as it says.
  static absl::StatusOr<Tensor> Find(const InferResponse& response, const TfsTensor& output,
                                     NonFinite non_finite) {
    const CompiledModel& model = response.model()->config();
    const OutputSpec& spec = model.outputs[output.index];
    for (const ResponseOutput& one : response.outputs()) {
      if (one.name() != spec.name) continue;
      Tensor tensor(one, output.key, non_finite);
      // The backend's tensor has no dimension there.
      if (spec.reshape.has_value() && spec.reshape->empty() && tensor.shape_.size() == 2 &&
          IsElementPerRow(model, spec.dims)) {
        tensor.shape_.pop_back();
      }
      RETURN_IF_ERROR(tensor.CheckSize());
      return tensor;
    }
    return Mismatch(output.key, "is missing in the model's response");
  }

  const std::string& key() const { return *key_; }
  const Shape& shape() const { return shape_; }
  absl::Span<const int64_t> shape_of_row() const { return absl::MakeConstSpan(shape_).subspan(1); }

  // Appends the next elements, as a tensor of `shape`.
  absl::Status Write(absl::Span<const int64_t> shape, std::string* out) {
    if (shape.empty()) return WriteScalar(out);
    if (shape.size() == 1) return WriteList(shape.front(), out);
    *out += '[';
    for (int64_t i = 0; i < shape.front(); ++i) {
      if (i > 0) *out += ',';
      RETURN_IF_ERROR(Write(shape.subspan(1), out));
    }
    *out += ']';
    return absl::OkStatus();
  }
  absl::Status WriteAll(std::string* out) { return Write(shape_, out); }

 private:
  Tensor(const ResponseOutput& output, const std::string& key, NonFinite non_finite)
      : key_(&key),
        type_(output.data_type()),
        shape_(output.shape()),
        rest_(static_cast<const char*>(output.buffer().base), output.buffer().byte_size),
        strings_(rest_),
        binary_(absl::EndsWith(key, kBinarySuffix)),
        non_finite_(non_finite) {}

  absl::Status CheckSize() const {
    if (type_ == DataType::kFp16 || type_ == DataType::kBf16) {
      return absl::InvalidArgumentError(
          absl::StrCat("the output '", *key_, "' has the type ", DataTypeName(type_),
                       ", for which this API has no form in JSON: use the API under /v2"));
    }
    const std::optional<int64_t> count = ElementCount(shape_);
    const bool fits = type_ == DataType::kBytes
                          ? CountBytesElements(rest_) == count
                          : TensorByteSize(type_, shape_) == static_cast<int64_t>(rest_.size());
    if (count.has_value() && fits) return absl::OkStatus();
    return Mismatch(
        *key_, absl::StrCat("does not have as many elements as its shape ", ShapeToString(shape_)));
  }

  absl::Status WriteScalar(std::string* out) {
    if (type_ == DataType::kBytes) return WriteString(out);
    const size_t start = out->size();
    RETURN_IF_ERROR(WriteNumbers(1, out));
    out->pop_back();
    out->erase(start, 1);
    return absl::OkStatus();
  }

  absl::Status WriteList(int64_t count, std::string* out) {
    if (type_ != DataType::kBytes) return WriteNumbers(count, out);
    *out += '[';
    for (int64_t i = 0; i < count; ++i) {
      if (i > 0) *out += ',';
      RETURN_IF_ERROR(WriteString(out));
    }
    *out += ']';
    return absl::OkStatus();
  }

  absl::Status WriteNumbers(int64_t count, std::string* out) {
    const absl::string_view bytes =
        rest_.substr(0, static_cast<size_t>(count) * DataTypeByteSize(type_));
    rest_.remove_prefix(bytes.size());
    if (AppendJsonTensor(type_, bytes, count, non_finite_, out).ok()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("the output '", *key_,
                     "' has a NaN or infinite element, which this server "
                     "does not write (--http-json-non-finite=error)"));
  }

  absl::Status WriteString(std::string* out) {
    absl::string_view text;
    strings_.Next(&text);
    if (binary_) {
      absl::StrAppend(out, R"({"b64":")", absl::Base64Escape(text), R"("})");
      return absl::OkStatus();
    }
    if (AppendJsonString(text, out)) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("the output '", *key_,
                     "' has an element that is not UTF-8: give it a key that "
                     "ends in '",
                     kBinarySuffix, "', so that it is sent as Base64"));
  }

  const std::string* key_;
  DataType type_;
  Shape shape_;
  absl::string_view rest_;
  BytesElements strings_;  // of a tensor of BYTES
  bool binary_;
  NonFinite non_finite_;
};

void AppendKey(absl::string_view key, std::string* out) {
  AppendJsonString(key, out);
  *out += ':';
}

absl::StatusOr<std::vector<Tensor>> FindTensors(const InferResponse& response, const TfsCall& call,
                                                NonFinite non_finite) {
  std::vector<Tensor> tensors;
  for (const TfsTensor& output : call.signature->outputs) {
    ASSIGN_OR_RETURN(Tensor tensor, Tensor::Find(response, output, non_finite));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

// The rows that all tensors have.
absl::StatusOr<int64_t> CountRows(const std::vector<Tensor>& tensors) {
  std::optional<int64_t> rows;
  for (const Tensor& tensor : tensors) {
    if (tensor.shape().empty()) return Mismatch(tensor.key(), "is a scalar, which has no rows");
    if (rows.has_value() && *rows != tensor.shape().front()) {
      return Mismatch(tensor.key(), absl::StrCat("has ", tensor.shape().front(), " rows and '",
                                                 tensors.front().key(), "' has ", *rows,
                                                 ": use 'inputs' instead of 'instances'"));
    }
    rows = tensor.shape().front();
  }
  return rows.value_or(0);
}

// An object with a value of each tensor.
template <typename WriteValue>
absl::Status AppendObject(std::vector<Tensor>* tensors, const WriteValue& write, std::string* out) {
  *out += '{';
  for (Tensor& tensor : *tensors) {
    if (&tensor != tensors->data()) *out += ',';
    AppendKey(tensor.key(), out);
    RETURN_IF_ERROR(write(&tensor));
  }
  *out += '}';
  return absl::OkStatus();
}

absl::Status AppendPredictions(std::vector<Tensor>* tensors, std::string* out) {
  ASSIGN_OR_RETURN(const int64_t rows, CountRows(*tensors));
  *out += R"({"predictions":)";
  if (tensors->size() == 1) {
    RETURN_IF_ERROR(tensors->front().WriteAll(out));
  } else {
    *out += '[';
    for (int64_t row = 0; row < rows; ++row) {
      if (row > 0) *out += ',';
      const auto write = [out](Tensor* tensor) {
        return tensor->Write(tensor->shape_of_row(), out);
      };
      RETURN_IF_ERROR(AppendObject(tensors, write, out));
    }
    *out += ']';
  }
  *out += '}';
  return absl::OkStatus();
}

absl::Status AppendColumns(std::vector<Tensor>* tensors, std::string* out) {
  *out += R"({"outputs":)";
  if (tensors->size() == 1) {
    RETURN_IF_ERROR(tensors->front().WriteAll(out));
  } else {
    const auto write = [out](Tensor* tensor) { return tensor->WriteAll(out); };
    RETURN_IF_ERROR(AppendObject(tensors, write, out));
  }
  *out += '}';
  return absl::OkStatus();
}

// Classes and scores of the rows; either may be missing.
struct Classes {
  Tensor* scores = nullptr;
  Tensor* classes = nullptr;
  const std::string* labelled = nullptr;  // the model's output whose labels count
  int64_t per_row = 0;
};

absl::StatusOr<Classes> FindClasses(const InferResponse& response, const TfsCall& call,
                                    std::vector<Tensor>* tensors, int64_t rows) {
  Classes found;
  for (size_t i = 0; i < tensors->size(); ++i) {
    Tensor* const tensor = &(*tensors)[i];
    const int64_t per_row = ElementCount(tensor->shape_of_row()).value_or(0);
    if (i > 0 && per_row != found.per_row) {
      return Mismatch(tensor->key(),
                      absl::StrCat("has ", per_row, " elements in each of the ", rows,
                                   " rows, and the other output has ", found.per_row));
    }
    found.per_row = per_row;
    (tensor->key() == kTfsScores ? found.scores : found.classes) = tensor;
    if (tensor == found.scores) {
      const size_t index = call.signature->outputs[i].index;
      found.labelled = &response.model()->config().outputs[index].name;
    }
  }
  return found;
}

// [label, score]
absl::Status AppendClass(const InferResponse& response, const Classes& classes, int64_t index,
                         std::string* out) {
  *out += '[';
  if (classes.classes != nullptr) {
    RETURN_IF_ERROR(classes.classes->Write({}, out));
  } else {
    const char* const label =
        response.model()->Label(*classes.labelled, static_cast<size_t>(index));
    AppendJsonString(label == nullptr ? "" : label, out);
  }
  *out += ',';
  if (classes.scores != nullptr) {
    RETURN_IF_ERROR(classes.scores->Write({}, out));
  } else {
    *out += "0.0";
  }
  *out += ']';
  return absl::OkStatus();
}

absl::Status AppendClassifications(const InferResponse& response, const TfsCall& call,
                                   std::vector<Tensor>* tensors, std::string* out) {
  ASSIGN_OR_RETURN(const int64_t rows, CountRows(*tensors));
  ASSIGN_OR_RETURN(const Classes classes, FindClasses(response, call, tensors, rows));
  *out += R"({"results":[)";
  for (int64_t row = 0; row < rows; ++row) {
    *out += row > 0 ? ",[" : "[";
    for (int64_t i = 0; i < classes.per_row; ++i) {
      if (i > 0) *out += ',';
      RETURN_IF_ERROR(AppendClass(response, classes, i, out));
    }
    *out += ']';
  }
  *out += "]}";
  return absl::OkStatus();
}

absl::Status AppendRegressions(Tensor* tensor, std::string* out) {
  const Shape& shape = tensor->shape();
  if (shape.empty() || ElementCount(shape) != shape.front()) {
    return Mismatch(tensor->key(), absl::StrCat("has the shape ", ShapeToString(shape),
                                                ": a regression has one value in each row"));
  }
  *out += R"({"results":)";
  RETURN_IF_ERROR(tensor->Write({shape.front()}, out));
  *out += '}';
  return absl::OkStatus();
}

}  // namespace

size_t EstimateTfsSize(const InferResponse& response, const TfsCall& call) {
  constexpr size_t kMost = std::numeric_limits<int64_t>::max();
  constexpr size_t kPerList = 16;  // brackets and a key, or a label
  size_t size = 64;
  for (const ResponseOutput& output : response.outputs()) {
    const Shape& shape = output.shape();
    const bool elements = call.method == TfsMethod::kClassify || shape.size() == 1;
    const size_t counted = elements || shape.empty() ? shape.size() : shape.size() - 1;
    size_t lists = kPerList + output.name().size();
    for (size_t i = 0; i < counted; ++i) {
      if (shape[i] < 0 || __builtin_mul_overflow(lists, static_cast<size_t>(shape[i]), &lists) ||
          __builtin_add_overflow(size, lists, &size) || size > kMost) {
        return kMost;
      }
    }
    size += EstimateJsonTensorSize(output.data_type(), output.buffer().byte_size);
  }
  return size;
}

absl::Status AppendTfsResponse(const InferResponse& response, const TfsCall& call,
                               NonFinite non_finite, std::string* out) {
  ASSIGN_OR_RETURN(std::vector<Tensor> tensors, FindTensors(response, call, non_finite));
  switch (call.method) {
    case TfsMethod::kPredict:
      return call.rows ? AppendPredictions(&tensors, out) : AppendColumns(&tensors, out);
    case TfsMethod::kClassify:
      return AppendClassifications(response, call, &tensors, out);
    case TfsMethod::kRegress:
      return AppendRegressions(&tensors.front(), out);
  }
  return absl::InternalError("unknown method");
}

}  // namespace nereid
