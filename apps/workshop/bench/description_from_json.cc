// SPDX-License-Identifier: Apache-2.0
// The answers of HTTP.
#include <absl/strings/str_cat.h>

#include "base/status_macros.h"
#include "bench/model_description.h"
#include "frontends/codec/json_access.h"
#include "frontends/codec/json_parse.h"

namespace nereid::bench {
namespace {

constexpr int kMostDepth = 100;
constexpr uint64_t kMostDescriptionBytes = 64 << 20;

absl::Status Parse(absl::string_view json, absl::string_view what, JsonTree* tree) {
  const ParseBudget budget = ParseBudget::UpTo(kMostDescriptionBytes);
  if (ParseJson(json, kMostDepth, budget, tree).ok() && tree->IsObject()) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat("the server's answer about ", what, " is not a JSON object"));
}

// Calls `visit` for each object of a list; nothing if there is no such list.
template <typename Visit>
void ForEachObject(const JsonValue& object, const char* list, const Visit& visit) {
  const JsonValue* const found = FindMember(object, list);
  if (found == nullptr || !found->IsArray()) return;
  for (const JsonValue& item : found->GetArray()) {
    if (item.IsObject()) visit(item);
  }
}

std::string Text(const JsonValue& object, const char* name) {
  const JsonValue* const found = FindMember(object, name);
  return found != nullptr && found->IsString()
             ? std::string(found->GetString(), found->GetStringLength())
             : "";
}

uint64_t Count(const JsonValue& object, const char* name) {
  const JsonValue* const found = FindMember(object, name);
  return found != nullptr && found->IsUint64() ? found->GetUint64() : 0;
}

bool Yes(const JsonValue& object, const char* name) {
  const JsonValue* const found = FindMember(object, name);
  return found != nullptr && found->IsBool() && found->GetBool();
}

TensorDescription Tensor(const JsonValue& object) {
  TensorDescription tensor{Text(object, "name"), ParseDataType(Text(object, "datatype")), {}};
  const JsonValue* const shape = FindMember(object, "shape");
  if (shape == nullptr || !shape->IsArray()) return tensor;
  for (const JsonValue& dim : shape->GetArray()) {
    tensor.shape.push_back(dim.IsInt64() ? dim.GetInt64() : -1);
  }
  return tensor;
}

ModelCounts::Duration DurationOf(const JsonValue& statistics, const char* name) {
  const JsonValue* const found = FindMember(statistics, name);
  if (found == nullptr) return {};
  return {Count(*found, "count"), Count(*found, "ns")};
}

}  // namespace

absl::StatusOr<ModelDescription> MetadataFromJson(absl::string_view json) {
  JsonTree tree;
  RETURN_IF_ERROR(Parse(json, "the model", &tree));
  ModelDescription model;
  model.name = Text(tree, "name");
  ForEachObject(tree, "inputs", [&](const JsonValue& o) { model.inputs.push_back(Tensor(o)); });
  ForEachObject(tree, "outputs", [&](const JsonValue& o) { model.outputs.push_back(Tensor(o)); });
  return model;
}

absl::Status AddConfigFromJson(absl::string_view json, ModelDescription* model) {
  JsonTree tree;
  RETURN_IF_ERROR(Parse(json, "the model's configuration", &tree));
  model->max_batch_size = static_cast<int64_t>(Count(tree, "max_batch_size"));
  const JsonValue* const policy = FindMember(tree, "model_transaction_policy");
  model->decoupled = policy != nullptr && Yes(*policy, "decoupled");
  ForEachObject(tree, "input", [&](const JsonValue& input) {
    for (TensorDescription& tensor : model->inputs) {
      if (tensor.name == Text(input, "name")) tensor.optional = Yes(input, "optional");
    }
  });
  return absl::OkStatus();
}

absl::StatusOr<ModelCounts> CountsFromJson(absl::string_view json) {
  JsonTree tree;
  RETURN_IF_ERROR(Parse(json, "statistics", &tree));
  ModelCounts counts;
  ForEachObject(tree, "model_stats", [&](const JsonValue& model) {
    counts.inferences += Count(model, "inference_count");
    counts.executions += Count(model, "execution_count");
    const JsonValue* const times = FindMember(model, "inference_stats");
    if (times == nullptr) return;
    const auto add = [&](const char* name, ModelCounts::Duration* to) {
      const ModelCounts::Duration of_version = DurationOf(*times, name);
      to->count += of_version.count;
      to->nanoseconds += of_version.nanoseconds;
    };
    add("success", &counts.success);
    add("queue", &counts.queue);
    add("compute_input", &counts.compute_input);
    add("compute_infer", &counts.compute_infer);
    add("compute_output", &counts.compute_output);
  });
  return counts;
}

}  // namespace nereid::bench
