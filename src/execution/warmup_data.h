// The bytes of warm-up tensors. Pure functions, but for the reading of files.
#ifndef NEREID_EXECUTION_WARMUP_DATA_H_
#define NEREID_EXECUTION_WARMUP_DATA_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>

#include "config/warmup_spec.h"
#include "filesystem/file_system.h"

namespace nereid {

// The largest input of a sample, as of a request.
inline constexpr int64_t kMaxWarmupBytes = INT64_C(2147483647);

// The tensor of one input of a sample; files are those of `model_dir`/warmup.
// Random integers are any bit patterns, random numbers with a point lie in [0, 1), BYTES are empty
// texts; the same input is the same data each time. INVALID_ARGUMENT where the input says too
// little or asks for too much, or the file holds too little; errors of the file system.
absl::StatusOr<std::string> WarmupBytes(const WarmupInput& input, const FileSystem& fs,
                                        const std::string& model_dir);

}  // namespace nereid

#endif  // NEREID_EXECUTION_WARMUP_DATA_H_
