// SPDX-License-Identifier: Apache-2.0
// LoadedModel: one version of a model with everything that makes it run: backend model, scheduler,
// instances. Thread-safe. Its parts are torn down after it is closed and the last request in
// flight has ended. The object itself (name, statistics) lives as long as there are references.
#ifndef NEREID_LIFECYCLE_MODEL_LOADED_MODEL_H_
#define NEREID_LIFECYCLE_MODEL_LOADED_MODEL_H_

#include <absl/status/statusor.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend_host/backend_model.h"
#include "lifecycle/model/instance_set.h"
#include "lifecycle/model/load_context.h"
#include "lifecycle/model/managed_model.h"
#include "lifecycle/model/readiness_checker.h"
#include "observe/stats/busy_share.h"
#include "scheduling/scheduler.h"

namespace nereid {

class LoadedModel final : public ManagedModel {
 public:
  using InstanceUpdate = InstanceSet::Update;

  // Loads version `version` of the model in `model_dir`: backend, model, scheduler, instances. The
  // instances serve from then on. Blocks as long as the backend does.
  static absl::StatusOr<std::shared_ptr<LoadedModel>> Load(const LoadContext& context,
                                                           const ParsedConfig& config,
                                                           const std::string& model_dir,
                                                           int64_t version);
  ~LoadedModel() override;

  absl::Status Enqueue(RequestPtr* request) override { return scheduler_->Enqueue(request); }
  bool AdmissionOpen() const override { return admission_open_.load(std::memory_order_acquire); }
  absl::Status CheckReady() override;
  absl::Status KnownReady() override;
  void OnCancel(InferRequest* request) override { scheduler_->OnCancel(request); }
  void OnAvailability() override { scheduler_->Nudge(); }
  bool HasSequence(const CorrelationId& id) const override { return scheduler_->HasSequence(id); }
  void DescribeMetrics(MetricSink* sink) const override;
  int64_t InFlight() override;
  Work work(TimePoint now) const override;
  // Live sequences also continue.
  void CloseAdmission() override;
  double load_seconds() const override { return load_seconds_; }
  std::vector<TRITONSERVER_BufferAttributes> memory() override;

  // See the functions of InstanceSet.
  absl::StatusOr<std::unique_ptr<InstanceUpdate>> PrepareInstances(const LoadContext& context,
                                                                   const ParsedConfig& wanted,
                                                                   const std::string& model_dir) {
    return instances_->Prepare(context, wanted, model_dir);
  }
  void Apply(Reaper* reaper, std::unique_ptr<InstanceUpdate> update,
             std::function<void()> then) noexcept {
    instances_->Apply(reaper, std::move(update), std::move(then));
  }
  std::string ConfigJson() const override;
  size_t instance_count() const { return instances_->size(); }

 private:
  LoadedModel(const LoadContext& context, std::shared_ptr<const CompiledModel> config,
              OutputLabels labels, std::unique_ptr<BackendModel> model, Duration target);

  void DescribeInstances(MetricSink* sink) const;
  // Makes the scheduler that the configuration asks for, with the layers in front of it.
  absl::Status MakeScheduler(const LoadContext& context);
  // context.inline_limit, or zero if no I/O thread may execute this model's instances.
  Duration InlineLimit(const LoadContext& context) const;
  // Why a GPU with an instance has ended for good, as far as is known; OK if none has.
  absl::Status GpuFailure() const;
  // Lets `checker` ask from now on whether the model is ready: the backend, if it can tell, and the
  // driver about the model's GPUs.
  void CheckFromNowOn(ReadinessChecker* checker);
  void TearDown() override;

  std::unique_ptr<BackendModel> model_;  // null once torn down
  // Null only where loading failed before they were made.
  std::unique_ptr<Scheduler> scheduler_;
  std::unique_ptr<InstanceSet> instances_;  // destroyed before the scheduler, which has the sources
  std::atomic<bool> admission_open_{true};
  std::shared_ptr<Readiness> readiness_;  // null: the model is ready as long as it serves
  double load_seconds_ = 0;
  mutable BusyShare busy_share_;  // changed by readings of the metrics only
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_MODEL_LOADED_MODEL_H_
