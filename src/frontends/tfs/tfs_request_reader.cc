// SPDX-License-Identifier: Apache-2.0
#include "frontends/tfs/tfs_request_reader.h"

#include <absl/status/statusor.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "frontends/codec/json_access.h"
#include "frontends/codec/json_parse.h"
#include "frontends/codec/parse_cost.h"
#include "frontends/tfs/tfs_fast_reader.h"
#include "frontends/tfs/tfs_tensor_reader.h"

namespace nereid {
namespace {

constexpr char kSignatureName[] = "signature_name";
constexpr char kInstances[] = "instances";
constexpr char kInputs[] = "inputs";
constexpr char kExamples[] = "examples";
constexpr char kContext[] = "context";

using Rows = std::vector<const JsonValue*>;

absl::string_view NameOf(const JsonValue::Member& member) {
  return {member.name.GetString(), member.name.GetStringLength()};
}

absl::Status Of(absl::string_view where, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(where, " ", status.message()));
}

// Reads one parsed body.
class Reader {
 public:
  Reader(const RequestLimits& limits, const JsonValue& body, InferRequest* request,
         RequestBuffers* buffers, TfsCall* call)
      : max_bytes_(limits.max_input_size),
        body_(body),
        model_(request->model()->config()),
        request_(request),
        buffers_(buffers),
        call_(call) {}

  absl::Status Read() {
    if (!body_.IsObject()) {
      return absl::InvalidArgumentError("the body of the request must be a JSON object");
    }
    RETURN_IF_ERROR(FindSignature());
    return call_->method == TfsMethod::kPredict ? ReadPredict() : ReadExamples();
  }

 private:
  absl::Status FindSignature() {
    const JsonValue* const given = FindMember(body_, kSignatureName);
    if (given == nullptr) return FindTfsSignature("", model_, call_);
    if (given->IsString()) {
      return FindTfsSignature({given->GetString(), given->GetStringLength()}, model_, call_);
    }
    return absl::InvalidArgumentError("'signature_name' must be a string");
  }

  absl::Status ReadPredict() {
    const JsonValue* const instances = FindMember(body_, kInstances);
    const JsonValue* const inputs = FindMember(body_, kInputs);
    if ((instances == nullptr) == (inputs == nullptr)) {
      return absl::InvalidArgumentError(
          instances == nullptr
              ? "Missing 'inputs' or 'instances' key"
              : "the request has both 'inputs' and 'instances': exactly one is allowed");
    }
    call_->rows = instances != nullptr;
    return call_->rows ? ReadInstances(*instances) : ReadColumns(*inputs);
  }

  // A list with the value of each row, or with an object of values.
  absl::Status ReadInstances(const JsonValue& instances) {
    if (!instances.IsArray() || instances.Empty()) {
      return absl::InvalidArgumentError("'instances' must be a list with at least one element");
    }
    if (!instances[0].IsObject() || IsBase64Object(instances[0])) {
      ASSIGN_OR_RETURN(const TfsTensor* const only, OnlyInput(kInstances));
      return AddRows(*only, instances, /*features=*/false);
    }
    return ReadObjects(instances, kInstances, nullptr);
  }

  // An object with a value for each input of the signature, for each row. What `context` has, which
  // may be null, holds for all rows.
  absl::Status ReadObjects(const JsonValue& rows, const char* list, const JsonValue* context) {
    if (context != nullptr) RETURN_IF_ERROR(Of("'context'", CheckKeys(*context)));
    for (rapidjson::SizeType i = 0; i < rows.Size(); ++i) {
      const absl::Status checked = CheckKeys(rows[i]);
      if (!checked.ok()) return Of(absl::StrCat("element ", i, " of '", list, "'"), checked);
    }
    for (const TfsTensor& input : call_->signature->inputs) {
      RETURN_IF_ERROR(ReadMembers(input, rows, list, context));
    }
    return absl::OkStatus();
  }

