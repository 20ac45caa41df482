// SPDX-License-Identifier: Apache-2.0
// Tensors from files of the user. Functions that read files and nothing else.
#ifndef NEREID_APPS_WORKSHOP_BENCH_TENSOR_FILE_H_
#define NEREID_APPS_WORKSHOP_BENCH_TENSOR_FILE_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "model/data_type.h"

namespace nereid::bench {

// Most bytes of a tensor and of a file.
inline constexpr size_t kMostTensorBytes = size_t{1} << 30;

// The content of a file. NOT_FOUND if it cannot be read, INVALID_ARGUMENT if it is longer than
// `most` bytes.
absl::StatusOr<std::string> ReadWholeFile(const std::string& name, size_t most = kMostTensorBytes);

struct NpyArray {
  DataType type = DataType::kInvalid;
  std::vector<int64_t> shape;
  std::string bytes;  // in C order, little-endian
};

bool IsNpy(absl::string_view file);
// A file as numpy.save writes it: numbers and truth values, in C order. INVALID_ARGUMENT, without
// the file's name, for anything else.
absl::StatusOr<NpyArray> ParseNpy(absl::string_view file);

// The times of a trace: one number of seconds a line, ascending, from the start of the load. Empty
// lines and lines that begin with # do not count. INVALID_ARGUMENT.
absl::StatusOr<std::vector<std::chrono::nanoseconds>> ParseTrace(absl::string_view text);

}  // namespace nereid::bench

#endif  // NEREID_APPS_WORKSHOP_BENCH_TENSOR_FILE_H_
