// SPDX-License-Identifier: Apache-2.0
#include "tune/tune_options.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/status_macros.h"
#include "bench/load_flags.h"
#include "options/command_flags.h"
#include "options/flag_kinds.h"
#include "options/parse.h"

namespace nereid {
namespace {

constexpr int kMostInstances = 64;
constexpr int kUsualInstances = 8;
constexpr int kMostBatch = 4096;
constexpr int kMostThreads = 1024;
constexpr int kUsualClients = 64;
constexpr int kMostClients = 1024;
constexpr double kMostRate = 1e6;

struct Values {
  int concurrency = 0, max_concurrency = 0, batch_size = 1;
  double rate = 0, p99_ms = 0;
};

// What the setters fill.
struct TuneLine {
  TuneLine() { options.load.arrivals = bench::Arrivals::kPoisson; }
  TuneOptions options;
  Values values;
};

std::vector<Flag> FlagsOfGoal(TuneOptions* o, Values* v) {
  return {
      FolderFlag("model-repository", &o->repository, "the folder with the model's folder"),
      KindFlag<Objective>("objective", &o->goal.objective,
                          {{"throughput", Objective::kThroughput},
                           {"latency", Objective::kLatency},
                           {"memory", Objective::kMemory}},
                          "throughput",
                          "throughput (the largest), latency (the lowest p99) or memory (the least "
                          "of the server)"),
      NumberFlag("p99-ms", "MS", &v->p99_ms, {0.001, 1e6, false},
                 "the 99th percentile of the latency has to be at most this"),
      NumberFlag("memory-mb", "MIB", &o->goal.memory_mib, {1, 1e7, false},
                 "the server's memory has to be at most this, in MiB"),
      NumberFlag("min-throughput", "N", &o->goal.min_throughput, {1e-3, 1e9, false},
                 "at least N requests per second have to be answered"),
      WholeFlag("concurrency", &v->concurrency, 1, kMostClients,
                "the load is a closed loop of N clients"),
      NumberFlag("rate", "R", &v->rate, {1e-3, kMostRate, false},
                 "the load is R requests per second"),
      ArrivalsFlag(&o->load.arrivals, "how they fall due: constant, poisson, bursty or step"),
      FileFlag("recording", &o->recording,
               "the load is that of a recording (nereid --record=FILE)"),
      WithDefaultText("64", WholeFlag("max-concurrency", &v->max_concurrency, 1, kMostClients,
                                      "without a load, closed loops of 1 to N clients are tried")),
      WholeFlag("batch-size", &v->batch_size, 1, kMostBatch, "rows of a request"),
  };
}

std::vector<Flag> FlagsOfSearch(TuneOptions* o) {
  Flag backends =
      PassedFlag("backend-directory", "DIR", &o->server_options, "as the option of the server");
  backends.repeated = false;
  backends.set = [o, set = std::move(backends.set)](absl::string_view text) {
    o->backend_directory = std::string(text);
    return set(text);
  };
  return {
      WithDefaultText("twice the processors, at most 8",
                      WholeFlag("max-instances", &o->max_instances, 1, kMostInstances,
                                "try up to N instances")),
      WithDefaultText("today's alone",
                      ListFlag("max-batch-sizes", "N,N", &o->max_batch_sizes, {1, kMostBatch, true},
                               "largest batches to try; requests with larger batches than that "
                               "are refused")),
      WithDefaultText("today's, and 1, 2, 4, ... up to the processors",
                      ListFlag("threads", "N,N", &o->threads, {1, kMostThreads, true},
                               "threads of an execution to try, where the backend has a parameter "
                               "for them")),
      TurnOnFlag("same-backend", &o->same_backend,
                 "do not try other installed backends that read the model's file"),
      ShapeFlag(&o->inputs.shapes, "shape of an input that may have any; may be repeated"),
      InputFileFlag(&o->inputs.files),
      NumberFlag("seconds", "S", &o->seconds, {0.1, 3600, false}, "length of a measurement"),
      WholeFlag("measure", &o->measure, 0, 1000, "measure the best N configurations, and today's"),
      FileFlag("state", &o->state_file, "keep what was measured in this file, and go on with it"),
      FileFlag("html", &o->html_file, "write a page with a plot"),
      TurnOnFlag("apply", &o->apply,
                 "write config.pbtxt; the old one becomes config.pbtxt.before-tune"),
      NamesFlag("load-model", &o->load_models,
                "another model of the repository that this one needs; may be repeated"),
      std::move(backends),
      PassedFlag("backend-config", "NAME,KEY=VALUE", &o->server_options,
                 "as the option of the server; may be repeated"),
  };
}

CommandTable TableFor(TuneLine* line) {
  TuneOptions* const o = &line->options;
  CommandTable table;
  table.name = "tune";
  table.summary = "find the best instance count and batching of a model";
  table.synopsis = "MODEL --model-repository=DIR [options]";
  table.description = {
      "Finds the number of instances, the preferred batch sizes, the queue delay and the threads "
      "with which a model serves best on this machine: measures how long executions take, judges "
      "many configurations in a simulation of the scheduler, and measures the best ones. If MODEL "
      "is an ensemble, the models of its steps are varied together. For that it starts private "
      "servers, one at a time, with copies of the models' folders; a running server is not "
      "touched. Prints the evidence and the change of config.pbtxt, and changes nothing without "
      "--apply. Ctrl-C ends early."};
  table.flags = FlagsOfGoal(o, &line->values);
  for (Flag& flag : FlagsOfSearch(o)) table.flags.push_back(std::move(flag));
  table.argument = {"MODEL", StoreIn(&o->model)};
  table.exit_status =
      "0: a configuration was found; 1: the model cannot be tuned, or the end came early; 2: wrong "
      "options.";
  return table;
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

CommandTable TuneTable() { return DescribedBy(&TableFor); }

absl::StatusOr<TuneOptions> ParseTuneOptions(const std::vector<std::string>& args) {
  TuneLine line;
  RETURN_IF_ERROR(ParseCommandArguments(TableFor(&line), args));
  TuneOptions& options = line.options;
  const Values& values = line.values;
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
  return std::move(options);
}

}  // namespace nereid
