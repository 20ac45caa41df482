// SPDX-License-Identifier: Apache-2.0
// The parameters of a model that the server itself reads. Their prefix belongs to the server: a
// name that begins with it and is not one of these is refused.
#ifndef NEREID_CONFIG_SERVER_PARAMETERS_H_
#define NEREID_CONFIG_SERVER_PARAMETERS_H_

namespace nereid {

inline constexpr char kServerParameterPrefix[] = "nereid.";
// Whether I/O threads may execute the model if its executions are short.
inline constexpr char kInlineExecutionParameter[] = "nereid.inline_execution";
// The 99th percentile that adaptive batching aims at.
inline constexpr char kTargetP99Parameter[] = "nereid.target_p99_us";

// The bytes of memory that the model counts under --memory-budget, instead of what is measured.
inline constexpr char kMemoryBytesParameter[] = "nereid.memory_bytes";

inline constexpr const char* kServerParameters[] = {kInlineExecutionParameter,
                                                    kMemoryBytesParameter, kTargetP99Parameter};

}  // namespace nereid

#endif  // NEREID_CONFIG_SERVER_PARAMETERS_H_
