#include "simulation/event_loop.h"

#include <absl/algorithm/container.h>
#include <absl/cleanup/cleanup.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "infer/infer_request.h"

namespace nereid {
namespace {

void KeepEarlier(std::optional<uint64_t> at, std::optional<uint64_t>* earliest) {
  if (at.has_value() && (!earliest->has_value() || *at < **earliest)) *earliest = at;
}

}  // namespace

Duration EventLoop::Instance::Execute(Batch batch) {
  SimulatedBatch simulated;
  simulated.pulled_ns = loop_->clock_.now_ns();
  simulated.instance = number_;
  simulated.why = batch.origin.why;
  for (const RequestPtr& request : batch) {
    request->lifecycle().MoveTo(RequestState::kExecuting, "").IgnoreError();
    if (request->is_filler()) {
      ++simulated.fillers;
      continue;
    }
    request->model()->statistics().AddPending(-1);
    const uint32_t number = RequestMaker::NumberOf(*request);
    simulated.members.push_back(number);
    simulated.units += request->units_in_batch();
    loop_->waiting_.erase(number);
    loop_->result_.requests[number].batch = loop_->result_.batches.size();
  }
  const Duration busy = std::max(Duration(0), loop_->machine_->BusyWith(simulated));
  ends_ns_ = simulated.pulled_ns + static_cast<uint64_t>(busy.count());
  simulated.ended_ns = ends_ns_;
  const Duration rest = std::max(Duration(0), loop_->machine_->RestAfter(simulated));
  free_ns_ = ends_ns_ + static_cast<uint64_t>(rest.count());
  loop_->result_.batches.push_back(std::move(simulated));
  batch_ = std::move(batch);
  return busy;
}

void EventLoop::Instance::Finish() {
  for (RequestPtr& request : batch_) {
    request->stream()->Send(nullptr, kResponseCompleteFinal).IgnoreError();
    request.reset();
  }
  batch_.clear();
  awake_ = true;
  idle_since_ = ++loop_->events_;
}

EventLoop::EventLoop(const CompiledModel& config, const std::vector<SimulatedRequest>& load,
                     MachineModel* machine, std::optional<ClosedLoop> clients)
    : load_(load),
      machine_(machine),
      clients_(clients),
      model_(std::make_shared<SimulatedModel>(config, &clock_)),
      requests_(model_, [this](uint32_t number, bool ok) { OnEnded(number, ok); }) {
  for (const InstanceSpec& spec : config.instances) {
    if (spec.passive) continue;
    const auto number = static_cast<uint32_t>(instances_.size());
    instances_.push_back(std::make_unique<Instance>(this, number));
  }
  result_.requests.resize(load.size());
  if (clients_.has_value()) {
    arrivals_.resize(std::min(clients_->clients, load.size()), 1);
  } else {
    for (const SimulatedRequest& request : load) arrivals_.push_back(request.arrival_ns);
  }
}

absl::StatusOr<SimulationResult> EventLoop::Run(const SchedulerMaker& make) {
  RETURN_IF_ERROR(requests_.Prepare(load_));
  RETURN_IF_ERROR(model_->UseScheduler(make));
  absl::Cleanup drop = [this] {
    stopping_ = true;
    for (const auto& instance : instances_) instance->Finish();
    model_->DropScheduler();
  };
  // A scheduler that wants to be asked at once, again and again, is broken.
  const size_t most_events_of_one_moment = 1000 + 4 * load_.size();
  size_t events = 0;
  while (const std::optional<uint64_t> next = NextEvent()) {
    events = *next > clock_.now_ns() ? 0 : events + 1;
    if (events > most_events_of_one_moment) {
      return absl::InternalError("the scheduler does not get beyond one moment");
    }
    clock_.Set(std::max(*next, clock_.now_ns()));
    Happen();
    LetInstancesLook();
  }
  std::move(drop).Invoke();
  return std::move(result_);
}

std::optional<uint64_t> EventLoop::NextEvent() const {
  std::optional<uint64_t> next;
  if (arrived_ < arrivals_.size()) next = arrivals_[arrived_];
  if (const auto call = timer_.NextCall(); call.has_value()) KeepEarlier(ToNanos(*call), &next);
  for (const auto& instance : instances_) {
    if (!instance->batch_.empty()) {
      KeepEarlier(instance->ends_ns_, &next);
    } else if (instance->free_ns_ > clock_.now_ns()) {
      KeepEarlier(instance->free_ns_, &next);
    } else {
      KeepEarlier(instance->look_ns_.has_value() ? instance->look_ns_ : instance->ask_ns_, &next);
    }
  }
  return next;
}

void EventLoop::Happen() {
  const uint64_t now = clock_.now_ns();
  for (const auto& instance : instances_) {
    if (!instance->batch_.empty() && instance->ends_ns_ <= now) instance->Finish();
  }
  timer_.MakeDueCalls();
  while (arrived_ < arrivals_.size() && arrivals_[arrived_] <= now) {
    Arrive(static_cast<uint32_t>(arrived_++));
  }
}

void EventLoop::Arrive(uint32_t number) {
  waiting_.insert(number);
  const absl::Status issued = requests_.Issue(number, load_[number], clock_.now_ns());
  if (issued.ok()) return;
  waiting_.erase(number);
  result_.requests[number].outcome = FlightOutcome::kRefused;
  result_.requests[number].ended_ns = clock_.now_ns();
  OnAnswered();
}

void EventLoop::OnAnswered() {
  if (stopping_ || !clients_.has_value() || arrivals_.size() == load_.size()) return;
  arrivals_.push_back(clock_.now_ns() + static_cast<uint64_t>(clients_->pause.count()));
}

void EventLoop::OnEnded(uint32_t number, bool ok) {
  waiting_.erase(number);
  SimulatedOutcome& request = result_.requests[number];
  // Instances succeed, so a request that fails was in none: its time in the queue was over, or it
  // is left when nothing happens any more.
  request.outcome = ok          ? FlightOutcome::kOk
                    : stopping_ ? FlightOutcome::kError
                                : FlightOutcome::kTimedOut;
  request.ended_ns = clock_.now_ns();
  OnAnswered();
}

void EventLoop::LetInstancesLook() {
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

bool EventLoop::IsAwaited(const Instance& instance) const {
  Scheduler& scheduler = model_->scheduler();
  return absl::c_any_of(instances_, [&](const auto& other) {
    return other.get() != &instance && other->look_ns_.has_value() &&
           scheduler.source(other->number_) == scheduler.source(instance.number_);
  });
}

bool EventLoop::Look(Instance* instance) {
  InstanceSource* const source = model_->scheduler().source(instance->number_);
  const uint64_t now = clock_.now_ns();
  instance->ask_ns_.reset();
  if (instance->free_ns_ > now) return false;
  // One that has just executed looks at once; one that sleeps has to be woken, if no other has been
  // woken for what is due.
  if (!std::exchange(instance->awake_, false) && !instance->look_ns_.has_value()) {
    if (IsAwaited(*instance)) return false;
    if (source->HasDue()) {
      std::optional<uint32_t> oldest;
      if (!waiting_.empty()) oldest = *waiting_.begin();
      instance->look_ns_ = machine_->LooksAt(now, oldest);
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
