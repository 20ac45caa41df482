// SPDX-License-Identifier: Apache-2.0
#include "config/tfs_spec.h"

#include <absl/algorithm/container.h>
#include <absl/status/statusor.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>
#include <absl/strings/string_view.h>
#include <absl/strings/strip.h>

#include <utility>

#include "base/status_macros.h"
#include "config/compiled_model.h"

namespace nereid {
namespace {

constexpr absl::string_view kPrefix = "tfs.";
constexpr absl::string_view kSignature = "tfs.signature.";
constexpr char kVersionLabels[] = "tfs.version_labels";
constexpr absl::string_view kArrow = "->";

absl::Status Wrong(absl::string_view parameter, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("the parameter '", parameter, "' ", what));
}

// `KEY=NAME` or `NAME`, which is its own key: a name may hold an '=', but a key may not.
template <typename Spec>
absl::StatusOr<TfsTensor> ReadTensor(absl::string_view parameter, absl::string_view text,
                                     const char* kind, const std::vector<Spec>& specs) {
  const auto find = [&](absl::string_view name) {
    return absl::c_find_if(specs, [name](const Spec& spec) { return spec.name == name; });
  };
  absl::string_view key = text;
  absl::string_view name = text;
  if (find(name) == specs.end() && absl::StrContains(text, '=')) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(text, absl::MaxSplits('=', 1));
    key = absl::StripAsciiWhitespace(parts.first);
    name = absl::StripAsciiWhitespace(parts.second);
  }
  const auto spec = find(name);
  if (key.empty() || spec == specs.end()) {
    const std::string known = absl::StrJoin(
        specs, ", ", [](std::string* out, const Spec& one) { absl::StrAppend(out, one.name); });
    return Wrong(parameter, absl::StrCat("names '", text, "' as an ", kind,
                                         ": write NAME or KEY=NAME, where NAME is an ", kind,
                                         " of the model: ", known));
  }
  return TfsTensor{std::string(key), static_cast<size_t>(spec - specs.begin())};
}

// All tensors if `list` is empty.
template <typename Spec>
absl::Status ReadTensors(absl::string_view parameter, absl::string_view list, const char* kind,
                         const std::vector<Spec>& specs, std::vector<TfsTensor>* tensors) {
  if (list.empty()) {
    for (size_t i = 0; i < specs.size(); ++i) tensors->push_back({specs[i].name, i});
    return absl::OkStatus();
  }
  for (const absl::string_view text : absl::StrSplit(list, ',')) {
    ASSIGN_OR_RETURN(TfsTensor tensor,
                     ReadTensor(parameter, absl::StripAsciiWhitespace(text), kind, specs));
    for (const TfsTensor& other : *tensors) {
      if (other.key != tensor.key && other.index != tensor.index) continue;
      return Wrong(parameter, absl::StrCat("names the ", kind, " '", tensor.key,
                                           "' twice: a key and a tensor may occur once"));
    }
    tensors->push_back(std::move(tensor));
  }
  return absl::OkStatus();
}

bool IsFloat(DataType type) { return type == DataType::kFp32 || type == DataType::kFp64; }

// A tensor has one class or score for each class of a row, or one value for each row.
absl::Status CheckOutputs(absl::string_view parameter, const CompiledModel& model,
                          const TfsSignature& signature) {
  if (signature.method == TfsMethod::kPredict) return absl::OkStatus();
  if (signature.method == TfsMethod::kRegress) {
    if (signature.outputs.size() == 1 &&
        IsFloat(model.outputs[signature.outputs.front().index].data_type)) {
      return absl::OkStatus();
    }
    return Wrong(parameter, "regresses, so it needs exactly one output, of FP32 or FP64");
  }
  for (const TfsTensor& output : signature.outputs) {
    const DataType type = model.outputs[output.index].data_type;
    if (output.key == kTfsScores ? IsFloat(type)
                                 : output.key == kTfsClasses && type == DataType::kBytes) {
      continue;
    }
    return Wrong(
        parameter,
        absl::StrCat("classifies, so its outputs are '", kTfsScores, "', of FP32 or FP64, and '",
                     kTfsClasses, "', of BYTES, or one of them; '", output.key, "' is neither"));
  }
  return absl::OkStatus();
}

