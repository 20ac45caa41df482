// SPDX-License-Identifier: Apache-2.0
// What can be given to the backend onnxruntime and to its models. Constants.
#ifndef NEREID_BACKENDS_ONNXRUNTIME_OPTIONS_H_
#define NEREID_BACKENDS_ONNXRUNTIME_OPTIONS_H_

#include "backends/onnxruntime/runtime_entries.h"
#include "backends/sdk/option_table.h"

namespace nereid_backend {

inline constexpr std::string_view kNoCuda = "it is for CUDA, and this backend computes on a CPU";

// Entries of the runtime's own, of which it says nothing if it does not know them.
constexpr OptionSpec RuntimeEntries(std::string_view prefix) {
  return PassedOn(TextOption(prefix), kRuntimeEntries, "ONNX Runtime");
}

// All names but terminate_late_runs are those of Triton's backend.
inline constexpr OptionSpec kOnnxruntimeParameters[] = {
    ThreadsOption("intra_op_thread_count"),
    ThreadsOption("inter_op_thread_count"),
    BoolOption("execution_mode"),
    BoolOption("enable_mem_arena"),
    BoolOption("enable_mem_pattern"),
    TextOption("memory.enable_memory_arena_shrinkage"),
    BoolOption("terminate_late_runs"),

    WithoutEffect(TextOption("ep.cuda.*"), kNoCuda),
    RuntimeEntries("session.*"),
    RuntimeEntries("optimization.*"),
    RuntimeEntries("ep.*"),
    RuntimeEntries("mlas.*"),

    WithoutEffect(TextOption("cudnn_conv_algo_search"), kNoCuda),
    WithoutEffect(TextOption("cudnn_conv_use_max_workspace"), kNoCuda),
    WithoutEffect(TextOption("gpu_mem_limit"), kNoCuda),
    WithoutEffect(TextOption("arena_extend_strategy"), kNoCuda),
    WithoutEffect(TextOption("do_copy_in_default_stream"), kNoCuda),
};

inline constexpr OptionSpec kOnnxruntimeSettings[] = {
    BoolOption("enable-global-threadpool"),
    ThreadsOption("intra_op_thread_count"),
    ThreadsOption("inter_op_thread_count"),
    BoolOption("session.intra_op.allow_spinning"),
};

inline constexpr BackendOptions kOnnxruntimeOptions = {"onnxruntime", kOnnxruntimeParameters,
                                                       kOnnxruntimeSettings};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_ONNXRUNTIME_OPTIONS_H_
