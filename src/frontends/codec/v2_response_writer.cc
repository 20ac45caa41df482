// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/v2_response_writer.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/string_view.h>

#include <utility>

#include "base/json_writer.h"
#include "base/status_macros.h"
#include "frontends/codec/classification.h"
#include "frontends/codec/json_parameter.h"
#include "frontends/codec/json_tensor_writer.h"

namespace nereid {
namespace {

// An output as it is sent: the backend's tensor, or its classification.
struct OutgoingTensor {
  absl::string_view name;
  DataType data_type;
  absl::Span<const int64_t> shape;
  absl::string_view bytes;
};

absl::Status WriteParameters(const std::vector<Parameter>& parameters, NonFinite non_finite,
                             JsonWriter* json) {
  if (parameters.empty()) return absl::OkStatus();
  json->BeginObject("parameters");
  for (const Parameter& parameter : parameters) {
    RETURN_IF_ERROR(WriteJsonParameter(parameter.name, parameter.value, non_finite, json));
  }
  json->EndObject();
  return absl::OkStatus();
}

absl::Status WriteData(const OutgoingTensor& tensor, NonFinite non_finite, JsonWriter* json,
                       std::string* out) {
  json->Key("data");
  json->Raw("");  // only the separator: the array is appended to `out` directly
  return AppendJsonOutput(tensor.name, tensor.data_type, tensor.shape, tensor.bytes, non_finite,
                          out);
}

// The members that every output has; the object stays open.
void BeginTensor(const OutgoingTensor& tensor, JsonWriter* json) {
  json->BeginObject();
  json->Add("name", tensor.name);
  json->Add("datatype", DataTypeName(tensor.data_type));
  json->BeginArray("shape");
  for (const int64_t dim : tensor.shape) json->Int(dim);
  json->EndArray();
}

absl::Status WriteTensor(const OutgoingTensor& tensor, bool binary, NonFinite non_finite,
                         JsonWriter* json, ResponseBody* body) {
  BeginTensor(tensor, json);
  if (binary) {
    json->BeginObject("parameters");
    json->Add("binary_data_size", tensor.bytes.size());
    json->EndObject();
    if (!tensor.bytes.empty()) {
      body->tensors.emplace_back(tensor.bytes.data(), tensor.bytes.size());
      body->tensor_bytes += tensor.bytes.size();
    }
  } else {
    RETURN_IF_ERROR(WriteData(tensor, non_finite, json, &body->json));
  }
  json->EndObject();
  return absl::OkStatus();
}

absl::Status WriteOutput(const InferResponse& response, const ResponseOutput& output,
                         const OutputFormats& formats, JsonWriter* json, ResponseBody* body) {
  if (formats.PlaceOf(output.name()) != nullptr) {
    BeginTensor({output.name(), output.data_type(), output.shape(), {}}, json);
    json->EndObject();
    return absl::OkStatus();
  }
  const OutputFormat& format = formats.For(output.name());
  if (format.classification > 0) {
    ASSIGN_OR_RETURN(Classification classes,
                     ClassifyOutput(response, output, format.classification));
    // Binary parts are sent after this function has returned.
    body->made.push_back(std::make_unique<std::string>(std::move(classes.tensor)));
    const OutgoingTensor tensor{output.name(), DataType::kBytes, classes.shape, *body->made.back()};
    return WriteTensor(tensor, format.binary, formats.non_finite, json, body);
  }
  const OutputBuffer& buffer = output.buffer();
  const OutgoingTensor tensor{
      output.name(), output.data_type(), output.shape(),
      absl::string_view(static_cast<const char*>(buffer.base), buffer.byte_size)};
  return WriteTensor(tensor, format.binary, formats.non_finite, json, body);
}

}  // namespace

size_t EstimateJsonSize(const InferResponse& response, const OutputFormats& formats) {
  size_t size =
      128 + response.id().size() + response.model_name().size() + 64 * response.parameters().size();
  for (const ResponseOutput& output : response.outputs()) {
    size += 96 + output.name().size() + 12 * output.shape().size();
    const OutputFormat& format = formats.For(output.name());
    const bool placed = formats.PlaceOf(output.name()) != nullptr;
    if (!format.binary && format.classification == 0 && !placed) {
      size += EstimateJsonTensorSize(output.data_type(), output.buffer().byte_size);
    }
  }
  return size;
}

size_t EstimateBodySize(const InferResponse& response, const OutputFormats& formats) {
  // Estimated bytes of text per byte of scores: a score of four bytes becomes a text of about
  // thirty.
  constexpr size_t kClassifiedBytes = 8;
  size_t size = EstimateJsonSize(response, formats);
  for (const ResponseOutput& output : response.outputs()) {
    const OutputFormat& format = formats.For(output.name());
    if (format.classification > 0) {
      size += kClassifiedBytes * output.buffer().byte_size;
    } else if (format.binary) {
      size += output.buffer().byte_size;
    }
  }
  return size;
}

absl::StatusOr<ResponseBody> WriteV2Response(const InferResponse& response,
                                             const OutputFormats& formats) {
  ResponseBody body;
  body.json.reserve(EstimateJsonSize(response, formats));
  JsonWriter json(&body.json);
  json.BeginObject();
  if (!response.id().empty()) {
    json.Add("id", response.id());
  }
  json.Add("model_name", response.model_name());
  json.Add("model_version", absl::StrCat(response.model_version()));
  RETURN_IF_ERROR(WriteParameters(response.parameters(), formats.non_finite, &json));
  json.BeginArray("outputs");
  for (const ResponseOutput& output : response.outputs()) {
    RETURN_IF_ERROR(WriteOutput(response, output, formats, &json, &body));
  }
  json.EndArray();
  json.EndObject();
  return body;
}

}  // namespace nereid
