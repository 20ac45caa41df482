// SPDX-License-Identifier: Apache-2.0
// Shared by the programs that call a framework in-process in a loop with one thread, to measure
// what a model costs without a server.
//
//   PROGRAM MODEL INPUT OUTPUT SHAPE SECONDS [PAUSE_US]
//
// SHAPE is the shape of the FP32 input, batch dimension first, for instance 16,64. Several batch
// sizes, as in 7+6+7,64, take turns in this order. With PAUSE_US the thread sleeps for that time
// after each run, like a server's thread that waits for the next request; only the runs are timed.
// Prints {"shape":"S","runs":N,"us_per_run":X} and a newline. If SECONDS is -, it measures once for
// each line SECONDS PAUSE_US of standard input, and sleeps meanwhile: the turns of a comparison can
// be short if nothing is loaded again for each. For a line http HEAD_FILE TAIL_FILE it prints
// {"port":P}, runs once for each request of one client at that port, whose answers are these files,
// and prints its line when the client leaves: in place of pauses, the thread does what a server
// has to do at least (bare_server.h). If SECONDS is ends, it goes on until it is killed,
// and prints [N,T], at most once a millisecond: run N ended at T, in seconds of the monotonic
// clock.
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
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/limits/bare_server.h"

namespace nereid_bench {

// One measurement.
struct Turn {
  double seconds = 0;
  std::chrono::microseconds pause{0};
};

struct LoopOptions {
  const char* model = nullptr;
  const char* input = nullptr;
  const char* output = nullptr;
  const char* shape_text = nullptr;
  std::vector<std::vector<int64_t>> shapes;  // each once, the largest batch first
  std::vector<size_t> order;                 // the shapes of a round of runs
  std::optional<Turn> turn;                  // none: they are read from standard input
  bool ends = false;                         // no turns: prints when runs ended
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

// The time of `run`, which is given the number of a shape, without `clean_up` after it.
struct Timed {
  int64_t runs = 0;
  std::chrono::duration<double> in_runs{0};
};

using Clock = std::chrono::steady_clock;

template <typename Run, typename CleanUp>
void RunTimed(size_t shape, Run& run, CleanUp& clean_up, Timed* timed) {
  const Clock::time_point before = Clock::now();
  run(shape);
  timed->in_runs += Clock::now() - before;
  ++timed->runs;
  clean_up();
}

// In whole rounds.
template <typename Run, typename CleanUp>
Timed RunFor(const LoopOptions& options, const Turn& turn, Run& run, CleanUp& clean_up) {
  Timed timed;
  const Clock::time_point end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                   std::chrono::duration<double>(turn.seconds));
  size_t next = 0;
  while (next > 0 || Clock::now() < end) {
    RunTimed(options.order[next], run, clean_up, &timed);
    next = (next + 1) % options.order.size();
    if (turn.pause.count() > 0) std::this_thread::sleep_for(turn.pause);
  }
  return timed;
}

// Once for each request of one client; the batch sizes take turns.
template <typename Run, typename CleanUp>
Timed RunServed(const LoopOptions& options, const std::string& head_file,
                const std::string& tail_file, Run& run, CleanUp& clean_up) {
  BareServer server(head_file, tail_file);
  std::printf("{\"port\":%d}\n", server.port());
  std::fflush(stdout);
  Timed timed;
  size_t next = 0;
  server.Serve([&] {
    RunTimed(options.order[next], run, clean_up, &timed);
    next = (next + 1) % options.order.size();
  });
  if (timed.runs == 0) throw std::runtime_error("the client left without a request");
  return timed;
}

// Without end.
template <typename Run, typename CleanUp>
void PrintEnds(const LoopOptions& options, Run& run, CleanUp& clean_up) {
  Clock::time_point printed;
  for (int64_t runs = 1;; ++runs) {
    run(options.order[static_cast<size_t>(runs - 1) % options.order.size()]);
    const Clock::time_point now = Clock::now();
    clean_up();
    if (now - printed < std::chrono::milliseconds(1)) continue;
    printed = now;
    std::printf("[%lld,%.6f]\n", static_cast<long long>(runs),
                std::chrono::duration<double>(now.time_since_epoch()).count());
    std::fflush(stdout);
  }
}

// Measures `run` and prints the results.
template <typename Run, typename CleanUp>
void Measure(const LoopOptions& options, Run run, CleanUp clean_up) {
  prctl(PR_SET_TIMERSLACK, 1);  // in nanoseconds; by default a pause is 50 us longer
  for (size_t shape = 0; shape < options.shapes.size(); ++shape) {
    run(shape);
    clean_up();
  }
  if (options.ends) return PrintEnds(options, run, clean_up);
  const auto print = [&](const Timed& timed) {
    std::printf("{\"shape\":\"%s\",\"runs\":%lld,\"us_per_run\":%.3f}\n", options.shape_text,
                static_cast<long long>(timed.runs),
                timed.in_runs.count() * 1e6 / static_cast<double>(timed.runs));
    std::fflush(stdout);
  };
  const auto measure = [&](const Turn& turn) {
    RunFor(options, {turn.seconds / 5, turn.pause}, run, clean_up);  // warms up
    print(RunFor(options, turn, run, clean_up));
  };
  if (options.turn.has_value()) return measure(*options.turn);
  for (std::string line; std::getline(std::cin, line);) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    double seconds = 0;
    int pause_us = 0;
    if (words.size() == 3 && words[0] == "http") {
      print(RunServed(options, words[1], words[2], run, clean_up));
    } else if (words.size() == 2 && absl::SimpleAtod(words[0], &seconds) &&
               absl::SimpleAtoi(words[1], &pause_us)) {
      measure({seconds, std::chrono::microseconds(pause_us)});
    } else {
      throw std::runtime_error("unknown command '" + line +
                               "'; it must be SECONDS PAUSE_US or http HEAD_FILE TAIL_FILE");
    }
  }
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
  Turn turn;
  int pause_us = 0;
  const bool shaped = argc >= 6 && ParseShape(argv[4], &options);
  const bool asked = shaped && argv[5] == std::string_view("-");
  options.ends = shaped && argv[5] == std::string_view("ends");
  if (argc > most || !shaped ||
      (!asked && !options.ends && !absl::SimpleAtod(argv[5], &turn.seconds)) ||
      (argc > 6 && !absl::SimpleAtoi(argv[6], &pause_us))) {
    std::fprintf(stderr, "usage: %s MODEL INPUT OUTPUT SHAPE SECONDS|-|ends [PAUSE_US]%s%s%s\n",
                 argv[0], extra == nullptr ? "" : " [", extra == nullptr ? "" : extra,
                 extra == nullptr ? "" : "]");
    return 2;
  }
  options.model = argv[1];
  options.input = argv[2];
  options.output = argv[3];
  options.shape_text = argv[4];
  turn.pause = std::chrono::microseconds(pause_us);
  if (!asked && !options.ends) options.turn = turn;
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
