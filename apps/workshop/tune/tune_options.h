// SPDX-License-Identifier: Apache-2.0
// What `nereid tune` is to do: its command line as a plain value.
#ifndef NEREID_APPS_WORKSHOP_TUNE_TUNE_OPTIONS_H_
#define NEREID_APPS_WORKSHOP_TUNE_TUNE_OPTIONS_H_

#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "apps/loadgen/arrivals.h"
#include "bench/bench_options.h"
#include "options/command_table.h"
#include "tune/choice.h"
#include "tune/prediction.h"

namespace nereid {

struct TuneOptions {
  std::string model;
  std::string repository;
  Goal goal;
  TuneLoad load;          // without the recording's requests
  std::string recording;  // a file
  int max_instances = 0;  // 0: twice the processors, at most 8
  std::vector<int> max_batch_sizes;
  std::vector<int> threads;  // to try; empty: the usual ones
  bool same_backend = false;
  bench::InputOptions inputs;
  double seconds = 2;  // of a measurement
  int measure = 5;     // so many candidates, besides today's configuration
  std::string state_file, html_file;
  bool apply = false;
  std::vector<std::string> load_models;
  std::vector<std::string> server_options;
  std::string backend_directory;  // one of these; empty: the server's default
};

CommandTable TuneTable();

// `args`: the arguments after "tune". INVALID_ARGUMENT with one sentence that names the option.
absl::StatusOr<TuneOptions> ParseTuneOptions(const std::vector<std::string>& args);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_TUNE_TUNE_OPTIONS_H_
