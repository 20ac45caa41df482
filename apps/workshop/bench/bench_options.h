// SPDX-License-Identifier: Apache-2.0
// What `nereid bench` is to do: its command line as a plain value.
#ifndef NEREID_APPS_WORKSHOP_BENCH_BENCH_OPTIONS_H_
#define NEREID_APPS_WORKSHOP_BENCH_BENCH_OPTIONS_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "apps/loadgen/arrivals.h"
#include "options/command_table.h"
#include "options/probe_target.h"

namespace nereid::bench {

// Most requests in flight.
inline constexpr double kMostConcurrency = 10'000;

// How inputs that nobody gave are filled.
enum class FillKind { kRandom, kZeros };

// How the values of requests are made.
struct InputOptions {
  FillKind fill = FillKind::kRandom;
  std::string data_file;                               // JSON as of perf_analyzer; empty: none
  std::map<std::string, std::string> files;            // by input: .npy, or the bytes themselves
  std::map<std::string, std::vector<int64_t>> shapes;  // by input
  int64_t batch_size = 0;                              // 0: not given, which means 1
  size_t string_length = 16;                           // of elements that are made up
  uint64_t seed = 1;
};

struct BenchOptions {
  ProbeTarget target = UsualHttpTarget();
  std::string model;
  std::string version;  // empty: the server chooses
  HttpHeaders headers;

  // The load. Closed loop: one row of the result for each concurrency; open loop: for each rate, or
  // one for the trace.
  std::vector<int> concurrency;
  std::vector<double> rates;
  std::string trace_file;
  Arrivals arrivals = Arrivals::kUniform;
  int max_in_flight = 256;  // open loop
  int channels = 1;         // gRPC: connections
  double seconds = 10;      // of a row, at most
  double warm_up_seconds = 1;
  double stability = 5;  // percent; 0: never ends before `seconds`

  // The requests.
  InputOptions inputs;
  bool json_tensors = false;
  bool streaming = false;
  int responses = 0;  // of a request on a stream; 0: until the server says that it was the last
  int sequences = 0;  // at a time; 0: none
  int sequence_length = 20;
  bool shared_memory = false;
  size_t output_bytes = 100 << 10;  // shared memory for an output of unknown size

  // The result.
  bool json = false;      // instead of the text
  std::string json_file;  // besides; empty: none
  std::string html_file;

  bool grpc() const { return target.protocol == ProbeProtocol::kGrpc; }
  bool open_loop() const { return concurrency.empty(); }
};

CommandTable BenchTable();

// `args`: the arguments after "bench". INVALID_ARGUMENT with one sentence that names the option.
absl::StatusOr<BenchOptions> ParseBenchOptions(const std::vector<std::string>& args);

}  // namespace nereid::bench

#endif  // NEREID_APPS_WORKSHOP_BENCH_BENCH_OPTIONS_H_
