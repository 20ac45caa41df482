#include "capacity/capacity_options.h"

#include <absl/algorithm/container.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <cmath>
#include <numeric>

#include "base/status_macros.h"
#include "bench/option_table.h"

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

bench::Setter Chosen(const char* option, const char* first, const char* second,
                     std::function<void(bool is_second)> set) {
  return [=, set = std::move(set)](absl::string_view text) {
    if (text != first && text != second) {
      return bench::Wrong(option, text, absl::StrCat(first, " or ", second));
    }
    set(text == second);
    return absl::OkStatus();
  };
}

std::vector<bench::Option> OptionsOfLoad(CapacityOptions* o, Values* v) {
  return {
      {"rate", "VALUE", bench::Number("--rate", &o->load.rate, {1e-3, kMostRate, false})},
      {"day", "VALUE", bench::List("--day", &o->load.day, {0, kMostRate, false})},
      {"recording", "VALUE", bench::File("--recording", &o->load.recording)},
      {"arrivals", "VALUE",
       [v](absl::string_view text) { return bench::Arriving(&v->arrivals.emplace())(text); }},
      {"seed", "VALUE",
       [v](absl::string_view text) {
         return bench::Whole("--seed", &v->seed.emplace(), 0, kMostSeed)(text);
       }},
      {"batch-size", "VALUE", bench::Whole("--batch-size", &o->load.batch_size, 1, kMostBatch)},
      {"seconds", "VALUE", bench::Number("--seconds", &v->seconds, {1, kMostSeconds, false})},
  };
}

std::vector<bench::Option> OptionsOfFleet(CapacityOptions* o, Values* v) {
  constexpr double kMostNodes = FleetOptions::kMostNodes;
  return {
      {"p99-ms", "VALUE", bench::Number("--p99-ms", &v->p99_ms, {0.001, 1e6, false})},
      {"nodes", "VALUE", bench::Whole("--nodes", &o->nodes, 1, kMostNodes)},
      {"target", "VALUE", bench::Number("--target", &v->target, {0.001, 1e6, false})},
      {"gauge", "VALUE",
       Chosen("--gauge", "in-flight", "queued",
              [v](bool queued) {
                v->gauge = queued ? AutoscalerOptions::Gauge::kQueued
                                  : AutoscalerOptions::Gauge::kInFlight;
              })},
      {"min-nodes", "VALUE", bench::Whole("--min-nodes", &v->min_nodes, 1, kMostNodes)},
      {"max-nodes", "VALUE", bench::Whole("--max-nodes", &o->max_nodes, 1, kMostNodes)},
      {"start-seconds", "VALUE", bench::Number("--start-seconds", &v->start, {0, 86400, false})},
      {"interval-seconds", "VALUE",
       bench::Number("--interval-seconds", &v->interval, {1, 3600, false})},
      {"shrink-seconds", "VALUE", bench::Number("--shrink-seconds", &v->shrink, {0, 86400, false})},
      {"balancer", "VALUE",
       Chosen("--balancer", "round-robin", "least-in-flight",
              [o](bool least) {
                o->balancer = least ? Balancer::kLeastInFlight : Balancer::kRoundRobin;
              })},
  };
}

std::vector<bench::Option> OptionsOf(CapacityOptions* o, Values* v) {
  std::vector<bench::Option> options = {
      {"help", "", bench::Flag(&o->help)},
      {"json", "", bench::Flag(&o->json)},
      {"times", "VALUE", bench::File("--times", &o->times_file)},
      {"config", "VALUE", bench::ConfigFile("--config", &o->config_file)},
  };
  for (bench::Option& option : OptionsOfLoad(o, v)) options.push_back(std::move(option));
  for (bench::Option& option : OptionsOfFleet(o, v)) options.push_back(std::move(option));
  return options;
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

absl::StatusOr<CapacityOptions> ParseCapacityOptions(const std::vector<std::string>& args) {
  CapacityOptions options;
  Values values;
  const std::vector<bench::Option> known = OptionsOf(&options, &values);
  for (const std::string& arg : args) {
    if (absl::StartsWith(arg, "-")) {
      RETURN_IF_ERROR(bench::SetOption(known, arg));
    } else if (!options.model.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("one MODEL at a time, not also ", arg));
    } else {
      options.model = arg;
    }
  }
  if (options.help) return options;
  if (options.model.empty()) {
    return absl::InvalidArgumentError("the name of the MODEL is missing");
  }
  if (options.times_file.empty()) {
    return absl::InvalidArgumentError(
        "--times is missing: the file that `nereid tune MODEL --state=FILE` has written");
  }
  RETURN_IF_ERROR(TakeLoad(values, &options.load));
  RETURN_IF_ERROR(TakeFleet(values, &options));
  return options;
}

}  // namespace nereid
