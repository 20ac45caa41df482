// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/demand/model_demand.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "base/log.h"
#include "base/retry_after.h"
#include "base/threads/thread.h"

namespace nereid {
namespace {

// How often the thread looks while something waits for room, and otherwise.
constexpr std::chrono::milliseconds kSoon(10);
constexpr std::chrono::milliseconds kSeldom(500);
// A failed load is not repeated before this time, or as long as the load took if that is longer.
constexpr std::chrono::seconds kAfterFailure(5);
// A model waits at least so long for the client that has asked for it to come again.
constexpr std::chrono::seconds kForItsClient(2);
// What a model counts at least: it needs some memory, even if the process has not grown.
constexpr uint64_t kLeastBytes = uint64_t{64} << 10;
// How often footprints are written at most.
constexpr std::chrono::seconds kBetweenWrites(5);
// More models cannot wait at a time.
constexpr size_t kMostWaiting = 10'000;

uint32_t SecondsOf(Duration time) {
  const auto whole = std::chrono::ceil<std::chrono::seconds>(time).count();
  return static_cast<uint32_t>(std::clamp<int64_t>(whole, 1, 3600));
}

std::string_view View(absl::string_view text) { return {text.data(), text.size()}; }

}  // namespace

ModelDemand::ModelDemand(Options options, Clock* clock, DemandedModels* models)
    : options_(std::move(options)), clock_(clock), models_(models) {
  Remember();
}

ModelDemand::~ModelDemand() {
  Stop(TimePoint::min());
  if (thread_.joinable()) thread_.join();
}

void ModelDemand::Start() {
  Scan(clock_->Now());
  {
    MutexLock lock(&mu_);
    running_ = true;
  }
  thread_ = StartThread({.name = "model demand", .background = true}, [this] { Run(); });
}

bool ModelDemand::Stop(TimePoint deadline) {
  EndWaits();
  MutexLock lock(&mu_);
  stopped_ = true;
  changed_.NotifyAll();
  while (running_ && clock_->Now() < deadline) clock_->Wait(&changed_, &mu_, deadline);
  return !running_;
}

void ModelDemand::Run() {
  while (true) {
    TimePoint next = clock_->Now() + kSeldom;
    try {
      next = Step();
    } catch (const std::exception& e) {  // no memory: the next step tries again
      LOG_ERROR << "failed to load models on demand: " << e.what();
    }
    MutexLock lock(&mu_);
    while (!stopped_ && !woken_ && clock_->Now() < next) clock_->Wait(&changed_, &mu_, next);
    woken_ = false;
    if (stopped_) break;
  }
  Keep(/*at_once=*/true);
  MutexLock lock(&mu_);
  running_ = false;
  changed_.NotifyAll();
}

void ModelDemand::Wake() {
  woken_ = true;
  changed_.NotifyAll();
}

// ---- Requests

const ModelDemand::Failure* ModelDemand::FailureOf(std::string_view name, TimePoint now) const {
  const auto failure = failures_.find(name);
  return failure == failures_.end() || failure->second.again_at <= now ? nullptr : &failure->second;
}

bool ModelDemand::IsWanted(std::string_view name) const {
  {
    MutexLock lock(&mu_);
    if (stopped_ || !known_.contains(name)) return false;
  }
  return !models_->Look(std::string(name)).serves;
}

bool ModelDemand::Demand(std::string_view name, TimePoint now) {
  if (is_waiting_.contains(name) || loading_.contains(name)) return true;
  if (waiting_.size() >= kMostWaiting) return false;
  is_waiting_.emplace(name);
  waiting_.push_back({std::string(name), now});
  Wake();
  return true;
}

std::optional<absl::Status> ModelDemand::Ask(absl::string_view name) {
  const std::string_view key = View(name);
  const TimePoint now = clock_->Now();
  if (!IsWanted(key)) return std::nullopt;
  MutexLock lock(&mu_);
  if (const Failure* const failure = FailureOf(key, now); failure != nullptr) {
    return WithRetryAfter(failure->status, SecondsOf(failure->again_at - now));
  }
  const auto took = load_times_.find(key);
  const uint32_t seconds = took == load_times_.end() ? 1 : SecondsOf(took->second);
  if (!Demand(key, now)) {
    return WithRetryAfter(
        absl::UnavailableError(
            absl::StrCat("more than ", kMostWaiting, " models wait to be loaded: try again later")),
        seconds);
  }
  const absl::Status error = absl::UnavailableError(absl::StrCat(
      "model '", name, "' is being loaded, because it is asked for: try again in ", seconds, " s"));
  return WithAwaitedModel(WithRetryAfter(error, seconds), name);
}

bool ModelDemand::Await(absl::string_view name, TimePoint until, std::function<void()> resume) {
  const std::string_view key = View(name);
  const TimePoint now = clock_->Now();
  if (now >= until || !IsWanted(key)) return false;
  MutexLock lock(&mu_);
  if (waits_ended_ || FailureOf(key, now) != nullptr || !Demand(key, now)) return false;
  waiters_[std::string(key)].push_back({until, std::move(resume)});
  return true;
}

void ModelDemand::EndWaits() {
  std::map<std::string, std::vector<Waiter>, std::less<>> waiters;
  {
    MutexLock lock(&mu_);
    waits_ended_ = true;
    waiters.swap(waiters_);
  }
  for (const auto& [name, requests] : waiters) {
    for (const Waiter& waiter : requests) waiter.resume();
  }
}

bool ModelDemand::CanServe(absl::string_view name) const {
  const TimePoint now = clock_->Now();
  MutexLock lock(&mu_);
  return known_.contains(View(name)) && FailureOf(View(name), now) == nullptr;
}

void ModelDemand::Pin(const std::string& name, uint64_t before) {
  const TimePoint now = clock_->Now();
  MutexLock lock(&mu_);
  load_ends_.push_back({name, absl::OkStatus(), now, /*pins=*/true, before});
  Wake();
}

void ModelDemand::Unpin(const std::string& name) {
  MutexLock lock(&mu_);
  for (LoadEnd& end : load_ends_) {
    if (end.name == name) end.pins = false;
  }
  const auto found = residents_.find(name);
  if (found != residents_.end()) found->second.pinned = false;
}

// ---- Footprints

void ModelDemand::Remember() {
  if (options_.footprints_file.empty()) return;
  absl::StatusOr<Footprints> kept = ReadFootprints(options_.footprints_file);
  if (kept.ok()) {
    MutexLock lock(&mu_);
    footprints_ = *std::move(kept);
  } else if (!absl::IsNotFound(kept.status())) {
    LOG_WARNING << "footprints of models are measured anew: " << kept.status().message();
  }
}

void ModelDemand::Keep(bool at_once) {
  if (options_.footprints_file.empty()) return;
  const TimePoint now = clock_->Now();
  Footprints footprints;
  {
    MutexLock lock(&mu_);
    if (!footprints_changed_ || (now < keep_at_ && !at_once)) return;
    footprints_changed_ = false;
    keep_at_ = now + kBetweenWrites;
    footprints = footprints_;
  }
  const absl::Status written = WriteFootprints(options_.footprints_file, footprints);
  if (!written.ok()) {
    LOG_WARNING << "footprints of models are not kept for the next start: " << written.message();
  }
}

bool ModelDemand::ForgetIfChanged(const std::string& name) {
  const std::string stamp = models_->Stamp(name);
  MutexLock lock(&mu_);
  const auto known = footprints_.find(name);
  if (known == footprints_.end() || known->second.stamp == stamp) return false;
  footprints_.erase(known);
  return true;
}

// ---- Reports

std::optional<uint64_t> ModelDemand::FootprintOf(absl::string_view name) const {
  MutexLock lock(&mu_);
  const auto found = footprints_.find(View(name));
  if (found == footprints_.end()) return std::nullopt;
  return found->second.bytes;
}

ModelDemand::Numbers ModelDemand::Count() const {
  MutexLock lock(&mu_);
  Numbers numbers = counted_;
  numbers.models = residents_.size();
  for (const auto& [name, resident] : residents_) numbers.bytes += resident.bytes;
  numbers.waiting = waiting_.size() + loading_.size();
  for (const auto& [name, requests] : waiters_) numbers.waiting_requests += requests.size();
  return numbers;
}

// ---- The thread

TimePoint ModelDemand::Step() {
  const TimePoint now = clock_->Now();
  Scan(now);
  TakeLoadEnds();
  MemoryState state = Look(now);
  if (options_.idle_limit > Duration(0)) {
    Unload(DecideIdle(state, options_.idle_limit, now), "nobody has used it for long",
           &Numbers::idle_unloads, &state);
  }
  Unload(DecideTrim(state, now), "the memory budget is exceeded", &Numbers::evictions, &state);
  const TimePoint again_at = BeginLoads(now, &state);
  Keep(/*at_once=*/false);
  return std::min(again_at, ResumeWaiters(now));
}

uint64_t ModelDemand::Measure() {
  const uint64_t bytes = models_->ResidentBytes();
  measured_.store(bytes, std::memory_order_relaxed);
  return bytes;
}

TimePoint ModelDemand::ResumeWaiters(TimePoint now) {
  std::vector<std::string> names;
  {
    MutexLock lock(&mu_);
    for (const auto& [name, requests] : waiters_) names.push_back(name);
  }
  TimePoint again_at = TimePoint::max();
  std::vector<Waiter> over;
  for (const std::string& name : names) {
    const bool serves = models_->Look(name).serves;
    MutexLock lock(&mu_);
    const auto found = waiters_.find(name);
    if (found == waiters_.end()) continue;  // EndWaits was called
    const bool comes = is_waiting_.contains(name) || loading_.contains(name);
    std::vector<Waiter> stay;
    for (Waiter& waiter : found->second) {
      const bool waits = !serves && comes && now < waiter.until;
      if (waits) again_at = std::min(again_at, waiter.until);
      (waits ? stay : over).push_back(std::move(waiter));
    }
    found->second = std::move(stay);
    if (found->second.empty()) waiters_.erase(found);
  }
  for (const Waiter& waiter : over) waiter.resume();
  return again_at;
}

void ModelDemand::Scan(TimePoint now) {
  {
    MutexLock lock(&mu_);
    if (now < next_scan_) return;
    next_scan_ = now + options_.scan_interval;
  }
  const std::set<std::string> names = models_->Names();
  Measure();
  MutexLock lock(&mu_);
  known_ = {names.begin(), names.end()};
  std::erase_if(failures_, [now](const auto& entry) { return entry.second.again_at <= now; });
}

void ModelDemand::TakeLoadEnds() {
  std::vector<LoadEnd> ends;
  {
    MutexLock lock(&mu_);
    ends.swap(load_ends_);
  }
  if (ends.empty()) return;
  const uint64_t resident = Measure();
  for (const LoadEnd& end : ends) {
    const DemandedModels::Use use = models_->Look(end.name);
    std::string stamp = models_->Stamp(end.name);
    MutexLock lock(&mu_);
    TakeLoadEnd(end, use, std::move(stamp), resident);
  }
}

void ModelDemand::TakeFailure(const LoadEnd& end, Duration took) {
  ++counted_.failed_loads;
  failures_[end.name] = {absl::UnavailableError(absl::StrCat(
                             "model '", end.name, "' cannot be loaded: ", end.status.message())),
                         end.at + std::max<Duration>(took, kAfterFailure)};
}

void ModelDemand::TakeLoadEnd(const LoadEnd& end, const DemandedModels::Use& use, std::string stamp,
                              uint64_t resident) {
  Loading loading{end.at, 0, end.before, /*alone=*/loading_.empty()};
  const auto begun = loading_.find(end.name);
  if (begun != loading_.end() && !end.pins) {
    loading = begun->second;
    loading_.erase(begun);
    if (!end.status.ok()) return TakeFailure(end, end.at - loading.begun);
    ++counted_.loads;
    load_times_[end.name] = end.at - loading.begun;
  }
  failures_.erase(end.name);
  const uint64_t grown = resident > loading.before ? resident - loading.before : 0;
  const auto [model, fresh] = residents_.try_emplace(end.name);
  model->second.pinned |= end.pins;
  Footprint& footprint = footprints_[end.name];
  const Footprint before = footprint;
  if (footprint.stamp != stamp) footprint = {0, std::move(stamp)};
  if (use.stated_bytes > 0) {
    footprint.bytes = use.stated_bytes;
  } else if (footprint.bytes == 0 || (fresh && loading.alone)) {
    footprint.bytes = std::max({footprint.bytes, grown, kLeastBytes});
  }
  footprints_changed_ |= footprint != before;
  model->second.bytes = footprint.bytes;
  if (!fresh) return;
  model->second.loaded_at = end.at;
  model->second.load_took = end.at - loading.begun;
  model->second.last_used = end.at;
}

MemoryState ModelDemand::Look(TimePoint now) {
  std::map<std::string, Resident, std::less<>> residents;
  MemoryState state;
  state.budget = options_.budget == 0 ? std::numeric_limits<uint64_t>::max() : options_.budget;
  {
    MutexLock lock(&mu_);
    residents = residents_;
    for (const auto& [name, loading] : loading_) {
      state.loading_bytes += loading.bytes;
      ++state.loading;
      state.loading_unknown |= loading.bytes == 0;
    }
  }
  bool gone = false;
  std::set<std::string> members;  // of ensembles that serve: they leave before their members
  for (const auto& [name, resident] : residents) {
    const DemandedModels::Use use = models_->Look(name);
    const TimePoint used = use.busy ? now : std::max(resident.last_used, use.last_used);
    MutexLock lock(&mu_);
    const auto own = residents_.find(name);
    if (!use.serves && !use.leaving && !own->second.unloading) {
      residents_.erase(own);
      gone = true;
      continue;
    }
    own->second.last_used = used;
    if (!use.serves || own->second.unloading) {
      state.leaving_bytes += resident.bytes;
      continue;
    }
    members.insert(use.members.begin(), use.members.end());
    const bool was_used = use.busy || use.last_used >= resident.loaded_at;
    Duration stays = resident.load_took;
    if (!was_used) stays = std::max<Duration>(stays, kForItsClient);
    if (resident.bytes > state.budget) stays = Duration(0);  // it has turned out too large
    state.residents.push_back(
        {name, resident.bytes, resident.loaded_at, stays, used, use.busy, own->second.pinned});
  }
  if (gone) Measure();
  for (ResidentModel& model : state.residents) model.busy |= members.contains(model.name);
  return state;
}

void ModelDemand::Unload(std::vector<size_t> victims, const char* why, uint64_t Numbers::*counter,
                         MemoryState* state) {
  for (const size_t index : victims) {
    const ResidentModel& victim = state->residents[index];
    state->leaving_bytes += victim.bytes;
    {
      MutexLock lock(&mu_);
      residents_[victim.name].unloading = true;
      ++(counted_.*counter);
    }
    LOG_INFO << "unloading model '" << victim.name << "' of " << victim.bytes << " bytes: " << why;
    models_->Unload(victim.name, [this, name = victim.name](const absl::Status&) {
      MutexLock lock(&mu_);
      const auto found = residents_.find(name);
      if (found != residents_.end()) found->second.unloading = false;
      Wake();
    });
  }
  std::sort(victims.begin(), victims.end(), std::greater<>());
  for (const size_t index : victims) {
    state->residents.erase(state->residents.begin() + static_cast<ptrdiff_t>(index));
  }
}

TimePoint ModelDemand::BeginLoads(TimePoint now, MemoryState* state) {
  std::list<Waiting> waiting;
  {
    MutexLock lock(&mu_);
    waiting = waiting_;
  }
  TimePoint again_at = now + (state->leaving_bytes > 0 ? Duration(kSoon) : Duration(kSeldom));
  std::set<std::string> done;
  for (const Waiting& one : waiting) {
    if (TryLoad(one, now, state, &again_at)) {
      done.insert(one.name);
    } else {
      again_at = std::min<TimePoint>(again_at, now + kSoon);
    }
  }
  MutexLock lock(&mu_);
  waiting_.remove_if([&done](const Waiting& one) { return done.contains(one.name); });
  for (const std::string& name : done) is_waiting_.erase(name);
  return again_at;
}

bool ModelDemand::TryLoad(const Waiting& waiting, TimePoint now, MemoryState* state,
                          TimePoint* again_at) {
  const DemandedModels::Use use = models_->Look(waiting.name);
  uint64_t bytes = 0;
  {
    MutexLock lock(&mu_);
    if (stopped_) return true;
    const bool is_ours = residents_.contains(waiting.name);
    if (use.serves && !(is_ours && residents_[waiting.name].unloading)) return true;
    if (use.leaving || is_ours) return false;  // it has to be gone first
    const auto known = footprints_.find(waiting.name);
    if (known != footprints_.end()) bytes = known->second.bytes;
  }
  LoadDecision decision = DecideLoad(*state, bytes, now);
  if (bytes > 0 && decision.kind != LoadDecision::Kind::kWait && ForgetIfChanged(waiting.name)) {
    decision = DecideLoad(*state, bytes = 0, now);
  }
  switch (decision.kind) {
    case LoadDecision::Kind::kRefuse:
      Fail(waiting.name, TooLarge(waiting.name, bytes, decision.most_bytes), now + kAfterFailure);
      return true;
    case LoadDecision::Kind::kBegin:
      if (decision.victims.empty()) {
        BeginLoad(waiting.name, bytes, state);
        return true;
      }
      Unload(std::move(decision.victims), "another model needs its memory", &Numbers::evictions,
             state);
      state->loading_bytes += bytes;  // that room is not for those who wait behind it
      return false;
    case LoadDecision::Kind::kWait:
      if (decision.room_comes) state->loading_bytes += bytes;
      break;
  }
  *again_at = std::min(*again_at, decision.again_at);
  if (now - waiting.since < options_.longest_wait) return false;
  Fail(waiting.name,
       absl::UnavailableError(absl::StrCat(
           "model '", waiting.name, "' cannot be loaded: the models that fill --memory-budget of ",
           options_.budget, " bytes are in use")),
       now + std::chrono::seconds(1));
  return true;
}

void ModelDemand::BeginLoad(const std::string& name, uint64_t bytes, MemoryState* state) {
  Loading loading;
  loading.begun = clock_->Now();
  loading.bytes = bytes;
  loading.before = Measure();
  loading.alone = state->loading == 0;
  state->loading_bytes += bytes;
  ++state->loading;
  state->loading_unknown |= bytes == 0;
  {
    MutexLock lock(&mu_);
    for (auto& [other, under_way] : loading_) under_way.alone = false;
    loading_[name] = loading;
  }
  models_->Load(name, [this, name](const absl::Status& status) {
    const TimePoint now = clock_->Now();
    MutexLock lock(&mu_);
    load_ends_.push_back({name, status, now});
    Wake();
  });
}

void ModelDemand::Fail(const std::string& name, absl::Status status, TimePoint again_at) {
  MutexLock lock(&mu_);
  failures_[name] = {std::move(status), again_at};
}

absl::Status ModelDemand::TooLarge(const std::string& name, uint64_t bytes, uint64_t most) const {
  return absl::UnavailableError(absl::StrCat(
      "model '", name, "' needs ", std::max<uint64_t>(bytes, 1), " bytes, and at most ", most,
      " of --memory-budget=", options_.budget, " can be made free for it"));
}

}  // namespace nereid
