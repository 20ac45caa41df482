// SPDX-License-Identifier: Apache-2.0
// TorchModel: one loaded version of a PyTorch model: its configuration, its network, and the
// mapping between the configuration's tensors and the network's arguments and results. Immutable
// after Create except for the number of instances; thread-safe.
#ifndef NEREID_BACKENDS_PYTORCH_MODEL_H_
#define NEREID_BACKENDS_PYTORCH_MODEL_H_

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "backends/pytorch/environment.h"
#include "backends/pytorch/names.h"
#include "backends/pytorch/network.h"
#include "backends/pytorch/parameters.h"
#include "backends/sdk/error.h"
#include "backends/sdk/graph/bound_model.h"
#include "backends/sdk/model_config.h"

namespace nereid_backend {

class TorchModel {
 public:
  // Loads the file, completes the configuration where it can, and checks it.
  static Result<std::unique_ptr<TorchModel>> Create(TRITONBACKEND_Model* model);
  ~TorchModel();

  const ModelConfig& config() const { return config_; }
  const Environment& environment() const { return environment_; }
  const Parameters& parameters() const { return parameters_; }
  const BoundModel& bound() const { return *bound_; }
  const Forward& forward() const { return network_->forward(); }
  const NetworkTraits& traits() const { return network_->traits(); }
  // Places of bound().inputs(), followed by those of its computed inputs, and places of
  // bound().outputs().
  const std::vector<Named>& input_places() const { return input_places_; }
  const std::vector<Named>& output_places() const { return output_places_; }

  // The network for one more instance: the shared one or a separate one.
  Result<std::shared_ptr<const Network>> NetworkForInstance() const;
  bool shares_network() const { return shares_network_; }

  // Threads that a run of an instance may use: the configured number, otherwise each instance's
  // share of the CPU budget.
  int RunThreads() const;
  // Number of threads that compute during a run, including the inter-op pool.
  int RunPermits() const;
  // Whether any thread of the server may run this model without waiting for permits: a run has one
  // thread. A package does not say how many it was compiled for.
  bool RunsOnAnyThread() const;
  void CountInstance(int change) const { instances_ += change; }

 private:
  TorchModel(const Environment& environment, ModelConfig config)
      : environment_(environment), config_(std::move(config)) {}

  bool is_package() const { return config_.json["platform"].AsString() == "torch_aoti"; }
  Result<std::string> FindFile() const;
  Result<std::unique_ptr<Network>> Load() const;
  Error Complete(TRITONBACKEND_Model* model);
  Error Bind();
  void LogPlan() const;

  const Environment& environment_;
  ModelConfig config_;
  std::string path_;
  Parameters parameters_;
  std::shared_ptr<const Network> network_;
  bool shares_network_ = true;
  int configured_instances_ = 1;
  std::unique_ptr<BoundModel> bound_;
  std::vector<Named> input_places_;
  std::vector<Named> output_places_;
  mutable std::atomic<int> instances_{0};
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTORCH_MODEL_H_
