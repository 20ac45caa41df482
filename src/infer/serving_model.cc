// SPDX-License-Identifier: Apache-2.0
#include "infer/serving_model.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "infer/response_credit.h"
#include "observe/stats/statistics_metrics.h"

namespace nereid {
namespace {

constexpr MetricFamily kOpenRequests = {
    "nereid_model_requests", MetricKind::kGauge,
    "Requests and live sequences of the model version that are not at their end",
    MetricSection::kVersion};

// Bounds of the histogram of first responses, in milliseconds, unless the model has its own.
constexpr double kFirstResponseMillis[] = {100, 500, 2000, 5000};

LatencyOptions LatencyOptionsOf(const CompiledModel& config, const MetricsConfig& metrics,
                                Duration target) {
  LatencyOptions options;
  options.target_ns = static_cast<uint64_t>(target.count());
  options.histograms = metrics.latency_histograms;
  options.summaries = metrics.summary_latencies;
  options.quantiles = metrics.summary_quantiles;
  options.cached = config.response_cache;
  options.decoupled = config.decoupled;
  if (metrics.histogram_latencies) {
    options.first_response_ms = config.first_response_ms.value_or(
        std::vector<double>(std::begin(kFirstResponseMillis), std::end(kFirstResponseMillis)));
  }
  return options;
}

}  // namespace

ServingModel::ServingModel(std::shared_ptr<const CompiledModel> config, OutputLabels labels,
                           Clock* clock, const MetricsConfig& metrics, Duration target,
                           size_t recorded)
    : config_(std::move(config)),
      statistics_(std::make_unique<ModelStatistics>(
          1 + static_cast<int>(config_->instances.size()),
          static_cast<uint32_t>(std::max<int64_t>(1, config_->max_batch_size)),
          LatencyOptionsOf(*config_, metrics, target))),
      recorder_(1 + config_->instances.size(), recorded),
      counter_latencies_(metrics.counter_latencies),
      labels_(std::move(labels)),
      clock_(clock) {}

void ServingModel::AddWaiting(const std::shared_ptr<ResponseCredit>& credit) {
  {
    MutexLock lock(&waiting_mu_);
    if (waits_for_clients_) {
      if (waiting_.size() >= waiting_kept_) {
        for (auto it = waiting_.begin(); it != waiting_.end();) {
          it = it->second.expired() ? waiting_.erase(it) : std::next(it);
        }
        waiting_kept_ = std::max<size_t>(8, 2 * waiting_.size());
      }
      waiting_[credit.get()] = credit;
      return;
    }
  }
  credit->Waive().Call();
}

void ServingModel::StopWaitingForClients() {
  std::map<const ResponseCredit*, std::weak_ptr<ResponseCredit>> waiting;
  {
    MutexLock lock(&waiting_mu_);
    waits_for_clients_ = false;
    waiting.swap(waiting_);
  }
  for (const auto& [address, weak] : waiting) {
    if (const auto credit = weak.lock()) credit->Waive().Call();
  }
}

void ServingModel::DescribeMetrics(MetricSink* sink) const {
  const StatisticsSnapshot snapshot = statistics_->Snapshot();
  ReportRequests(snapshot, sink);
  if (counter_latencies_) {
    ReportDurations(snapshot, sink);
    if (config_->response_cache) ReportCache(snapshot, sink);
  }
  ReportLatencies(statistics_->latencies(), snapshot, ToNanos(clock_->Now()), sink);
  sink->Report(kOpenRequests, lifetime_.inside());
}

const char* ServingModel::Label(const std::string& output, size_t index) const {
  const auto it = labels_.find(output);
  if (it == labels_.end() || index >= it->second.size()) return nullptr;
  return it->second[index].c_str();
}

}  // namespace nereid
