// SPDX-License-Identifier: Apache-2.0
#include "backends/python/metrics.h"

#include <memory>
#include <string_view>

#include "backends/python/parameters.h"
#include "backends/sdk/log.h"

namespace nereid_backend {
namespace {

struct ArgsDeleter {
  void operator()(TRITONSERVER_MetricArgs* args) const {
    const Error ignored(TRITONSERVER_MetricArgsDelete(args));
  }
};

// What the names of the server's own families begin with, those of Triton among them. Its
// other backends have families like nv_trt_llm_request_metrics.
constexpr std::string_view kOfTheServer[] = {
    "nereid_", "nv_cache_",     "nv_cpu_",   "nv_energy_",
    "nv_gpu_", "nv_inference_", "nv_model_", "nv_pinned_memory_pool_"};

}  // namespace

Error CheckFamilyName(const std::string& name) {
  for (const std::string_view prefix : kOfTheServer) {
    if (name.compare(0, prefix.size(), prefix) != 0) continue;
    return Error::InvalidArg(StrCat("the name '", name,
                                    "' of a metric family is taken: names that "
                                    "begin with '",
                                    prefix, "' are the server's own"));
  }
  return Error();
}

ModelMetrics::~ModelMetrics() {
  while (!families_.empty()) DeleteFamily(families_.begin()->first);
}

Result<uint64_t> ModelMetrics::NewFamily(int64_t kind, const std::string& name,
                                         const std::string& description) {
  TRITONSERVER_MetricFamily* family = nullptr;
  NB_RETURN_IF_ERROR(TRITONSERVER_MetricFamilyNew(
      &family, static_cast<TRITONSERVER_MetricKind>(kind), name.c_str(), description.c_str()));
  families_[next_] = family;
  return next_++;
}

Result<uint64_t> ModelMetrics::NewMetric(uint64_t family, const Labels& labels,
                                         const std::optional<std::vector<double>>& buckets) {
  const auto found = families_.find(family);
  if (found == families_.end()) return Error::NotFound("the metric family has been deleted");
  std::vector<OwnedParameter> owned;
  std::vector<const TRITONSERVER_Parameter*> parameters;
  for (const auto& [name, value] : labels) {
    owned.emplace_back(
        TRITONSERVER_ParameterNew(name.c_str(), TRITONSERVER_PARAMETER_STRING, value.c_str()));
    parameters.push_back(owned.back().get());
  }
  std::unique_ptr<TRITONSERVER_MetricArgs, ArgsDeleter> args;
  if (buckets.has_value()) {
    TRITONSERVER_MetricArgs* made = nullptr;
    NB_RETURN_IF_ERROR(TRITONSERVER_MetricArgsNew(&made));
    args.reset(made);
    NB_RETURN_IF_ERROR(
        TRITONSERVER_MetricArgsSetHistogram(args.get(), buckets->data(), buckets->size()));
  }
  TRITONSERVER_Metric* metric = nullptr;
  NB_RETURN_IF_ERROR(TRITONSERVER_MetricNewWithArgs(&metric, found->second, parameters.data(),
                                                    parameters.size(), args.get()));
  metrics_[next_] = {metric, family};
  return next_++;
}

void ModelMetrics::DeleteFamily(uint64_t family) {
  const auto found = families_.find(family);
  if (found == families_.end()) return;
  for (auto it = metrics_.begin(); it != metrics_.end();) {
    const auto next = std::next(it);
    if (it->second.family == family) DeleteMetric(it->first);
    it = next;
  }
  NB_LOG_IF_ERROR(TRITONSERVER_MetricFamilyDelete(found->second),
                  "Error when deleting MetricFamily");
  families_.erase(found);
}

void ModelMetrics::DeleteMetric(uint64_t metric) {
  const auto found = metrics_.find(metric);
  if (found == metrics_.end()) return;
  NB_LOG_IF_ERROR(TRITONSERVER_MetricDelete(found->second.handle), "Error when deleting Metric");
  metrics_.erase(found);
}

Result<TRITONSERVER_Metric*> ModelMetrics::Find(uint64_t metric) {
  const auto found = metrics_.find(metric);
  if (found != metrics_.end()) return found->second.handle;
  return Error::Internal(
      "Invalid metric operation as the corresponding 'MetricFamily' has been deleted. The "
      "'MetricFamily' object should be deleted AFTER its corresponding 'Metric' objects have been "
      "deleted.");
}

Error ModelMetrics::Increment(uint64_t metric, double by) {
  NB_ASSIGN_OR_RETURN(TRITONSERVER_Metric* const handle, Find(metric));
  return Error(TRITONSERVER_MetricIncrement(handle, by));
}

Error ModelMetrics::Set(uint64_t metric, double value) {
  NB_ASSIGN_OR_RETURN(TRITONSERVER_Metric* const handle, Find(metric));
  return Error(TRITONSERVER_MetricSet(handle, value));
}

Error ModelMetrics::Observe(uint64_t metric, double value) {
  NB_ASSIGN_OR_RETURN(TRITONSERVER_Metric* const handle, Find(metric));
  return Error(TRITONSERVER_MetricObserve(handle, value));
}

Result<double> ModelMetrics::Value(uint64_t metric) {
  NB_ASSIGN_OR_RETURN(TRITONSERVER_Metric* const handle, Find(metric));
  double value = 0;
  NB_RETURN_IF_ERROR(TRITONSERVER_MetricValue(handle, &value));
  return value;
}

Result<uint64_t> RefusalCounter::Make() {
  NB_ASSIGN_OR_RETURN(
      const uint64_t family,
      metrics_.NewFamily(TRITONSERVER_METRIC_KIND_COUNTER, "nereid_python_refused_requests",
                         "Requests that were refused because the process of the Python model has "
                         "ended twice when it executed one with the same inputs"));
  return metrics_.NewMetric(family, {{"model", model_}, {"version", std::to_string(version_)}}, {});
}

void RefusalCounter::Add() {
  std::call_once(once_, [&] {
    Result<uint64_t> made = Make();
    if (made.ok()) metric_ = *made;
    if (!made.ok()) NB_LOG_VERBOSE("refused requests are not counted: ", made.error().message());
  });
  if (metric_ != 0) NB_LOG_IF_ERROR(metrics_.Increment(metric_, 1), "a request was not counted");
}

}  // namespace nereid_backend
