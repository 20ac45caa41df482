// SPDX-License-Identifier: Apache-2.0
#include "frontends/tfs/tfs_reports.h"

#include <absl/algorithm/container.h>
#include <absl/strings/str_cat.h>

#include "base/json_writer.h"
#include "base/status_macros.h"
#include "frontends/tfs/tfs_request_reader.h"
#include "frontends/tfs/tfs_tensor_reader.h"

namespace nereid {
namespace {

void WriteVersion(const IndexEntry& entry, JsonWriter* w) {
  const absl::string_view error = TfsStateError(entry);
  w->BeginObject();
  w->Add("version", absl::StrCat(entry.version));
  w->Add("state", TfsStateName(entry));
  w->BeginObject("status");
  w->Add("error_code", error.empty() ? "OK" : "UNKNOWN");
  w->Add("error_message", error);
  w->EndObject();
  w->EndObject();
}

template <typename Spec>
Shape ShapeOf(const Spec& spec, const CompiledModel& model) {
  Shape shape;
  if (model.max_batch_size > 0) shape.push_back(kVariableDim);
  const bool element =
      spec.reshape.has_value() && spec.reshape->empty() && IsElementPerRow(model, spec.dims);
  if (!element) shape.insert(shape.end(), spec.dims.begin(), spec.dims.end());
  return shape;
}

void WriteDimension(int64_t size, JsonWriter* w) {
  w->BeginObject();
  w->Add("size", absl::StrCat(size));
  w->Add("name", "");
  w->EndObject();
}

template <typename Spec>
void WriteTensors(const char* member, const std::vector<TfsTensor>& tensors,
                  const std::vector<Spec>& specs, const CompiledModel& model, JsonWriter* w) {
  w->BeginObject(member);
  for (const TfsTensor& tensor : tensors) {
    const Spec& spec = specs[tensor.index];
    w->BeginObject(tensor.key);
    w->Add("dtype", TfsTypeName(spec.data_type));
    w->BeginObject("tensor_shape");
    w->BeginArray("dim");
    for (const int64_t dim : TfsShape(spec, model)) WriteDimension(dim, w);
    w->EndArray();
    w->Add("unknown_rank", false);
    w->EndObject();
    w->Add("name", spec.name);
    w->EndObject();
  }
  w->EndObject();
}

}  // namespace

absl::StatusOr<std::vector<const IndexEntry*>> TfsVersions(const std::vector<IndexEntry>& index,
                                                           absl::string_view model,
                                                           std::optional<int64_t> version) {
  std::vector<const IndexEntry*> entries;
  for (const IndexEntry& entry : index) {
    if (entry.name != model || entry.version < 0) continue;
    if (!version.has_value() || entry.version == *version) entries.push_back(&entry);
  }
  if (entries.empty()) {
    return absl::NotFoundError(
        version.has_value() ? absl::StrCat("Could not find version ", *version, " of model ", model)
                            : absl::StrCat("Could not find any versions of model ", model));
  }
  absl::c_sort(entries,
               [](const IndexEntry* a, const IndexEntry* b) { return a->version > b->version; });
  return entries;
}

const char* TfsStateName(const IndexEntry& entry) {
  if (entry.state == "READY") return "AVAILABLE";
  if (entry.state == "LOADING" || entry.state == "UNLOADING") return entry.state.c_str();
  return entry.state == "UNAVAILABLE" ? "END" : "UNKNOWN";
}

absl::string_view TfsStateError(const IndexEntry& entry) {
  return entry.reason == "unloaded" ? absl::string_view() : entry.reason;
}

const char* TfsTypeName(DataType type) {
  switch (type) {
    case DataType::kBool:
      return "DT_BOOL";
    case DataType::kUint8:
      return "DT_UINT8";
    case DataType::kUint16:
      return "DT_UINT16";
    case DataType::kUint32:
      return "DT_UINT32";
    case DataType::kUint64:
      return "DT_UINT64";
    case DataType::kInt8:
      return "DT_INT8";
    case DataType::kInt16:
      return "DT_INT16";
    case DataType::kInt32:
      return "DT_INT32";
    case DataType::kInt64:
      return "DT_INT64";
    case DataType::kFp16:
      return "DT_HALF";
    case DataType::kFp32:
      return "DT_FLOAT";
    case DataType::kFp64:
      return "DT_DOUBLE";
    case DataType::kBytes:
      return "DT_STRING";
    case DataType::kBf16:
      return "DT_BFLOAT16";
    case DataType::kInvalid:
      break;
  }
  return "DT_INVALID";
}

Shape TfsShape(const InputSpec& spec, const CompiledModel& model) { return ShapeOf(spec, model); }
Shape TfsShape(const OutputSpec& spec, const CompiledModel& model) { return ShapeOf(spec, model); }

absl::StatusOr<std::string> TfsStatusJson(const std::vector<IndexEntry>& index,
                                          absl::string_view model, std::optional<int64_t> version) {
  ASSIGN_OR_RETURN(const std::vector<const IndexEntry*> entries,
                   TfsVersions(index, model, version));
  std::string json;
  JsonWriter w(&json);
  w.BeginObject();
  w.BeginArray("model_version_status");
  for (const IndexEntry* const entry : entries) WriteVersion(*entry, &w);
  w.EndArray();
  w.EndObject();
  return json;
}

std::string TfsMetadataJson(const CompiledModel& model) {
  std::string json;
  JsonWriter w(&json);
  w.BeginObject();
  w.BeginObject("model_spec");
  w.Add("name", model.name);
  w.Add("signature_name", "");
  w.Add("version", absl::StrCat(model.version));
  w.EndObject();
  w.BeginObject("metadata");
  w.BeginObject("signature_def");
  w.BeginObject("signature_def");
  for (const auto& [name, signature] : model.tfs.signatures) {
    w.BeginObject(name);
    WriteTensors("inputs", signature.inputs, model.inputs, model, &w);
    WriteTensors("outputs", signature.outputs, model.outputs, model, &w);
    w.Add("method_name", TfsMethodName(signature.method));
    w.EndObject();
  }
  for (int i = 0; i < 4; ++i) w.EndObject();
  return json;
}

absl::Status TfsNotFound(absl::string_view model, std::optional<int64_t> version) {
  return absl::NotFoundError(
      absl::StrCat("Servable not found for request: ",
                   version.has_value() ? absl::StrCat("Specific(", model, ", ", *version, ")")
                                       : absl::StrCat("Latest(", model, ")")));
}

}  // namespace nereid
