// Shared by the programs that call a framework in-process in a loop with one thread, to measure
// what a model costs without a server.
//
//   PROGRAM MODEL INPUT OUTPUT SHAPE SECONDS [PAUSE_US]
//
// SHAPE is the shape of the FP32 input, batch dimension first, for instance 16,64. Several batch
// sizes, as in 7+6+7,64, take turns in this order. With PAUSE_US the thread sleeps for that time
// after each run, like a server's thread that waits for the next request; only the runs are timed.
// Prints {"shape":"S","runs":N,"us_per_run":X} and a newline.
#ifndef NEREID_BENCH_LIMITS_FRAMEWORK_LOOP_H_
#define NEREID_BENCH_LIMITS_FRAMEWORK_LOOP_H_

#include <absl/strings/numbers.h>
#include <absl/strings/str_split.h>
#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <thread>
#include <vector>

namespace nereid_bench {

struct LoopOptions {
  const char* model = nullptr;
  const char* input = nullptr;
  const char* output = nullptr;
  const char* shape_text = nullptr;
  std::vector<std::vector<int64_t>> shapes;  // each once, the largest batch first
  std::vector<size_t> order;                 // the shapes of a round of runs
  double seconds = 0;
  std::chrono::microseconds pause{0};
  const char* extra = nullptr;  // the argument after PAUSE_US, for programs that take one
};

// False if the text is not a shape.
inline bool ParseShape(const char* text, LoopOptions* options) {
  std::vector<int64_t> batches;
  std::vector<int64_t> row;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    for (const absl::string_view number : absl::StrSplit(part, '+')) {
      int64_t dim = 0;
      if (!absl::SimpleAtoi(number, &dim) || dim < 1) return false;
      (options->order.empty() ? batches : row).push_back(dim);
    }
    if (!options->order.empty()) continue;
    std::vector<int64_t> sizes = batches;
    std::sort(sizes.rbegin(), sizes.rend());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    for (const int64_t batch : batches) {
      options->order.push_back(
          static_cast<size_t>(std::find(sizes.begin(), sizes.end(), batch) - sizes.begin()));
    }
    for (const int64_t size : sizes) options->shapes.push_back({size});
  }
  for (std::vector<int64_t>& shape : options->shapes) {
    shape.insert(shape.end(), row.begin(), row.end());
  }
  return true;
}

inline size_t CountOf(const std::vector<int64_t>& shape) {
  size_t count = 1;
  for (const int64_t dim : shape) count *= static_cast<size_t>(dim);
  return count;
}

// The same input values as in the load generator's requests: small whole numbers. Those of the
// first shape hold those of the others.
inline std::vector<float> LoopValues(const std::vector<int64_t>& shape) {
  std::vector<float> values(CountOf(shape));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 17);
  return values;
}

// Measures the time of `run`, which is given the number of a shape, without `clean_up` after it, in
// whole rounds; prints the result.
template <typename Run, typename CleanUp>
void Measure(const LoopOptions& options, Run run, CleanUp clean_up) {
  using Clock = std::chrono::steady_clock;
  prctl(PR_SET_TIMERSLACK, 1);  // in nanoseconds; by default a pause is 50 us longer
  int64_t runs = 0;
  std::chrono::duration<double> in_runs{0};
  const auto run_for = [&](double length) {
    runs = 0;
    in_runs = std::chrono::duration<double>(0);
    const Clock::time_point start = Clock::now();
    Clock::time_point before = start;
    size_t next = 0;
    while (next > 0 || before < start + std::chrono::duration<double>(length)) {
      run(options.order[next]);
      const Clock::time_point after = Clock::now();
      clean_up();
      ++runs;
      next = (next + 1) % options.order.size();
      in_runs += after - before;
      if (options.pause.count() > 0) std::this_thread::sleep_for(options.pause);
      before = options.pause.count() > 0 ? Clock::now() : after;
    }
  };
  for (size_t shape = 0; shape < options.shapes.size(); ++shape) {
    run(shape);
    clean_up();
  }
  run_for(options.seconds / 5);  // warms up
  run_for(options.seconds);
  std::printf("{\"shape\":\"%s\",\"runs\":%lld,\"us_per_run\":%.3f}\n", options.shape_text,
              static_cast<long long>(runs), in_runs.count() * 1e6 / static_cast<double>(runs));
}

template <typename Run>
void Measure(const LoopOptions& options, Run run) {
  Measure(options, run, [] {});
}

// The program's main: parses the arguments and calls `loop`. `extra` names one more, optional
// argument.
template <typename Loop>
int LoopMain(int argc, char** argv, Loop loop, const char* extra = nullptr) {
  const int most = extra == nullptr ? 7 : 8;
  LoopOptions options;
  int pause_us = 0;
  const bool shaped = argc >= 6 && ParseShape(argv[4], &options);
  if (argc > most || !shaped || !absl::SimpleAtod(argv[5], &options.seconds) ||
      (argc > 6 && !absl::SimpleAtoi(argv[6], &pause_us))) {
    std::fprintf(stderr, "usage: %s MODEL INPUT OUTPUT SHAPE SECONDS [PAUSE_US]%s%s%s\n", argv[0],
                 extra == nullptr ? "" : " [", extra == nullptr ? "" : extra,
                 extra == nullptr ? "" : "]");
    return 2;
  }
  options.model = argv[1];
  options.input = argv[2];
  options.output = argv[3];
  options.shape_text = argv[4];
  options.pause = std::chrono::microseconds(pause_us);
  if (argc > 7) options.extra = argv[7];
  try {
    loop(options);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}

}  // namespace nereid_bench

#endif  // NEREID_BENCH_LIMITS_FRAMEWORK_LOOP_H_
