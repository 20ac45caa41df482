// SPDX-License-Identifier: Apache-2.0
// What can be given to the backend openvino and to its models. Constants.
#ifndef NEREID_BACKENDS_OPENVINO_OPTIONS_H_
#define NEREID_BACKENDS_OPENVINO_OPTIONS_H_

#include "backends/sdk/option_table.h"

namespace nereid_backend {

inline constexpr std::string_view kNotANumber =
    "expected the parameter '{name}' to be a non-negative number, got {lower} (it is from 0 to "
    "4096)";
inline constexpr std::string_view kNoFixedBatch = "batches of every size run as they are";

// Names, values and texts of Triton's backend; then Nereid's own; then those without effect
// here; then old names of Triton's first versions.
inline constexpr OptionSpec kOpenvinoParameters[] = {
    RefusedAs(IntegerOption("INFERENCE_NUM_THREADS", 0, kMostThreads), kNotANumber),
    RefusedAs(ChoiceOption("HINT_BF16", "yes"),
              "expected the parameter '{name}' to be YES, got {lower}"),
    RefusedAs(WithChoices(IntegerOption("NUM_STREAMS", 1, kMostThreads), "auto|numa"),
              "expected the parameter '{name}' to be either AUTO/NUMA/<int_value>, got {lower}"),
    RefusedAs(ChoiceOption("PERFORMANCE_HINT", "latency|throughput|cumulative_throughput"),
              "expected the parameter '{name}' to be LATENCY/THROUGHPUT/CUMULATIVE_THROUGHPUT, got "
              "{lower}"),
    BoolOption("RESHAPE_IO_LAYERS"),
    TextOption("CPU_EXTENSION_PATH"),
    RefusedAs(ChoiceOption("TARGET_DEVICE", "cpu|auto"),
              "unable to load model '{model}': parameter '{name}' is '{value}', and this backend "
              "has CPU alone; AUTO means that too"),

    RefusedAs(ChoiceOption("INFERENCE_PRECISION_HINT", "f32|bf16|f16"),
              "expected the parameter '{name}' to be f32/bf16/f16, got {lower}"),
    TextOption("FIXED_BATCH_SIZES"),
    TextOption("CACHE_DIR"),
    IntegerOption("MAX_SEQUENCE_STATES", 1, int64_t{1} << 32),
    BoolOption("terminate_late_runs"),

    WithoutEffect(RefusedAs(IntegerOption("COMPILATION_NUM_THREADS", 0, kMostThreads), kNotANumber),
                  "OpenVINO's CPU plugin has no such setting"),
    WithoutEffect(TextOption("SKIP_OV_DYNAMIC_BATCHSIZE"), kNoFixedBatch),
    WithoutEffect(TextOption("ENABLE_BATCH_PADDING"), kNoFixedBatch),

    OtherName("CPU_THREADS_NUM", "INFERENCE_NUM_THREADS",
              "is the old name of INFERENCE_NUM_THREADS"),
    OtherName("CPU_THROUGHPUT_STREAMS", "NUM_STREAMS", "is the old name of NUM_STREAMS"),
    Remarked(RefusedAs(ChoiceOption("ENFORCE_BF16", "yes|no"),
                       "expected the parameter '{name}' to be either YES or NO, got {lower}"),
             "is the old form of INFERENCE_PRECISION_HINT (bf16, f32)"),
    WithoutEffect(TextOption("CPU_BIND_THREAD"), "host policies say where an instance runs"),
    WithoutEffect(TextOption("SKIP_DYNAMIC_BATCHSIZE"), kNoFixedBatch),
};

inline constexpr OptionSpec kOpenvinoSettings[] = {TextOption("cache-dir")};

inline constexpr BackendOptions kOpenvinoOptions = {"openvino", kOpenvinoParameters,
                                                    kOpenvinoSettings};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_OPENVINO_OPTIONS_H_
