// SPDX-License-Identifier: Apache-2.0
// Files with the inputs of several requests, in the form of perf_analyzer's --input-data:
//
//   {"data": [{"INPUT0": [1, 2], "INPUT1": {"content": [3.5], "shape": [1]}},
//             {"INPUT0": {"b64": "AAAA"}, ...}]}
//
// Functions that read files and nothing else.
#ifndef NEREID_APPS_WORKSHOP_BENCH_DATA_FILE_H_
#define NEREID_APPS_WORKSHOP_BENCH_DATA_FILE_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/model_description.h"

namespace nereid::bench {

struct DataTensor {
  std::vector<int64_t> shape;  // empty: not given
  int64_t count = 0;           // of elements; negative: not known (strings in base64)
  std::string bytes;           // as of a raw tensor
};
using DataEntry = std::map<std::string, DataTensor>;  // by the name of the input

// Most requests of a file.
inline constexpr size_t kMostEntries = 10'000;

// One entry for each request, with the inputs that the model has. INVALID_ARGUMENT with a sentence
// that names the file.
absl::StatusOr<std::vector<DataEntry>> ReadDataFile(const std::string& name,
                                                    const ModelDescription& model);
absl::StatusOr<std::vector<DataEntry>> ParseDataFile(absl::string_view json,
                                                     const ModelDescription& model);

}  // namespace nereid::bench

#endif  // NEREID_APPS_WORKSHOP_BENCH_DATA_FILE_H_
