// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/careful_json_reader.h"

#include <absl/strings/str_cat.h>

#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "frontends/codec/careful_tensor.h"
#include "frontends/codec/json_access.h"
#include "frontends/codec/json_parameter.h"
#include "frontends/codec/json_parse.h"
#include "frontends/codec/known_names.h"
#include "frontends/codec/request_limits.h"

namespace nereid {
namespace {

// Reads one parsed text. Checks its parts in the same order as Triton.
class CarefulReader {
 public:
  CarefulReader(uint64_t max_tensor_bytes, RequestBuffers* buffers, V2Document* document)
      : max_tensor_bytes_(max_tensor_bytes), buffers_(buffers), document_(document) {}

  absl::Status ReadRoot(const JsonValue& root);

 private:
  absl::Status ReadParameters(const JsonValue& parameters);
  absl::Status ReadReserved(ReservedParameter which, const JsonValue& value);
  absl::Status ReadCustom(absl::string_view key, const JsonValue& value);
  absl::Status ReadInputs(const JsonValue& inputs);
  absl::Status ReadInput(const JsonValue& json, RequestBuffers* buffers, V2Input* out);
  // `shared` stays empty if the output is to be part of the response.
  absl::Status ReadOutput(const JsonValue& json, OutputFormats::Named* out,
                          std::optional<SharedMemoryRange>* shared);

