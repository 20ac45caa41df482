// SPDX-License-Identifier: Apache-2.0
#include "backends/python/model.h"

#include <algorithm>
#include <filesystem>

#include "backends/python/options.h"
#include "backends/sdk/entry.h"
#include "backends/sdk/log.h"
#include "backends/sdk/options.h"

namespace nereid_backend {
namespace {

namespace fs = std::filesystem;
using nereid_python::ValueWriter;

}  // namespace

Result<std::unique_ptr<PythonModel>> PythonModel::Create(TRITONBACKEND_Model* handle) {
  NB_ASSIGN_OR_RETURN(const PythonBackend* backend, BackendStateOf<PythonBackend>(handle));
  NB_ASSIGN_OR_RETURN(ModelConfig config, ReadModelConfig(handle));
  std::unique_ptr<PythonModel> model(new PythonModel(backend->environments, std::move(config)));
  NB_RETURN_IF_ERROR(TRITONBACKEND_ModelServer(handle, &model->server_));
  NB_RETURN_IF_ERROR(model->FindFile());
  NB_RETURN_IF_ERROR(ReadParameters(kPythonOptions, model->config_).TakeError());
  NB_ASSIGN_OR_RETURN(model->launch_,
                      model->environments_.Prepare(model->config_, model->ThreadShare()));
  NB_LOG_INFO("model '", model->config_.name, "' version ", model->config_.version, ": ",
              model->launch_.description);
  model->fork_server_ = backend->fork_servers.For(
      model->launch_, model->settings().runtime_directory + "/runtime/worker_main.py");
  if (model->config_.auto_complete) NB_RETURN_IF_ERROR(model->AutoComplete(handle));
  model->outputs_ = std::make_unique<OutputCheck>(model->config_);
  const Json& completed = model->config_.json;
  model->executes_one_by_one_ =
      !completed.Has("dynamic_batching") && !completed.Has("sequence_batching");
  return model;
}

Error PythonModel::FindFile() {
  const fs::path folder(config_.directory);
  version_folder_ = (folder / std::to_string(config_.version)).string();
  const std::string& common = settings().model_file;
  if (!common.empty()) {
    model_file_ = common;
    module_ = "model";
    module_root_ = fs::path(common).parent_path().string();
    python_path_ = {module_root_};
  } else {
    const std::string name =
        config_.default_model_filename.empty() ? "model.py" : config_.default_model_filename;
    if (name.size() < 4 || name.substr(name.size() - 3) != ".py") {
      return Error::InvalidArg(
          StrCat("Model name must end with '.py'. Model name is \"", name, "\"."));
    }
    model_file_ = (fs::path(version_folder_) / name).string();
    module_ = StrCat(config_.version, ".", name.substr(0, name.size() - 3));
    module_root_ = config_.directory;
    python_path_ = {version_folder_, config_.directory};
  }
  std::error_code ignored;
  if (fs::is_regular_file(model_file_, ignored)) return Error();
  return Error(TRITONSERVER_ERROR_UNAVAILABLE,
               StrCat("Python model file not found in '", model_file_, "'"));
}

int PythonModel::ThreadShare() const {
  return std::max(1, settings().budget.threads / config_.InstanceCount());
}

PythonProcess::Spec PythonModel::ProcessSpec() const {
  PythonProcess::Spec spec;
  spec.starter = fork_server_;
  spec.threads = launch_.threads;
  spec.model = config_.name;
  spec.start_limit_ns =
      static_cast<uint64_t>(settings().initialize_timeout_seconds) * BackOff::kSecond;
  spec.last_lines = static_cast<size_t>(settings().stderr_lines);
  spec.server = server_;
  return spec;
}

void PythonModel::WritePlaces(ValueWriter* writer) const {
  writer->Text("model_file");
  writer->Text(model_file_);
  writer->Text("python_path");
  writer->List(python_path_.size());
  for (const std::string& folder : python_path_) writer->Text(folder);
  writer->Text("module");
  writer->Text(module_);
  writer->Text("module_root");
  writer->Text(module_root_);
  writer->Text("model_dir");
  writer->Text(version_folder_);
}

// The process that completes the configuration has imported the model. The first instance takes
// that process over.
Error PythonModel::AutoComplete(TRITONBACKEND_Model* handle) {
  ValueWriter message;
  message.Map(kPlaces + 2);
  WritePlaces(&message);
  message.Text("name");
  message.Text(config_.name);
  message.Text("config");
  message.Text(config_.json.Write());
  NB_ASSIGN_OR_RETURN(spare_, PythonProcess::StartToComplete(ProcessSpec(), std::move(message)));
  // A model without auto_complete_config agrees with what there is, be it without any
  // configuration.
  Result<Json> completed = config_.json;
  if (spare_->completed().has_value()) completed = Json::Parse(*spare_->completed());
  if (!completed.ok()) return Error::Internal("Failed to parse auto-complete JSON.");
  NB_RETURN_IF_ERROR(SetModelConfig(handle, *completed));
  NB_ASSIGN_OR_RETURN(config_, ReadModelConfig(handle));
  return Error();
}

std::unique_ptr<PythonProcess> PythonModel::TakeProcess() const {
  {
    const std::lock_guard lock(mu_);
    if (spare_ != nullptr && spare_->Ready().ok()) return std::move(spare_);
  }
  return PythonProcess::Make(ProcessSpec());
}

Result<ValueWriter> PythonModel::InitializeMessage(TRITONBACKEND_ModelInstance* instance) const {
  const char* name = nullptr;
  TRITONSERVER_InstanceGroupKind kind = TRITONSERVER_INSTANCEGROUPKIND_CPU;
  int32_t device = 0;
  NB_RETURN_IF_ERROR(TRITONBACKEND_ModelInstanceName(instance, &name));
  NB_RETURN_IF_ERROR(TRITONBACKEND_ModelInstanceKind(instance, &kind));
  NB_RETURN_IF_ERROR(TRITONBACKEND_ModelInstanceDeviceId(instance, &device));
  const std::pair<const char*, std::string> arguments[] = {
      {"model_config", config_.json.Write()},
      {"model_instance_kind", TRITONSERVER_InstanceGroupKindString(kind)},
      {"model_instance_name", name},
      {"model_instance_device_id", std::to_string(device)},
      {"model_repository", config_.directory},
      {"model_version", std::to_string(config_.version)},
      {"model_name", config_.name}};
  ValueWriter message;
  message.Map(kPlaces + 3);
  WritePlaces(&message);
  message.Text("name");
  message.Text(name);
  message.Text("decoupled");
  message.Bool(config_.decoupled);
  message.Text("args");
  message.Map(std::size(arguments));
  for (const auto& [key, value] : arguments) {
    message.Text(key);
    message.Text(value);
  }
  return message;
}

}  // namespace nereid_backend
