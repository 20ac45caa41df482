// EnsembleModel: one version of an ensemble: a graph of steps and no backend. Thread-safe. Its
// members are looked up anew for each request: they come and go without it, and it is ready when
// all are.
#ifndef NEREID_LIFECYCLE_ENSEMBLE_MODEL_H_
#define NEREID_LIFECYCLE_ENSEMBLE_MODEL_H_

#include <absl/status/statusor.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lifecycle/loaded_model.h"
#include "lifecycle/managed_model.h"
#include "scheduling/cached/cached_scheduler.h"
#include "scheduling/ensemble/ensemble_scheduler.h"

namespace nereid {

class EnsembleModel final : public ManagedModel {
 public:
  // Whether the models that `config` uses, an ensemble's in namespace `space`, serve and fit
  // together. context.resolver finds them. INVALID_ARGUMENT with all problems.
  static absl::Status Check(const LoadContext& context, const ParsedConfig& config,
                            const std::string& space);
  // Checks version `version` of the ensemble in `model_dir`, and lets it serve. Reads files.
  static absl::StatusOr<std::shared_ptr<EnsembleModel>> Load(const LoadContext& context,
                                                             const ParsedConfig& config,
                                                             const std::string& model_dir,
                                                             const std::string& space,
                                                             int64_t version);

  absl::Status Enqueue(RequestPtr* request) override { return front_->Enqueue(request); }
  bool AdmissionOpen() const override { return admission_open_.load(std::memory_order_acquire); }
  // Whether all members are ready.
  absl::Status CheckReady() override { return MembersReady(&ServingModel::CheckReady); }
  absl::Status KnownReady() override { return MembersReady(&ServingModel::KnownReady); }
  absl::Status CheckMembers() override;
  void OnCancel(InferRequest* request) override { front_->OnCancel(request); }
  void CloseAdmission() override;
  bool MembersHaveSequence(const InferRequest& request) const override;

  std::optional<size_t> peak_step_bytes() const override { return scheduler_.peak_bytes(); }

 private:
  EnsembleModel(const LoadContext& context, std::shared_ptr<const CompiledModel> config,
                OutputLabels labels, StepGraph graph);
  // The first error of `ask` of the members.
  absl::Status MembersReady(absl::Status (ServingModel::*ask)());
  void TearDown() override { scheduler_.Shutdown(); }

  ModelResolver* const resolver_;
  EnsembleScheduler scheduler_;
  std::unique_ptr<CachedScheduler> cached_;  // null if the ensemble does not use the response cache
  Scheduler* front_;                         // the first that sees a request
  std::atomic<bool> admission_open_{true};
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_ENSEMBLE_MODEL_H_
