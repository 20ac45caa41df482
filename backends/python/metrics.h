// SPDX-License-Identifier: Apache-2.0
// ModelMetrics: the metrics that a model's process has created, by number. Those still there when
// the process ends are deleted. Owned by one thread.
#ifndef NEREID_BACKENDS_PYTHON_METRICS_H_
#define NEREID_BACKENDS_PYTHON_METRICS_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/sdk/error.h"

namespace nereid_backend {

// Refuses a name that belongs to the server: a page with two families of one name cannot be read.
Error CheckFamilyName(const std::string& name);

class ModelMetrics {
 public:
  using Labels = std::vector<std::pair<std::string, std::string>>;

  ModelMetrics() = default;
  ~ModelMetrics();
  ModelMetrics(const ModelMetrics&) = delete;
  ModelMetrics& operator=(const ModelMetrics&) = delete;

  // These return the number of the new object. `kind` is a TRITONSERVER_MetricKind.
  Result<uint64_t> NewFamily(int64_t kind, const std::string& name, const std::string& description);
  // `buckets`: the bounds of a histogram, none for other kinds. Without bounds it has one bucket.
  Result<uint64_t> NewMetric(uint64_t family, const Labels& labels,
                             const std::optional<std::vector<double>>& buckets);
  // Does nothing if the number is unknown. Deleting a family deletes its metrics.
  void DeleteFamily(uint64_t family);
  void DeleteMetric(uint64_t metric);

  Error Increment(uint64_t metric, double by);
  Error Set(uint64_t metric, double value);
  Error Observe(uint64_t metric, double value);
  Result<double> Value(uint64_t metric);

 private:
  struct Metric {
    TRITONSERVER_Metric* handle = nullptr;
    uint64_t family = 0;
  };

  Result<TRITONSERVER_Metric*> Find(uint64_t metric);

  uint64_t next_ = 1;
  std::map<uint64_t, TRITONSERVER_MetricFamily*> families_;
  std::map<uint64_t, Metric> metrics_;
};

// The counter of the requests of one model version that were refused as guilty (suspects.h). It is
// on the metrics page from the first one on. Thread-safe.
class RefusalCounter {
 public:
  RefusalCounter(std::string model, int64_t version)
      : model_(std::move(model)), version_(version) {}
  void Add();

 private:
  Result<uint64_t> Make();

  const std::string model_;
  const int64_t version_;
  std::once_flag once_;
  // Constant once made.
  ModelMetrics metrics_;
  uint64_t metric_ = 0;  // 0: the server has no metrics
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_METRICS_H_
