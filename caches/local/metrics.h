// CacheMetrics: shows the state of the local cache as gauges of the server's metrics page, under
// the names that Triton's cache uses. A separate thread updates them every second, so that
// look-ups pay nothing for them. Owned by the cache. Thread-compatible.
#ifndef NEREID_CACHES_LOCAL_METRICS_H_
#define NEREID_CACHES_LOCAL_METRICS_H_

#include <array>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "backends/sdk/error.h"
#include "caches/local/lru.h"

namespace nereid_cache {

class CacheMetrics {
 public:
  CacheMetrics() = default;
  ~CacheMetrics();  // joins
  CacheMetrics(const CacheMetrics&) = delete;
  CacheMetrics& operator=(const CacheMetrics&) = delete;

  // Creates the gauges and starts to show `lru`, which outlives the object. UNSUPPORTED if the
  // server has no metrics. Called at most once.
  nereid_backend::Error Start(const Lru* lru);

 private:
  nereid_backend::Error MakeGauges();
  void Show(const Lru::Counts& counts);
  void Run(const Lru* lru);

  static constexpr size_t kCount = 6;
  struct Gauge {
    TRITONSERVER_MetricFamily* family = nullptr;
    TRITONSERVER_Metric* metric = nullptr;
  };
  std::array<Gauge, kCount> gauges_;
  std::mutex mu_;
  std::condition_variable ended_;
  bool end_ = false;  // guarded by mu_
  std::thread thread_;
};

}  // namespace nereid_cache

#endif  // NEREID_CACHES_LOCAL_METRICS_H_
