// SPDX-License-Identifier: Apache-2.0
#include "simulation/event_loop.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"

namespace nereid {

EventLoop::EventLoop(const CompiledModel& config, const std::vector<SimulatedRequest>& load,
                     MachineModel* machine, std::optional<ClosedLoop> clients)
    : config_(config), load_(load), machine_(machine), clients_(clients) {
  result_.requests.resize(load.size());
  if (clients_.has_value()) {
    arrivals_.resize(std::min(clients_->clients, load.size()), 1);
  } else {
    for (const SimulatedRequest& request : load) arrivals_.push_back(request.arrival_ns);
  }
}

absl::StatusOr<SimulationResult> EventLoop::Run(const SchedulerMaker& make) {
  ASSIGN_OR_RETURN(std::shared_ptr<const LoadShapes> shapes, LoadShapes::Make(config_, load_));
  node_ = std::make_unique<SimulatedNode>(
      SimulatedNode::Parts{&config_, &load_, std::move(shapes), machine_, &clock_, this});
  RETURN_IF_ERROR(node_->Start(make));
  const size_t most_stays = MostStays(load_.size());
  while (const std::optional<uint64_t> next = NextEvent()) {
    RETURN_IF_ERROR(clock_.GoTo(*next, most_stays));
    node_->Proceed();
    while (arrived_ < arrivals_.size() && arrivals_[arrived_] <= clock_.now_ns()) {
      node_->Arrive(static_cast<uint32_t>(arrived_++));
    }
    node_->LetInstancesLook();
  }
  stopping_ = true;
  node_->Stop();
  return std::move(result_);
}

std::optional<uint64_t> EventLoop::NextEvent() const {
  const std::optional<uint64_t> next = node_->NextEvent();
  if (arrived_ == arrivals_.size()) return next;
  return std::min(arrivals_[arrived_], next.value_or(arrivals_[arrived_]));
}

void EventLoop::OnBatch(SimulatedBatch batch) {
  for (const uint32_t number : batch.members) {
    result_.requests[number].batch = result_.batches.size();
  }
  result_.batches.push_back(std::move(batch));
}

void EventLoop::OnEnded(uint32_t number, FlightOutcome outcome) {
  result_.requests[number].outcome = outcome;
  result_.requests[number].ended_ns = clock_.now_ns();
  if (stopping_ || !clients_.has_value() || arrivals_.size() == load_.size()) return;
  arrivals_.push_back(clock_.now_ns() + static_cast<uint64_t>(clients_->pause.count()));
}

}  // namespace nereid
