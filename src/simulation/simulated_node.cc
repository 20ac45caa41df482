// SPDX-License-Identifier: Apache-2.0
#include "simulation/simulated_node.h"

#include <absl/algorithm/container.h>

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "infer/infer_request.h"
#include "infer/response.h"

namespace nereid {
namespace {

void KeepEarlier(std::optional<uint64_t> at, std::optional<uint64_t>* earliest) {
  if (at.has_value() && (!earliest->has_value() || *at < **earliest)) *earliest = at;
}

}  // namespace

Duration SimulatedNode::Instance::Execute(Batch batch) {
  SimulatedBatch simulated;
  simulated.pulled_ns = node_->clock_->now_ns();
  simulated.instance = number_;
  simulated.why = batch.origin.why;
  for (const RequestPtr& request : batch) {
    request->lifecycle().MoveTo(RequestState::kExecuting, "").IgnoreError();
    if (request->is_synthetic()) {
      ++simulated.fillers;
      continue;
    }
    request->model()->statistics().AddPending(-1);
    const uint32_t number = RequestMaker::NumberOf(*request);
    simulated.members.push_back(number);
    simulated.units += request->units_in_batch();
    node_->waiting_.erase(number);
  }
  const Duration busy = std::max(Duration(0), node_->machine_->BusyWith(simulated));
  ends_ns_ = simulated.pulled_ns + static_cast<uint64_t>(busy.count());
  simulated.ended_ns = ends_ns_;
  const Duration rest = std::max(Duration(0), node_->machine_->RestAfter(simulated));
  free_ns_ = ends_ns_ + static_cast<uint64_t>(rest.count());
  node_->listener_->OnBatch(std::move(simulated));
  batch_ = std::move(batch);
  return busy;
}

void SimulatedNode::Instance::Finish() {
  for (RequestPtr& request : batch_) {
    request->stream()->Send(nullptr, kResponseCompleteFinal).IgnoreError();
    request.reset();
  }
  batch_.clear();
  awake_ = true;
  idle_since_ = ++node_->events_;
}

SimulatedNode::SimulatedNode(const Parts& parts)
    : load_(*parts.load),
      machine_(parts.machine),
      clock_(parts.clock),
      listener_(parts.listener),
      timer_(parts.clock, Timer::Calls::kByOwner),
      model_(std::make_shared<SimulatedModel>(*parts.config, parts.clock)),
      requests_(model_, parts.shapes, [this](uint32_t number, bool ok) { OnEnded(number, ok); }) {
  for (const InstanceSpec& spec : parts.config->instances) {
    if (spec.passive) continue;
    const auto number = static_cast<uint32_t>(instances_.size());
    instances_.push_back(std::make_unique<Instance>(this, number));
  }
}

SimulatedNode::~SimulatedNode() { Stop(); }

absl::Status SimulatedNode::Start(const SchedulerMaker& make) {
  RETURN_IF_ERROR(model_->UseScheduler(make));
  started_ = true;
  return absl::OkStatus();
}

void SimulatedNode::Stop() {
  stopping_ = true;
  if (!std::exchange(started_, false)) return;
  for (const auto& instance : instances_) instance->Finish();
  model_->DropScheduler();
}

std::optional<uint64_t> SimulatedNode::NextEvent() const {
  std::optional<uint64_t> next;
  if (const auto call = timer_.NextCall(); call.has_value()) KeepEarlier(ToNanos(*call), &next);
  if (!held_up_.empty()) KeepEarlier(held_up_.front().first, &next);
  for (const auto& instance : instances_) {
    if (!instance->batch_.empty()) {
      KeepEarlier(instance->ends_ns_, &next);
    } else if (instance->free_ns_ > clock_->now_ns()) {
      KeepEarlier(instance->free_ns_, &next);
    } else {
      KeepEarlier(instance->look_ns_.has_value() ? instance->look_ns_ : instance->ask_ns_, &next);
    }
  }
  return next;
}

void SimulatedNode::Proceed() {
  for (const auto& instance : instances_) {
    if (!instance->batch_.empty() && instance->ends_ns_ <= clock_->now_ns()) instance->Finish();
  }
  timer_.MakeDueCalls();
  while (!held_up_.empty() && held_up_.front().first <= clock_->now_ns()) {
    Queue(held_up_.front().second);
    held_up_.pop_front();
  }
}

void SimulatedNode::Arrive(uint32_t number) {
  uint64_t at = machine_->QueuesAt(clock_->now_ns());
  if (!held_up_.empty()) at = std::max(at, held_up_.back().first);
  if (at > clock_->now_ns()) {
    held_up_.emplace_back(at, number);
  } else {
    Queue(number);
  }
}

void SimulatedNode::Queue(uint32_t number) {
  waiting_.insert(number);
  const absl::Status issued = requests_.Issue(number, load_[number], clock_->now_ns());
  if (issued.ok()) return;
  waiting_.erase(number);
  listener_->OnEnded(number, FlightOutcome::kRefused);
}

void SimulatedNode::OnEnded(uint32_t number, bool ok) {
  waiting_.erase(number);
  // Instances succeed, so a request that fails was in none: its time in the queue was over, or it
  // is left when nothing happens any more.
  listener_->OnEnded(number, ok          ? FlightOutcome::kOk
                             : stopping_ ? FlightOutcome::kError
                                         : FlightOutcome::kTimedOut);
}

void SimulatedNode::LetInstancesLook() {
  bool taken = true;
  while (taken) {
    // Those that have looked first, then the one that became idle last, as real instances do.
    std::vector<Instance*> idle;
    for (const auto& instance : instances_) {
      if (instance->batch_.empty()) idle.push_back(instance.get());
    }
    absl::c_sort(idle, [](const Instance* a, const Instance* b) {
      return std::make_pair(!a->look_ns_.has_value(), ~a->idle_since_) <
             std::make_pair(!b->look_ns_.has_value(), ~b->idle_since_);
    });
    taken = false;
    for (Instance* const instance : idle) taken |= Look(instance);
  }
}

bool SimulatedNode::IsAwaited(const Instance& instance) const {
  Scheduler& scheduler = model_->scheduler();
  return absl::c_any_of(instances_, [&](const auto& other) {
    return other.get() != &instance && other->look_ns_.has_value() &&
           scheduler.source(other->number_) == scheduler.source(instance.number_);
  });
}

std::optional<uint32_t> SimulatedNode::FirstWaiting() const {
  if (waiting_.empty()) return std::nullopt;
  const BatchingOptions& batching = model_->config().batching;
  if (batching.priority_levels == 0) return *waiting_.begin();
  // Of equal levels the first one, which has come first.
  return *absl::c_min_element(waiting_, [&](uint32_t a, uint32_t b) {
    return batching.LevelOf(load_[a].priority) < batching.LevelOf(load_[b].priority);
  });
}

bool SimulatedNode::Look(Instance* instance) {
  InstanceSource* const source = model_->scheduler().source(instance->number_);
  const uint64_t now = clock_->now_ns();
  instance->ask_ns_.reset();
  if (instance->free_ns_ > now) return false;
  // One that has just executed looks at once; one that sleeps has to be woken, if no other has been
  // woken for what is due.
  if (!std::exchange(instance->awake_, false) && !instance->look_ns_.has_value()) {
    if (IsAwaited(*instance)) return false;
    if (source->HasDue()) {
      instance->look_ns_ = machine_->LooksAt(now, FirstWaiting());
    }
  }
  if (instance->look_ns_.value_or(0) > now) return false;
  instance->look_ns_.reset();
  std::optional<TimePoint> wake_at;
  std::optional<Batch> batch =
      source->PullNow(instance, std::exchange(instance->took_, std::nullopt), &wake_at);
  if (!batch.has_value()) {
    if (wake_at.has_value()) instance->ask_ns_ = ToNanos(*wake_at);
    return false;
  }
  instance->took_ = instance->Execute(*std::move(batch));
  return true;
}

}  // namespace nereid
