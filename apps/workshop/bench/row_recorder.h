// SPDX-License-Identifier: Apache-2.0
// RowRecorder: turns what happens in a run into a RowResult. Divides the time after the warm-up
// into windows, and ends the run when their confidence intervals are narrow enough, when its time
// is over, or when the user wants so. Used by one thread.
#ifndef NEREID_APPS_WORKSHOP_BENCH_ROW_RECORDER_H_
#define NEREID_APPS_WORKSHOP_BENCH_ROW_RECORDER_H_

#include <functional>
#include <vector>

#include "apps/loadgen/driver.h"
#include "bench/row_result.h"

namespace nereid::bench {

class RowRecorder final : public LoadObserver {
 public:
  struct Limits {
    double warm_up_seconds = 0;
    double seconds = 0;    // after the warm-up, at most
    double stability = 0;  // share; 0: the whole time is measured
    bool open_loop = false;
  };
  // Fewer windows say nothing.
  static constexpr size_t kLeastWindows = 8;

  // `transport` is asked for the texts of failures; `interrupted`: whether the user wants to end;
  // `progress` is called after each window. `row` is filled, and outlives this object.
  RowRecorder(const Limits& limits, BenchTime start, const Transport* transport,
              std::function<bool()> interrupted, std::function<void(const RowResult&)> progress,
              RowResult* row);

  void OnAnswer(const Answer& answer) override;
  RunState OnTime(BenchTime now) override;
  // The run has ended; `unanswered` requests had no answer.
  void Finish(BenchTime now, uint64_t unanswered);

 private:
  void CloseWindow(BenchTime now);
  // Judges the windows so far.
  void Judge();

  const Limits limits_;
  const BenchTime begin_;  // of the measurement: after the warm-up
  const BenchTime end_;
  const double window_seconds_;
  const Transport* const transport_;
  const std::function<bool()> interrupted_;
  const std::function<void(const RowResult&)> progress_;
  RowResult* const row_;
  BenchTime window_begin_;
  BenchTime last_answer_;
  bool finishing_ = false;
  Histogram window_;
  // By window. The percentile to judge is known only at the end, so all that may be it are kept.
  std::vector<double> throughputs_;
  std::vector<std::vector<double>> percentiles_;
  uint64_t least_in_window_ = 0;
};

}  // namespace nereid::bench

#endif  // NEREID_APPS_WORKSHOP_BENCH_ROW_RECORDER_H_
