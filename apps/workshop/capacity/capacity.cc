// SPDX-License-Identifier: Apache-2.0
#include "capacity/capacity.h"

#include <absl/algorithm/container.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "base/status_macros.h"
#include "replay/recorded_load.h"
#include "tune/measured_machine.h"

namespace nereid {
namespace {

constexpr int kMostClients = 64;
constexpr size_t kPeriods = 24;
// A request in so many may be over the goal.
constexpr size_t kOneInMany = 100;

double Seconds(uint64_t ns) { return static_cast<double>(ns) * 1e-9; }

absl::StatusOr<std::vector<SimulatedRequest>> LoadOf(const CapacityOptions& options) {
  const CapacityLoad& load = options.load;
  if (load.kind == CapacityLoad::Kind::kRecording) {
    ASSIGN_OR_RETURN(const auto planned, ReadRecordedLoad(load.recording, options.model, false));
    return SimulatedLoad(planned);
  }
  bench::ArrivalTimes times =
      load.kind == CapacityLoad::Kind::kDay
          ? bench::ArrivalTimes(load.day, load.seconds, load.seed)
          : bench::ArrivalTimes(load.arrivals, load.rate, load.seconds, load.seed);
  std::vector<SimulatedRequest> requests;
  while (const std::optional<std::chrono::nanoseconds> at = times.Next()) {
    SimulatedRequest& request = requests.emplace_back();
    request.arrival_ns = static_cast<uint64_t>(at->count()) + 1;
    request.batch_size = load.batch_size;
  }
  return requests;
}

// One load, and fleets of any number of nodes under it.
class Fleets {
 public:
  // Both outlive this object.
  Fleets(const CapacityOptions& options, const MeasuredNode& node,
         std::vector<SimulatedRequest> load)
      : options_(options), node_(node), load_(std::move(load)) {}

  const std::vector<SimulatedRequest>& load() const { return load_; }
  const FleetResult& last() const { return last_; }

  absl::StatusOr<FleetRow> Run(uint32_t nodes) {
    FleetOptions fleet;
    fleet.nodes = nodes;
    fleet.balancer = options_.balancer;
    fleet.autoscaler = options_.autoscaler;
    fleet.start = options_.start;
    fleet.make_machine = [this] { return std::make_unique<MeasuredMachine>(node_.times); };
    ASSIGN_OR_RETURN(last_, SimulateFleet(node_.model, load_, fleet));
    AddOverhead(node_.times, &last_.requests);
    FleetRow row;
    row.nodes = nodes;
    row.summary = Summarise(load_, last_, GoalNs());
    row.p50_us = static_cast<double>(row.summary.p50_ns) * 1e-3;
    row.p99_us = static_cast<double>(row.summary.p99_ns) * 1e-3;
    row.node_seconds = last_.node_seconds;
    row.keeps_goal = (row.summary.late + row.summary.unserved) * kOneInMany <= load_.size();
    return row;
  }

  // 0: there is no goal.
  uint64_t GoalNs() const { return static_cast<uint64_t>(options_.p99_us * 1e3); }

