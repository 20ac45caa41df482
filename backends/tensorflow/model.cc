// SPDX-License-Identifier: Apache-2.0
#include "backends/tensorflow/model.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "backends/sdk/entry.h"
#include "backends/sdk/graph/autocomplete.h"
#include "backends/sdk/graph/check.h"
#include "backends/sdk/loan.h"
#include "backends/sdk/log.h"
#include "backends/sdk/model_file.h"
#include "backends/tensorflow/signature.h"

namespace nereid_backend {
namespace {

namespace fs = std::filesystem;
using nereid_tensorflow::ModelFormat;

constexpr const char* kSavedModel = "model.savedmodel";
constexpr const char* kGraphDef = "model.graphdef";
constexpr const char* kSavedModelPlatform = "tensorflow_savedmodel";
constexpr const char* kGraphDefPlatform = "tensorflow_graphdef";

// Outputs that the worker has to find among the nodes of a GraphDef.
std::vector<std::string> NamedOutputs(const ModelConfig& config) {
  std::vector<std::string> names;
  for (const TensorConfig& output : config.outputs) names.push_back(output.name);
  for (const StateConfig& state : config.states) {
    if (config.FindOutput(state.output_name) == nullptr) names.push_back(state.output_name);
  }
  return names;
}

}  // namespace

Result<std::unique_ptr<TensorflowModel>> TensorflowModel::Create(TRITONBACKEND_Model* handle) {
  NB_ASSIGN_OR_RETURN(const BackendSettings* settings, BackendStateOf<BackendSettings>(handle));
  NB_ASSIGN_OR_RETURN(ModelConfig config, ReadModelConfig(handle));
  std::unique_ptr<TensorflowModel> model(new TensorflowModel(*settings, std::move(config)));
  NB_ASSIGN_OR_RETURN(model->options_, SessionOptions::FromConfig(model->config_));
  NB_RETURN_IF_ERROR(model->FindFiles());
  NB_RETURN_IF_ERROR(model->LoadInWorker());
  NB_ASSIGN_OR_RETURN(model->signature_,
                      MakeSignature(model->config_, model->format_, model->supervisor_->loaded()));
  if (model->config_.auto_complete) NB_RETURN_IF_ERROR(model->AutoComplete(handle));
  NB_RETURN_IF_ERROR(CheckConfig(model->config_, model->signature_));
  NB_ASSIGN_OR_RETURN(model->bound_, BoundModel::Bind(model->config_, model->signature_));
  const nereid_tensorflow::LoadReply& loaded = model->supervisor_->loaded();
  // With more processors, the calling thread has better things to do than wait for another process.
  // Without a fixed order, there may be loops.
  if (settings->budget.visible_cpus == 1 && loaded.fixed_order) SayExecutesBriefly(handle);
  NB_LOG_INFO("model '", model->config_.name, "' version ", model->config_.version, ": TensorFlow ",
              loaded.runtime_version, "; ",
              loaded.signature.empty() ? "" : StrCat("signature '", loaded.signature, "'; "),
              "threads: ", model->options_.ThreadPlan(settings->budget),
              loaded.fixed_order ? ", in a fixed order" : "");
  return model;
}

Error TensorflowModel::FindFiles() {
  const std::string platform = config_.json["platform"].AsString();
  std::vector<const char*> names;
  if (platform.empty() || platform == kSavedModelPlatform) names.push_back(kSavedModel);
  if (platform.empty() || platform == kGraphDefPlatform) names.push_back(kGraphDef);
  if (names.empty()) {
    return Error::InvalidArg(
        StrCat("platform ", platform, " not supported for TensorFlow model '", config_.name, "'"));
  }
  NB_ASSIGN_OR_RETURN(const fs::path path, FindModelFile(config_, names));
  path_ = path.string();
  std::error_code ignored;
  const bool folder = fs::is_directory(path, ignored);
  const bool saved_model = platform.empty() ? folder : platform == kSavedModelPlatform;
  format_ = saved_model ? ModelFormat::kSavedModel : ModelFormat::kGraphDef;
  if (folder == saved_model) return Error();
  return Error::InvalidArg(
      StrCat("'", path_, "' of model '", config_.name, "' is a ",
             saved_model ? "file; a SavedModel is a folder" : "folder; a GraphDef is a file"));
}

// Reads {"init_ops": ["name", ...]} from a file in the folder of the version or of the model.
Result<std::vector<std::string>> TensorflowModel::ReadInitOps() const {
  std::vector<std::string> names;
  if (options_.init_ops_file.empty()) return names;
  const fs::path model(config_.directory);
  std::ifstream file(model / std::to_string(config_.version) / options_.init_ops_file);
  if (!file.is_open()) file.open(model / options_.init_ops_file);
  std::ostringstream text;
  const std::string what =
      StrCat("the file '", options_.init_ops_file,
             "', which the parameter TF_INIT_OPS_FILE of model '", config_.name, "' names,");
  if (!file.is_open() || !(text << file.rdbuf())) {
    return Error::NotFound(StrCat(what, " can not be read"));
  }
  const Result<Json> json = Json::Parse(text.str());
  if (!json.ok() || !(*json)["init_ops"].is_array()) {
    return Error::InvalidArg(StrCat(what, " has to be an object with an array \"init_ops\""));
  }
  for (const Json& name : (*json)["init_ops"].items()) names.push_back(name.AsString());
  return names;
}

Error TensorflowModel::LoadInWorker() {
  Supervisor::Spec spec;
  spec.executable = settings_.worker;
  spec.model = config_.name;
  spec.load_limit_ns = static_cast<uint64_t>(settings_.load_timeout_seconds) * BackOff::kSecond;
  spec.load.format = format_;
  spec.load.path = path_;
  spec.load.tag = options_.graph_tag;
  spec.load.signature = options_.signature;
  spec.load.session_config = options_.ConfigProto(settings_);
  spec.load.one_thread = options_.one_thread();
  spec.load.op_libraries = config_.OperatorLibraries();
  NB_ASSIGN_OR_RETURN(spec.load.init_ops, ReadInitOps());
  if (format_ == ModelFormat::kGraphDef) {
    spec.load.graph_outputs = NamedOutputs(config_);
    if (spec.load.graph_outputs.empty()) {
      return Error::InvalidArg(StrCat("unable to load model '", config_.name,
                                      "': a GraphDef does not say which nodes are outputs; list "
                                      "them in the configuration"));
    }
  }
  Result<std::unique_ptr<Supervisor>> started = Supervisor::Start(std::move(spec));
  if (!started.ok()) {
    return Error(started.error().code(), StrCat("failed to load '", path_, "' of model '",
                                                config_.name, "': ", started.error().message()));
  }
  supervisor_ = std::move(*started);
  return Error();
}

Error TensorflowModel::AutoComplete(TRITONBACKEND_Model* model) {
  NB_ASSIGN_OR_RETURN(const Json completed,
                      AutoCompleteConfig(config_, signature_, settings_.default_max_batch_size));
  NB_RETURN_IF_ERROR(SetModelConfig(model, completed));
  NB_ASSIGN_OR_RETURN(config_, ReadModelConfig(model));
  return Error();
}

}  // namespace nereid_backend
