// SPDX-License-Identifier: Apache-2.0
// What can be given to the backend pytorch and to its models. Constants.
#ifndef NEREID_BACKENDS_PYTORCH_OPTIONS_H_
#define NEREID_BACKENDS_PYTORCH_OPTIONS_H_

#include "backends/sdk/option_table.h"

namespace nereid_backend {

inline constexpr std::string_view kNoGpu = "it is for GPUs, and this backend computes on a CPU";

// Names of Triton's backend.
inline constexpr OptionSpec kPytorchParameters[] = {
    BoolOption("INFERENCE_MODE"),
    BoolOption("DISABLE_OPTIMIZED_EXECUTION"),
    ThreadsOption("INTRA_OP_THREAD_COUNT"),
    ThreadsOption("INTER_OP_THREAD_COUNT"),
    BoolOption("ENABLE_WEIGHT_SHARING"),
    BoolOption("ENABLE_JIT_PROFILING"),
    BoolOption("ENABLE_JIT_EXECUTOR"),
    BoolOption("ENABLE_TENSOR_FUSER"),

    // Those of Triton's Python runtime.
    OtherName("NUM_THREADS", "INTRA_OP_THREAD_COUNT", "is another name of INTRA_OP_THREAD_COUNT"),
    OtherName("NUM_INTEROP_THREADS", "INTER_OP_THREAD_COUNT",
              "is another name of INTER_OP_THREAD_COUNT"),
    WithoutEffect(
        TextOption("TORCH_COMPILE_OPTIONAL_PARAMETERS"),
        "models are TorchScript and compiled packages, which torch.compile does not take"),

    WithoutEffect(TextOption("CACHE_CLEANING_ENABLED"), kNoGpu),
    WithoutEffect(TextOption("DISABLE_CUDNN"), kNoGpu),
    WithoutEffect(TextOption("ENABLE_CACHE_CLEANING"), kNoGpu),
    WithoutEffect(TextOption("ENABLE_NVFUSER"), kNoGpu),
};

inline constexpr BackendOptions kPytorchOptions = {"pytorch", kPytorchParameters, {}};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTORCH_OPTIONS_H_
