// SPDX-License-Identifier: Apache-2.0
// The testing backend: a model that misbehaves as its configuration specifies. See README.md for
// the behaviours and their parameters.
#ifndef NEREID_BACKENDS_TESTING_MODEL_H_
#define NEREID_BACKENDS_TESTING_MODEL_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "backends/sdk/echo.h"
#include "backends/sdk/error.h"
#include "backends/sdk/model_config.h"
#include "backends/sdk/option_table.h"
#include "backends/testing/worker.h"

namespace nereid_backend {

class GpuBatches;
class TestingInstance;

// What ModelInstanceExecute does, in full: ownership of the requests and the returned error follow
// the C API, or break it on purpose. May throw.
using ExecuteFn = TRITONSERVER_Error* (*)(TestingInstance& instance,
                                          TRITONBACKEND_Request** requests, uint32_t count);

// Null if there is no such behaviour.
ExecuteFn FindBehaviour(std::string_view name);

// Immutable.
class TestingModel {
 public:
  // Fails, waits or throws if the behaviour says so.
  static Result<std::unique_ptr<TestingModel>> Create(TRITONBACKEND_Model* model);

  const ModelConfig& config() const { return config_; }
  const EchoMap& echo() const { return echo_; }
  const std::string& behaviour() const { return behaviour_; }
  ExecuteFn execute() const { return execute_; }
  // Parameters that several behaviours share.
  std::chrono::milliseconds delay() const { return delay_; }
  int64_t responses() const { return responses_; }  // -1: taken from the request
  int64_t times() const { return times_; }
  // Of the behaviour decoupled.
  bool final_with_last() const { return final_with_last_; }
  bool ignores_credit() const { return ignores_credit_; }

 private:
  explicit TestingModel(ModelConfig config) : config_(std::move(config)) {}
  Error Apply(const OptionValues& given);

  ModelConfig config_;
  EchoMap echo_;
  std::string behaviour_;
  ExecuteFn execute_ = nullptr;
  std::chrono::milliseconds delay_{0};
  int64_t responses_ = 1;
  int64_t times_ = 1;
  bool final_with_last_ = false;
  bool ignores_credit_ = false;
};

// Owned by the instance's thread, except for CheckReady; the worker has its own thread.
class TestingInstance {
 public:
  static Result<std::unique_ptr<TestingInstance>> Create(TRITONBACKEND_ModelInstance* handle,
                                                         const TestingModel& model);

  TRITONBACKEND_ModelInstance* handle() const { return handle_; }
  const TestingModel& model() const { return model_; }
  Worker& worker() { return worker_; }
  // Of the behaviour gpu_batches; null before the first one.
  GpuBatches* gpu_batches() { return gpu_batches_.get(); }
  void set_gpu_batches(std::shared_ptr<GpuBatches> batches) { gpu_batches_ = std::move(batches); }
  // Any thread.
  Error CheckReady();

 private:
  TestingInstance(TRITONBACKEND_ModelInstance* handle, const TestingModel& model)
      : handle_(handle), model_(model) {}

  TRITONBACKEND_ModelInstance* const handle_;
  const TestingModel& model_;
  Worker worker_;
  std::shared_ptr<GpuBatches> gpu_batches_;
  std::atomic<int64_t> ready_checks_{0};
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_TESTING_MODEL_H_