  absl::Status ReadMembers(const TfsTensor& input, const JsonValue& list, const char* name,
                           const JsonValue* context) {
    const JsonValue* const common =
        context == nullptr ? nullptr : FindMember(*context, input.key.c_str());
    Rows rows;
    rows.reserve(list.Size());
    for (const JsonValue& row : list.GetArray()) {
      const JsonValue* const own = FindMember(row, input.key.c_str());
      if (own != nullptr && common != nullptr) {
        return absl::InvalidArgumentError(absl::StrCat("the feature '", input.key,
                                                       "' is in 'context' and in an element of '",
                                                       name, "': it may be in one of them"));
      }
      const JsonValue* const value = own == nullptr ? common : own;
      if (value != nullptr) rows.push_back(value);
    }
    if (rows.empty() && spec(input).optional) return absl::OkStatus();
    if (rows.size() < list.Size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("an element of '", name, "' does not have named input: ", input.key));
    }
    const bool features = call_->method != TfsMethod::kPredict;
    return Add({input.key, rows, /*scalar=*/false, features}, input);
  }

  // A tensor, or an object of tensors.
  absl::Status ReadColumns(const JsonValue& inputs) {
    if (!inputs.IsObject() || IsBase64Object(inputs)) {
      ASSIGN_OR_RETURN(const TfsTensor* const only, OnlyInput(kInputs));
      return AddColumn(*only, inputs);
    }
    RETURN_IF_ERROR(Of("'inputs'", CheckKeys(inputs)));
    for (const TfsTensor& input : call_->signature->inputs) {
      if (const JsonValue* const value = FindMember(inputs, input.key.c_str())) {
        RETURN_IF_ERROR(AddColumn(input, *value));
      } else if (!spec(input).optional) {
        return absl::InvalidArgumentError(
            absl::StrCat("'inputs' does not have named input: ", input.key));
      }
    }
    return absl::OkStatus();
  }

  absl::Status ReadExamples() {
    const JsonValue* const examples = FindMember(body_, kExamples);
    if (examples == nullptr || !examples->IsArray() || examples->Empty()) {
      return absl::InvalidArgumentError(
          "the request needs 'examples', a list with at least one object");
    }
    return ReadObjects(*examples, kExamples, FindMember(body_, kContext));
  }

  absl::StatusOr<const TfsTensor*> OnlyInput(const char* where) const {
    const std::vector<TfsTensor>& inputs = call_->signature->inputs;
    if (inputs.size() == 1) return &inputs.front();
    return absl::InvalidArgumentError(
        absl::StrCat("'", where, "' must name the inputs, because the signature has ",
                     inputs.size(), ": ", Keys()));
  }

  // INVALID_ARGUMENT, without saying where, for anything but an object of some of the inputs.
  absl::Status CheckKeys(const JsonValue& object) const {
    if (!object.IsObject()) {
      return absl::InvalidArgumentError(absl::StrCat("must be an object with the inputs ", Keys()));
    }
    if (object.MemberCount() > call_->signature->inputs.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("has ", object.MemberCount(), " members: those allowed are ", Keys()));
    }
    for (const auto& member : object.GetObject()) {
      if (FindInput(NameOf(member)) != nullptr) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("has the member '", NameOf(member).substr(0, kMaxNameBytes),
                       "', which is no input of the signature: ", Keys()));
    }
    return absl::OkStatus();
  }

  const TfsTensor* FindInput(absl::string_view key) const {
    for (const TfsTensor& input : call_->signature->inputs) {
      if (input.key == key) return &input;
    }
    return nullptr;
  }

  absl::Status AddColumn(const TfsTensor& input, const JsonValue& value) {
    if (value.IsArray()) return AddRows(input, value, /*features=*/false);
    const JsonValue* const only = &value;
    return Add({input.key, absl::MakeConstSpan(&only, 1), /*scalar=*/true}, input);
  }

  absl::Status AddRows(const TfsTensor& input, const JsonValue& list, bool features) {
    Rows rows;
    rows.reserve(list.Size());
    for (const JsonValue& row : list.GetArray()) rows.push_back(&row);
    return Add({input.key, rows, /*scalar=*/false, features}, input);
  }

  absl::Status Add(const TfsValues& values, const TfsTensor& input) {
    return AddTfsInput(values, spec(input), max_bytes_, request_, buffers_);
  }

  const InputSpec& spec(const TfsTensor& input) const { return model_.inputs[input.index]; }
  std::string Keys() const { return TfsKeys(call_->signature->inputs); }

  const uint64_t max_bytes_;  // of one tensor
  const JsonValue& body_;
  const CompiledModel& model_;
  InferRequest* const request_;
  RequestBuffers* const buffers_;
  TfsCall* const call_;
};

