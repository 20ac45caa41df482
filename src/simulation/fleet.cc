// SPDX-License-Identifier: Apache-2.0
#include "simulation/fleet.h"

#include <absl/algorithm/container.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/status_macros.h"
#include "simulation/preparation.h"
#include "simulation/simulated_clock.h"
#include "simulation/simulated_node.h"

namespace nereid {
namespace {

double Seconds(uint64_t ns) { return static_cast<double>(ns) * 1e-9; }

absl::Status CheckOptions(const CompiledModel& config, size_t requests,
                          const FleetOptions& options) {
  if (config.sequence.enabled) {
    return absl::InvalidArgumentError(
        absl::StrCat("model '", config.name,
                     "' serves sequences, which stay on one node; a fleet has no rule for that"));
  }
  if (requests > options.most_requests) {
    return absl::InvalidArgumentError(
        absl::StrCat("the load has ", requests, " requests; a fleet can be simulated with up to ",
                     options.most_requests));
  }
  const uint32_t most = options.autoscaler.has_value() ? options.autoscaler->most : options.nodes;
  if (options.nodes == 0 || most > FleetOptions::kMostNodes) {
    return absl::InvalidArgumentError(absl::StrCat("a fleet has 1 to ", FleetOptions::kMostNodes,
                                                   " nodes, not ", options.nodes, " to ", most));
  }
  if (options.make_machine == nullptr) {
    return absl::InvalidArgumentError("the nodes of a fleet have no machine");
  }
  if (!options.autoscaler.has_value()) return absl::OkStatus();
  RETURN_IF_ERROR(Autoscaler::Check(*options.autoscaler));
  if (options.nodes >= options.autoscaler->least && options.nodes <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("a fleet begins with ", options.nodes,
                                                 " nodes; its autoscaler allows ",
                                                 options.autoscaler->least, " to ", most));
}

class Fleet;

// A node of the fleet, from the decision to add it until it is gone.
class FleetNode final : private NodeListener {
 public:
  FleetNode(Fleet* fleet, uint32_t number_in, std::unique_ptr<MachineModel> machine)
      : number(number_in), fleet_(fleet), machine_(std::move(machine)) {}

  // Makes the scheduler, with which requests can be taken.
  absl::Status Start();
  bool started() const { return node_ != nullptr; }
  // REQUIRES: it is started.
  SimulatedNode& node() { return *node_; }

  const uint32_t number;
  uint64_t added_ns = 0;
  uint64_t ready_ns = 0;  // when it is, or will be
  bool draining = false;
  int32_t in_flight = 0;
  int32_t executing = 0;               // of these
  std::optional<uint64_t> next_event;  // as the fleet has noted it

 private:
  void OnBatch(SimulatedBatch batch) override;
  void OnEnded(uint32_t request, FlightOutcome outcome) override;

  Fleet* const fleet_;
  const std::unique_ptr<MachineModel> machine_;
  std::unique_ptr<SimulatedNode> node_;
};

class Fleet {
 public:
  Fleet(const CompiledModel& config, const std::vector<SimulatedRequest>& load,
        const FleetOptions& options)
      : config_(config),
        load_(load),
        options_(options),
        counts_queued_(options.autoscaler.has_value() &&
                       options.autoscaler->gauge == AutoscalerOptions::Gauge::kQueued) {
    result_.requests.resize(load.size());
    if (options.autoscaler.has_value()) scaler_.emplace(*options.autoscaler);
  }

  absl::StatusOr<FleetResult> Run();

 private:
  friend class FleetNode;

  std::optional<uint64_t> NextEvent() const;
  // What happens at one moment.
  absl::Status Happen();
  void Proceed();
  absl::Status StartDue();
  void Decide();
  void Arrive(uint32_t number);
  void LetNodesLook();

  FleetNode* Add();
  void TakeAway(uint32_t count);
  FleetNode* Choose();
  // Forgets a node without requests, and counts its time.
  void Remove(FleetNode* node);
  // Notes when something happens next on the node.
  void Note(FleetNode* node);
  void NoteCounts();
  // Requests on a node have become more or fewer.
  void Count(FleetNode* node, int32_t in_flight, int32_t executing);
  // Adds the time since the last moment to the integrals of the gauge.
  void Integrate();
  bool arriving() const { return arrived_ < load_.size(); }

