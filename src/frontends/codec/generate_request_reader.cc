// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/generate_request_reader.h"

#include <absl/strings/str_cat.h>

#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "frontends/codec/careful_tensor.h"
#include "frontends/codec/fast_json_reader.h"
#include "frontends/codec/json_access.h"
#include "frontends/codec/json_parameter.h"
#include "frontends/codec/json_parse.h"
#include "frontends/codec/parse_cost.h"
#include "frontends/codec/request_limits.h"
#include "frontends/codec/v2_document.h"

namespace nereid {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr absl::string_view kNested = "parameters";
constexpr char kId[] = "id";

absl::Status Prefixed(absl::string_view what, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat(what, " keyword: '", kNested, "': ", status.message()));
}

absl::string_view NameOf(const JsonValue::Member& member) {
  return {member.name.GetString(), member.name.GetStringLength()};
}

// Sets the shape of `count` elements in a flat list. The last variable dimension gets all that the
// fixed dimensions leave; the other variable ones are 1. False if they do not fit.
bool DistributeElements(const CompiledModel& model, const InputSpec& spec, uint64_t count,
                        Shape* shape) {
  if (model.max_batch_size > 0) shape->push_back(kVariableDim);
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
  return fits && count == 1;
}

// Reads one body in one pass. Every method returns false to leave it to the careful reader.
class FastGenerateReader {
 public:
  FastGenerateReader(const TensorBounds& bounds, const CompiledModel& model,
                     RequestBuffers* buffers, V2Document* document)
      : bounds_(bounds),
        model_(model),
        buffers_(buffers),
        document_(document),
        seen_(model.inputs.size()) {}

  bool ReadRoot(ondemand::object root) { return ReadMembers(root, /*nested=*/false); }

 private:
  bool ReadMembers(ondemand::object object, bool nested) {
    for (auto item : object) {
      ondemand::field field;
      std::string_view key;
      if (std::move(item).get(field) || field.unescaped_key().get(key)) return false;
      if (!ReadMember(absl::string_view(key.data(), key.size()), field.value(), nested)) {
        return false;
      }
    }
    return true;
  }

  bool ReadMember(absl::string_view key, ondemand::value value, bool nested) {
    const int index = model_.FindInput(key);
    const bool is_id = !nested && key == kId;
    if (!nested && key == kNested) {
      ondemand::object object;
      return index < 0 && !value.get_object().get(object) && ReadMembers(object, /*nested=*/true);
    }
    if (index >= 0) return !is_id && ReadInput(static_cast<size_t>(index), value);
    if (key == kNonFiniteParameter) return ReadNonFiniteFast(value, &document_->outputs.non_finite);
    if (key.size() > kMaxNameBytes || document_->parameters.size() >= kMaxParameters) return false;
    Parameter parameter{std::string(key), {}};
    if (!ReadParameterFast(value, &parameter.value)) return false;
    if (is_id) {
      const auto* const text = std::get_if<std::string>(&parameter.value);
      if (std::exchange(has_id_, true) || text == nullptr || text->size() > kMaxNameBytes) {
        return false;
      }
      document_->id = *text;
    }
    document_->parameters.push_back(std::move(parameter));
    return true;
  }

  bool ReadInput(size_t index, ondemand::value value) {
    if (seen_[index]) return false;
    seen_[index] = true;
    const InputSpec& spec = model_.inputs[index];
    V2Input input;
    input.name = spec.name;
    input.data_type = spec.data_type;
    ondemand::json_type type;
    if (value.type().get(type)) return false;
    const bool list = type == ondemand::json_type::array;
    size_t count = 1;
    if (list && value.count_elements().get(count)) return false;
    if (!DistributeElements(model_, spec, count, &input.shape)) return false;
    if (!(list ? ReadTensorFast(value, bounds_, buffers_, &input)
               : ReadElementFast(value, bounds_, buffers_, &input))) {
      return false;
    }
    tensor_bytes_ += input.byte_size;
    document_->inputs.push_back(std::move(input));
    return tensor_bytes_ <= bounds_.max_bytes;
  }

  const TensorBounds bounds_;  // max_bytes: of all tensors, too
  const CompiledModel& model_;
  RequestBuffers* const buffers_;
  V2Document* const document_;
  std::vector<bool> seen_;  // of the model's inputs; another with the same name is a mistake
  bool has_id_ = false;
  uint64_t tensor_bytes_ = 0;  // of all inputs so far
};

