// OrderedScheduler: a scheduler in front of another one that lets the responses leave in the order
// in which the requests came (`preserve_ordering`), whichever is ready first. Thread-safe. Owned by
// its model.
#ifndef NEREID_SCHEDULING_ORDERED_ORDERED_SCHEDULER_H_
#define NEREID_SCHEDULING_ORDERED_ORDERED_SCHEDULER_H_

#include <memory>
#include <utility>

#include "scheduling/ordered/response_orderer.h"
#include "scheduling/scheduler_layer.h"

namespace nereid {

class OrderedScheduler final : public SchedulerLayer {
 public:
  explicit OrderedScheduler(std::unique_ptr<Scheduler> inner)
      : SchedulerLayer(std::move(inner)), orderer_(std::make_shared<ResponseOrderer>()) {}

  absl::Status Enqueue(RequestPtr* request) override;

 private:
  const std::shared_ptr<ResponseOrderer> orderer_;  // shared with the requests in flight
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_ORDERED_ORDERED_SCHEDULER_H_