// False if the careful reader has to read the body.
absl::StatusOr<bool> TryFast(absl::string_view json, const RequestLimits& limits,
                             InferRequest* request, RequestBuffers* buffers, TfsCall* call) {
  if (call->method != TfsMethod::kPredict) return false;
  ASSIGN_OR_RETURN(const BudgetUnits indexes,
                   buffers->parse_budget().Take(json.size(), json.size() * kIndexCostPerByte));
  const CompiledModel& model = request->model()->config();
  TfsFastTensor tensor;
  if (!ReadTfsFast(json, limits, model, buffers, call, &tensor)) {
    RETURN_IF_ERROR(buffers->refusal());
    return false;
  }
  const InputSpec& spec = model.inputs[call->signature->inputs.front().index];
  RETURN_IF_ERROR(AddTfsTensor(spec, /*features=*/false, std::move(tensor.shape), tensor.bytes,
                               tensor.size, request));
  return true;
}

}  // namespace

std::string TfsKeys(absl::Span<const TfsTensor> tensors) {
  return absl::StrJoin(tensors, ", ", [](std::string* out, const TfsTensor& tensor) {
    absl::StrAppend(out, "'", tensor.key, "'");
  });
}

absl::Status FindTfsSignature(absl::string_view name, const CompiledModel& model, TfsCall* call) {
  RETURN_IF_ERROR(CheckLength("name of the signature", name));
  if (name.empty()) name = kTfsDefaultSignature;
  const auto found = model.tfs.signatures.find(std::string(name));
  if (found == model.tfs.signatures.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("Serving signature name: \"", name, "\" not found in signature def"));
  }
  call->signature = &found->second;
  // Any signature can be used for predictions.
  if (call->method == TfsMethod::kPredict || call->method == found->second.method) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "the signature '", name, "' has the method ", TfsMethodName(found->second.method),
      ", but this request needs one with ", TfsMethodName(call->method)));
}

const char* TfsMethodName(TfsMethod method) {
  switch (method) {
    case TfsMethod::kPredict:
      return "tensorflow/serving/predict";
    case TfsMethod::kClassify:
      return "tensorflow/serving/classify";
    case TfsMethod::kRegress:
      return "tensorflow/serving/regress";
  }
  return "";
}

absl::Status ReadTfsCarefully(absl::string_view json, const RequestLimits& limits,
                              InferRequest* request, RequestBuffers* buffers, TfsCall* call) {
  JsonTree tree;
  RETURN_IF_ERROR(ParseJson(json, limits.max_json_depth, buffers->parse_budget(), &tree));
  return Reader(limits, tree, request, buffers, call).Read();
}

absl::Status ReadTfsRequest(absl::string_view json, const RequestLimits& limits,
                            InferRequest* request, RequestBuffers* buffers, TfsCall* call) {
  const CompiledModel& model = request->model()->config();
  ASSIGN_OR_RETURN(const bool fast, TryFast(json, limits, request, buffers, call));
  if (!fast) {
    buffers->Clear();
    call->signature = nullptr;
    RETURN_IF_ERROR(ReadTfsCarefully(json, limits, request, buffers, call));
  }
  for (const TfsTensor& output : call->signature->outputs) {
    RETURN_IF_ERROR(request->AddRequestedOutput(model.outputs[output.index].name));
  }
  return absl::OkStatus();
}

}  // namespace nereid
