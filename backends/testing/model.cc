#include "backends/testing/model.h"

#include <atomic>
#include <stdexcept>
#include <thread>

#include "backends/testing/behaviours.h"

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

}  // namespace

Error TestingModel::ReadParameters() {
  constexpr int64_t kMaxDelayMs = int64_t{24} * 3600 * 1000;
  behaviour_ = config_.Parameter("behaviour", "echo");
  execute_ = FindBehaviour(behaviour_);
  if (execute_ == nullptr) {
    return Error::InvalidArg(
        StrCat("unknown behaviour '", behaviour_, "' of model '", config_.name, "'"));
  }
  NB_ASSIGN_OR_RETURN(const int64_t delay, config_.IntParameter("delay_ms", 0, 0, kMaxDelayMs));
  delay_ = std::chrono::milliseconds(delay);
  if (config_.Parameter("responses") == "input") {
    responses_ = -1;
  } else {
    NB_ASSIGN_OR_RETURN(responses_, config_.IntParameter("responses", 1, 0, INT32_MAX));
  }
  NB_ASSIGN_OR_RETURN(times_, config_.IntParameter("times", 1, 0, INT32_MAX));
  return Error();
}

Result<std::unique_ptr<TestingModel>> TestingModel::Create(TRITONBACKEND_Model* handle) {
  NB_ASSIGN_OR_RETURN(ModelConfig config, ReadModelConfig(handle));
  std::unique_ptr<TestingModel> model(new TestingModel(std::move(config)));
  NB_RETURN_IF_ERROR(model->ReadParameters());
  NB_RETURN_IF_ERROR(MisbehaveAtLoad(*model));
  NB_ASSIGN_OR_RETURN(model->echo_, EchoMap::Build(model->config_));
  return model;
}

Result<std::unique_ptr<TestingInstance>> TestingInstance::Create(
    TRITONBACKEND_ModelInstance* handle, const TestingModel& model) {
  if (model.behaviour() == "instance_fail_on_load") {
    return Error::Internal("testing backend: ModelInstanceInitialize failed on purpose");
  }
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