  const CompiledModel& config_;
  const std::vector<SimulatedRequest>& load_;
  const FleetOptions& options_;
  std::optional<Autoscaler> scaler_;
  std::shared_ptr<const LoadShapes> shapes_;
  SimulatedClock clock_;
  std::vector<FleetNode*> ready_;                // by number
  std::vector<FleetNode*> starting_;             // by number
  std::set<std::pair<uint64_t, uint32_t>> due_;  // next events and their nodes
  std::set<uint32_t> touched_;                   // nodes on which something happens now
  uint32_t added_ = 0;
  size_t turn_ = 0;  // of the balancer
  size_t arrived_ = 0;
  int64_t in_flight_ = 0;
  uint64_t decision_ns_ = 0;
  const bool counts_queued_;  // the gauge
  int64_t gauge_ = 0;         // of all ready nodes together
  // Since the last decision: requests times nanoseconds on ready nodes, and their nanoseconds.
  double gauge_area_ = 0;
  double ready_area_ = 0;
  uint64_t integrated_ns_ = 1;
  FleetResult result_;
  std::map<uint32_t, std::unique_ptr<FleetNode>> nodes_;  // by number; last: tell of their end
};

absl::Status FleetNode::Start() {
  node_ = std::make_unique<SimulatedNode>(SimulatedNode::Parts{
      &fleet_->config_, &fleet_->load_, fleet_->shapes_, machine_.get(), &fleet_->clock_, this});
  return node_->Start(RealScheduler(&fleet_->clock_, [this] { return node_->timer(); }));
}

void FleetNode::OnBatch(SimulatedBatch batch) {
  fleet_->Count(this, 0, static_cast<int32_t>(batch.members.size()));
  ++fleet_->result_.executions;
  fleet_->result_.executed += batch.members.size();
  fleet_->result_.busy_seconds += Seconds(batch.ended_ns - batch.pulled_ns);
}

void FleetNode::OnEnded(uint32_t request, FlightOutcome outcome) {
  fleet_->Count(this, -1, outcome == FlightOutcome::kOk ? -1 : 0);
  fleet_->result_.requests[request] = {outcome, number, fleet_->clock_.now_ns()};
}

absl::StatusOr<FleetResult> Fleet::Run() {
  ASSIGN_OR_RETURN(shapes_, LoadShapes::Make(config_, load_));
  decision_ns_ = 1;
  if (scaler_.has_value())
    decision_ns_ += static_cast<uint64_t>(options_.autoscaler->interval.count());
  for (uint32_t i = 0; i < options_.nodes; ++i) {
    FleetNode* const node = Add();
    node->ready_ns = 1;
  }
  RETURN_IF_ERROR(StartDue());
  const size_t most_stays = MostStays(load_.size());
  while (const std::optional<uint64_t> next = NextEvent()) {
    RETURN_IF_ERROR(clock_.GoTo(*next, most_stays));
    RETURN_IF_ERROR(Happen());
  }
  result_.ended_ns = clock_.now_ns();
  // Requests that are left over end, which is no answer.
  for (auto& [number, node] : nodes_) {
    if (node->started()) node->node().Stop();
  }
  while (!nodes_.empty()) Remove(nodes_.begin()->second.get());
  return std::move(result_);
}

std::optional<uint64_t> Fleet::NextEvent() const {
  std::optional<uint64_t> next;
  const auto keep_earlier = [&next](uint64_t at) { next = std::min(at, next.value_or(at)); };
  if (!due_.empty()) keep_earlier(due_.begin()->first);
  if (!arriving()) return next;
  keep_earlier(load_[arrived_].arrival_ns);
  // Nobody waits for nodes, or decides about them, when the last request has come.
  if (!starting_.empty()) keep_earlier(starting_.front()->ready_ns);
  if (scaler_.has_value()) keep_earlier(decision_ns_);
  return next;
}

absl::Status Fleet::Happen() {
  Integrate();
  Proceed();
  if (arriving()) {
    RETURN_IF_ERROR(StartDue());
    if (scaler_.has_value() && decision_ns_ <= clock_.now_ns()) Decide();
  }
  while (arriving() && load_[arrived_].arrival_ns <= clock_.now_ns()) {
    Arrive(static_cast<uint32_t>(arrived_++));
  }
  LetNodesLook();
  NoteCounts();
  return absl::OkStatus();
}

void Fleet::Proceed() {
  while (!due_.empty() && due_.begin()->first <= clock_.now_ns()) {
    touched_.insert(due_.begin()->second);
    nodes_.at(due_.begin()->second)->next_event.reset();
    due_.erase(due_.begin());
  }
  for (const uint32_t number : touched_) nodes_.at(number)->node().Proceed();
}

absl::Status Fleet::StartDue() {
  size_t started = 0;
  while (started < starting_.size() && starting_[started]->ready_ns <= clock_.now_ns()) {
    RETURN_IF_ERROR(starting_[started]->Start());
    ready_.push_back(starting_[started++]);
  }
  starting_.erase(starting_.begin(), starting_.begin() + static_cast<std::ptrdiff_t>(started));
  if (result_.counts.empty()) NoteCounts();
  return absl::OkStatus();
}

void Fleet::Decide() {
  FleetSight sight;
  sight.ready = static_cast<uint32_t>(ready_.size());
  sight.starting = static_cast<uint32_t>(starting_.size());
  sight.gauge = ready_area_ > 0 ? gauge_area_ / ready_area_ : 0;
  gauge_area_ = ready_area_ = 0;
  decision_ns_ += static_cast<uint64_t>(options_.autoscaler->interval.count());
  const uint32_t now = sight.ready + sight.starting;
  const uint32_t wanted = scaler_->Decide(clock_.now_ns(), sight);
  for (uint32_t i = now; i < wanted; ++i) Add();
  if (wanted < now) TakeAway(now - wanted);
}

FleetNode* Fleet::Add() {
  const uint32_t number = added_++;
  auto node = std::make_unique<FleetNode>(this, number, options_.make_machine());
  node->added_ns = clock_.now_ns();
  node->ready_ns = clock_.now_ns() + static_cast<uint64_t>(options_.start.count());
  starting_.push_back(node.get());
  return (nodes_[number] = std::move(node)).get();
}

void Fleet::TakeAway(uint32_t count) {
  for (; count > 0 && !starting_.empty(); --count) {
    FleetNode* const node = starting_.back();
    starting_.pop_back();
    Remove(node);
  }
  for (; count > 0; --count) {
    FleetNode* const node = ready_.back();
    ready_.pop_back();
    gauge_ -= node->in_flight - (counts_queued_ ? node->executing : 0);
    node->draining = true;
    touched_.insert(node->number);  // goes at once if it has nothing
  }
}

FleetNode* Fleet::Choose() {
  const size_t count = ready_.size();
  size_t chosen = turn_ % count;
  if (options_.balancer == Balancer::kLeastInFlight) {
    for (size_t i = 1; i < count; ++i) {
      const size_t other = (turn_ + i) % count;
      if (ready_[other]->in_flight < ready_[chosen]->in_flight) chosen = other;
    }
  }
  turn_ = chosen + 1;
  return ready_[chosen];
}

void Fleet::Arrive(uint32_t number) {
  if (in_flight_ >= static_cast<int64_t>(options_.most_in_flight)) {
    result_.requests[number] = {FlightOutcome::kRefused, 0, clock_.now_ns()};
    return;
  }
  FleetNode* const node = Choose();
  Count(node, 1, 0);
  touched_.insert(node->number);
  node->node().Arrive(number);
}

void Fleet::LetNodesLook() {
  for (const uint32_t number : std::exchange(touched_, {})) {
    FleetNode* const node = nodes_.at(number).get();
    node->node().LetInstancesLook();
    if (node->draining && node->in_flight == 0) {
      Remove(node);
    } else {
      Note(node);
    }
  }
}

void Fleet::Note(FleetNode* node) {
  if (node->next_event.has_value()) due_.erase({*node->next_event, node->number});
  node->next_event = node->node().NextEvent();
  if (node->next_event.has_value()) due_.emplace(*node->next_event, node->number);
}

void Fleet::Remove(FleetNode* node) {
  if (node->next_event.has_value()) due_.erase({*node->next_event, node->number});
  const uint64_t now = clock_.now_ns();
  result_.node_seconds += Seconds(now - node->added_ns);
  if (node->started()) {
    result_.instance_seconds +=
        Seconds(now - node->ready_ns) * static_cast<double>(node->node().instances());
  }
  nodes_.erase(node->number);
}

void Fleet::NoteCounts() {
  NodeCount count;
  count.at_ns = clock_.now_ns();
  count.ready = static_cast<uint32_t>(ready_.size());
  count.starting = static_cast<uint32_t>(starting_.size());
  count.draining = static_cast<uint32_t>(nodes_.size()) - count.ready - count.starting;
  if (!result_.counts.empty()) {
    const NodeCount& before = result_.counts.back();
    if (before.ready == count.ready && before.starting == count.starting &&
        before.draining == count.draining) {
      return;
    }
  }
  result_.counts.push_back(count);
}

void Fleet::Count(FleetNode* node, int32_t in_flight, int32_t executing) {
  node->in_flight += in_flight;
  node->executing += executing;
  in_flight_ += in_flight;
  if (!node->draining) gauge_ += in_flight - (counts_queued_ ? executing : 0);
}

void Fleet::Integrate() {
  const uint64_t now = clock_.now_ns();
  const auto passed = static_cast<double>(now - std::exchange(integrated_ns_, now));
  gauge_area_ += passed * static_cast<double>(gauge_);
  ready_area_ += passed * static_cast<double>(ready_.size());
}

}  // namespace

absl::StatusOr<FleetResult> SimulateFleet(const CompiledModel& config,
                                          const std::vector<SimulatedRequest>& load,
                                          const FleetOptions& options) {
  RETURN_IF_ERROR(CheckSimulated(config));
  RETURN_IF_ERROR(CheckArrivals(load));
  RETURN_IF_ERROR(CheckOptions(config, load.size(), options));
  const CompiledModel uncached = Uncached(config);
  return Fleet(uncached, load, options).Run();
}

}  // namespace nereid
