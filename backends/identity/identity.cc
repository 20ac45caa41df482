// SPDX-License-Identifier: Apache-2.0
// The identity backend: a model whose outputs repeat its inputs, optionally after a delay. Used to
// try out a server and to measure the overhead of the server itself.
#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <thread>

#include "backends/identity/options.h"
#include "backends/sdk/batch.h"
#include "backends/sdk/echo.h"
#include "backends/sdk/entry.h"
#include "backends/sdk/model_config.h"
#include "backends/sdk/options.h"

namespace nereid_backend {
namespace {

// Parameters execute_delay_ms ("5" or "1-5"), execute_delay_row_us and execute_delay_seed.
// Immutable.
struct ExecuteDelay {
  int64_t min_ms = 0;
  int64_t max_ms = 0;
  int64_t row_us = 0;  // additional delay per row of the batch
  int64_t seed = 0;

  bool any() const { return max_ms > 0 || row_us > 0; }

  static Result<ExecuteDelay> FromConfig(const ModelConfig& config);
};

// What all models share: the backend's settings. Immutable.
struct IdentityBackend {
  int64_t default_max_batch_size = 0;

  static Result<std::unique_ptr<IdentityBackend>> Create(TRITONBACKEND_Backend* backend);
};

// Immutable after Create, except for the counter that gives every instance its own random numbers.
class IdentityModel {
 public:
  static Result<std::unique_ptr<IdentityModel>> Create(TRITONBACKEND_Model* model);

  const ModelConfig& config() const { return config_; }
  const EchoMap& echo() const { return echo_; }
  const ExecuteDelay& delay() const { return delay_; }
  int64_t NextSeed() const { return delay_.seed + instances_.fetch_add(1); }

 private:
  IdentityModel(ModelConfig config, EchoMap echo, ExecuteDelay delay)
      : config_(std::move(config)), echo_(std::move(echo)), delay_(delay) {}

  const ModelConfig config_;
  const EchoMap echo_;
  const ExecuteDelay delay_;
  mutable std::atomic<int64_t> instances_{0};
};

// Owned by the instance's thread.
class IdentityInstance {
 public:
  static Result<std::unique_ptr<IdentityInstance>> Create(TRITONBACKEND_ModelInstance* instance,
                                                          const IdentityModel& model);

  Error Execute(Batch* batch);

 private:
  explicit IdentityInstance(const IdentityModel& model)
      : model_(model), random_(static_cast<uint64_t>(model.NextSeed())) {}

  std::chrono::microseconds NextDelay(int64_t rows);

