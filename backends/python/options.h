// SPDX-License-Identifier: Apache-2.0
// What can be given to the backend python, to backends that are written in Python, and to their
// models. Constants.
#ifndef NEREID_BACKENDS_PYTHON_OPTIONS_H_
#define NEREID_BACKENDS_PYTHON_OPTIONS_H_

#include "backends/sdk/option_table.h"

namespace nereid_backend {

inline constexpr OptionSpec kPythonParameters[] = {
    TextOption("EXECUTION_ENV_PATH"),
    WithoutEffect(RefusedAs(ChoiceOption("FORCE_CPU_ONLY_INPUT_TENSORS", "yes|no"),
                            "Incorrect value for {name}: {value}'"),
                  "all tensors are in the memory of the CPU"),
};

inline constexpr int64_t kLongestTimeout = 7 * 24 * 3600;
inline constexpr std::string_view kGrowingFiles = "tensors use memory files that grow as needed";
inline constexpr std::string_view kNotPositive = "{name} can't be smaller than or equal to zero.";

inline constexpr OptionSpec kPythonSettings[] = {
    RefusedAs(NonEmptyOption("python"),
              "backend setting '{name}' is empty; it has to name an interpreter"),
    BoolOption("install-requirements"),
    TextOption("requirements-cache"),
    TextOption("wheelhouse"),
    IntegerOption("initialize-timeout-seconds", 1, kLongestTimeout),
    IntegerOption("stderr-lines", 0, 1000),
    BoolOption("fork-server"),
    IntegerOption("fork-server-keep-seconds", 0, kLongestTimeout),

    // Triton's, with its texts. It reads numbers up to what is no digit.
    WithoutEffect(RefusedAs(LeadingIntegerOption("shm-default-byte-size", 1 << 20),
                            "{name} can't be smaller than 4 MiBs"),
                  kGrowingFiles),
    WithoutEffect(RefusedAs(LeadingIntegerOption("shm-growth-byte-size", 1), kNotPositive),
                  kGrowingFiles),
    WithoutEffect(RefusedAs(NonEmptyOption("shm-region-prefix-name"),
                            "{name} must at least contain one character."),
                  kGrowingFiles),
    WithoutEffect(LeadingIntegerOption("shm_message_queue_size", INT64_MIN), kGrowingFiles),
    WithoutEffect(RefusedAs(LeadingIntegerOption("stub-timeout-seconds", 1), kNotPositive),
                  "initialize-timeout-seconds limits the wait for a process"),
    WithoutEffect(
        RefusedAs(LeadingIntegerOption("thread-pool-size", 1), "{name} can't be less than 1."),
        "the calls of models need no thread pool"),
};

inline constexpr BackendOptions kPythonOptions = {"python", kPythonParameters, kPythonSettings,
                                                  /*models_read_parameters=*/true};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_OPTIONS_H_
