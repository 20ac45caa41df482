#include "bench/request_body.h"

#include <absl/strings/str_cat.h>

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
  json->Key(kRegion);
  json->String(place.region);
  json->Key(kBytes);
  json->Uint(place.bytes);
  json->Key(kOffset);
  json->Uint(place.offset);
}

// `place`: null: the values come with the request.
absl::Status WriteInput(const RequestInput& input, const MemoryPlace* place, bool json_tensors,
                        JsonWriter* json) {
  json->BeginObject();
  json->Key("name");
  json->String(input.name);
  json->Key("datatype");
  json->String(DataTypeName(input.type));
  json->Key("shape");
  json->BeginArray();
  int64_t elements = 1;
  for (const int64_t dim : input.shape) {
    json->Int(dim);
    elements *= dim;
  }
  json->EndArray();
  if (json_tensors) {
    std::string values;
    if (!AppendJsonTensor(input.type, input.bytes, elements, &values)) {
      return absl::InvalidArgumentError(
          absl::StrCat("the input ", input.name, " of data type ", DataTypeName(input.type),
                       " has no form in JSON; leave out --json-tensors"));
    }
    json->Key("data");
    json->Raw(values);
  } else {
    json->Key("parameters");
    json->BeginObject();
    if (place != nullptr) {
      WritePlace(*place, json);
    } else {
      json->Key("binary_data_size");
      json->Uint(input.bytes.size());
    }
    json->EndObject();
  }
  json->EndObject();
  return absl::OkStatus();
}

void WriteOutputs(const ModelDescription& model, const RequestPlaces& places, JsonWriter* json) {
  json->Key("outputs");
  json->BeginArray();
  for (size_t i = 0; i < model.outputs.size(); ++i) {
    json->BeginObject();
    json->Key("name");
    json->String(model.outputs[i].name);
    json->Key("parameters");
    json->BeginObject();
    if (places.outputs.empty()) {
      json->Key("binary_data");
      json->Bool(true);
    } else {
      WritePlace(places.outputs[i], json);
    }
    json->EndObject();
    json->EndObject();
  }
  json->EndArray();
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

}  // namespace

absl::StatusOr<HttpBody> MakeHttpBody(const ModelDescription& model, const RequestInputs& inputs,
                                      const RequestPlaces& places, bool json_tensors) {
  HttpBody body;
  JsonWriter json(&body.bytes);
  json.BeginObject();
  json.Key("inputs");
  json.BeginArray();
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

std::string MakeGrpcMessage(const std::string& model_name, const std::string& version,
                            const ModelDescription& model, const RequestInputs& inputs,
                            const RequestPlaces& places, bool until_final) {
  ProtobufText message;
  message.Bytes(1, model_name);
  if (!version.empty()) message.Bytes(2, version);
  if (until_final) {
    ProtobufText yes;
    yes.Varint(1, 1);
    AppendParameter(kParameters, "triton_enable_empty_final_response", yes, &message);
  }
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
