// SPDX-License-Identifier: Apache-2.0
#include "bench/request_body.h"

#include <absl/strings/str_cat.h>

#include <utility>

#include "base/json_writer.h"
#include "base/status_macros.h"
#include "frontends/codec/json_tensor_writer.h"
#include "frontends/tracing/protobuf_text.h"

namespace nereid::bench {
namespace {

constexpr char kRegion[] = "shared_memory_region";
constexpr char kBytes[] = "shared_memory_byte_size";
constexpr char kOffset[] = "shared_memory_offset";

void WritePlace(const MemoryPlace& place, JsonWriter* json) {
  json->Add(kRegion, place.region);
  json->Add(kBytes, place.bytes);
  json->Add(kOffset, place.offset);
}

absl::StatusOr<std::string> JsonValues(const RequestInput& input, absl::string_view advice) {
  int64_t elements = 1;
  for (const int64_t dim : input.shape) elements *= dim;
  std::string values;
  if (AppendJsonTensor(input.type, input.bytes, elements, NonFinite::kLiteral, &values).ok())
    return values;
  return absl::InvalidArgumentError(absl::StrCat("the input ", input.name, " of data type ",
                                                 DataTypeName(input.type), " has no form in JSON; ",
                                                 advice));
}

// `place`: null: the values come with the request.
absl::Status WriteInput(const RequestInput& input, const MemoryPlace* place, bool json_tensors,
                        JsonWriter* json) {
  json->BeginObject();
  json->Add("name", input.name);
  json->Add("datatype", DataTypeName(input.type));
  json->BeginArray("shape");
  for (const int64_t dim : input.shape) json->Int(dim);
  json->EndArray();
  if (json_tensors) {
    ASSIGN_OR_RETURN(const std::string values, JsonValues(input, "leave out --json-tensors"));
    json->AddRaw("data", values);
  } else {
    json->BeginObject("parameters");
    if (place != nullptr) {
      WritePlace(*place, json);
    } else {
      json->Add("binary_data_size", input.bytes.size());
    }
    json->EndObject();
  }
  json->EndObject();
  return absl::OkStatus();
}

void WriteOutputs(const ModelDescription& model, const RequestPlaces& places, JsonWriter* json) {
  json->BeginArray("outputs");
  for (size_t i = 0; i < model.outputs.size(); ++i) {
    json->BeginObject();
    json->Add("name", model.outputs[i].name);
    json->BeginObject("parameters");
    if (places.outputs.empty()) {
      json->Add("binary_data", true);
    } else {
      WritePlace(places.outputs[i], json);
    }
    json->EndObject();
    json->EndObject();
  }
  json->EndArray();
}

void WriteParameters(const RequestParameters& parameters, JsonWriter* json) {
  const auto number = [json](const char* name, uint64_t value) {
    if (value == 0) return;
    json->Add(name, value);
  };
  json->BeginObject("parameters");
  if (parameters.in_sequence()) {
    number("sequence_id", parameters.sequence);
    if (!parameters.sequence_text.empty()) {
      json->Add("sequence_id", parameters.sequence_text);
    }
    json->Add("sequence_start", parameters.sequence_start);
    json->Add("sequence_end", parameters.sequence_end);
  }
  number("priority", parameters.priority);
  number("timeout", parameters.timeout_us);
  json->EndObject();
}

// The shape that generate makes of `count` elements: fixed dimensions are given, the last variable
// one takes the rest, the others are 1.
std::vector<int64_t> GenerateShape(std::vector<int64_t> shape, int64_t count) {
  for (const int64_t dim : shape) {
    if (dim > 0) count /= dim;
  }
  for (auto dim = shape.rbegin(); dim != shape.rend(); ++dim) {
    if (*dim < 0) *dim = std::exchange(count, 1);
  }
  return shape;
}

absl::Status CheckGenerateShape(const ModelDescription& model, const RequestInput& input) {
  int64_t count = 1;
  for (const int64_t dim : input.shape) count *= dim;
  for (const TensorDescription& tensor : model.inputs) {
    if (tensor.name != input.name) continue;
    const std::vector<int64_t> made = GenerateShape(tensor.shape, count);
    if (made == input.shape) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("generate_stream would make the shape ", ShapeText(made), " of the ", count,
                     " elements of the input ", input.name, ", which shall have the shape ",
                     ShapeText(input.shape), "; use a --url with grpc, or other shapes"));
  }
  return absl::OkStatus();
}

// Numbers of fields: proto/grpc_service.proto.
constexpr uint32_t kParameters = 4;  // of a request and of an input; outputs have 2
constexpr uint32_t kOutputParameters = 2;

// Numbers one after the other, as protobuf's own writers write a repeated field.
std::string Packed(const std::vector<int64_t>& numbers) {
  std::string bytes;
  for (const int64_t number : numbers) {
    auto rest = static_cast<uint64_t>(number);
    for (; rest >= 0x80; rest >>= 7) bytes.push_back(static_cast<char>(rest | 0x80));
    bytes.push_back(static_cast<char>(rest));
  }
  return bytes;
}

void AppendParameter(uint32_t field, const char* name, const ProtobufText& value,
                     ProtobufText* to) {
  ProtobufText entry;
  entry.Bytes(1, name);
  entry.Message(2, value);
  to->Message(field, entry);
}

void AppendPlace(uint32_t field, const MemoryPlace& place, ProtobufText* to) {
  ProtobufText region;
  region.Bytes(3, place.region);
  AppendParameter(field, kRegion, region, to);
  ProtobufText bytes;
  bytes.Varint(2, place.bytes);
  AppendParameter(field, kBytes, bytes, to);
  ProtobufText offset;
  offset.Varint(2, place.offset);
  AppendParameter(field, kOffset, offset, to);
}

// Fields of InferParameter.
constexpr uint32_t kBool = 1;
constexpr uint32_t kInt64 = 2;
constexpr uint32_t kString = 3;

void AppendParameters(const RequestParameters& parameters, ProtobufText* message) {
  const auto number = [message](const char* name, uint32_t kind, uint64_t value) {
    ProtobufText text;
    text.Varint(kind, value);
    AppendParameter(kParameters, name, text, message);
  };
  if (parameters.until_final) number("triton_enable_empty_final_response", kBool, 1);
  if (parameters.in_sequence()) {
    if (parameters.sequence_text.empty()) {
      number("sequence_id", kInt64, parameters.sequence);
    } else {
      ProtobufText id;
      id.Bytes(kString, parameters.sequence_text);
      AppendParameter(kParameters, "sequence_id", id, message);
    }
    number("sequence_start", kBool, parameters.sequence_start ? 1 : 0);
    number("sequence_end", kBool, parameters.sequence_end ? 1 : 0);
  }
  if (parameters.priority > 0) number("priority", kInt64, parameters.priority);
  if (parameters.timeout_us > 0) number("timeout", kInt64, parameters.timeout_us);
}

}  // namespace

