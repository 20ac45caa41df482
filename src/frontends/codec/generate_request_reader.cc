#include "frontends/codec/generate_request_reader.h"

#include <absl/strings/str_cat.h>

#include <limits>
#include <utility>

#include "base/status_macros.h"
#include "frontends/codec/careful_tensor.h"
#include "frontends/codec/json_access.h"
#include "frontends/codec/json_parameter.h"
#include "frontends/codec/json_parse.h"
#include "frontends/codec/parse_cost.h"
#include "frontends/codec/request_limits.h"
#include "frontends/codec/v2_document.h"

namespace nereid {
namespace {

constexpr absl::string_view kNested = "parameters";

absl::Status Prefixed(absl::string_view what, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat(what, " keyword: '", kNested, "': ", status.message()));
}

absl::string_view NameOf(const rapidjson::Value::Member& member) {
  return {member.name.GetString(), member.name.GetStringLength()};
}

// Reads one parsed body.
class GenerateReader {
 public:
  GenerateReader(const RequestLimits& limits, rapidjson::Document* tree, InferRequest* request,
                 RequestBuffers* buffers)
      : max_input_size_(limits.max_input_size),
        tree_(*tree),
        model_(request->model()->config()),
        request_(request),
        buffers_(buffers) {}

  absl::Status Read() {
    if (!tree_.IsObject()) {
      return absl::InvalidArgumentError("attempt to get members for non-object");
    }
    if (const JsonValue* id = FindMember(tree_, "id")) {
      const absl::StatusOr<absl::string_view> text = AsString(*id);
      if (!text.ok()) return UnableToParse("id", text.status());
      RETURN_IF_ERROR(CheckLength("id of the request", *text));
      if (!text->empty()) request_->set_id(*text);
    }
    for (auto& member : tree_.GetObject()) {
      RETURN_IF_ERROR(NameOf(member) == kNested ? ReadNested(member.value) : ReadMember(&member));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status ReadNested(JsonValue& value) {
    if (model_.FindInput(kNested) >= 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "Keyword '", kNested, "' for nested schema also given as input tensor name"));
    }
    if (!value.IsObject()) {
      return absl::InvalidArgumentError(
          absl::StrCat("Expected JSON object for keyword: '", kNested,
                       "': attempt to access JSON non-object as object"));
    }
    for (auto& member : value.GetObject()) {
      RETURN_IF_ERROR(Prefixed("Converting", ReadMember(&member)));
    }
    return absl::OkStatus();
  }

  absl::Status ReadMember(rapidjson::Value::Member* member) {
    const absl::string_view name = NameOf(*member);
    const int index = model_.FindInput(name);
    if (index >= 0) return ReadInput(model_.inputs[static_cast<size_t>(index)], &member->value);
    RETURN_IF_ERROR(CheckParameterCount("the request", request_->parameters().size() + 1));
    ASSIGN_OR_RETURN(Parameter parameter, ReadJsonParameter(name, member->value));
    request_->AddParameter(std::move(parameter));
    return absl::OkStatus();
  }

  // Consumes `*value`.
  absl::Status ReadInput(const InputSpec& spec, JsonValue* value) {
    V2Input input;
    input.name = spec.name;
    input.data_type = spec.data_type;
    if (!value->IsArray()) {
      JsonValue array(rapidjson::kArrayType);
      array.PushBack(*value, tree_.GetAllocator());
      *value = std::move(array);
    }
    RETURN_IF_ERROR(DistributeElements(spec, value->Size(), &input.shape));
    // No limit here: the size of the JSON text limits the tensor, and the check below does.
    RETURN_IF_ERROR(
        ReadTensorCarefully(*value, std::numeric_limits<uint64_t>::max(), buffers_, &input));
    tensor_bytes_ += input.byte_size;
    if (tensor_bytes_ > max_input_size_) {
      return absl::InvalidArgumentError(absl::StrCat(
          "request size of ", tensor_bytes_, " bytes with input '", spec.name, "' of size ",
          input.byte_size, " bytes exceeds the maximum allowed input size of ", max_input_size_,
          ". Use --http-max-input-size to increase the limit."));
    }
    ASSIGN_OR_RETURN(InferInput* const added,
                     request_->AddInput(spec.name, spec.data_type, input.shape));
    added->AppendBuffer({input.bytes, input.byte_size, MemoryPlace{}});
    return absl::OkStatus();
  }

  // The shape of `count` elements in a flat list. The last variable dimension gets all that the
  // fixed dimensions leave; the other variable ones are 1.
  absl::Status DistributeElements(const InputSpec& spec, uint64_t count, Shape* shape) const {
    if (model_.max_batch_size > 0) shape->push_back(kVariableDim);
    shape->insert(shape->end(), spec.dims.begin(), spec.dims.end());
    bool fits = true;
    for (const int64_t dim : *shape) {
      if (dim <= 0) continue;
      fits = fits && count % static_cast<uint64_t>(dim) == 0;
      count /= static_cast<uint64_t>(dim);
    }
    for (auto dim = shape->rbegin(); dim != shape->rend(); ++dim) {
      if (*dim == kVariableDim) *dim = static_cast<int64_t>(std::exchange(count, 1));
    }
    if (fits && count == 1) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("The schema can not convert input '", spec.name,
                                                   "' to tensor with proper shape"));
  }

  const uint64_t max_input_size_;
  rapidjson::Document& tree_;
  const CompiledModel& model_;
  InferRequest* const request_;
  RequestBuffers* const buffers_;
  uint64_t tensor_bytes_ = 0;  // of all inputs so far
};

}  // namespace

absl::Status ReadGenerateRequest(absl::string_view json, const RequestLimits& limits,
                                 InferRequest* request, RequestBuffers* buffers) {
  if (json.size() > limits.max_input_size) {
    return absl::InvalidArgumentError(absl::StrCat(
        "request JSON size of ", json.size(), " bytes exceeds the maximum allowed input size of ",
        limits.max_input_size, " bytes. Use --http-max-input-size to increase the limit."));
  }
  ASSIGN_OR_RETURN(const BudgetUnits workspace,
                   TakeParseWorkspace(json.size(), kTreeCostPerByte, buffers));
  rapidjson::Document tree;
  RETURN_IF_ERROR(ParseJson(json, limits.max_json_depth, &tree));
  return GenerateReader(limits, &tree, request, buffers).Read();
}

}  // namespace nereid
