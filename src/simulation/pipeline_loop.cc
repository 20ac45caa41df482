// SPDX-License-Identifier: Apache-2.0
#include "simulation/pipeline_loop.h"

#include <absl/algorithm/container.h>

#include <algorithm>

#include "base/status_macros.h"
#include "simulation/preparation.h"

namespace nereid {

// A model with the requests of its steps. Their numbers: all of the first step, then all of the
// next one.
class PipelineLoop::Member final : private NodeListener {
 public:
  Member(PipelineLoop* loop, size_t model) : loop_(loop) {
    const std::vector<PipelineStep>& steps = loop->pipeline_.steps;
    for (size_t step = 0; step < steps.size(); ++step) {
      if (steps[step].model == model) steps_.push_back(step);
    }
    for (const SimulatedRequest& request : loop->load_) {
      SimulatedRequest& of_step = load_.emplace_back();
      of_step.batch_size = request.batch_size;
      of_step.priority = request.priority;
      of_step.timeout_us = request.timeout_us;
      of_step.shapes = request.shapes;
    }
    const std::vector<SimulatedRequest> of_one = load_;
    for (size_t i = 1; i < steps_.size(); ++i) {
      load_.insert(load_.end(), of_one.begin(), of_one.end());
    }
  }

  absl::Status Start(const CompiledModel& config, MachineModel* machine) {
    config_ = Uncached(config);
    ASSIGN_OR_RETURN(std::shared_ptr<const LoadShapes> shapes, LoadShapes::Make(config_, load_));
    node_ = std::make_unique<SimulatedNode>(
        SimulatedNode::Parts{&config_, &load_, std::move(shapes), machine, &loop_->clock_, this});
    return node_->Start(RealScheduler(&loop_->clock_, [this] { return node_->timer(); }));
  }

  SimulatedNode& node() { return *node_; }
  const SimulatedNode& node() const { return *node_; }

  void Arrive(const Arrival& arrival) {
    const auto place = static_cast<size_t>(absl::c_find(steps_, arrival.step) - steps_.begin());
    node_->Arrive(static_cast<uint32_t>(place * loop_->load_.size()) + arrival.request);
  }

 private:
  void OnBatch(SimulatedBatch) override {}
  void OnEnded(uint32_t number, FlightOutcome outcome) override {
    const size_t requests = loop_->load_.size();
    loop_->StepEnded(steps_[number / requests], static_cast<uint32_t>(number % requests), outcome);
  }

  PipelineLoop* const loop_;
  CompiledModel config_;
  std::vector<size_t> steps_;
  std::vector<SimulatedRequest> load_;
  std::unique_ptr<SimulatedNode> node_;
};

PipelineLoop::PipelineLoop(const Pipeline& pipeline, const PipelineMachines& machines,
                           const std::optional<ClosedLoop>& clients,
                           const std::vector<SimulatedRequest>& load)
    : pipeline_(pipeline), machines_(machines), clients_(clients), load_(load) {
  result_.requests.resize(load.size());
  progress_.resize(load.size());
  steps_after_.resize(pipeline.steps.size());
  for (size_t step = 0; step < pipeline.steps.size(); ++step) {
    for (const size_t before : pipeline.steps[step].after) steps_after_[before].push_back(step);
  }
  if (clients_.has_value()) {
    arrivals_.resize(std::min(clients_->clients, load.size()), 1);
  } else {
    for (const SimulatedRequest& request : load) arrivals_.push_back(request.arrival_ns);
  }
}

PipelineLoop::~PipelineLoop() { stopping_ = true; }

absl::Status PipelineLoop::StartMembers() {
  for (size_t model = 0; model < pipeline_.models.size(); ++model) {
    members_.push_back(std::make_unique<Member>(this, model));
    RETURN_IF_ERROR(members_.back()->Start(pipeline_.models[model], machines_.models[model]));
  }
  return absl::OkStatus();
}

absl::StatusOr<SimulationResult> PipelineLoop::Run() {
  RETURN_IF_ERROR(StartMembers());
  const size_t most_stays = MostStays(load_.size() * pipeline_.steps.size());
  while (const std::optional<uint64_t> next = NextEvent()) {
    RETURN_IF_ERROR(clock_.GoTo(*next, most_stays));
    Proceed();
  }
  stopping_ = true;
  for (const auto& member : members_) member->node().Stop();
  return std::move(result_);
}

std::optional<uint64_t> PipelineLoop::NextEvent() const {
  std::optional<uint64_t> next;
  const auto keep = [&next](uint64_t at) { next = std::min(at, next.value_or(at)); };
  for (const auto& member : members_) {
    if (const std::optional<uint64_t> at = member->node().NextEvent()) keep(*at);
  }
  if (!held_up_.empty()) keep(held_up_.front().first);
  if (arrived_ < arrivals_.size()) keep(arrivals_[arrived_]);
  return next;
}

void PipelineLoop::Proceed() {
  for (const auto& member : members_) member->node().Proceed();
  Admit();
  while (!ready_.empty()) {
    const Arrival arrival = ready_.front();
    ready_.pop_front();
    members_[pipeline_.steps[arrival.step].model]->Arrive(arrival);
  }
  for (const auto& member : members_) member->node().LetInstancesLook();
}

void PipelineLoop::Admit() {
  while (arrived_ < arrivals_.size() && arrivals_[arrived_] <= clock_.now_ns()) {
    uint64_t at = machines_.entry->QueuesAt(clock_.now_ns());
    if (!held_up_.empty()) at = std::max(at, held_up_.back().first);
    held_up_.emplace_back(at, static_cast<uint32_t>(arrived_++));
  }
  while (!held_up_.empty() && held_up_.front().first <= clock_.now_ns()) {
    Begin(held_up_.front().second);
    held_up_.pop_front();
  }
}

void PipelineLoop::Begin(uint32_t request) {
  Progress& progress = progress_[request];
  progress.left = pipeline_.steps.size();
  for (size_t step = 0; step < pipeline_.steps.size(); ++step) {
    progress.missing.push_back(pipeline_.steps[step].after.size());
    if (progress.missing.back() == 0) ready_.push_back({step, request});
  }
}

void PipelineLoop::StepEnded(size_t step, uint32_t request, FlightOutcome outcome) {
  if (stopping_) return;
  Progress& progress = progress_[request];
  if (progress.left == 0) return;  // another step has failed
  if (outcome != FlightOutcome::kOk) {
    progress.left = 0;
    return RequestEnded(request, outcome);
  }
  for (const size_t next : steps_after_[step]) {
    if (--progress.missing[next] == 0) ready_.push_back({next, request});
  }
  if (--progress.left == 0) RequestEnded(request, FlightOutcome::kOk);
}

void PipelineLoop::RequestEnded(uint32_t request, FlightOutcome outcome) {
  SimulatedOutcome& ended = result_.requests[request];
  ended.outcome = outcome;
  ended.ended_ns = clock_.now_ns();
  if (outcome == FlightOutcome::kOk) ended.batch = 0;
  if (!clients_.has_value() || arrivals_.size() == load_.size()) return;
  arrivals_.push_back(clock_.now_ns() + static_cast<uint64_t>(clients_->pause.count()));
}

}  // namespace nereid
