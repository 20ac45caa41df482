// SPDX-License-Identifier: Apache-2.0
#include "apps/loadgen/driver.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/status_macros.h"

namespace nereid::bench {
namespace {

using Completions = std::vector<Transport::Completion>;
using std::chrono::nanoseconds;

// The time limit for answers that are still missing at the end.
constexpr std::chrono::seconds kDrain{10};
// How often the observer is asked while nothing happens.
constexpr std::chrono::milliseconds kTick{20};

int64_t NanosecondsBetween(BenchTime from, BenchTime to) {
  return std::chrono::duration_cast<nanoseconds>(to - from).count();
}

double SecondsBetween(BenchTime from, BenchTime to) {
  return std::chrono::duration<double>(to - from).count();
}

// Waits for what is in flight and brings sequences to their end. `idle`: slots without a request.
// Returns the number of requests of the run, of which `in_flight` are left, that had no answer.
absl::StatusOr<uint64_t> Drain(Transport* transport, uint64_t in_flight,
                               const std::vector<int>& idle) {
  const BenchTime deadline = BenchClock::now() + kDrain;
  uint64_t ending = 0;  // requests that end sequences
  const auto end_sequence = [&](int slot) {
    if (!transport->EndSequence(slot)) return absl::OkStatus();
    ++ending;
    return transport->Send(slot);
  };
  for (const int slot : idle) RETURN_IF_ERROR(end_sequence(slot));
  Completions done;
  while (in_flight + ending > 0 && BenchClock::now() < deadline) {
    done.clear();
    RETURN_IF_ERROR(transport->Poll(deadline, &done));
    for (const Transport::Completion& completion : done) {
      // Which of the two it was does not matter as long as the sum is right at the end.
      --(in_flight > 0 ? in_flight : ending);
      RETURN_IF_ERROR(end_sequence(completion.slot));
    }
  }
  return in_flight;
}

// One run of an open loop.
class OpenLoop {
 public:
  OpenLoop(Transport* transport, ArrivalTimes due, LoadObserver* observer)
      : transport_(transport),
        observer_(observer),
        due_(std::move(due)),
        start_(BenchClock::now()),
        give_up_(start_ + due_.end() + kDrain),
        requests_(static_cast<size_t>(transport->slots())) {
    for (int slot = transport->slots(); slot-- > 0;) idle_.push_back(slot);
    TakeNext();
  }

  absl::StatusOr<uint64_t> Run() {
    Completions done;
    RunState state = RunState::kGoOn;
    BenchTime now = start_;
    while ((next_.has_value() || in_flight_ > 0) && now < give_up_) {
      state = std::max(state, observer_->OnTime(now));
      if (state == RunState::kLeave) return 0;
      if (state == RunState::kFinish) Finish(now);
      RETURN_IF_ERROR(SendWhatIsDue(now));
      done.clear();
      RETURN_IF_ERROR(transport_->Poll(Until(now), &done));
      now = BenchClock::now();
      for (const Transport::Completion& completion : done) Take(completion, now);
    }
    // What no slot was free for.
    uint64_t missing = in_flight_;
    for (; next_.has_value(); TakeNext()) ++missing;
    RETURN_IF_ERROR(Drain(transport_, 0, idle_).status());
    return missing;
  }

 private:
  struct Request {
    BenchTime due;
    BenchTime sent;
  };

  void TakeNext() {
    const std::optional<nanoseconds> next = due_.Next();
    next_ = next.has_value() ? std::optional<BenchTime>(start_ + *next) : std::nullopt;
    DropWhatIsTooLate();
  }

  // What falls due later than `now` is not sent any more.
  void Finish(BenchTime now) {
    if (last_due_.has_value()) return;
    last_due_ = now;
    give_up_ = std::min(give_up_, now + kDrain);
    DropWhatIsTooLate();
  }

  void DropWhatIsTooLate() {
    if (last_due_.has_value() && next_.has_value() && *next_ > *last_due_) next_ = std::nullopt;
  }

  absl::Status SendWhatIsDue(BenchTime now) {
    for (; next_.has_value() && !idle_.empty() && *next_ <= now; TakeNext()) {
      const int slot = idle_.back();
      idle_.pop_back();
      requests_[static_cast<size_t>(slot)] = {*next_, now};
      ++in_flight_;
      RETURN_IF_ERROR(transport_->Send(slot));
    }
    return absl::OkStatus();
  }