absl::StatusOr<HttpBody> MakeHttpBody(const ModelDescription& model, const RequestInputs& inputs,
                                      const RequestPlaces& places, bool json_tensors,
                                      const RequestParameters& parameters) {
  HttpBody body;
  JsonWriter json(&body.bytes);
  json.BeginObject();
  if (parameters.in_sequence() || parameters.priority > 0 || parameters.timeout_us > 0) {
    WriteParameters(parameters, &json);
  }
  json.BeginArray("inputs");
  for (size_t i = 0; i < inputs.size(); ++i) {
    const MemoryPlace* const place = places.inputs.empty() ? nullptr : &places.inputs[i];
    RETURN_IF_ERROR(WriteInput(inputs[i], place, json_tensors, &json));
  }
  json.EndArray();
  if (!json_tensors) WriteOutputs(model, places, &json);
  json.EndObject();
  if (json_tensors || !places.inputs.empty()) return body;
  body.header_length = static_cast<int64_t>(body.bytes.size());
  for (const RequestInput& input : inputs) body.bytes += input.bytes;
  return body;
}

absl::StatusOr<std::string> MakeGenerateBody(const ModelDescription& model,
                                             const RequestInputs& inputs) {
  std::string body;
  JsonWriter json(&body);
  json.BeginObject();
  for (const RequestInput& input : inputs) {
    RETURN_IF_ERROR(CheckGenerateShape(model, input));
    ASSIGN_OR_RETURN(const std::string values, JsonValues(input, "use a --url with grpc"));
    json.AddRaw(input.name, values);
  }
  json.EndObject();
  return body;
}

std::string MakeGrpcMessage(const std::string& model_name, const std::string& version,
                            const ModelDescription& model, const RequestInputs& inputs,
                            const RequestPlaces& places, const RequestParameters& parameters) {
  ProtobufText message;
  message.Bytes(1, model_name);
  if (!version.empty()) message.Bytes(2, version);
  AppendParameters(parameters, &message);
  for (size_t i = 0; i < inputs.size(); ++i) {
    ProtobufText input;
    input.Bytes(1, inputs[i].name);
    input.Bytes(2, DataTypeName(inputs[i].type));
    input.Bytes(3, Packed(inputs[i].shape));
    if (!places.inputs.empty()) AppendPlace(kParameters, places.inputs[i], &input);
    message.Message(5, input);
  }
  for (size_t i = 0; i < places.outputs.size(); ++i) {
    ProtobufText output;
    output.Bytes(1, model.outputs[i].name);
    AppendPlace(kOutputParameters, places.outputs[i], &output);
    message.Message(6, output);
  }
  if (places.inputs.empty()) {
    for (const RequestInput& input : inputs) message.Bytes(7, input.bytes);
  }
  return message.Take();
}

}  // namespace nereid::bench