  const uint64_t max_tensor_bytes_;
  RequestBuffers* const buffers_;
  V2Document* const document_;
};

template <typename T, typename Out>
absl::Status Store(absl::string_view field, absl::StatusOr<T> value, Out* out) {
  if (!value.ok()) return UnableToParse(field, value.status());
  *out = Out(*value);
  return absl::OkStatus();
}

absl::Status ReadStringMember(const JsonValue& object, const char* name, std::string* out) {
  const absl::StatusOr<const JsonValue*> member = GetMember(object, name);
  if (!member.ok()) return UnableToParse(name, member.status());
  return Store(name, AsString(**member), out);
}

absl::Status ReadArrayMember(const JsonValue& object, const char* name, const JsonValue** out) {
  const absl::StatusOr<const JsonValue*> member = GetMember(object, name);
  if (!member.ok()) return UnableToParse(name, member.status());
  *out = *member;
  return UnableToParse(name, CheckArray(**member));
}

absl::Status ReadSharedMemory(const JsonValue& parameters, const JsonValue& region,
                              SharedMemoryRange* out) {
  RETURN_IF_ERROR(Store("shared_memory_region", AsString(region), &out->region));
  RETURN_IF_ERROR(CheckLength("name of a shared memory region", out->region));
  for (const auto& [name, value] : {std::pair("shared_memory_offset", &out->offset),
                                    {"shared_memory_byte_size", &out->byte_size}}) {
    const JsonValue* const member = FindMember(parameters, name);
    if (member != nullptr) RETURN_IF_ERROR(Store(name, AsUint(*member), value));
  }
  return absl::OkStatus();
}

absl::Status CarefulReader::ReadReserved(ReservedParameter which, const JsonValue& value) {
  V2Document& d = *document_;
  switch (which) {
    case ReservedParameter::kSequenceId:
      if (value.IsUint64()) {
        d.correlation_id = CorrelationId(value.GetUint64());
        return absl::OkStatus();
      } else {
        std::string text;
        RETURN_IF_ERROR(Store("sequence_id", AsString(value), &text));
        d.correlation_id = CorrelationId(std::move(text));
        return absl::OkStatus();
      }
    case ReservedParameter::kSequenceStart:
      return Store("sequence_start", AsBool(value), &d.sequence_start);
    case ReservedParameter::kSequenceEnd:
      return Store("sequence_end", AsBool(value), &d.sequence_end);
    case ReservedParameter::kPriority:
      return Store("priority", AsUint(value), &d.priority);
    case ReservedParameter::kTimeout:
      return Store("timeout", AsUint(value), &d.timeout_us);
    case ReservedParameter::kBinaryDataOutput:
      return Store("binary_data_output", AsBool(value), &d.outputs.fallback.binary);
    case ReservedParameter::kNonFinite: {
      ASSIGN_OR_RETURN(d.outputs.non_finite, ReadNonFinite(value));
      return absl::OkStatus();
    }
    case ReservedParameter::kNone:
      break;
  }
  return absl::OkStatus();
}

absl::Status CarefulReader::ReadCustom(absl::string_view key, const JsonValue& value) {
  if (key.substr(0, kRefusedKeyPrefix.size()) == kRefusedKeyPrefix) {
    return absl::InvalidArgumentError(
        absl::StrCat("parameter keys starting with '", kRefusedKeyPrefix,
                     "' are reserved for Triton usage and should not be specified."));
  }
  ASSIGN_OR_RETURN(Parameter parameter, ReadJsonParameter(key, value));
  document_->parameters.push_back(std::move(parameter));
  return absl::OkStatus();
}

absl::Status CarefulReader::ReadParameters(const JsonValue& parameters) {
  if (!parameters.IsObject()) {
    return absl::InvalidArgumentError(
        "failed to get request params.: attempt to get members for non-object");
  }
  RETURN_IF_ERROR(CheckParameterCount("the request", parameters.MemberCount()));
  for (const auto& member : parameters.GetObject()) {
    const absl::string_view key(member.name.GetString(), member.name.GetStringLength());
    const ReservedParameter reserved = ReservedParameterOf(key);
    RETURN_IF_ERROR(reserved == ReservedParameter::kNone ? ReadCustom(key, member.value)
                                                         : ReadReserved(reserved, member.value));
  }
  return absl::OkStatus();
}

absl::Status CheckOneSource(const JsonValue* data, const JsonValue* binary,
                            const JsonValue* region) {
  if ((data != nullptr) + (binary != nullptr) + (region != nullptr) == 1) return absl::OkStatus();
  std::string set;
  if (data != nullptr) set += " 'data'";
  if (binary != nullptr) set += " 'binary_data_size'";
  if (region != nullptr) set += " 'shared_memory_region'";
  return absl::InvalidArgumentError(
      absl::StrCat("Input must set only one of the following fields: 'data', 'binary_data_size' in "
                   "'parameters', 'shared_memory_region' in 'parameters'. But",
                   set.empty() ? " no field is set" : absl::StrCat(" set", set)));
}

// Checks the number of parameters of a tensor. A value that is not an object counts as none.
absl::Status CheckTensorParameters(const JsonValue* parameters, absl::string_view owner) {
  if (parameters == nullptr || !parameters->IsObject()) return absl::OkStatus();
  return CheckParameterCount(owner, parameters->MemberCount());
}

constexpr uint64_t kMaxDim = std::numeric_limits<int64_t>::max();

absl::Status DimTooLarge(const V2Input& input, uint64_t dim) {
  return absl::InvalidArgumentError(absl::StrCat("invalid shape for input ", QuotedName(input.name),
                                                 ": dimension ", input.shape.size(), " is ", dim,
                                                 ", which is out of range, 0 to ", kMaxDim));
}

absl::Status CarefulReader::ReadInputs(const JsonValue& inputs) {
  V2Document& d = *document_;
  for (const JsonValue& input : inputs.GetArray()) {
    if (!d.KeepsInput()) {
      V2Input unkept;
      RequestBuffers buffers;
      ++d.unkept_inputs;
      RETURN_IF_ERROR(ReadInput(input, &buffers, &unkept));
      continue;
    }
    d.inputs.emplace_back();
    RETURN_IF_ERROR(ReadInput(input, buffers_, &d.inputs.back()));
  }
  return absl::OkStatus();
}

absl::Status CarefulReader::ReadInput(const JsonValue& json, RequestBuffers* buffers,
                                      V2Input* out) {
  const JsonValue* const data = FindMember(json, "data");
  const JsonValue* const parameters = FindMember(json, "parameters");
  const JsonValue* const binary =
      parameters == nullptr ? nullptr : FindMember(*parameters, "binary_data_size");
  const JsonValue* const region =
      parameters == nullptr ? nullptr : FindMember(*parameters, "shared_memory_region");
  RETURN_IF_ERROR(CheckOneSource(data, binary, region));
  RETURN_IF_ERROR(CheckTensorParameters(parameters, "an input"));

  V2Input& input = *out;
  RETURN_IF_ERROR(ReadStringMember(json, "name", &input.name));
  RETURN_IF_ERROR(CheckLength("name of an input", input.name));
  std::string type;
  RETURN_IF_ERROR(ReadStringMember(json, "datatype", &type));
  input.data_type = ParseDataType(type);
  const JsonValue* shape;
  RETURN_IF_ERROR(ReadArrayMember(json, "shape", &shape));
  RETURN_IF_ERROR(CheckDimensionCount(input.name, shape->Size()));
  for (const JsonValue& item : shape->GetArray()) {
    uint64_t dim = 0;
    RETURN_IF_ERROR(Store("shape", AsUint(item), &dim));
    if (dim > kMaxDim) return DimTooLarge(input, dim);
    input.shape.push_back(static_cast<int64_t>(dim));
  }
  if (data != nullptr) return ReadTensorCarefully(*data, type, max_tensor_bytes_, buffers, &input);
  if (region != nullptr) {
    return ReadSharedMemory(*parameters, *region, &input.shared.emplace());
  }
  input.binary = true;
  return Store("binary_data_size", AsUint(*binary), &input.byte_size);
}

absl::Status CarefulReader::ReadOutput(const JsonValue& json, OutputFormats::Named* out,
                                       std::optional<SharedMemoryRange>* shared) {
  OutputFormats::Named& output = *out;
  RETURN_IF_ERROR(ReadStringMember(json, "name", &output.name));
  RETURN_IF_ERROR(CheckLength("name of an output", output.name));
  const JsonValue* const parameters = FindMember(json, "parameters");
  if (parameters == nullptr) return absl::OkStatus();
  RETURN_IF_ERROR(CheckTensorParameters(parameters, "an output"));

  const JsonValue* const classification = FindMember(*parameters, "classification");
  if (classification != nullptr) {
    const absl::StatusOr<uint64_t> count = AsUint(*classification);
    if (!count.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("Unable to set 'classification': ", count.status().message()));
    }
    output.format.classification = *count;
  }
  if (const JsonValue* const binary = FindMember(*parameters, "binary_data")) {
    RETURN_IF_ERROR(Store("binary_data", AsBool(*binary), &output.format.binary));
  }
  const JsonValue* const region = FindMember(*parameters, "shared_memory_region");
  if (region == nullptr) return absl::OkStatus();
  if (classification != nullptr || output.format.binary) {
    return absl::InvalidArgumentError(
        absl::StrCat("Output can't set both 'shared_memory_region' and '",
                     classification != nullptr ? "classification" : "binary_data", "'"));
  }
  return ReadSharedMemory(*parameters, *region, &shared->emplace());
}

absl::Status CarefulReader::ReadRoot(const JsonValue& root) {
  if (const JsonValue* id = FindMember(root, "id")) {
    RETURN_IF_ERROR(Store("id", AsString(*id), &document_->id));
    RETURN_IF_ERROR(CheckLength("id of the request", document_->id));
  }
  if (const JsonValue* parameters = FindMember(root, "parameters")) {
    RETURN_IF_ERROR(ReadParameters(*parameters));
  }
  const JsonValue* inputs;
  RETURN_IF_ERROR(ReadArrayMember(root, "inputs", &inputs));
  RETURN_IF_ERROR(ReadInputs(*inputs));
  if (FindMember(root, "outputs") == nullptr) return absl::OkStatus();
  const JsonValue* outputs;
  RETURN_IF_ERROR(ReadArrayMember(root, "outputs", &outputs));
  for (const JsonValue& json : outputs->GetArray()) {
    OutputFormats::Named output;
    std::optional<SharedMemoryRange> shared;
    RETURN_IF_ERROR(ReadOutput(json, &output, &shared));
    if (!document_->KeepsOutput()) continue;
    if (shared.has_value()) {
      document_->shared_outputs.emplace_back(document_->outputs.named.size(), *std::move(shared));
    }
    document_->outputs.named.push_back(std::move(output));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadJsonCarefully(absl::string_view json, const RequestLimits& limits,
                               RequestBuffers* buffers, V2Document* document) {
  JsonTree tree;
  RETURN_IF_ERROR(ParseJson(json, limits.max_json_depth, buffers->parse_budget(), &tree));
  return CarefulReader(limits.max_input_size, buffers, document).ReadRoot(tree);
}

}  // namespace nereid
