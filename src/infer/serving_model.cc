#include "infer/serving_model.h"

#include "observe/stats/statistics_metrics.h"

namespace nereid {
namespace {

constexpr MetricFamily kOpenRequests = {
    "nereid_model_requests", MetricKind::kGauge,
    "Requests and live sequences of the model version that are not at their end",
    MetricSection::kVersion};

}  // namespace

void ServingModel::DescribeMetrics(MetricSink* sink) const {
  const StatisticsSnapshot snapshot = statistics_->Snapshot();
  ReportRequests(snapshot, sink);
  if (config_->response_cache) ReportCache(snapshot, sink);
  sink->Report(kOpenRequests, lifetime_.inside());
}

const char* ServingModel::Label(const std::string& output, size_t index) const {
  const auto it = labels_.find(output);
  if (it == labels_.end() || index >= it->second.size()) return nullptr;
  return it->second[index].c_str();
}

}  // namespace nereid
