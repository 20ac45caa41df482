// SchedulerLayer: a scheduler in front of another one, which it owns. Functions that a layer does
// not override are passed to the inner scheduler. Thread-safe.
#ifndef NEREID_SCHEDULING_SCHEDULER_LAYER_H_
#define NEREID_SCHEDULING_SCHEDULER_LAYER_H_

#include <memory>
#include <optional>
#include <utility>

#include "scheduling/scheduler.h"

namespace nereid {

class SchedulerLayer : public Scheduler {
 public:
  explicit SchedulerLayer(std::unique_ptr<Scheduler> inner) : inner_(std::move(inner)) {}

  void CloseAdmission() override { inner_->CloseAdmission(); }
  void OnCancel(InferRequest* request) override { inner_->OnCancel(request); }
  void Shutdown() override { inner_->Shutdown(); }

  InstanceSource* source(uint32_t number) override { return inner_->source(number); }
  bool instances_may_change() const override { return inner_->instances_may_change(); }
  void RemoveInstance(const BatchExecutor* executor) override { inner_->RemoveInstance(executor); }
  void Nudge() override { inner_->Nudge(); }
  void DropStrategy() override { inner_->DropStrategy(); }
  bool HasSequence(const CorrelationId& id) const override { return inner_->HasSequence(id); }
  std::optional<size_t> sequences_in_slots() const override { return inner_->sequences_in_slots(); }
  uint64_t inline_executions() const override { return inner_->inline_executions(); }
  void DescribeMetrics(MetricSink* sink) const override { inner_->DescribeMetrics(sink); }

 protected:
  Scheduler& inner() const { return *inner_; }

 private:
  const std::unique_ptr<Scheduler> inner_;
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_SCHEDULER_LAYER_H_
