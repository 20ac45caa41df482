// The identity backend: a model whose outputs repeat its inputs, optionally after a delay. Used to
// try out a server and to measure the overhead of the server itself.
#ifndef NEREID_BACKENDS_IDENTITY_IDENTITY_H_
#define NEREID_BACKENDS_IDENTITY_IDENTITY_H_

#include <atomic>
#include <chrono>
#include <memory>
#include <random>

#include "backends/sdk/batch.h"
#include "backends/sdk/echo.h"
#include "backends/sdk/model_config.h"

namespace nereid_backend {

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

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_IDENTITY_IDENTITY_H_
