// SPDX-License-Identifier: Apache-2.0
// What can be given to the backend tensorflow and to its models. Constants.
#ifndef NEREID_BACKENDS_TENSORFLOW_OPTIONS_H_
#define NEREID_BACKENDS_TENSORFLOW_OPTIONS_H_

#include "backends/sdk/option_table.h"

namespace nereid_backend {

// Names of Triton's backend, as those of the settings but one.
inline constexpr OptionSpec kTensorflowParameters[] = {
    IntegerOption("TF_NUM_INTRA_THREADS", 0, kMostThreads),
    IntegerOption("TF_NUM_INTER_THREADS", 0, kMostThreads),
    TextOption("TF_GRAPH_TAG"),
    TextOption("TF_SIGNATURE_DEF"),
    TextOption("TF_INIT_OPS_FILE"),
    WithoutEffect(BoolOption("TF_USE_PER_SESSION_THREADS"),
                  "each model has a process and threads of its own"),
    WithoutEffect(IntegerOption("MAX_SESSION_SHARE_COUNT", 1, INT32_MAX),
                  "all instances share one session"),
};

inline constexpr OptionSpec kTensorflowSettings[] = {
    BoolOption("allow-soft-placement"),
    ChoiceOption("version", "2"),
    IntegerOption("load-timeout-seconds", 1, 7 * 24 * 3600),
    WithoutEffect(TextOption("gpu-memory-fraction"),
                  "it is for GPUs, and this backend computes on a CPU"),
};

inline constexpr BackendOptions kTensorflowOptions = {"tensorflow", kTensorflowParameters,
                                                      kTensorflowSettings};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_TENSORFLOW_OPTIONS_H_
