// SPDX-License-Identifier: Apache-2.0
// The bytes of warm-up tensors. The functions are pure, except that they read files.
#ifndef NEREID_EXECUTION_WARMUP_DATA_H_
#define NEREID_EXECUTION_WARMUP_DATA_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>

#include "config/warmup_spec.h"
#include "filesystem/file_system.h"

namespace nereid {

// The largest input of a sample.
inline constexpr int64_t kMaxWarmupBytes = INT64_C(2147483647);

// The tensor of one input of a sample. Files are read from `model_dir`/warmup. Random integers are
// any bit patterns, random floating-point numbers lie in [0, 1), BYTES are empty strings; the same
// input gives the same data each time. INVALID_ARGUMENT if the input is incomplete or too large, or
// if the file is too short; errors of the file system.
absl::StatusOr<std::string> WarmupBytes(const WarmupInput& input, const FileSystem& fs,
                                        const std::string& model_dir);

}  // namespace nereid

#endif  // NEREID_EXECUTION_WARMUP_DATA_H_
