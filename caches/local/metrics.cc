#include "caches/local/metrics.h"

#include <chrono>
#include <iterator>

namespace nereid_cache {
namespace {

struct Description {
  const char* name;
  const char* help;
};

constexpr Description kGauges[] = {
    {"nv_cache_util", "Cache utilization [0.0 - 1.0]"},
    {"nv_cache_num_entries", "Number of responses stored in response cache"},
    {"nv_cache_num_lookups", "Number of cache lookups in response cache"},
    {"nv_cache_num_hits", "Number of cache hits in response cache"},
    {"nv_cache_num_misses", "Number of cache misses in response cache"},
    {"nv_cache_num_evictions", "Number of cache evictions in response cache"},
};

// For calls whose failure is impossible or has no consequence.
void Ignore(TRITONSERVER_Error* error) {
  if (error != nullptr) TRITONSERVER_ErrorDelete(error);
}

}  // namespace

nereid_backend::Error CacheMetrics::Start(const Lru* lru) {
  NB_RETURN_IF_ERROR(MakeGauges());
  Show(lru->counts());
  thread_ = std::thread([this, lru] { Run(lru); });
  return {};
}

void CacheMetrics::Run(const Lru* lru) {
  std::unique_lock<std::mutex> lock(mu_);
  while (!end_) {
    ended_.wait_for(lock, std::chrono::seconds(1));
    Show(lru->counts());
  }
}

nereid_backend::Error CacheMetrics::MakeGauges() {
  static_assert(std::size(kGauges) == kCount);
  for (size_t i = 0; i < kCount; ++i) {
    NB_RETURN_IF_ERROR(TRITONSERVER_MetricFamilyNew(
        &gauges_[i].family, TRITONSERVER_METRIC_KIND_GAUGE, kGauges[i].name, kGauges[i].help));
    NB_RETURN_IF_ERROR(TRITONSERVER_MetricNew(&gauges_[i].metric, gauges_[i].family, nullptr, 0));
  }
  return {};
}

CacheMetrics::~CacheMetrics() {
  if (thread_.joinable()) {
    {
      const std::lock_guard<std::mutex> lock(mu_);
      end_ = true;
    }
    ended_.notify_all();
    thread_.join();
  }
  for (const Gauge& gauge : gauges_) {
    if (gauge.metric != nullptr) Ignore(TRITONSERVER_MetricDelete(gauge.metric));
    if (gauge.family != nullptr) Ignore(TRITONSERVER_MetricFamilyDelete(gauge.family));
  }
}

void CacheMetrics::Show(const Lru::Counts& counts) {
  const double used = static_cast<double>(counts.bytes) / static_cast<double>(counts.limit);
  const double values[] = {used,
                           static_cast<double>(counts.entries),
                           static_cast<double>(counts.lookups),
                           static_cast<double>(counts.hits),
                           static_cast<double>(counts.lookups - counts.hits),
                           static_cast<double>(counts.evictions)};
  for (size_t i = 0; i < kCount; ++i) {
    Ignore(TRITONSERVER_MetricSet(gauges_[i].metric, values[i]));
  }
}

}  // namespace nereid_cache