  const IdentityModel& model_;
  std::mt19937_64 random_;
};

constexpr int64_t kMaxDelayMs = int64_t{24} * 3600 * 1000;

Json TensorJson(const char* name) {
  Json tensor;
  tensor.Set("name", name);
  tensor.Set("data_type", "TYPE_FP32");
  tensor.Set("dims", JsonInts({-1}));
  return tensor;
}

// A model without any tensor in its configuration gets one FP32 vector, in and out.
Error AutoComplete(TRITONBACKEND_Model* model, const ModelConfig& config) {
  NB_ASSIGN_OR_RETURN(const IdentityBackend* backend, BackendStateOf<IdentityBackend>(model));
  const int64_t batch_size =
      config.batching() ? config.max_batch_size : backend->default_max_batch_size;
  Json json = config.json;
  json.Set("max_batch_size", batch_size);
  json.Set("input", Json::Array{TensorJson("INPUT0")});
  json.Set("output", Json::Array{TensorJson("OUTPUT0")});
  const bool has_scheduler = json.Has("dynamic_batching") || json.Has("sequence_batching");
  if (batch_size > 1 && !has_scheduler) json.Set("dynamic_batching", Json::MakeObject());
  return SetModelConfig(model, json);
}

Result<std::unique_ptr<IdentityBackend>> IdentityBackend::Create(TRITONBACKEND_Backend* handle) {
  NB_ASSIGN_OR_RETURN(const Json cmdline, ReadBackendSettings(handle));
  NB_ASSIGN_OR_RETURN(const OptionValues settings, ReadSettings(kIdentityOptions, cmdline));
  auto backend = std::make_unique<IdentityBackend>();
  backend->default_max_batch_size = DefaultMaxBatchSize(settings);
  return backend;
}

Result<ExecuteDelay> ExecuteDelay::FromConfig(const ModelConfig& config) {
  NB_ASSIGN_OR_RETURN(const OptionValues given, ReadParameters(kIdentityOptions, config));
  ExecuteDelay delay;
  const std::string text = given.Text("execute_delay_ms").value_or("0");
  const std::string what = StrCat("parameter 'execute_delay_ms' of model '", config.name, "'");
  const size_t dash = text.find('-', 1);
  NB_ASSIGN_OR_RETURN(delay.min_ms, ParseInt(what, text.substr(0, dash), 0, kMaxDelayMs));
  delay.max_ms = delay.min_ms;
  if (dash != std::string::npos) {
    NB_ASSIGN_OR_RETURN(delay.max_ms,
                        ParseInt(what, text.substr(dash + 1), delay.min_ms, kMaxDelayMs));
  }
  delay.row_us = given.Integer("execute_delay_row_us").value_or(0);
  delay.seed = given.Integer("execute_delay_seed").value_or(0);
  return delay;
}

Result<std::unique_ptr<IdentityModel>> IdentityModel::Create(TRITONBACKEND_Model* model) {
  NB_ASSIGN_OR_RETURN(ModelConfig config, ReadModelConfig(model));
  if (config.auto_complete && config.inputs.empty() && config.outputs.empty()) {
    NB_RETURN_IF_ERROR(AutoComplete(model, config));
    NB_ASSIGN_OR_RETURN(config, ReadModelConfig(model));
  }
  NB_ASSIGN_OR_RETURN(EchoMap echo, EchoMap::Build(config));
  NB_ASSIGN_OR_RETURN(const ExecuteDelay delay, ExecuteDelay::FromConfig(config));
  return std::unique_ptr<IdentityModel>(
      new IdentityModel(std::move(config), std::move(echo), delay));
}

Result<std::unique_ptr<IdentityInstance>> IdentityInstance::Create(TRITONBACKEND_ModelInstance*,
                                                                   const IdentityModel& model) {
  return std::unique_ptr<IdentityInstance>(new IdentityInstance(model));
}

std::chrono::microseconds IdentityInstance::NextDelay(int64_t rows) {
  const ExecuteDelay& delay = model_.delay();
  const std::chrono::microseconds of_rows(rows * delay.row_us);
  if (delay.max_ms == delay.min_ms) return std::chrono::milliseconds(delay.min_ms) + of_rows;
  std::uniform_int_distribution<int64_t> distribution(delay.min_ms, delay.max_ms);
  return std::chrono::milliseconds(distribution(random_)) + of_rows;
}

Error IdentityInstance::Execute(Batch* batch) {
  int64_t all_rows = 0;
  for (size_t i = 0; i < batch->size(); ++i) {
    const Result<int64_t> rows = RequestRows(model_.config(), batch->request(i));
    if (!rows.ok()) continue;
    batch->set_rows(i, *rows);
    all_rows += *rows;
  }
  batch->MarkComputeStart();
  // The delay stands for the computation; the copy is the output phase.
  if (model_.delay().any()) std::this_thread::sleep_for(NextDelay(all_rows));
  batch->MarkComputeEnd();
  for (size_t i = 0; i < batch->size(); ++i) {
    const Error error = model_.echo().Echo(batch, i);
    if (!error.ok()) batch->Fail(i, error);
  }
  return Error();
}

}  // namespace
}  // namespace nereid_backend

NB_BACKEND_FUNCTIONS(nereid_backend::IdentityBackend, nereid_backend::IdentityModel,
                     nereid_backend::IdentityInstance)
NB_EXECUTE_BATCH(nereid_backend::IdentityInstance)

void NEREID_BackendExecutesBriefly(void) {}
void NEREID_BackendReadsPieces(void) {}
void NEREID_BackendComputesOnCpus(void) {}
