// SPDX-License-Identifier: Apache-2.0
#include "frontends/tfs/tfs_response_writer.h"

#include <absl/status/statusor.h>
#include <absl/strings/escaping.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/types/span.h>

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/json_writer.h"
#include "base/status_macros.h"
#include "frontends/codec/binary_tensor.h"
#include "frontends/codec/json_tensor_writer.h"
#include "frontends/tfs/tfs_outputs.h"

namespace nereid {
namespace {

// Outputs whose keys end so hold bytes, not text.
constexpr absl::string_view kBinarySuffix = "_bytes";

// The elements of an output that are not yet written.
class Tensor {
 public:
  // INVALID_ARGUMENT for a type that has no form in JSON.
  static absl::StatusOr<Tensor> Of(const TfsOutput& output, NonFinite non_finite) {
    if (output.type == DataType::kFp16 || output.type == DataType::kBf16) {
      return absl::InvalidArgumentError(
          absl::StrCat("the output '", output.key(), "' has the type ", DataTypeName(output.type),
                       ", for which this API has no form in JSON: use the API under /v2"));
    }
    return Tensor(output, non_finite);
  }

  const std::string& key() const { return output_->key(); }
  absl::Span<const int64_t> shape_of_row() const {
    return absl::MakeConstSpan(output_->shape).subspan(1);
  }

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
  absl::Status WriteAll(std::string* out) { return Write(output_->shape, out); }

 private:
  Tensor(const TfsOutput& output, NonFinite non_finite)
      : output_(&output),
        rest_(output.bytes),
        strings_(rest_),
        binary_(absl::EndsWith(output.key(), kBinarySuffix)),
        non_finite_(non_finite) {}

  absl::Status WriteScalar(std::string* out) {
    if (output_->type == DataType::kBytes) return WriteString(out);
    const size_t start = out->size();
    RETURN_IF_ERROR(WriteNumbers(1, out));
    out->pop_back();
    out->erase(start, 1);
    return absl::OkStatus();
  }

  absl::Status WriteList(int64_t count, std::string* out) {
    if (output_->type != DataType::kBytes) return WriteNumbers(count, out);
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
        rest_.substr(0, static_cast<size_t>(count) * DataTypeByteSize(output_->type));
    rest_.remove_prefix(bytes.size());
    if (AppendJsonTensor(output_->type, bytes, count, non_finite_, out).ok())
      return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("the output '", key(),
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
        absl::StrCat("the output '", key(),
                     "' has an element that is not UTF-8: give it a key that "
                     "ends in '",
                     kBinarySuffix, "', so that it is sent as Base64"));
  }

  const TfsOutput* output_;
  absl::string_view rest_;
  BytesElements strings_;  // of a tensor of BYTES
  bool binary_;
  NonFinite non_finite_;
};

void AppendKey(absl::string_view key, std::string* out) {
  AppendJsonString(key, out);
  *out += ':';
}

absl::StatusOr<std::vector<Tensor>> MakeTensors(absl::Span<const TfsOutput> outputs,
                                                NonFinite non_finite) {
  std::vector<Tensor> tensors;
  for (const TfsOutput& output : outputs) {
    ASSIGN_OR_RETURN(Tensor tensor, Tensor::Of(output, non_finite));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
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

absl::Status AppendPredictions(absl::Span<const TfsOutput> outputs, std::vector<Tensor>* tensors,
                               std::string* out) {
  const absl::StatusOr<int64_t> rows = CountTfsRows(outputs);
  if (!rows.ok()) {
    return absl::InternalError(
        absl::StrCat(rows.status().message(), ": use 'inputs' instead of 'instances'"));
  }
  *out += R"({"predictions":)";
  if (tensors->size() == 1) {
    RETURN_IF_ERROR(tensors->front().WriteAll(out));
  } else {
    *out += '[';
    for (int64_t row = 0; row < *rows; ++row) {
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

// The elements of TfsClasses; null where that has none.
struct ClassTensors {
  Tensor* scores;
  Tensor* classes;
};

// [label, score]
absl::Status AppendClass(const InferResponse& response, const TfsClasses& found,
                         const ClassTensors& tensors, int64_t index, std::string* out) {
  *out += '[';
  if (tensors.classes != nullptr) {
    RETURN_IF_ERROR(tensors.classes->Write({}, out));
  } else {
    const char* const label = response.model()->Label(*found.labelled, static_cast<size_t>(index));
    AppendJsonString(label == nullptr ? "" : label, out);
  }
  *out += ',';
  if (tensors.scores != nullptr) {
    RETURN_IF_ERROR(tensors.scores->Write({}, out));
  } else {
    *out += "0.0";
  }
  *out += ']';
  return absl::OkStatus();
}

absl::Status AppendClassifications(const InferResponse& response,
                                   absl::Span<const TfsOutput> outputs,
                                   std::vector<Tensor>* tensors, std::string* out) {
  ASSIGN_OR_RETURN(const TfsClasses found, FindTfsClasses(response, outputs));
  const auto tensor_of = [&](const TfsOutput* output) {
    return output == nullptr ? nullptr : &(*tensors)[static_cast<size_t>(output - outputs.data())];
  };
  const ClassTensors both{tensor_of(found.scores), tensor_of(found.classes)};
  *out += R"({"results":[)";
  for (int64_t row = 0; row < found.rows; ++row) {
    *out += row > 0 ? ",[" : "[";
    for (int64_t i = 0; i < found.per_row; ++i) {
      if (i > 0) *out += ',';
      RETURN_IF_ERROR(AppendClass(response, found, both, i, out));
    }
    *out += ']';
  }
  *out += "]}";
  return absl::OkStatus();
}

absl::Status AppendRegressions(const TfsOutput& output, Tensor* tensor, std::string* out) {
  RETURN_IF_ERROR(CheckTfsRegression(output));
  *out += R"({"results":)";
  RETURN_IF_ERROR(tensor->Write({output.shape.front()}, out));
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
  ASSIGN_OR_RETURN(const std::vector<TfsOutput> outputs,
                   FindTfsOutputs(response, call.signature->outputs));
  ASSIGN_OR_RETURN(std::vector<Tensor> tensors, MakeTensors(outputs, non_finite));
  switch (call.method) {
    case TfsMethod::kPredict:
      return call.rows ? AppendPredictions(outputs, &tensors, out) : AppendColumns(&tensors, out);
    case TfsMethod::kClassify:
      return AppendClassifications(response, outputs, &tensors, out);
    case TfsMethod::kRegress:
      return AppendRegressions(outputs.front(), &tensors.front(), out);
  }
  return absl::InternalError("unknown method");
}

}  // namespace nereid