// `METHOD` or `METHOD INPUTS -> OUTPUTS`.
absl::StatusOr<TfsSignature> ReadSignature(absl::string_view parameter, absl::string_view text,
                                           const CompiledModel& model) {
  text = absl::StripAsciiWhitespace(text);
  const absl::string_view method = text.substr(0, text.find_first_of(" \t\n"));
  const absl::string_view tensors = absl::StripAsciiWhitespace(text.substr(method.size()));
  TfsSignature signature;
  if (method == "classify") {
    signature.method = TfsMethod::kClassify;
  } else if (method == "regress") {
    signature.method = TfsMethod::kRegress;
  } else if (method != "predict") {
    return Wrong(parameter, absl::StrCat("begins with '", method,
                                         "', which is no method: predict, classify or regress"));
  }
  absl::string_view inputs;
  absl::string_view outputs;
  if (!tensors.empty()) {
    const size_t arrow = tensors.find(kArrow);
    inputs = absl::StripAsciiWhitespace(tensors.substr(0, arrow));
    if (arrow != absl::string_view::npos) {
      outputs = absl::StripAsciiWhitespace(tensors.substr(arrow + kArrow.size()));
    }
    if (inputs.empty() || outputs.empty()) {
      return Wrong(parameter, absl::StrCat("has '", tensors,
                                           "' behind the method: write INPUTS -> OUTPUTS, or "
                                           "nothing for all tensors of the model"));
    }
  }
  RETURN_IF_ERROR(ReadTensors(parameter, inputs, "input", model.inputs, &signature.inputs));
  RETURN_IF_ERROR(ReadTensors(parameter, outputs, "output", model.outputs, &signature.outputs));
  RETURN_IF_ERROR(CheckOutputs(parameter, model, signature));
  return signature;
}

// `LABEL=VERSION, ...`.
absl::Status ReadLabels(absl::string_view text, std::map<std::string, int64_t>* labels) {
  for (const absl::string_view item : absl::StrSplit(text, ',')) {
    const size_t equals = item.rfind('=');
    const absl::string_view label = absl::StripAsciiWhitespace(item.substr(0, equals));
    int64_t version = 0;
    if (equals == absl::string_view::npos || label.empty() ||
        !absl::SimpleAtoi(item.substr(equals + 1), &version) || version < 1) {
      return Wrong(kVersionLabels, absl::StrCat("has the item '", absl::StripAsciiWhitespace(item),
                                                "': write LABEL=VERSION, with a version from 1"));
    }
    if (!labels->emplace(label, version).second) {
      return Wrong(kVersionLabels, absl::StrCat("has the label '", label,
                                                "' twice: a label stands for one version"));
    }
  }
  return absl::OkStatus();
}

absl::Status ReadParameter(absl::string_view name, absl::string_view value,
                           const CompiledModel& model, TfsSpec* spec) {
  if (name == kVersionLabels) return ReadLabels(value, &spec->version_labels);
  absl::string_view signature = name;
  if (absl::ConsumePrefix(&signature, kSignature) && !signature.empty()) {
    ASSIGN_OR_RETURN(spec->signatures[std::string(signature)], ReadSignature(name, value, model));
    return absl::OkStatus();
  }
  return Wrong(name, absl::StrCat("is not known: parameters that begin with ", kPrefix, " are ",
                                  kSignature, "NAME and ", kVersionLabels));
}

}  // namespace

absl::Status ReadTfsParameters(CompiledModel* model, std::string* wrong) {
  TfsSpec spec;
  for (const auto& [name, value] : model->parameters) {
    if (!absl::StartsWith(name, kPrefix)) continue;
    const absl::Status read = ReadParameter(name, value, *model, &spec);
    if (read.ok()) continue;
    if (wrong != nullptr) *wrong = name;
    return read;
  }
  TfsSignature& fallback = spec.signatures[kTfsDefaultSignature];
  if (fallback.inputs.empty() && fallback.outputs.empty()) {
    ASSIGN_OR_RETURN(fallback, ReadSignature(kTfsDefaultSignature, "predict", *model));
  }
  model->tfs = std::move(spec);
  return absl::OkStatus();
}

}  // namespace nereid
