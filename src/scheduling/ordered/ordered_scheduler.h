// OrderedScheduler: a scheduler in front of another one that lets the responses leave in the order
// in which the requests came (`preserve_ordering`), whichever is ready first. Thread-safe. Owned by
// its model.
#ifndef NEREID_SCHEDULING_ORDERED_ORDERED_SCHEDULER_H_
#define NEREID_SCHEDULING_ORDERED_ORDERED_SCHEDULER_H_

#include <memory>

#include "scheduling/ordered/response_orderer.h"
#include "scheduling/scheduler.h"

namespace nereid {

class OrderedScheduler final : public Scheduler {
 public:
  // `inner` outlives this.
  explicit OrderedScheduler(Scheduler* inner)
      : inner_(inner), orderer_(std::make_shared<ResponseOrderer>()) {}

  absl::Status Enqueue(RequestPtr* request) override;
  void CloseAdmission() override { inner_->CloseAdmission(); }
  void OnCancel(InferRequest* request) override { inner_->OnCancel(request); }
  void Shutdown() override { inner_->Shutdown(); }

 private:
  Scheduler* const inner_;
  const std::shared_ptr<ResponseOrderer> orderer_;  // shared with the requests in flight
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_ORDERED_ORDERED_SCHEDULER_H_
