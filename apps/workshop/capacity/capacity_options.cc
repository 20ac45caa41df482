// SPDX-License-Identifier: Apache-2.0
#include "capacity/capacity_options.h"

#include <absl/algorithm/container.h>
#include <absl/strings/str_cat.h>

#include <cmath>
#include <numeric>
#include <utility>

#include "base/status_macros.h"
#include "bench/load_flags.h"
#include "options/command_flags.h"
#include "options/flag_kinds.h"
#include "options/parse.h"

namespace nereid {
namespace {

constexpr double kMostRate = 1e6;
constexpr double kMostSeconds = 7 * 86400;
constexpr double kSecondsAtRate = 60;
constexpr double kSecondsOfDay = 86400;
constexpr double kMostSeed = 1e15;
constexpr int kMostBatch = 4096;
constexpr uint32_t kUsualMostNodes = 100;
constexpr double kUsualStart = 30;

// What has a meaning only with an autoscaler; 0: not given, except for negative ones.
struct Values {
  double p99_ms = 0, seconds = 0;
  double target = 0, start = -1, interval = 0, shrink = -1;
  uint32_t min_nodes = 0;
  std::optional<AutoscalerOptions::Gauge> gauge;
  std::optional<bench::Arrivals> arrivals;
  std::optional<uint64_t> seed;
};

// What the setters fill.
struct CapacityLine {
  CapacityOptions options;
  Values values;
};

std::vector<Flag> FlagsOfLoad(CapacityOptions* o, Values* v) {
  return {
      FileFlag("times", &o->times_file, "the file of the measured times"),
      ConfigFileFlag("config", &o->config_file,
                     "a config.pbtxt to use instead of the one that was measured"),
      NumberFlag("rate", "R", &o->load.rate, {1e-3, kMostRate, false},
                 "the load is R requests per second"),
      ListFlag("day", "R,R,...", &o->load.day, {0, kMostRate, false},
               "the load follows these rates, at equal distances over --seconds"),
      FileFlag("recording", &o->load.recording,
               "the load is that of a recording (nereid --record=FILE)"),
      ArrivalsFlag(&v->arrivals, "poisson", "with --rate: constant, poisson, bursty or step"),
      {"seed", "N", absl::StrCat(o->load.seed), "with --rate and --day: of random arrivals",
       [v](absl::string_view text) {
         return WholeFlag("seed", &v->seed.emplace(), 0, kMostSeed, "").set(text);
       }},
      WholeFlag("batch-size", &o->load.batch_size, 1, kMostBatch, "rows of a request"),
      WithDefaultText(
          absl::StrCat(kSecondsAtRate, " with --rate, ", kSecondsOfDay, " with --day"),
          NumberFlag("seconds", "S", &v->seconds, {1, kMostSeconds, false}, "simulated time")),
  };
}

std::vector<Flag> FlagsOfFleet(CapacityOptions* o, Values* v) {
  using Gauge = AutoscalerOptions::Gauge;
  constexpr double kMostNodes = FleetOptions::kMostNodes;
  return {
      NumberFlag("p99-ms", "MS", &v->p99_ms, {0.001, 1e6, false},
                 "99 of 100 requests have to be answered within this time"),
      WholeFlag("nodes", &o->nodes, 1, kMostNodes, "so many nodes"),
      WithDefaultText(
          absl::StrCat(kUsualMostNodes),
          WholeFlag("max-nodes", &o->max_nodes, 1, kMostNodes, "at most so many nodes")),
      KindFlag<Balancer>(
          "balancer", &o->balancer,
          {{"round-robin", Balancer::kRoundRobin}, {"least-in-flight", Balancer::kLeastInFlight}},
          "round-robin", "which node gets a request: round-robin or least-in-flight"),
      NumberFlag("target", "N", &v->target, {0.001, 1e6, false},
                 "an autoscaler keeps N requests per node"),
      KindFlag<Gauge>("gauge", &v->gauge,
                      {{"in-flight", Gauge::kInFlight}, {"queued", Gauge::kQueued}}, "in-flight",
                      "--target: requests that are in-flight or queued"),
      WithDefaultText("1", WholeFlag("min-nodes", &v->min_nodes, 1, kMostNodes,
                                     "--target: at least so many nodes, with which it begins")),
      WithDefaultText(absl::StrCat(kUsualStart),
                      NumberFlag("start-seconds", "S", &v->start, {0, 86400, false},
                                 "--target: until a node that was added is ready")),
      WithDefaultText("15", NumberFlag("interval-seconds", "S", &v->interval, {1, 3600, false},
                                       "--target: between two decisions")),
      WithDefaultText("300", NumberFlag("shrink-seconds", "S", &v->shrink, {0, 86400, false},
                                        "--target: nodes are taken away when for so long no "
                                        "decision has wanted more")),
      TurnOnFlag("json", &o->json, "print JSON"),
  };
}

CommandTable TableFor(CapacityLine* line) {
  CapacityOptions* const o = &line->options;
  CommandTable table;
  table.name = "capacity";
  table.summary = "say how many nodes a load needs, by measured times and a simulation";
  table.synopsis = "MODEL --times=FILE [options]";
  table.description = {
      "Says what one node serves, and how many nodes a load needs, in a simulation of the "
      "scheduler "
      "with execution times that `nereid tune MODEL --state=FILE` has measured. A node is a "
      "machine "
      "like the one on which that ran. No server is started, and no model is loaded.",
      "With --p99-ms, finds the fewest nodes that keep it. With --nodes, shows so many. With "
      "--target, an autoscaler like that of Kubernetes adds nodes and takes them away."};
  table.flags = FlagsOfLoad(o, &line->values);
  for (Flag& flag : FlagsOfFleet(o, &line->values)) table.flags.push_back(std::move(flag));
  table.argument = {"MODEL", StoreIn(&o->model)};
  table.exit_status =
      "0: simulated; 1: no number of nodes keeps --p99-ms; 2: wrong options or files.";
  return table;
}

Duration Seconds(double seconds) { return Duration(static_cast<int64_t>(seconds * 1e9)); }

absl::Status TakeLoad(const Values& v, CapacityLoad* load) {
  const int loads =
      (load->rate > 0 ? 1 : 0) + (load->day.empty() ? 0 : 1) + (load->recording.empty() ? 0 : 1);
  if (loads > 1) {
    return absl::InvalidArgumentError("--rate, --day and --recording exclude each other");
  }
  load->kind = load->rate > 0       ? CapacityLoad::Kind::kRate
               : !load->day.empty() ? CapacityLoad::Kind::kDay
               : loads > 0          ? CapacityLoad::Kind::kRecording
                                    : CapacityLoad::Kind::kNone;
  if (v.arrivals.has_value() && load->kind != CapacityLoad::Kind::kRate) {
    return absl::InvalidArgumentError("--arrivals has a meaning only with --rate");
  }
  load->arrivals = v.arrivals.value_or(load->arrivals);
  const bool made_up = load->rate > 0 || !load->day.empty();
  if (v.seconds > 0 && !made_up) {
    return absl::InvalidArgumentError("--seconds has a meaning only with --rate or --day");
  }
  if (v.seed.has_value() && !made_up) {
    return absl::InvalidArgumentError("--seed has a meaning only with --rate or --day");
  }
  load->seed = v.seed.value_or(load->seed);
  double mean = load->rate;
  load->seconds = v.seconds > 0 ? v.seconds : kSecondsAtRate;
  if (load->kind == CapacityLoad::Kind::kDay) {
    if (v.seconds == 0) load->seconds = kSecondsOfDay;
    if (*absl::c_max_element(load->day) <= 0) {
      return absl::InvalidArgumentError("--day has no rate above 0");
    }
    mean = std::accumulate(load->day.begin(), load->day.end(), 0.0);
    if (load->day.size() > 1) mean -= (load->day.front() + load->day.back()) / 2;
    mean /= std::max<double>(1, static_cast<double>(load->day.size()) - 1);
  }
  if (mean * load->seconds <= kMostCapacityRequests) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "the load has about ", std::round(mean * load->seconds), " requests in ", load->seconds,
      " s; ", kMostCapacityRequests, " can be simulated: choose a shorter time with --seconds"));
}