absl::Status FillRequest(V2Document document, InferRequest* request) {
  if (!document.id.empty()) request->set_id(document.id);
  for (Parameter& parameter : document.parameters) request->AddParameter(std::move(parameter));
  for (V2Input& input : document.inputs) {
    ASSIGN_OR_RETURN(InferInput* const added,
                     request->AddInput(std::move(input.name), input.data_type, input.shape));
    added->AppendBuffer({input.bytes, input.byte_size, MemoryPlace{}});
  }
  return absl::OkStatus();
}

// Reads one parsed body.
class CarefulGenerateReader {
 public:
  CarefulGenerateReader(const RequestLimits& limits, JsonTree* tree, InferRequest* request,
                        RequestBuffers* buffers, NonFinite* non_finite)
      : max_input_size_(limits.max_input_size),
        tree_(*tree),
        model_(request->model()->config()),
        request_(request),
        buffers_(buffers),
        non_finite_(non_finite) {}

  absl::Status Read() {
    if (!tree_.IsObject()) {
      return absl::InvalidArgumentError("attempt to get members for non-object");
    }
    if (const JsonValue* id = FindMember(tree_, kId)) {
      const absl::StatusOr<absl::string_view> text = AsString(*id);
      if (!text.ok()) return UnableToParse(kId, text.status());
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

  absl::Status ReadMember(JsonValue::Member* member) {
    const absl::string_view name = NameOf(*member);
    const int index = model_.FindInput(name);
    if (index >= 0) return ReadInput(model_.inputs[static_cast<size_t>(index)], &member->value);
    if (name == kNonFiniteParameter) {
      ASSIGN_OR_RETURN(*non_finite_, ReadNonFinite(member->value));
      return absl::OkStatus();
    }
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
    if (!DistributeElements(model_, spec, value->Size(), &input.shape)) {
      return absl::InvalidArgumentError(absl::StrCat("The schema can not convert input '",
                                                     spec.name, "' to tensor with proper shape"));
    }
    // No limit here: the size of the JSON text limits the tensor, and the check below does.
    RETURN_IF_ERROR(ReadTensorCarefully(*value, DataTypeName(spec.data_type),
                                        std::numeric_limits<uint64_t>::max(), buffers_, &input));
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

  const uint64_t max_input_size_;
  JsonTree& tree_;
  const CompiledModel& model_;
  InferRequest* const request_;
  RequestBuffers* const buffers_;
  NonFinite* const non_finite_;
  uint64_t tensor_bytes_ = 0;  // of all inputs so far
};

}  // namespace

bool ReadGenerateFast(absl::string_view json, const RequestLimits& limits,
                      const CompiledModel& model, RequestBuffers* buffers, V2Document* document) {
  const TensorBounds bounds = BoundsFor(json, limits);
  return !json.empty() && ReadObjectFast(json, [&](ondemand::object root) {
    return FastGenerateReader(bounds, model, buffers, document).ReadRoot(root);
  });
}

absl::Status ReadGenerateCarefully(absl::string_view json, const RequestLimits& limits,
                                   InferRequest* request, RequestBuffers* buffers,
                                   NonFinite* non_finite) {
  JsonTree tree;
  RETURN_IF_ERROR(ParseJson(json, limits.max_json_depth, buffers->parse_budget(), &tree));
  return CarefulGenerateReader(limits, &tree, request, buffers, non_finite).Read();
}

absl::Status ReadGenerateRequest(absl::string_view json, const RequestLimits& limits,
                                 InferRequest* request, RequestBuffers* buffers,
                                 NonFinite* non_finite) {
  if (json.size() > limits.max_input_size) {
    return absl::InvalidArgumentError(absl::StrCat(
        "request JSON size of ", json.size(), " bytes exceeds the maximum allowed input size of ",
        limits.max_input_size, " bytes. Use --http-max-input-size to increase the limit."));
  }
  {
    ASSIGN_OR_RETURN(const BudgetUnits indexes,
                     buffers->parse_budget().Take(json.size(), json.size() * kIndexCostPerByte));
    V2Document document;
    document.outputs.non_finite = *non_finite;
    if (ReadGenerateFast(json, limits, request->model()->config(), buffers, &document)) {
      *non_finite = document.outputs.non_finite;
      return FillRequest(std::move(document), request);
    }
    RETURN_IF_ERROR(buffers->refusal());
  }
  buffers->Clear();
  return ReadGenerateCarefully(json, limits, request, buffers, non_finite);
}

}  // namespace nereid