  BenchTime Until(BenchTime now) const {
    const BenchTime tick = now + kTick;
    return next_.has_value() && !idle_.empty() ? std::min(*next_, tick) : tick;
  }

  void Take(const Transport::Completion& completion, BenchTime now) {
    const Request& request = requests_[static_cast<size_t>(completion.slot)];
    --in_flight_;
    idle_.push_back(completion.slot);
    observer_->OnAnswer({completion, request.due, request.sent, now});
  }

  Transport* const transport_;
  LoadObserver* const observer_;
  ArrivalTimes due_;
  const BenchTime start_;
  BenchTime give_up_;
  std::vector<Request> requests_;  // the last of each slot
  std::vector<int> idle_;
  uint64_t in_flight_ = 0;
  std::optional<BenchTime> next_;      // when the next request falls due
  std::optional<BenchTime> last_due_;  // set by Finish
};

// Fills a Measured.
class Recorder final : public LoadObserver {
 public:
  Recorder(Measured* measured, nanoseconds within) : measured_(measured), within_(within) {}

  void OnAnswer(const Answer& answer) override {
    last_ = answer.now;
    if (!answer.completion.ok) {
      ++measured_->errors;
      return;
    }
    measured_->latency.Add(NanosecondsBetween(answer.begun, answer.now));
    if (answer.now - answer.begun <= within_) ++measured_->in_time;
  }

  std::optional<BenchTime> last() const { return last_; }

 private:
  Measured* const measured_;
  const nanoseconds within_;
  std::optional<BenchTime> last_;
};

}  // namespace

absl::StatusOr<uint64_t> DriveClosed(Transport* transport, BenchClock::duration length,
                                     LoadObserver* observer) {
  const BenchTime start = BenchClock::now();
  const BenchTime end = start + length;
  std::vector<BenchTime> begun(static_cast<size_t>(transport->slots()));
  for (int slot = 0; slot < transport->slots(); ++slot) {
    begun[static_cast<size_t>(slot)] = BenchClock::now();
    RETURN_IF_ERROR(transport->Send(slot));
  }
  std::vector<int> idle;
  Completions done;
  bool over = false;
  for (BenchTime now = start; !over;) {
    const RunState state = observer->OnTime(now);
    if (state == RunState::kLeave) return 0;
    over = state == RunState::kFinish;
    done.clear();
    RETURN_IF_ERROR(transport->Poll(std::min(end, now + kTick), &done));
    now = BenchClock::now();
    for (const Transport::Completion& completion : done) {
      now = BenchClock::now();
      over = over || now >= end;
      if (over) {
        idle.push_back(completion.slot);
        continue;
      }
      BenchTime& began = begun[static_cast<size_t>(completion.slot)];
      observer->OnAnswer({completion, began, began, now});
      began = now;
      RETURN_IF_ERROR(transport->Send(completion.slot));
    }
    over = over || now >= end;
  }
  return Drain(transport, begun.size() - idle.size(), idle);
}

absl::StatusOr<uint64_t> DriveOpen(Transport* transport, ArrivalTimes due, LoadObserver* observer) {
  return OpenLoop(transport, std::move(due), observer).Run();
}

absl::StatusOr<Measured> RunClosed(Transport* transport, BenchClock::duration length) {
  Measured measured;
  Recorder recorder(&measured, nanoseconds(0));
  measured.began = BenchClock::now();
  ASSIGN_OR_RETURN(const uint64_t missing, DriveClosed(transport, length, &recorder));
  measured.seconds = std::chrono::duration<double>(length).count();
  if (recorder.last().has_value()) {
    measured.seconds_to_last = SecondsBetween(measured.began, *recorder.last());
  }
  if (missing == 0) return measured;
  return absl::DeadlineExceededError(
      absl::StrCat(missing, " requests had no answer after the end of the run"));
}

absl::StatusOr<Measured> RunOpen(Transport* transport, ArrivalTimes due, nanoseconds within) {
  Measured measured;
  Recorder recorder(&measured, within);
  measured.began = BenchClock::now();
  ASSIGN_OR_RETURN(const uint64_t missing, DriveOpen(transport, std::move(due), &recorder));
  measured.errors += missing;
  measured.seconds = SecondsBetween(measured.began, BenchClock::now());
  return measured;
}

}  // namespace nereid::bench
