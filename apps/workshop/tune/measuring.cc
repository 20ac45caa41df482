// SPDX-License-Identifier: Apache-2.0
#include "tune/measuring.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <thread>

#include "base/status_macros.h"
#include "bench/row_run.h"
#include "bench/text_report.h"

namespace nereid {
namespace {

// A service time needs less of a measurement than a percentile.
constexpr double kShareOfServiceTime = 0.25;
constexpr double kRequestsOfServiceTime = 1000;
constexpr double kLeastSeconds = 0.1;
// In flight, where the load does not say how many.
constexpr int kMany = 16;
// Of the time, a request of an open loop that is to be alone may be on its way.
constexpr double kShareOfAlone = 0.5;
constexpr double kWarmUpShare = 0.2;
// Of the requests. What slows down more of them belongs to the model.
constexpr double kUsualShare = 0.95;
// Of a thousand requests. The slowest ones of all say more of the machine than of the server.
constexpr int kSharesOfVariation[] = {1, 50, 250, 500, 750, 900, 950, 980, 990, 995};
constexpr int kMostInFlight = 1024;

double Us(int64_t ns) { return static_cast<double>(ns) * 1e-3; }

// Not the mean, to which other work of the machine may add a lot.
double MiddleUs(const bench::RowResult& row) { return Us(row.latency.Percentile(0.5)); }

// What remains of a mean without what seldom takes long.
double UsualShare(const bench::Histogram& latency) {
  return latency.MeanOfSmallest(kUsualShare) / std::max(latency.mean(), 1e-3);
}

// An execution as it usually is. The server knows means, to which a pause of the machine adds a
// lot; how much shows in the latencies.
double ExecutionUs(const bench::ServerTimes& times, const bench::Histogram& latency) {
  return (times.compute_input + times.compute_infer + times.compute_output) * UsualShare(latency);
}

// From one execution's begin to the next one's, in a closed loop of more requests than one.
double CycleUs(const bench::RowResult& row, double requests) {
  return 1e6 * requests / std::max(row.throughput(), 1e-3) * UsualShare(row.latency);
}

// Processor time of a request, of the server and of this client. The server's was counted over the
// warm-up, too.
double CpuUs(const bench::RowResult& row, double server_seconds) {
  const double of_server = server_seconds / (row.seconds * (1 + kWarmUpShare));
  return (of_server + row.client_cpu) * 1e6 / std::max(row.throughput(), 1e-3);
}

Measurement MeasurementOf(const bench::RowResult& row) {
  Measurement measurement;
  Performance& performance = measurement.performance;
  performance.concurrency = row.concurrency;
  performance.throughput = row.throughput();
  performance.p50_us = Us(row.latency.Percentile(0.5));
  performance.p99_us = Us(row.latency.Percentile(0.99));
  if (row.server.has_value()) performance.mean_batch = row.server->batch_size;
  measurement.errors = row.errors.total();
  return measurement;
}

}  // namespace

bench::BenchOptions Measuring::OptionsFor(const ProbeTarget& server, int batch_size,
                                          double seconds) const {
  bench::BenchOptions options;
  options.target = server;
  options.model = options_.model;
  options.inputs = options_.inputs;
  options.inputs.batch_size = batch_size;
  options.seconds = seconds;
  options.warm_up_seconds = seconds * kWarmUpShare;
  options.stability = 0;
  options.arrivals = options_.load.arrivals;
  options.max_in_flight = kMostInFlight;
  return options;
}

absl::StatusOr<bench::RowResult> Measuring::Row(const bench::BenchOptions& options,
                                                const bench::RowLoad& load,
                                                const std::string& what) const {
  const bool recorded = load.concurrency == 0 && load.rate == 0;
  ASSIGN_OR_RETURN(
      const std::unique_ptr<bench::LoadPlan> plan,
      recorded ? bench::LoadPlan::MakeFor(options, recorded_) : bench::LoadPlan::Make(options));
  hooks_.progress(what);
  bench::RowResult row =
      bench::MeasureRow(*plan, load, hooks_.interrupted, [&](const bench::RowResult& so_far) {
        hooks_.progress(absl::StrCat(what, ": ", bench::LiveText(so_far)));
      });
  if (row.interrupted || hooks_.interrupted()) return absl::CancelledError("interrupted");
  if (!row.failed()) return row;
  const auto errors = row.errors.ByCount();
  return absl::FailedPreconditionError(absl::StrCat("no request had a success (", what, "): ",
                                                    !row.failure.empty() ? row.failure
                                                    : errors.empty()     ? "no answer came"
                                                                         : errors.front().first));
}

absl::StatusOr<std::vector<bench::ModelCounts>> Measuring::Counts(
    const ProbeTarget& server, const std::vector<std::string>& models) const {
  bench::BenchOptions options;
  options.target = server;
  bench::Endpoint endpoint;
  endpoint.address = server.Authority();
  std::vector<bench::ModelCounts> counts;
  for (const std::string& model : models) {
    options.model = model;
    ASSIGN_OR_RETURN(counts.emplace_back(), bench::ServerClient(options, endpoint).Counts());
  }
  return counts;
}

absl::StatusOr<Measuring::Sample> Measuring::Measure(const PrivateServer& server,
                                                     const std::vector<std::string>& models,
                                                     int batch_size, const bench::RowLoad& load,
                                                     double expected_us,
                                                     const std::string& what) const {
  // The tail of an open loop is of interest, too.
  double seconds = options_.seconds * (load.rate > 0 ? 1 : kShareOfServiceTime);
  if (expected_us > 0) seconds = std::min(seconds, kRequestsOfServiceTime * expected_us * 1e-6);
  seconds = std::max(seconds, kLeastSeconds);
  bench::BenchOptions options = OptionsFor(server.target(), batch_size, seconds);
  options.arrivals = bench::Arrivals::kUniform;
  Sample sample;
  const double cpu_before = server.CpuSeconds();
  ASSIGN_OR_RETURN(const std::vector<bench::ModelCounts> before, Counts(server.target(), models));
  ASSIGN_OR_RETURN(sample.row, Row(options, load, what));
  sample.cpu_us = CpuUs(sample.row, server.CpuSeconds() - cpu_before);
  ASSIGN_OR_RETURN(const std::vector<bench::ModelCounts> after, Counts(server.target(), models));
  for (size_t i = 0; i < models.size(); ++i) {
    const std::optional<bench::ServerTimes> times = bench::TimesBetween(before[i], after[i]);
    if (!times.has_value()) {
      return absl::FailedPreconditionError(
          absl::StrCat("the server has no statistics of the model '", models[i], "'"));
    }
    sample.execution_us.push_back(ExecutionUs(*times, sample.row.latency));
  }
  return sample;
}

absl::StatusOr<Measuring::StepTimes> Measuring::Times(const PrivateServer& server,
                                                      const Executions& executions) const {
  StepTimes times;
  times.models.resize(executions.models.size());
  times.whole.processors = static_cast<int>(std::thread::hardware_concurrency());
  double cpu_us = 0;
  double middle_us = 0;
  for (const int size : executions.batch_sizes) {
    ASSIGN_OR_RETURN(const Sample sample, Measure(server, executions.models, size, {1}, middle_us,
                                                  absl::StrCat("execution of a batch of ", size)));
    for (const PipelineStep& step : executions.steps) {
      times.models[step.model].by_batch_us[size] = sample.execution_us[step.model];
      times.whole.by_batch_us[size] += sample.execution_us[step.model];
    }
    cpu_us = sample.cpu_us;
    middle_us = MiddleUs(sample.row);
    if (size != executions.batch_sizes.front()) continue;
    TakeOverhead(executions, sample, &times.whole);
    times.whole.cpu_us = cpu_us;
  }
  times.whole.LearnProcessors(cpu_us);
  RETURN_IF_ERROR(AdjustToRate(server, executions, &times));
  for (ServiceTimes& of_model : times.models) {
    of_model.execution_processors = times.whole.ProcessorsOfExecution();
  }
  return times;
}

void Measuring::TakeOverhead(const Executions& executions, const Sample& alone,
                             ServiceTimes* times) const {
  const double middle_us = MiddleUs(alone.row);
  times->overhead_us =
      std::max(middle_us - LongestWayUs(executions.steps, alone.execution_us), 0.0);
  for (const int share : kSharesOfVariation) {
    times->overhead_varies_us[share] = Us(alone.row.latency.Percentile(share * 1e-3)) - middle_us;
  }
}

absl::Status Measuring::AdjustToRate(const PrivateServer& server, const Executions& executions,
                                     StepTimes* times) const {
  const TuneLoad& load = options_.load;
  if (load.closed()) return absl::OkStatus();
  double rate = load.rate;
  if (load.kind == TuneLoad::Kind::kRecording) {
    const double seconds = std::chrono::duration<double>(recorded_.back().due).count();
    rate = static_cast<double>(recorded_.size()) / std::max(seconds, 1e-3);
  }
  const int size = executions.batch_sizes.front();
  // Rarely enough to be alone.
  rate =
      std::min(rate, kShareOfAlone * 1e6 / (times->whole.overhead_us + times->whole.BatchUs(size)));
  ASSIGN_OR_RETURN(const Sample sample, Measure(server, executions.models, size, {0, rate},
                                                1e6 / rate, "requests at intervals"));
  TakeOverhead(executions, sample, &times->whole);
  // Caches are cold again, which costs larger batches no more.
  std::vector<double> more_us;
  for (size_t i = 0; i < times->models.size(); ++i) {
    std::map<int, double>& by_batch_us = times->models[i].by_batch_us;
    more_us.push_back(std::max(sample.execution_us[i] - by_batch_us[size], 0.0));
    for (auto& [units, us] : by_batch_us) us += more_us[i];
  }
  for (const PipelineStep& step : executions.steps) {
    for (auto& [units, us] : times->whole.by_batch_us) us += more_us[step.model];
  }
  return absl::OkStatus();
}

absl::Status Measuring::AddBusy(const PrivateServer& server, ServiceTimes* times) const {
  const TuneLoad& load = options_.load;
  const int clients = load.kind == TuneLoad::Kind::kConcurrency ? load.concurrency : kMany;
  if (clients == 1) return absl::OkStatus();  // never busy
  const int size = static_cast<int>(load.batch_size);
  const double expected_us = times->overhead_us + times->BatchUs(size);
  ASSIGN_OR_RETURN(const Sample sample, Measure(server, {options_.model}, size, {clients},
                                                expected_us, "many requests in flight"));
  const double units = sample.row.server.has_value() ? sample.row.server->batch_size : size;
  const double requests = std::max(units / size, 1.0);
  times->LearnBusy(sample.cpu_us, requests, units);
  times->LearnRest(CycleUs(sample.row, requests), sample.execution_us[0]);
  return absl::OkStatus();
}

absl::Status Measuring::AddSlowdowns(const PrivateServer& server, const Executions& executions,
                                     std::vector<ServiceTimes>* models) const {
  const std::set<int> sizes = {executions.batch_sizes.front(), executions.batch_sizes.back()};
  for (const int size : sizes) {
    double alone_us = 0;
    for (ServiceTimes& times : *models) {
      times.slowdown[size][1] = 1;
      alone_us += times.by_batch_us[size];
    }
    for (const int count : executions.instances) {
      if (count == 1) continue;
      const std::string what = absl::StrCat(count, " executions at a time, batches of ", size);
      ASSIGN_OR_RETURN(const Sample sample,
                       Measure(server, executions.models, size, {count}, alone_us * count, what));
      for (size_t i = 0; i < models->size(); ++i) {
        ServiceTimes& times = (*models)[i];
        const double alone = std::max(times.by_batch_us[size], 1e-3);
        times.slowdown[size][count] = std::max(1.0, sample.execution_us[i] / alone);
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Measurement> Measuring::OfCandidate(const PrivateServer& server,
                                                   const Judged& candidate, const std::string& name,
                                                   double share) const {
  const TuneLoad& load = options_.load;
  const Performance& predicted = candidate.predicted;
  std::vector<int> clients;
  if (load.kind == TuneLoad::Kind::kConcurrency) clients = {load.concurrency};
  if (!load.closed()) clients = {0};
  if (load.kind == TuneLoad::Kind::kSweep) {
    for (const int count :
         {predicted.concurrency / 2, predicted.concurrency, 2 * predicted.concurrency}) {
      if (count >= 1 && count <= load.concurrency) clients.push_back(count);
    }
  }
  const bench::BenchOptions options =
      OptionsFor(server.target(), static_cast<int>(load.batch_size), options_.seconds * share);
  std::vector<Judged> rows;
  for (const int count : clients) {
    ASSIGN_OR_RETURN(const bench::RowResult row,
                     Row(options, {count, count == 0 ? load.rate : 0}, name));
    rows.emplace_back().measured = MeasurementOf(row);
  }
  Goal goal;  // the rest is the same for all rows
  goal.p99_us = options_.goal.p99_us;
  Measurement measurement = *rows[Best(rows, goal, 1)[0]].measured;
  measurement.memory_mib = server.MemoryMib();
  return measurement;
}

}  // namespace nereid
