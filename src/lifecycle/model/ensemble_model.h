// SPDX-License-Identifier: Apache-2.0
// EnsembleModel: one version of an ensemble: a graph of steps without a backend. Thread-safe. Each
// request looks up the members anew: members come and go independently of the ensemble. The
// ensemble is ready when all its members are.
#ifndef NEREID_LIFECYCLE_MODEL_ENSEMBLE_MODEL_H_
#define NEREID_LIFECYCLE_MODEL_ENSEMBLE_MODEL_H_

#include <absl/status/statusor.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "lifecycle/model/load_context.h"
#include "lifecycle/model/managed_model.h"
#include "scheduling/ensemble/model_resolver.h"
#include "scheduling/ensemble/step_graph.h"
#include "scheduling/scheduler.h"

namespace nereid {

class EnsembleModel final : public ManagedModel {
 public:
  // Checks that the models that `config` uses serve and fit together. `config` is that of an
  // ensemble in namespace `space`; context.resolver finds the models. INVALID_ARGUMENT with all
  // problems.
  static absl::Status Check(const LoadContext& context, const ParsedConfig& config,
                            const std::string& space);
  // Checks version `version` of the ensemble in `model_dir`, and makes it ready to serve. Reads
  // files.
  static absl::StatusOr<std::shared_ptr<EnsembleModel>> Load(const LoadContext& context,
                                                             const ParsedConfig& config,
                                                             const std::string& model_dir,
                                                             const std::string& space,
                                                             int64_t version);

  absl::Status Enqueue(RequestPtr* request) override { return scheduler_->Enqueue(request); }
  bool AdmissionOpen() const override { return admission_open_.load(std::memory_order_acquire); }
  // Whether all members are ready.
  absl::Status CheckReady() override { return MembersReady(&ServingModel::CheckReady); }
  absl::Status KnownReady() override { return MembersReady(&ServingModel::KnownReady); }
  absl::Status CheckMembers() override;
  void OnCancel(InferRequest* request) override { scheduler_->OnCancel(request); }
  void CloseAdmission() override;
  bool MembersHaveSequence(const InferRequest& request) const override;

  void DescribeMetrics(MetricSink* sink) const override {
    ManagedModel::DescribeMetrics(sink);
    scheduler_->DescribeMetrics(sink);
  }

 private:
  EnsembleModel(const LoadContext& context, std::shared_ptr<const CompiledModel> config,
                OutputLabels labels, std::string fingerprint, StepGraph graph);
  // Calls `ask` on each member. Returns the first error.
  absl::Status MembersReady(absl::Status (ServingModel::*ask)());
  void TearDown() override { scheduler_->Shutdown(); }

  ModelResolver* const resolver_;
  std::unique_ptr<Scheduler> scheduler_;
  std::atomic<bool> admission_open_{true};
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_MODEL_ENSEMBLE_MODEL_H_
