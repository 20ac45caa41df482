// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/instance.h"

#include <algorithm>
#include <mutex>

#include "backends/openvino/run_pool.h"
#include "backends/sdk/openvino/ov_error.h"

namespace nereid_backend {
namespace {

SequenceStates::Limits LimitsOf(const OpenVinoModel& model) {
  SequenceStates::Limits limits;
  limits.sequences = model.has_sequences();
  limits.batching = model.config().batching();
  limits.held = static_cast<size_t>(model.sequence_states());
  const int64_t idle_us =
      model.config().json["sequence_batching"]["max_sequence_idle_microseconds"].AsInt();
  limits.idle_ns = static_cast<uint64_t>(std::max<int64_t>(idle_us, 0)) * 1000;
  return limits;
}

}  // namespace

OpenVinoInstance::OpenVinoInstance(TRITONBACKEND_ModelInstance* handle, const OpenVinoModel& model)
    : handle_(handle), model_(model) {
  if (model_.pool() != nullptr) return;
  run_.emplace(model_);
  if (!model_.has_states()) return;
  states_.emplace(LimitsOf(model_), model_.initial_states());
  run_->executor().set_may_join([this](size_t a, size_t b) { return states_->MayJoin(a, b); });
}

OpenVinoInstance::~OpenVinoInstance() {
  if (model_.pool() != nullptr) model_.pool()->AwaitNone(handle_);
  const std::lock_guard lock(model_.environment().setup_mutex());
  states_.reset();
  run_.reset();
}

Result<std::unique_ptr<OpenVinoInstance>> OpenVinoInstance::Create(
    TRITONBACKEND_ModelInstance* instance, const OpenVinoModel& model) {
  std::unique_ptr<OpenVinoInstance> made;
  NB_RETURN_IF_ERROR(OvTry("failed to set up an instance: ", [&]() -> Error {
    const std::lock_guard lock(model.environment().setup_mutex());
    made.reset(new OpenVinoInstance(instance, model));
    return Error();
  }));
  return made;
}

TRITONSERVER_Error* OpenVinoInstance::Execute(TRITONBACKEND_Request** requests,
                                              uint32_t count) noexcept {
  if (model_.pool() != nullptr) return model_.pool()->Start(handle_, requests, count);
  return RunBatch(handle_, requests, count, [&](Batch& batch) { return ExecuteInTurn(&batch); });
}

Error OpenVinoInstance::ExecuteInTurn(Batch* batch) {
  if (states_.has_value()) states_->Begin(*batch);
  GraphExecutor& executor = run_->executor();
  executor.Begin(batch);
  while (executor.Next()) executor.End(Compute());
  return Error();
}

Error OpenVinoInstance::Compute() {
  bool fits = true;
  Error ran = ComputeOnce(&fits);
  if ((!fits || IsOutputMismatch(ran)) && run_->Replan()) ran = ComputeOnce(&fits);
  return ran;
}

Error OpenVinoInstance::Infer() {
  const std::unique_lock<std::mutex> turn = model_.TakeTurn();
  run_->BeginWatch();
  return run_->EndWatch(OvTry("", [&]() -> Error {
    run_->request().infer();
    return Error();
  }));
}

Error OpenVinoInstance::ComputeOnce(bool* fits) {
  Batch& batch = run_->executor().batch();
  const auto group = run_->executor().group();
  return OvTry("", [&]() -> Error {
    run_->SetTensors();
    if (states_.has_value()) NB_RETURN_IF_ERROR(states_->Load(batch, group, &run_->request()));
    batch.MarkComputeStart();
    Error ran = Infer();
    batch.MarkComputeEnd();
    if (!ran.ok()) return ran;
    *fits = run_->TakeOutputs();
    return states_.has_value() ? states_->Save(batch, group, &run_->request()) : Error();
  });
}

}  // namespace nereid_backend
