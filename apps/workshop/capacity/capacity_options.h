// SPDX-License-Identifier: Apache-2.0
// What `nereid capacity` is to do: its command line as a plain value.
#ifndef NEREID_APPS_WORKSHOP_CAPACITY_CAPACITY_OPTIONS_H_
#define NEREID_APPS_WORKSHOP_CAPACITY_CAPACITY_OPTIONS_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/loadgen/arrivals.h"
#include "options/command_table.h"
#include "simulation/fleet.h"

namespace nereid {

// Requests of a simulation at most.
inline constexpr double kMostCapacityRequests = 4e6;

struct CapacityLoad {
  enum class Kind { kNone, kRate, kDay, kRecording };
  Kind kind = Kind::kNone;
  double rate = 0;          // requests per second
  std::vector<double> day;  // likewise, equally far from each other over `seconds`
  std::string recording;    // a file
  bench::Arrivals arrivals = bench::Arrivals::kPoisson;  // of a rate
  uint64_t seed = 1;                                     // of random arrivals
  uint32_t batch_size = 1;                               // of a request; a recording has its own
  double seconds = 0;  // of simulated time; a recording has its own
};

struct CapacityOptions {
  bool json = false;
  std::string model;
  std::string times_file;   // a state of `nereid tune`
  std::string config_file;  // empty: the configuration that the state has
  CapacityLoad load;
  double p99_us = 0;   // the goal; 0: there is none
  uint32_t nodes = 0;  // 0: as many as the goal needs, or as the autoscaler says
  uint32_t max_nodes = 0;
  Balancer balancer = Balancer::kRoundRobin;
  std::optional<AutoscalerOptions> autoscaler;
  Duration start{0};  // of a node

  // Whether the fewest nodes for the goal are looked for.
  bool searches() const { return nodes == 0 && !autoscaler.has_value(); }
};

CommandTable CapacityTable();

// `args`: the arguments after "capacity". INVALID_ARGUMENT with one sentence that names the option.
absl::StatusOr<CapacityOptions> ParseCapacityOptions(const std::vector<std::string>& args);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_CAPACITY_CAPACITY_OPTIONS_H_