 private:
  const CapacityOptions& options_;
  const MeasuredNode& node_;
  const std::vector<SimulatedRequest> load_;
  FleetResult last_;
};

// The fewest nodes that keep the goal, first by doubling, then by halves between.
absl::Status Search(Fleets* fleets, uint32_t most, CapacityResult* result) {
  std::map<uint32_t, FleetRow> rows;
  uint32_t fails = 0;
  uint32_t keeps = most + 1;
  for (uint32_t nodes = 1; fails + 1 < keeps;
       nodes = keeps > most ? std::min(2 * nodes, most) : fails + (keeps - fails) / 2) {
    ASSIGN_OR_RETURN(const FleetRow row, fleets->Run(nodes));
    rows[nodes] = row;
    (row.keeps_goal ? keeps : fails) = nodes;
  }
  for (const auto& [nodes, row] : rows) {
    if (nodes == keeps) result->chosen = result->rows.size();
    result->rows.push_back(row);
  }
  return absl::OkStatus();
}

// The mean of a number of nodes between two times.
double MeanOf(const FleetResult& fleet, uint64_t from_ns, uint64_t to_ns,
              const std::function<uint32_t(const NodeCount&)>& number) {
  double area = 0;
  for (size_t i = 0; i < fleet.counts.size(); ++i) {
    const uint64_t begin = std::max(from_ns, fleet.counts[i].at_ns);
    const uint64_t end =
        i + 1 < fleet.counts.size() ? std::min(to_ns, fleet.counts[i + 1].at_ns) : to_ns;
    if (end > begin) area += static_cast<double>(end - begin) * number(fleet.counts[i]);
  }
  return area / static_cast<double>(to_ns - from_ns);
}

std::vector<FleetPeriod> PeriodsOf(const Fleets& fleets) {
  const std::vector<SimulatedRequest>& load = fleets.load();
  const FleetResult& fleet = fleets.last();
  const uint64_t length = load.back().arrival_ns / kPeriods + 1;
  std::vector<FleetPeriod> periods;
  size_t i = 0;
  for (uint64_t from = 1; from <= load.back().arrival_ns; from += length) {
    FleetPeriod& period = periods.emplace_back();
    std::vector<uint64_t> latencies;
    size_t arrived = 0;
    for (; i < load.size() && load[i].arrival_ns < from + length; ++i, ++arrived) {
      if (fleet.requests[i].outcome != FlightOutcome::kOk) {
        ++period.late;
        continue;
      }
      latencies.push_back(fleet.requests[i].ended_ns - load[i].arrival_ns);
      if (fleets.GoalNs() > 0 && latencies.back() > fleets.GoalNs()) ++period.late;
    }
    absl::c_sort(latencies);
    period.from_seconds = Seconds(from);
    period.rate = static_cast<double>(arrived) / Seconds(length);
    if (!latencies.empty()) {
      const size_t rank = latencies.size() * 99 / 100;
      period.p99_us = static_cast<double>(latencies[rank]) * 1e-3;
    }
    period.ready = MeanOf(fleet, from, from + length, [](const NodeCount& c) { return c.ready; });
    period.all = MeanOf(fleet, from, from + length, [](const NodeCount& c) { return c.all(); });
  }
  return periods;
}

absl::Status CheckBatch(const CapacityOptions& options, const CompiledModel& model) {
  const auto largest = static_cast<uint32_t>(std::max(model.max_batch_size, 1));
  if (options.load.batch_size <= largest) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--batch-size is ", options.load.batch_size,
                                                 "; the model's largest batch is ", largest));
}

absl::Status FindAlone(const CapacityOptions& options, CapacityResult* result) {
  TuneLoad clients;
  clients.kind = TuneLoad::Kind::kConcurrency;
  clients.batch_size = options.load.batch_size;
  for (clients.concurrency = 1; clients.concurrency <= kMostClients; clients.concurrency *= 2) {
    ASSIGN_OR_RETURN(result->alone.emplace_back(),
                     Predict(result->node.model, result->node.times, clients, 0));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CapacityResult> FindCapacity(const CapacityOptions& options, MeasuredNode node) {
  CapacityResult result;
  result.node = std::move(node);
  RETURN_IF_ERROR(CheckBatch(options, result.node.model));
  if (result.node.model.sequence.enabled) {
    return absl::InvalidArgumentError(
        absl::StrCat("the model '", options.model,
                     "' serves sequences, which stay on one node; its capacity is not predicted"));
  }
  RETURN_IF_ERROR(FindAlone(options, &result));
  if (options.load.kind == CapacityLoad::Kind::kNone) return result;
  ASSIGN_OR_RETURN(std::vector<SimulatedRequest> load, LoadOf(options));
  if (load.empty()) {
    return absl::InvalidArgumentError(
        "no request comes in the simulated time; choose a longer one with --seconds");
  }
  result.requests = load.size();
  Fleets fleets(options, result.node, std::move(load));
  if (options.searches()) {
    RETURN_IF_ERROR(Search(&fleets, options.max_nodes, &result));
  } else {
    const uint32_t nodes = options.nodes > 0 ? options.nodes : options.autoscaler->least;
    ASSIGN_OR_RETURN(result.rows.emplace_back(), fleets.Run(nodes));
    result.periods = PeriodsOf(fleets);
  }
  result.seconds = Seconds(fleets.last().ended_ns - fleets.load().front().arrival_ns);
  return result;
}

}  // namespace nereid
