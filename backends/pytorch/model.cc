// SPDX-License-Identifier: Apache-2.0
#include "backends/pytorch/model.h"

#include <algorithm>
#include <filesystem>

#include "backends/pytorch/block_cache.h"
#include "backends/pytorch/signature.h"
#include "backends/pytorch/torch_error.h"
#include "backends/sdk/entry.h"
#include "backends/sdk/graph/check.h"
#include "backends/sdk/loan.h"
#include "backends/sdk/log.h"
#include "backends/sdk/model_file.h"

namespace nereid_backend {
namespace {

Error FailedToLoad(const ModelConfig& config, const Error& error) {
  return Error(error.code(), StrCat("failed to load model '", config.name, "': ", error.message()));
}

// Appends the place of each of `tensors`, in their order.
template <typename Tensor>
void AppendPlaces(const std::vector<Tensor>& tensors, const std::vector<Named>& named,
                  std::vector<Named>* places) {
  for (const auto& tensor : tensors) {
    places->push_back(*std::find_if(named.begin(), named.end(), [&](const Named& candidate) {
      return candidate.name == tensor.name;
    }));
  }
}

}  // namespace

Result<std::unique_ptr<TorchModel>> TorchModel::Create(TRITONBACKEND_Model* handle) {
  NB_ASSIGN_OR_RETURN(const Environment* environment, BackendStateOf<Environment>(handle));
  NB_ASSIGN_OR_RETURN(ModelConfig config, ReadModelConfig(handle));
  std::unique_ptr<TorchModel> model(new TorchModel(*environment, std::move(config)));
  NB_ASSIGN_OR_RETURN(model->parameters_, Parameters::FromConfig(model->config_));
  NB_ASSIGN_OR_RETURN(model->path_, model->FindFile());
  model->configured_instances_ = model->config_.InstanceCount();
  NB_ASSIGN_OR_RETURN(model->network_, model->Load());
  if (model->config_.auto_complete) NB_RETURN_IF_ERROR(model->Complete(handle));
  NB_RETURN_IF_ERROR(model->Bind());
  const NetworkTraits& traits = model->traits();
  model->shares_network_ =
      model->is_package() || model->parameters_.share_module.value_or(!traits.writes_attributes);
  environment->Apply(model->config_.name, model->parameters_, traits.forks);
  model->LogPlan();
  if (model->RunsOnAnyThread()) SayExecutesBriefly(handle);
  return model;
}

TorchModel::~TorchModel() {
  network_.reset();
  // Blocks of the sizes that this model needed are of no use to other models.
  BlockCache::Instance().Clear();
}

Result<std::string> TorchModel::FindFile() const {
  const char* const names[] = {is_package() ? "model.pt2" : "model.pt"};
  NB_ASSIGN_OR_RETURN(const std::filesystem::path path, FindModelFile(config_, names));
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored) && !is_package()) {
    return Error::InvalidArg(StrCat("failed to load model '", config_.name, "': '", path.string(),
                                    "' is a folder, and has to be a TorchScript file"));
  }
  return path.string();
}

Result<std::unique_ptr<Network>> TorchModel::Load() const {
  std::unique_ptr<Network> network;
  const Error error = TorchTry("", [&]() -> Error {
    Result<std::unique_ptr<Network>> loaded =
        is_package() ? LoadPackage(path_, configured_instances_) : LoadScript(path_, parameters_);
    if (!loaded.ok()) return loaded.TakeError();
    network = std::move(*loaded);
    return Error();
  });
  if (!error.ok()) return FailedToLoad(config_, error);
  return network;
}

Error TorchModel::Complete(TRITONBACKEND_Model* model) {
  if (!config_.inputs.empty() && !config_.outputs.empty()) return Error();
  NB_ASSIGN_OR_RETURN(const Json completed, CompleteConfig(config_, forward()));
  NB_RETURN_IF_ERROR(SetModelConfig(model, completed));
  NB_ASSIGN_OR_RETURN(config_, ReadModelConfig(model));
  return Error();
}

Error TorchModel::Bind() {
  NB_ASSIGN_OR_RETURN(const std::vector<Named> inputs, NameInputs(config_, forward()));
  NB_ASSIGN_OR_RETURN(const std::vector<Named> outputs, NameOutputs(config_, forward()));
  NB_ASSIGN_OR_RETURN(const Signature signature, SignatureFromConfig(config_));
  NB_RETURN_IF_ERROR(CheckConfig(config_, signature));
  NB_ASSIGN_OR_RETURN(bound_, BoundModel::Bind(config_, signature));
  AppendPlaces(bound_->inputs(), inputs, &input_places_);
  std::vector<BoundTensor> computed;
  for (const ComputedInput& input : bound_->computed_inputs()) computed.push_back(input.tensor);
  AppendPlaces(computed, inputs, &input_places_);
  AppendPlaces(bound_->outputs(), outputs, &output_places_);
  return Error();
}

Result<std::shared_ptr<const Network>> TorchModel::NetworkForInstance() const {
  if (shares_network_) return network_;
  NB_ASSIGN_OR_RETURN(std::unique_ptr<Network> own, Load());
  return std::shared_ptr<const Network>(std::move(own));
}

int TorchModel::RunThreads() const {
  if (parameters_.intra_op_threads > 0) return parameters_.intra_op_threads;
  const int instances = std::max(configured_instances_, instances_.load(std::memory_order_relaxed));
  return std::max(1, environment_.budget().threads / instances);
}

int TorchModel::RunPermits() const {
  return traits().forks ? environment_.permits()->total() : RunThreads();
}

bool TorchModel::RunsOnAnyThread() const {
  return !is_package() && !traits().forks && RunThreads() == 1;
}

void TorchModel::LogPlan() const {
  const std::string subject = StrCat("model '", config_.name, "' version ", config_.version, ": ");
  NB_LOG_INFO(subject, "threads: a run of an instance uses ", RunThreads(), " of ",
              environment_.budget().threads, " (", environment_.budget().Describe(),
              parameters_.intra_op_threads > 0 ? ", as INTRA_OP_THREAD_COUNT says" : "",
              "), and all models together no more than these; inference mode ",
              parameters_.inference_mode ? "on" : "off", ", optimized execution ",
              parameters_.optimized_execution ? "on" : "off");
  if (traits().writes_attributes && !is_package()) {
    NB_LOG_INFO(subject, "forward writes to the module, so ",
                shares_network_ ? "its instances see each other's writes: "
                                  "ENABLE_WEIGHT_SHARING is true"
                                : "each instance has one of its own");
  }
}

}  // namespace nereid_backend
