// SPDX-License-Identifier: Apache-2.0
// What can be given to the models of the backend generative. Constants.
#ifndef NEREID_BACKENDS_GENERATIVE_OPTIONS_H_
#define NEREID_BACKENDS_GENERATIVE_OPTIONS_H_

#include <cstdint>

#include "backends/sdk/option_table.h"

namespace nereid_backend {

// The most new tokens that a request may ask for.
inline constexpr int64_t kMostTokens = int64_t{1} << 30;

// The last priority level; 1 is the first.
inline constexpr int64_t kMostPriority = int64_t{1} << 31;

inline constexpr OptionSpec kGenerativeParameters[] = {
    IntegerOption("kv_cache_bytes", 1, int64_t{1} << 44),
    IntegerOption("max_step_tokens", 1, 65536),
    IntegerOption("max_sequences", 1, 65536),
    IntegerOption("max_waiting", 1, 1 << 20),
    IntegerOption("default_max_tokens", 1, kMostTokens),
    IntegerOption("default_priority_level", 1, kMostPriority),
    BoolOption("prefix_cache"),
    IntegerOption("INFERENCE_NUM_THREADS", 0, kMostThreads),
    ChoiceOption("INFERENCE_PRECISION_HINT", "f32|bf16|f16"),
};

inline constexpr BackendOptions kGenerativeOptions = {"generative", kGenerativeParameters, {}};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_GENERATIVE_OPTIONS_H_
