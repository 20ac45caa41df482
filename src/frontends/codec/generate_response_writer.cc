// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/generate_response_writer.h"

#include <absl/container/inlined_vector.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/string_view.h>

#include <algorithm>
#include <string>
#include <variant>

#include "base/json_writer.h"
#include "base/status_macros.h"
#include "frontends/codec/json_parameter.h"
#include "frontends/codec/json_tensor_writer.h"

namespace nereid {
namespace {

// One member of the object: a text, a parameter or a tensor.
struct Member {
  absl::string_view key;
  std::variant<absl::string_view, const ParameterValue*, const ResponseOutput*> value;
};
using Members = absl::InlinedVector<Member, 8>;

absl::Status WriteOutput(const ResponseOutput& output, NonFinite non_finite, JsonWriter* json,
                         std::string* out) {
  json->Raw("");  // only the separator: the value is appended to `out` directly
  const size_t start = out->size();
  const OutputBuffer& buffer = output.buffer();
  RETURN_IF_ERROR(AppendJsonOutput(
      output.name(), output.data_type(), output.shape(),
      absl::string_view(static_cast<const char*>(buffer.base), buffer.byte_size), non_finite, out));
  if (ElementCount(output.shape()) != 1) return absl::OkStatus();
  out->pop_back();
  out->erase(start, 1);
  return absl::OkStatus();
}

// Sorts by key. If a key occurs several times, keeps only the first.
void Sort(Members* members) {
  const auto by_key = [](const Member& a, const Member& b) { return a.key < b.key; };
  std::stable_sort(members->begin(), members->end(), by_key);
  const auto same_key = [](const Member& a, const Member& b) { return a.key == b.key; };
  members->erase(std::unique(members->begin(), members->end(), same_key), members->end());
}

}  // namespace

size_t EstimateGenerateSize(const InferResponse& response) {
  size_t size =
      96 + response.id().size() + response.model_name().size() + 64 * response.parameters().size();
  for (const ResponseOutput& output : response.outputs()) {
    size += 8 + output.name().size() +
            EstimateJsonTensorSize(output.data_type(), output.buffer().byte_size);
  }
  return size;
}

absl::Status AppendGenerateResponse(const InferResponse& response, NonFinite non_finite,
                                    std::string* out) {
  const std::string version = absl::StrCat(response.model_version());
  Members members;
  if (!response.id().empty()) members.push_back({"id", absl::string_view(response.id())});
  members.push_back({"model_name", absl::string_view(response.model_name())});
  members.push_back({"model_version", absl::string_view(version)});
  for (const Parameter& parameter : response.parameters()) {
    members.push_back({parameter.name, &parameter.value});
  }
  for (const ResponseOutput& output : response.outputs()) {
    members.push_back({output.name(), &output});
  }
  Sort(&members);
  JsonWriter json(out);
  json.BeginObject();
  for (const Member& member : members) {
    if (const auto* parameter = std::get_if<const ParameterValue*>(&member.value)) {
      RETURN_IF_ERROR(WriteJsonParameter(member.key, **parameter, non_finite, &json));
      continue;
    }
    json.Key(member.key);
    if (const auto* text = std::get_if<absl::string_view>(&member.value)) {
      json.String(*text);
    } else {
      RETURN_IF_ERROR(
          WriteOutput(*std::get<const ResponseOutput*>(member.value), non_finite, &json, out));
    }
  }
  json.EndObject();
  return absl::OkStatus();
}

}  // namespace nereid
