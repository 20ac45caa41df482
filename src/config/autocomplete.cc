// SPDX-License-Identifier: Apache-2.0
#include "config/autocomplete.h"

#include <absl/algorithm/container.h>
#include <absl/strings/str_cat.h>
#include <absl/types/span.h>

#include <vector>

#include "base/status_macros.h"

namespace nereid {
namespace {

// A file (or directory) that identifies a backend, and the corresponding platform.
struct Artifact {
  enum Kind { kFile, kDirectory, kEither };
  absl::string_view filename;
  Kind kind;
  absl::string_view platform;  // empty: the backend has no platforms
};

struct BackendRule {
  absl::string_view backend;
  // Whether a configuration that names the backend but neither platform nor file gets those of the
  // first artifact even if that does not exist.
  bool has_default;
  std::vector<Artifact> artifacts;  // in order of preference
};

// Ordered by the priority of the backends.
const std::vector<BackendRule>& Rules() {
  static const auto* const kRules = new std::vector<BackendRule>{
      {"tensorflow",
       false,
       {{"model.savedmodel", Artifact::kDirectory, "tensorflow_savedmodel"},
        {"model.graphdef", Artifact::kFile, "tensorflow_graphdef"}}},
      {"tensorrt", true, {{"model.plan", Artifact::kFile, "tensorrt_plan"}}},
      {"onnxruntime", true, {{"model.onnx", Artifact::kEither, "onnxruntime_onnx"}}},
      {"generative", true, {{"openvino_model.xml", Artifact::kFile, ""}}},
      // OpenVINO also reads the files of other backends, if a configuration names OpenVINO or no
      // other backend matches.
      {"openvino",
       true,
       {{"model.xml", Artifact::kEither, ""},
        {"model.onnx", Artifact::kEither, ""},
        {"model.tflite", Artifact::kFile, ""},
        {"model.savedmodel", Artifact::kDirectory, ""}}},
      {"pytorch",
       true,
       {{"model.pt", Artifact::kFile, "pytorch_libtorch"},
        {"model.pt", Artifact::kFile, "libtorch"},
        {"model.pt2", Artifact::kFile, "torch_aoti"}}},
      {"python", true, {{"model.py", Artifact::kEither, ""}}},
      {"fil",
       false,
       {{"xgboost.json", Artifact::kFile, ""},
        {"xgboost.ubj", Artifact::kFile, ""},
        {"model.txt", Artifact::kFile, ""},
        {"checkpoint.tl", Artifact::kFile, ""}}},
  };
  return *kRules;
}

bool IsPresent(const Artifact& artifact, absl::Span<const DirEntry> files) {
  return absl::c_any_of(files, [&](const DirEntry& entry) {
    return entry.name == artifact.filename &&
           (artifact.kind == Artifact::kEither ||
            entry.is_directory == (artifact.kind == Artifact::kDirectory));
  });
}

// The artifact named by the configuration, otherwise the one found among the files; null if neither
// matches this rule.
const Artifact* FindArtifact(const BackendRule& rule, absl::Span<const DirEntry> files,
                             const inference::ModelConfig& config) {
  for (const Artifact& artifact : rule.artifacts) {
    if (!config.platform().empty()) {
      if (artifact.platform == config.platform()) return &artifact;
    } else if (!config.default_model_filename().empty()) {
      if (artifact.filename == config.default_model_filename()) return &artifact;
    } else if (IsPresent(artifact, files)) {
      return &artifact;
    }
  }
  // An unknown platform does not prevent the file name from determining the backend.
  if (config.backend().empty() && !config.default_model_filename().empty()) {
    for (const Artifact& artifact : rule.artifacts) {
      if (artifact.filename == config.default_model_filename()) return &artifact;
    }
  }
  return nullptr;
}

// True if the rule applies and the fields are filled.
bool Apply(const BackendRule& rule, absl::Span<const DirEntry> files,
           inference::ModelConfig* config) {
  if (!config->backend().empty() && config->backend() != rule.backend) return false;
  const Artifact* artifact = FindArtifact(rule, files, *config);
  if (artifact == nullptr && config->backend().empty()) return false;
  config->set_backend(std::string(rule.backend));
  if (artifact == nullptr && rule.has_default) artifact = &rule.artifacts[0];
  if (artifact == nullptr) return true;
  if (config->platform().empty()) config->set_platform(std::string(artifact->platform));
  if (config->default_model_filename().empty()) {
    config->set_default_model_filename(std::string(artifact->filename));
  }
  return true;
}

// Content of the version directory examined: the first by name, whether or not it will be served.
// Empty if there is none.
absl::StatusOr<std::vector<DirEntry>> VersionFiles(const FileSystem& fs,
                                                   const std::string& model_dir) {
  ASSIGN_OR_RETURN(const std::vector<DirEntry> entries, fs.ListDirectory(model_dir));
  const auto first =
      absl::c_find_if(entries, [](const DirEntry& entry) { return entry.is_directory; });
  if (first == entries.end()) return std::vector<DirEntry>();
  return fs.ListDirectory(JoinPath(model_dir, first->name));
}

}  // namespace

absl::Status AutocompleteBackend(const FileSystem& fs, const std::string& model_dir,
                                 const std::string& model_name, inference::ModelConfig* config) {
  if (config->name().empty()) config->set_name(model_name);
  ASSIGN_OR_RETURN(const std::vector<DirEntry> files, VersionFiles(fs, model_dir));
  for (const BackendRule& rule : Rules()) {
    if (Apply(rule, files, config)) return absl::OkStatus();
  }
  if (!config->backend().empty() || !config->platform().empty() ||
      !config->default_model_filename().empty()) {
    return absl::OkStatus();
  }

  // "anything.mybackend" is a model of the backend "mybackend".
  const size_t dot = config->name().find('.');
  if (dot == std::string::npos) {
    return absl::InvalidArgumentError(absl::StrCat(
        "Invalid model name: Could not determine backend for model '", config->name(),
        "' with no backend in model configuration. Expected model name of the form "
        "'model.<backend_name>'. (backend: set 'backend' in config.pbtxt, or put the model into "
        "a version directory under its usual name, for instance 1/model.onnx)"));
  }
  config->set_backend(config->name().substr(dot + 1));
  config->set_default_model_filename(absl::StrCat("model.", config->backend()));
  return absl::OkStatus();
}

}  // namespace nereid