absl::Status TakeAutoscaler(const Values& v, CapacityOptions* o) {
  if (v.target == 0) {
    if (v.min_nodes == 0 && v.start < 0 && v.interval == 0 && v.shrink < 0 &&
        !v.gauge.has_value()) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        "--gauge, --min-nodes, --start-seconds, --interval-seconds and --shrink-seconds have a "
        "meaning only with --target");
  }
  if (o->nodes > 0) return absl::InvalidArgumentError("--nodes and --target exclude each other");
  AutoscalerOptions& scaler = o->autoscaler.emplace();
  scaler.target = v.target;
  scaler.gauge = v.gauge.value_or(scaler.gauge);
  scaler.least = v.min_nodes > 0 ? v.min_nodes : 1;
  scaler.most = o->max_nodes;
  if (v.interval > 0) scaler.interval = Seconds(v.interval);
  if (v.shrink >= 0) scaler.stabilization = Seconds(v.shrink);
  o->start = Seconds(v.start >= 0 ? v.start : kUsualStart);
  if (scaler.least <= scaler.most) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "--min-nodes is ", scaler.least, ", which is more than --max-nodes, ", scaler.most));
}

absl::Status TakeFleet(const Values& v, CapacityOptions* o) {
  o->p99_us = v.p99_ms * 1e3;
  const bool loaded = o->load.kind != CapacityLoad::Kind::kNone;
  if (!loaded && (o->p99_us > 0 || o->nodes > 0 || v.target > 0)) {
    return absl::InvalidArgumentError(
        "a load is missing: --rate, --day or --recording; without one, one node alone is shown");
  }
  if (o->nodes > 0 && o->max_nodes > 0) {
    return absl::InvalidArgumentError("--nodes and --max-nodes exclude each other");
  }
  if (o->max_nodes == 0) o->max_nodes = std::max(kUsualMostNodes, v.min_nodes);
  RETURN_IF_ERROR(TakeAutoscaler(v, o));
  if (!loaded || !o->searches() || o->p99_us > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "--p99-ms is missing, for which the fewest nodes are found; or give --nodes, or --target for "
      "an autoscaler");
}

}  // namespace

CommandTable CapacityTable() { return DescribedBy(&TableFor); }

absl::StatusOr<CapacityOptions> ParseCapacityOptions(const std::vector<std::string>& args) {
  CapacityLine line;
  RETURN_IF_ERROR(ParseCommandArguments(TableFor(&line), args));
  CapacityOptions& options = line.options;
  const Values& values = line.values;
  if (options.model.empty()) {
    return absl::InvalidArgumentError("the name of the MODEL is missing");
  }
  if (options.times_file.empty()) {
    return absl::InvalidArgumentError(
        "--times is missing: the file that `nereid tune MODEL --state=FILE` has written");
  }
  RETURN_IF_ERROR(TakeLoad(values, &options.load));
  RETURN_IF_ERROR(TakeFleet(values, &options));
  return std::move(options);
}

}  // namespace nereid
