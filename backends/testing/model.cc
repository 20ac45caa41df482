// SPDX-License-Identifier: Apache-2.0
#include "backends/testing/model.h"

#include <atomic>
#include <stdexcept>
#include <thread>

#include "backends/sdk/log.h"
#include "backends/sdk/options.h"
#include "backends/testing/behaviours.h"
#include "backends/testing/options.h"

namespace nereid_backend {
namespace {

// Loads that a model of behaviour fail_first_loads has refused so far in this process.
std::atomic<int64_t> g_refused_loads{0};

Error MisbehaveAtLoad(const TestingModel& model) {
  const std::string& behaviour = model.behaviour();
  if (behaviour == "crash_on_load") {
    throw std::runtime_error("testing backend: ModelInitialize threw on purpose");
  }
  if (behaviour == "fail_on_load") {
    return Error::Internal("testing backend: ModelInitialize failed on purpose");
  }
  if (behaviour == "fail_first_loads" && g_refused_loads.fetch_add(1) < model.times()) {
    return Error::Internal("testing backend: one of the first loads failed on purpose");
  }
  if (behaviour == "slow_load") std::this_thread::sleep_for(model.delay());
  return Error();
}

// Says in the log what the server tells an instance of its place.
Error LogPlace(TRITONBACKEND_ModelInstance* instance) {
  const char* name = nullptr;
  TRITONSERVER_InstanceGroupKind kind = TRITONSERVER_INSTANCEGROUPKIND_AUTO;
  int32_t device = 0;
  bool passive = false;
  NB_RETURN_IF_ERROR(TRITONBACKEND_ModelInstanceName(instance, &name));
  NB_RETURN_IF_ERROR(TRITONBACKEND_ModelInstanceKind(instance, &kind));
  NB_RETURN_IF_ERROR(TRITONBACKEND_ModelInstanceDeviceId(instance, &device));
  NB_RETURN_IF_ERROR(TRITONBACKEND_ModelInstanceIsPassive(instance, &passive));
  NB_LOG_INFO("testing backend: ", name, " is on ", TRITONSERVER_InstanceGroupKindString(kind), " ",
              device, passive ? ", passive" : "");
  return Error();
}

}  // namespace

Error TestingModel::Apply(const OptionValues& given) {
  behaviour_ = given.Text("behaviour").value_or("echo");
  execute_ = FindBehaviour(behaviour_);
  if (execute_ == nullptr) {
    return Error::InvalidArg(
        StrCat("unknown behaviour '", behaviour_, "' of model '", config_.name, "'"));
  }
  delay_ = std::chrono::milliseconds(given.Integer("delay_ms").value_or(0));
  responses_ = given.Text("responses") == "input" ? -1 : given.Integer("responses").value_or(1);
  times_ = given.Integer("times").value_or(1);
  final_with_last_ = given.Bool("final_with_last").value_or(false);
  ignores_credit_ = given.Bool("ignores_credit").value_or(false);
  return Error();
}

Result<std::unique_ptr<TestingModel>> TestingModel::Create(TRITONBACKEND_Model* handle) {
  NB_ASSIGN_OR_RETURN(ModelConfig config, ReadModelConfig(handle));
  std::unique_ptr<TestingModel> model(new TestingModel(std::move(config)));
  NB_ASSIGN_OR_RETURN(const OptionValues given, ReadParameters(kTestingOptions, model->config_));
  NB_RETURN_IF_ERROR(model->Apply(given));
  NB_RETURN_IF_ERROR(MisbehaveAtLoad(*model));
  NB_ASSIGN_OR_RETURN(model->echo_, EchoMap::Build(model->config_));
  return model;
}

Result<std::unique_ptr<TestingInstance>> TestingInstance::Create(
    TRITONBACKEND_ModelInstance* handle, const TestingModel& model) {
  if (model.behaviour() == "instance_fail_on_load") {
    return Error::Internal("testing backend: ModelInstanceInitialize failed on purpose");
  }
  if (model.behaviour() == "places") NB_RETURN_IF_ERROR(LogPlace(handle));
  return std::unique_ptr<TestingInstance>(new TestingInstance(handle, model));
}

Error TestingInstance::CheckReady() {
  if (model_.behaviour() == "hang_in_ready") Hang();
  if (model_.behaviour() == "not_ready") {
    return Error(TRITONSERVER_ERROR_UNAVAILABLE, "testing backend: not ready on purpose");
  }
  if (model_.behaviour() == "ready_hangs" && ready_checks_.fetch_add(1) >= model_.times()) {
    std::this_thread::sleep_for(model_.delay());
  }
  return Error();
}

}  // namespace nereid_backend
