// SPDX-License-Identifier: Apache-2.0
#include "bench/row_recorder.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "bench/confidence.h"

namespace nereid::bench {
namespace {

// A percentile can be judged where at least ten requests of each window lie above it.
struct Judged {
  double fraction;
  uint64_t least;  // requests in each window
};
constexpr Judged kJudged[] = {{0.99, 1000}, {0.9, 100}, {0.5, 1}};

double Seconds(BenchClock::duration length) {
  return std::chrono::duration<double>(length).count();
}

BenchClock::duration Length(double seconds) {
  return std::chrono::duration_cast<BenchClock::duration>(std::chrono::duration<double>(seconds));
}

double Microseconds(int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-3; }

}  // namespace

RowRecorder::RowRecorder(const Limits& limits, BenchTime start, const Transport* transport,
                         std::function<bool()> interrupted,
                         std::function<void(const RowResult&)> progress, RowResult* row)
    : limits_(limits),
      begin_(start + Length(limits.warm_up_seconds)),
      end_(begin_ + Length(limits.seconds)),
      window_seconds_(std::clamp(limits.seconds / 20, 0.05, 1.0)),
      transport_(transport),
      interrupted_(std::move(interrupted)),
      progress_(std::move(progress)),
      row_(row),
      window_begin_(begin_),
      last_answer_(begin_),
      percentiles_(std::size(kJudged)) {}

void RowRecorder::OnAnswer(const Answer& answer) {
  // Open loop: a request counts when it was due, so that none is left out because it took long.
  if ((limits_.open_loop ? answer.begun : answer.now) < begin_) return;
  last_answer_ = answer.now;
  if (limits_.open_loop) {
    const BenchClock::duration lag = answer.sent - answer.begun;
    row_->lag.Add(std::chrono::duration_cast<std::chrono::nanoseconds>(lag).count());
    if (Seconds(lag) > kLateSeconds) ++row_->late;
  }
  if (!answer.completion.ok) {
    row_->errors.Add(transport_->error(answer.completion.slot));
    return;
  }
  const auto nanoseconds = [&](BenchTime at) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(at - answer.begun).count();
  };
  window_.Add(nanoseconds(answer.now));
  if (answer.completion.first != BenchTime()) {
    row_->first.Add(nanoseconds(answer.completion.first));
  }
}

RunState RowRecorder::OnTime(BenchTime now) {
  if (interrupted_()) {
    row_->interrupted = true;
    return RunState::kLeave;
  }
  if (now < begin_) return RunState::kGoOn;
  if (!finishing_ && Seconds(now - window_begin_) >= window_seconds_) {
    CloseWindow(now);
    progress_(*row_);
    finishing_ = limits_.stability > 0 && row_->stable;
  }
  // The end of the time ends a closed loop by itself; in an open loop nothing falls due any more.
  return finishing_ ? RunState::kFinish : RunState::kGoOn;
}

void RowRecorder::CloseWindow(BenchTime now) {
  const double seconds = Seconds(now - window_begin_);
  throughputs_.push_back(static_cast<double>(window_.count()) / seconds);
  for (size_t i = 0; i < std::size(kJudged); ++i) {
    percentiles_[i].push_back(Microseconds(window_.Percentile(kJudged[i].fraction)));
  }
  row_->windows.push_back({Seconds(now - begin_), throughputs_.back(),
                           Microseconds(window_.Percentile(0.5)),
                           Microseconds(window_.Percentile(0.99))});
  least_in_window_ =
      throughputs_.size() == 1 ? window_.count() : std::min(least_in_window_, window_.count());
  row_->latency.Merge(window_);
  row_->seconds = Seconds(now - begin_);
  window_.Clear();
  window_begin_ = now;
  Judge();
}

void RowRecorder::Judge() {
  size_t judged = 0;
  while (judged + 1 < std::size(kJudged) && least_in_window_ < kJudged[judged].least) ++judged;
  row_->judged_percentile = kJudged[judged].fraction;
  row_->throughput_interval = RelativeHalfWidth(throughputs_);
  row_->latency_interval = RelativeHalfWidth(percentiles_[judged]);
  const double limit = limits_.stability;
  row_->stable = throughputs_.size() >= kLeastWindows && row_->throughput_interval <= limit &&
                 row_->latency_interval <= limit;
}

void RowRecorder::Finish(BenchTime now, uint64_t unanswered) {
  row_->unanswered = unanswered;
  row_->errors.Add("no answer until the end of the run", unanswered);
  // A closed loop ends at its time. An open loop ends with its last answer, or with its time.
  BenchTime last = std::min(now, limits_.open_loop ? std::max(last_answer_, end_) : end_);
  if (finishing_ || row_->interrupted || !row_->failure.empty())
    last = std::max(last_answer_, window_begin_);
  if (window_.count() == 0 && row_->windows.empty() && last <= window_begin_) return;
  // A short rest is no window of its own.
  if (Seconds(last - window_begin_) >= window_seconds_ / 2) {
    CloseWindow(last);
  } else {
    row_->latency.Merge(window_);
    window_.Clear();
    row_->seconds = std::max(Seconds(last - begin_), row_->seconds);
  }
}

}  // namespace nereid::bench
