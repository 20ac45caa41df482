#include "tune/tune_options.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <thread>

#include "base/status_macros.h"
#include "bench/option_table.h"

namespace nereid {
namespace {

constexpr int kMostInstances = 64;
constexpr int kUsualInstances = 8;
constexpr int kMostBatch = 4096;
constexpr int kMostThreads = 1024;
constexpr int kUsualClients = 64;
constexpr int kMostClients = 1024;
constexpr double kMostRate = 1e6;

bench::Setter ObjectiveOf(Objective* objective) {
  return [=](absl::string_view text) {
    *objective = text == "latency"  ? Objective::kLatency
                 : text == "memory" ? Objective::kMemory
                                    : Objective::kThroughput;
    return *objective != Objective::kThroughput || text == "throughput"
               ? absl::OkStatus()
               : bench::Wrong("--objective", text, "throughput, latency or memory");
  };
}

// An option that the private server gets as it is.
bench::Setter Passed(const char* option, std::vector<std::string>* to) {
  return [=](absl::string_view text) {
    to->push_back(absl::StrCat(option, "=", text));
    return absl::OkStatus();
  };
}

struct Values {
  int concurrency = 0, max_concurrency = 0, batch_size = 1;
  double rate = 0, p99_ms = 0;
};

std::vector<bench::Option> OptionsOf(TuneOptions* o, Values* v) {
  using bench::Whole;
  return {
      {"help", "", bench::Flag(&o->help)},
      {"model-repository", "VALUE", bench::Name("--model-repository", &o->repository)},
      {"objective", "VALUE", ObjectiveOf(&o->goal.objective)},
      {"p99-ms", "VALUE", bench::Number("--p99-ms", &v->p99_ms, {0.001, 1e6, false})},
      {"memory-mb", "VALUE", bench::Number("--memory-mb", &o->goal.memory_mib, {1, 1e7, false})},
      {"min-throughput", "VALUE",
       bench::Number("--min-throughput", &o->goal.min_throughput, {1e-3, 1e9, false})},
      {"max-instances", "VALUE", Whole("--max-instances", &o->max_instances, 1, kMostInstances)},
      {"max-batch-sizes", "VALUE",
       bench::List("--max-batch-sizes", &o->max_batch_sizes, {1, kMostBatch, true})},
      {"threads", "VALUE", bench::List("--threads", &o->threads, {1, kMostThreads, true})},
      {"same-backend", "", bench::Flag(&o->same_backend)},
      {"concurrency", "VALUE", Whole("--concurrency", &v->concurrency, 1, kMostClients)},
      {"max-concurrency", "VALUE",
       Whole("--max-concurrency", &v->max_concurrency, 1, kMostClients)},
      {"rate", "VALUE", bench::Number("--rate", &v->rate, {1e-3, kMostRate, false})},
      {"arrivals", "VALUE", bench::Arriving(&o->load.arrivals)},
      {"recording", "VALUE", bench::File("--recording", &o->recording)},
      {"batch-size", "VALUE", Whole("--batch-size", &v->batch_size, 1, kMostBatch)},
      {"shape", "VALUE", bench::InputShape(&o->inputs.shapes)},
      {"input", "VALUE", bench::InputFile(&o->inputs.files)},
      {"seconds", "VALUE", bench::Number("--seconds", &o->seconds, {0.1, 3600, false})},
      {"measure", "VALUE", Whole("--measure", &o->measure, 0, 1000)},
      {"state", "VALUE", bench::File("--state", &o->state_file)},
      {"html", "VALUE", bench::File("--html", &o->html_file)},
      {"apply", "", bench::Flag(&o->apply)},
      {"load-model", "VALUE",
       [o](absl::string_view text) {
         o->load_models.emplace_back(text);
         return absl::OkStatus();
       }},
      {"backend-directory", "VALUE",
       [o](absl::string_view text) {
         o->backend_directory = std::string(text);
         return Passed("--backend-directory", &o->server_options)(text);
       }},
      {"backend-config", "VALUE", Passed("--backend-config", &o->server_options)},
  };
}

absl::Status TakeLoad(const Values& v, TuneOptions* o) {
  const int loads =
      (v.concurrency > 0 ? 1 : 0) + (v.rate > 0 ? 1 : 0) + (o->recording.empty() ? 0 : 1);
  if (loads > 1) {
    return absl::InvalidArgumentError("--concurrency, --rate and --recording exclude each other");
  }
  if (loads > 0 && v.max_concurrency > 0) {
    return absl::InvalidArgumentError(
        "--max-concurrency has a meaning only without --concurrency, --rate and --recording");
  }
  if (loads == 0 && o->goal.objective == Objective::kLatency) {
    return absl::InvalidArgumentError(
        "--objective=latency needs a load: --concurrency, --rate or --recording");
  }
  TuneLoad& load = o->load;
  load.batch_size = static_cast<uint32_t>(v.batch_size);
  load.rate = v.rate;
  load.kind = v.rate > 0              ? TuneLoad::Kind::kRate
              : !o->recording.empty() ? TuneLoad::Kind::kRecording
              : v.concurrency > 0     ? TuneLoad::Kind::kConcurrency
                                      : TuneLoad::Kind::kSweep;
  load.concurrency = v.concurrency > 0       ? v.concurrency
                     : v.max_concurrency > 0 ? v.max_concurrency
                                             : kUsualClients;
  return absl::OkStatus();
}

// Whether the limits have a meaning beside the objective and the load.
absl::Status CheckGoal(const Goal& goal, const TuneLoad& load) {
  if (goal.objective == Objective::kThroughput && goal.min_throughput > 0) {
    return absl::InvalidArgumentError(
        "--min-throughput has a meaning only with --objective=latency or memory; otherwise the "
        "largest throughput is looked for");
  }
  if (load.kind == TuneLoad::Kind::kRate && goal.min_throughput > load.rate) {
    return absl::InvalidArgumentError(
        "--min-throughput is more than --rate, so that nothing can reach it");
  }
  if (goal.objective != Objective::kMemory) return absl::OkStatus();
  if (goal.memory_mib > 0) {
    return absl::InvalidArgumentError(
        "--memory-mb has no meaning with --objective=memory, which looks for the least");
  }
  if (goal.min_throughput > 0) return absl::OkStatus();
  if (load.kind == TuneLoad::Kind::kSweep) {
    return absl::InvalidArgumentError(
        "--objective=memory needs --min-throughput, or a load and --p99-ms: otherwise one request "
        "now and then would do");
  }
  if (goal.p99_us > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "--objective=memory needs --p99-ms or --min-throughput: otherwise the slowest server would "
      "do");
}

}  // namespace

absl::StatusOr<TuneOptions> ParseTuneOptions(const std::vector<std::string>& args) {
  TuneOptions options;
  options.load.arrivals = bench::Arrivals::kPoisson;
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
  if (options.repository.empty()) {
    return absl::InvalidArgumentError(
        "--model-repository is missing: the folder with the model's folder");
  }
  RETURN_IF_ERROR(TakeLoad(values, &options));
  options.goal.p99_us = values.p99_ms * 1e3;
  RETURN_IF_ERROR(CheckGoal(options.goal, options.load));
  if (options.max_instances == 0) {
    const auto cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    options.max_instances = std::min(2 * cores, kUsualInstances);
  }
  return options;
}

}  // namespace nereid
