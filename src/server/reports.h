// SPDX-License-Identifier: Apache-2.0
// Reports of a server about itself and its models, and their form as JSON. Plain values.
#ifndef NEREID_SERVER_REPORTS_H_
#define NEREID_SERVER_REPORTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/export.h"
#include "model/data_type.h"
#include "model/shape.h"
#include "observe/stats/model_statistics.h"

namespace nereid {

struct ServerMetadata {
  std::string name;
  std::string version;
  std::vector<std::string> extensions;
};

struct TensorMetadata {
  std::string name;
  DataType data_type;
  Shape shape;  // with a leading -1 for models that batch
};

struct ModelMetadata {
  std::string name;
  std::vector<int64_t> versions;  // ascending
  std::string platform;           // or backend where no platform is given
  std::vector<TensorMetadata> inputs;
  std::vector<TensorMetadata> outputs;
};

struct MemoryUsage {
  std::string type;  // "CPU", "CPU_PINNED", "GPU"
  int64_t id = 0;
  uint64_t byte_size = 0;
};

struct ModelStatisticsReport {
  std::string name;
  int64_t version = 0;
  StatisticsSnapshot statistics;
  std::vector<MemoryUsage> memory_usage;
};

// One version of a model in a repository; `version` is negative and `state` empty for a model
// that was never loaded.
struct IndexEntry {
  std::string name;
  int64_t version = -1;
  std::string state;   // UNKNOWN, READY, UNAVAILABLE, LOADING, UNLOADING
  std::string reason;  // empty when there is none
};

NEREID_API std::string ToJson(const ServerMetadata& metadata);
NEREID_API std::string ToJson(const ModelMetadata& metadata);
NEREID_API std::string ToJson(const std::vector<ModelStatisticsReport>& statistics);
NEREID_API std::string ToJson(const std::vector<IndexEntry>& index);

}  // namespace nereid

#endif  // NEREID_SERVER_REPORTS_H_
